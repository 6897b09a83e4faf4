import { configurationError, utf8Length } from "@agentfw/core";
import { assertWithin } from "@agentfw/core/backend";

/** Version of the stored layout; the functions have it in their names, so that two versions can run side by side. */
export const LAYOUT = 1;

/** What the store uses in the database, each with its schema and quoted. */
export interface Names {
  readonly schema: string;
  readonly layout: string;
  readonly conversation: string;
  readonly record: string;
  readonly read: string;
  readonly append: string;
  readonly replace: string;
  readonly remove: string;
  readonly erase: string;
  readonly expire: string;
}

/** The names in one schema, which has been checked. */
export function namesIn(schema: string): Names {
  const quoted = quotedName(schema);
  const named = (name: string) => `${quoted}.history_${name}`;
  return {
    schema: quoted,
    layout: named("layout"),
    conversation: named("conversation"),
    record: named("record"),
    read: named(`read_v${LAYOUT}`),
    append: named(`append_v${LAYOUT}`),
    replace: named(`replace_v${LAYOUT}`),
    remove: named(`remove_v${LAYOUT}`),
    erase: named(`erase_v${LAYOUT}`),
    expire: named(`expire_v${LAYOUT}`),
  };
}

/** The store's functions. */
export function functionNames({ read, append, replace, remove, erase, expire }: Names): string[] {
  return [read, append, replace, remove, erase, expire];
}

/** An identifier, whatever characters it holds. */
export function quotedName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A text as a literal, however the server treats backslashes. */
export function quotedText(text: string): string {
  const quoted = `'${text.replaceAll("'", "''").replaceAll("\\", "\\\\")}'`;
  return text.includes("\\") ? `E${quoted}` : quoted;
}

/** A text between dollar signs, with a tag that it does not hold. */
export function dollarQuoted(text: string): string {
  let tag = "$agentfw$";
  while (text.includes(tag)) {
    tag = `${tag.slice(0, -1)}_$`;
  }
  return `${tag}${text}${tag}`;
}

/** Refuses what is no identifier, or would be cut by the server. @throws `configuration` */
export function assertSchemaName(value: unknown): asserts value is string {
  if (typeof value !== "string" || value === "" || !value.isWellFormed() || value.includes("\0")) {
    throw configurationError("schema", "must be a text of 1 to 63 bytes without NUL");
  }
  if (utf8Length(value) > 63) {
    throw configurationError("schema", "must be at most 63 UTF-8 bytes: the server would cut it");
  }
}

/** Refuses a number of partitions that makes no sense. @throws `configuration` */
export function assertPartitions(value: unknown): asserts value is number | undefined {
  if (value !== undefined) {
    assertWithin(value, "partitions", 2, 256);
  }
}

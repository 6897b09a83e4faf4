import { assertWithin } from "@agentfw/core/backend";
import { quotedName } from "./quoting.ts";

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

/** Refuses a number of partitions that makes no sense. @throws `configuration` */
export function assertPartitions(value: unknown): asserts value is number | undefined {
  if (value !== undefined) {
    assertWithin(value, "partitions", 2, 256);
  }
}

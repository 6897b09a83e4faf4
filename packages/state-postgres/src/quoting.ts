import { configurationError, utf8Length } from "@agentfw/core";

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

/** The statement that creates a function in PL/pgSQL, or changes it into this one. `head` is all that comes before its body. */
export function functionDefinition(head: string, body: string): string {
  return `CREATE OR REPLACE FUNCTION ${head} LANGUAGE plpgsql AS ${dollarQuoted(`${body}\n`)}`;
}

/** Refuses what is no identifier, or would be cut by the server. @throws `configuration` */
export function assertSchemaName(value: unknown): asserts value is string {
  const isName = typeof value === "string" && value !== "" && value.isWellFormed() && !value.includes("\0");
  if (!isName || utf8Length(value) > 63) {
    throw configurationError("schema", "must be a text of 1 to 63 UTF-8 bytes without NUL");
  }
}

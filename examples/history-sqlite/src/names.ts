import { configurationError, type HistoryKey, type HistoryKeyInfo } from "@agentfw/core";
import type { Row } from "@libsql/client";

/**
 * The parts of a key as JSON texts. The driver cuts a text at NUL and replaces lone surrogates, and JSON escapes both;
 * `null` and `""` differ.
 */
export interface Names {
  readonly owner: string;
  readonly source: string;
  readonly session: string;
  readonly [name: string]: string;
}

export function toNames({ owner, source, session }: HistoryKey): Names {
  return { owner: JSON.stringify(owner), source: JSON.stringify(source), session: JSON.stringify(session) };
}

/** Where a listing stands, as a cursor. */
export function toListCursor(row: Row): string {
  return JSON.stringify([row["owner"], row["source"], row["session"]]);
}

/** The owner, source and session behind which a listing goes on, as they are stored. */
export function fromListCursor(cursor: unknown): readonly string[] {
  const parts = parse(cursor);
  if (!Array.isArray(parts) || parts.length !== 3 || !parts.every((part) => typeof part === "string")) {
    throw configurationError("cursor", "must be a cursor that list gave");
  }
  return parts;
}

export function toKeyInfo(row: Row): HistoryKeyInfo {
  const owner = parse(row["owner"]);
  return {
    key: {
      owner: owner === null ? null : String(owner),
      source: String(parse(row["source"])),
      session: String(parse(row["session"])),
    },
    updatedAt: new Date(Number(row["updated_at"])).toISOString(),
  };
}

/** The number of the record before which a page ends. */
export function fromCursor(before: string): number {
  const number = /^[1-9]\d{0,15}$/.test(before) ? Number(before) : Number.NaN;
  if (!Number.isSafeInteger(number)) {
    throw configurationError("before", "must be a cursor that read gave");
  }
  return number;
}

/** The number of a conversation is never given twice, so neither is a version. */
export function toVersion(number: unknown, writes: unknown): string {
  return `${String(number)}.${String(writes)}`;
}

/** The value of a JSON text; `undefined` for anything else. */
export function parse(text: unknown): unknown {
  if (typeof text !== "string") {
    return undefined;
  }
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

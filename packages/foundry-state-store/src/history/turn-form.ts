import { type HistoryRecord, utf8Length } from "@agentfw/core";
import { parseObject } from "@agentfw/core/backend";
import { stateError } from "../errors.ts";
import { LIMITS } from "../limits.ts";
import type { JsonObject } from "../types.ts";
import { range } from "./range.ts";

/** A turn as it is read. */
export interface Turn {
  readonly records: readonly HistoryRecord[];
  /** Tells a writer that the turn is its own. */
  readonly writer: string;
  /** Hashes of the newest ids before this turn, the oldest first, where the turn carries them. */
  readonly known: readonly string[] | undefined;
}

const VERSION = 1;

/** What JSON strings must escape and JSON texts are full of. */
const ESCAPED = ['"', "\\", "\t"] as const;

/**
 * A turn's value. Records are kept as text, not as JSON in the value, because only text is sure to come back as it was. That
 * doubles quotes and backslashes; where it makes the turn too large, these change places with characters that are rare in
 * it, so that a turn is never much larger than its records.
 *
 * @throws `too_large` above what an item holds
 */
export function encodeTurn(
  records: readonly HistoryRecord[],
  writer: string,
  known: readonly string[] | undefined,
): JsonObject {
  const head = { v: VERSION, writer, ids: records.map(({ id }) => id) };
  const data = records.map((record) => record.data);
  const plain = { ...head, records: data };
  const usual = (known === undefined ? [plain] : [{ ...plain, known }, plain]).find(fits);
  if (usual !== undefined) {
    return usual;
  }
  const exchanged = { ...head, ...exchangedText(data.join("\n")) };
  if (!fits(exchanged)) {
    throw stateError("too_large", `records: together above what one item holds, ${LIMITS.valueBytes} bytes`);
  }
  return exchanged;
}

function fits(value: JsonObject): boolean {
  return utf8Length(JSON.stringify(value)) <= LIMITS.valueBytes;
}

/** Reads a turn, or gives `undefined` for what is none. */
export function decodeTurn(text: string): Turn | undefined {
  const value = parseObject(text);
  if (value?.["v"] !== VERSION) {
    return undefined;
  }
  const { ids, writer, known } = value;
  const data = textsOf(value["records"]) ?? restored(value["exchanged"], value["text"]);
  const names = textsOf(ids);
  if (names === undefined || data === undefined || names.length !== data.length || typeof writer !== "string") {
    return undefined;
  }
  const records = names.map((id, index) => ({ id, data: data[index] ?? "" }));
  return { records, writer, known: textsOf(known) };
}

/** How many records a turn carries, as its tag says, so that a listing tells how far back to read. */
export function turnTags(value: JsonObject): Record<string, string> {
  const { ids } = value;
  const records = Array.isArray(ids) ? String(ids.length) : "0";
  return { records, ...("known" in value ? { known: "1" } : {}) };
}

function exchangedText(text: string): { exchanged: string; text: string } {
  const rare = rarest(text);
  return { exchanged: rare.join(""), text: swap(text, rare) };
}

function restored(rare: unknown, text: unknown): string[] | undefined {
  return typeof rare === "string" && typeof text === "string" && rare.length === ESCAPED.length
    ? swap(text, [...rare]).split("\n")
    : undefined;
}

/** Each escaped character becomes a rare one and the other way round; done twice, nothing has changed. */
function swap(text: string, rare: readonly string[]): string {
  const partners = new Map<string, string>();
  for (const [index, character] of ESCAPED.entries()) {
    const partner = rare[index] ?? character;
    partners.set(character, partner).set(partner, character);
  }
  return Array.from(text, (character) => partners.get(character) ?? character).join("");
}

/** The characters of one byte that need no escape and that a text has fewest of. */
function rarest(text: string): string[] {
  const counts = new Map<string, number>();
  for (const character of text) {
    counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  const countOf = (character: string) => counts.get(character) ?? 0;
  return range(32, 126)
    .map((code) => String.fromCharCode(code))
    .filter((character) => character !== '"' && character !== "\\")
    .sort((left, right) => countOf(left) - countOf(right))
    .slice(0, ESCAPED.length);
}

function textsOf(value: unknown): string[] | undefined {
  return isTexts(value) ? value : undefined;
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((text) => typeof text === "string");
}

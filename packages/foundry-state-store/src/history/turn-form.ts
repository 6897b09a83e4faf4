import { type HistoryRecord, utf8Length } from "@agentfw/core";
import { stateError } from "../errors.ts";
import { jsonObject } from "../json-object.ts";
import { LIMITS } from "../limits.ts";
import type { JsonObject } from "../types.ts";

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
  const forms: (() => JsonObject)[] = [
    ...(known === undefined ? [] : [() => ({ ...head, known, records: data })]),
    () => ({ ...head, records: data }),
    () => ({ ...head, ...exchanged(data.join("\n")) }),
  ];
  for (const form of forms) {
    const value = form();
    if (utf8Length(JSON.stringify(value)) <= LIMITS.valueBytes) {
      return value;
    }
  }
  throw stateError("too_large", `records: together above what one item holds, ${LIMITS.valueBytes} bytes`);
}

/** Reads a turn, or gives `undefined` for what is none. */
export function decodeTurn(text: string): Turn | undefined {
  const value = jsonObject(text);
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

function exchanged(text: string): { exchanged: string; text: string } {
  const rare = rarest(text, ESCAPED.length);
  return { exchanged: rare.join(""), text: swap(text, rare) };
}

function restored(rare: unknown, text: unknown): string[] | undefined {
  if (typeof rare !== "string" || typeof text !== "string" || rare.length !== ESCAPED.length) {
    return undefined;
  }
  return swap(text, [...rare]).split("\n");
}

/** Each escaped character becomes a rare one and the other way round; done twice, nothing has changed. */
function swap(text: string, rare: readonly string[]): string {
  const pairs = new Map<string, string>();
  for (const [index, character] of ESCAPED.entries()) {
    const partner = rare[index] ?? character;
    pairs.set(character, partner);
    pairs.set(partner, character);
  }
  const all = [...pairs.keys()].map((character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return text.replace(new RegExp(`[${all.join("")}]`, "g"), (character) => pairs.get(character) ?? character);
}

/** The characters of one byte that need no escape and that a text has fewest of. */
function rarest(text: string, count: number): string[] {
  const counts = new Array<number>(127).fill(0);
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code < 127) {
      counts[code] = (counts[code] ?? 0) + 1;
    }
  }
  const candidates = counts.map((times, code) => ({ times, character: String.fromCharCode(code) })).slice(32);
  return candidates
    .filter(({ character }) => character !== '"' && character !== "\\")
    .sort((left, right) => left.times - right.times)
    .slice(0, count)
    .map(({ character }) => character);
}

function textsOf(value: unknown): string[] | undefined {
  return isTexts(value) ? value : undefined;
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((text) => typeof text === "string");
}

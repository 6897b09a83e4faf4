import { randomBytes } from "node:crypto";
import { isPlainObject, type Tags, utf8Length } from "@agentfw/core";
import type { SerializerProtocol } from "@langchain/langgraph-checkpoint";
import { stateError } from "../errors.ts";
import type { FoundryStateStore } from "../foundry-state-store.ts";
import { range } from "../history/range.ts";
import { inParallel } from "../in-parallel.ts";
import { LIMITS } from "../limits.ts";
import type { JsonObject } from "../types.ts";
import { type CheckpointScope, partKey } from "./names.ts";

/** What the serializer made of a value. */
export type PackedHere =
  | { readonly type: string; readonly text: string }
  | { readonly type: string; readonly base64: string };

/** Where it is, cut into parts. */
export interface PackedElsewhere {
  readonly type: string;
  readonly group: string;
  readonly parts: number;
  readonly isBase64: boolean;
  /** Where the group holds a list of values: which one it is. */
  readonly place?: number | undefined;
}

/** A value as it is stored. */
export type Packed = PackedHere | PackedElsewhere;

/** Where values are read from. */
export interface PackedSource {
  readonly store: FoundryStateStore;
  readonly serde: SerializerProtocol;
  /** Lists that were read on the way, by their groups. */
  readonly lists: Map<string, Promise<readonly unknown[]>>;
}

/** Characters of one part: three bytes each at most, or twice two when they are escaped. */
const PART_LENGTH = 250_000;

/** Smaller values share parts, because each part is a request. */
const SMALLEST_ALONE = 4_096;

/** What stays behind of a value that is moved. */
const REFERENCE_BYTES = 128;

/** Serializes a value. */
export async function pack(serde: SerializerProtocol, value: unknown): Promise<Packed> {
  const [type, bytes] = await serde.dumpsTyped(value);
  const data = Buffer.from(bytes);
  // Only text is shorter than its base64.
  return type === "json" ? { type, text: data.toString("utf8") } : { type, base64: data.toString("base64") };
}

/**
 * Moves the largest values into items of their own until what is left fits into one.
 *
 * @param item What the item holds with these values.
 */
export async function spill(
  { store, scope, tags }: { readonly store: FoundryStateStore; readonly scope: CheckpointScope; readonly tags: Tags },
  values: readonly Packed[],
  item: (values: readonly Packed[]) => JsonObject,
): Promise<readonly Packed[]> {
  let total = utf8Length(JSON.stringify(item(values)));
  if (total <= LIMITS.valueBytes) {
    return values;
  }
  const sizes = values.map((value) => utf8Length(JSON.stringify(value)));
  const bySize = [...sizes.keys()].sort((left, right) => (sizes[right] ?? 0) - (sizes[left] ?? 0));
  const result = [...values];
  const together: { readonly index: number; readonly value: PackedHere }[] = [];
  for (const index of bySize) {
    const [size = 0, value] = [sizes[index], values[index]];
    if (total <= LIMITS.valueBytes || size <= REFERENCE_BYTES) {
      break;
    }
    if (value === undefined || "group" in value) {
      continue;
    }
    total -= size - REFERENCE_BYTES;
    if (size < SMALLEST_ALONE) {
      together.push({ index, value });
    } else {
      const isBase64 = "base64" in value;
      const moved = await moveOut(store, scope, isBase64 ? value.base64 : value.text, tags);
      result[index] = { type: value.type, ...moved, isBase64 };
    }
  }
  if (together.length > 0) {
    const moved = await moveOut(store, scope, JSON.stringify(together.map(({ value }) => value)), tags);
    for (const [place, { index, value }] of together.entries()) {
      result[index] = { type: value.type, ...moved, isBase64: "base64" in value, place };
    }
  }
  return result;
}

/** The value again. @throws `corrupt` for a part that is gone, and for what the serializer cannot read */
export async function unpack(source: PackedSource, scope: CheckpointScope, packed: Packed): Promise<unknown> {
  const data = "group" in packed ? await fetchPacked(source, scope, packed) : packed;
  try {
    return await source.serde.loadsTyped(data.type, "base64" in data ? Buffer.from(data.base64, "base64") : data.text);
  } catch (cause) {
    throw stateError("corrupt", "a value of a checkpoint cannot be read", { cause, position: "value" });
  }
}

/** A packed value as it is found, or `undefined` for what is none. */
export function parsePacked(value: unknown): Packed | undefined {
  if (!isPlainObject(value)) {
    return undefined;
  }
  const { type, text, base64, group, parts, isBase64, place } = value;
  if (typeof type !== "string") {
    return undefined;
  }
  if (typeof text === "string") {
    return { type, text };
  }
  if (typeof base64 === "string") {
    return { type, base64 };
  }
  const isMoved = typeof group === "string" && typeof parts === "number" && typeof isBase64 === "boolean";
  return isMoved && (place === undefined || typeof place === "number")
    ? { type, group, parts, isBase64, ...(place === undefined ? {} : { place }) }
    : undefined;
}

/** A packed value as a member of an item. */
export function packedJson(packed: Packed): JsonObject {
  const { place, ...rest } = { place: undefined, ...packed };
  return { ...rest, ...(place === undefined ? {} : { place }) };
}

/** Cuts a text into parts, each an item. */
async function moveOut(
  store: FoundryStateStore,
  scope: CheckpointScope,
  text: string,
  tags: Tags,
): Promise<Pick<PackedElsewhere, "group" | "parts">> {
  const group = randomBytes(12).toString("base64url");
  const parts = Math.ceil(text.length / PART_LENGTH);
  await inParallel(range(1, parts), async (part) => {
    const piece = text.slice((part - 1) * PART_LENGTH, part * PART_LENGTH);
    // Quoted once more: a part may end inside of a surrogate pair, and only an escaped half of one has UTF-8.
    await store.setItem(partKey(scope, group, part), { v: 1, text: JSON.stringify(piece) }, { tags });
  });
  return { group, parts };
}

async function fetchPacked(source: PackedSource, scope: CheckpointScope, packed: PackedElsewhere): Promise<PackedHere> {
  const { type, group, isBase64, place } = packed;
  if (place === undefined) {
    const text = await readParts(source.store, scope, packed);
    return isBase64 ? { type, base64: text } : { type, text };
  }
  const list = source.lists.get(group) ?? readParts(source.store, scope, packed).then(listOf);
  source.lists.set(group, list);
  const value = parsePacked((await list)[place]);
  if (value === undefined || "group" in value) {
    throw stateError("corrupt", "a value of a checkpoint cannot be read", { position: "value" });
  }
  return value;
}

async function readParts(
  store: FoundryStateStore,
  scope: CheckpointScope,
  { group, parts }: Pick<PackedElsewhere, "group" | "parts">,
): Promise<string> {
  const pieces = await inParallel(range(1, parts), async (part) => {
    const item = await store.getItem(partKey(scope, group, part));
    const piece = item === undefined ? undefined : parsed(item.value["text"]);
    if (typeof piece !== "string") {
      throw stateError("corrupt", "a part of a checkpoint is missing", { position: `part ${part}` });
    }
    return piece;
  });
  return pieces.join("");
}

function listOf(text: string): readonly unknown[] {
  const list = parsed(text);
  return Array.isArray(list) ? list : [];
}

function parsed(text: unknown): unknown {
  try {
    return typeof text === "string" ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

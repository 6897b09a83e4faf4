import { randomBytes } from "node:crypto";
import { isPlainObject, type Tags, utf8Length } from "@agentfw/core";
import type { SerializerProtocol } from "@langchain/langgraph-checkpoint";
import { stateError } from "../errors.ts";
import type { FoundryStateStore } from "../foundry-state-store.ts";
import { inParallel, range } from "../history/parallel.ts";
import { LIMITS } from "../limits.ts";
import type { JsonObject } from "../types.ts";
import { type CheckpointScope, partKey } from "./names.ts";

/** A value as it is stored: what the serializer made of it, here or in parts elsewhere. */
export type Packed =
  | { readonly type: string; readonly text: string }
  | { readonly type: string; readonly base64: string }
  | { readonly type: string; readonly group: string; readonly parts: number; readonly isBase64: boolean };

/** So much of an item's limit is for the values in it. */
const ROOM_BYTES = LIMITS.valueBytes - 16_384;

/** Characters of one part: three bytes each at most, or twice two when they are escaped. */
const PART_LENGTH = 250_000;

/** Smaller values stay where they are. */
const SMALLEST_MOVED = 4_096;

/** Serializes a value. */
export async function pack(serde: SerializerProtocol, value: unknown): Promise<Packed> {
  const [type, bytes] = await serde.dumpsTyped(value);
  const data = Buffer.from(bytes);
  // Only text is shorter than its base64.
  return type === "json" ? { type, text: data.toString("utf8") } : { type, base64: data.toString("base64") };
}

/** Moves the largest values into items of their own until the rest fits into one. */
export async function spill(
  store: FoundryStateStore,
  scope: CheckpointScope,
  values: readonly Packed[],
  tags: Tags,
): Promise<Packed[]> {
  const sizes = values.map((value) => utf8Length(JSON.stringify(value)));
  const bySize = [...sizes.keys()].sort((left, right) => (sizes[right] ?? 0) - (sizes[left] ?? 0));
  let total = sizes.reduce((sum, size) => sum + size, 0);
  const result = [...values];
  for (const index of bySize) {
    const [size = 0, value] = [sizes[index], values[index]];
    if (total <= ROOM_BYTES || value === undefined || size < SMALLEST_MOVED) {
      break;
    }
    result[index] = await moveOut(store, scope, value, tags);
    total -= size;
  }
  return result;
}

/** The value again. @throws `corrupt` for a part that is gone, and for what the serializer cannot read */
export async function unpack(
  { store, serde }: { readonly store: FoundryStateStore; readonly serde: SerializerProtocol },
  scope: CheckpointScope,
  packed: Packed,
): Promise<unknown> {
  const data = "group" in packed ? await readParts(store, scope, packed) : packed;
  try {
    return await serde.loadsTyped(data.type, "base64" in data ? Buffer.from(data.base64, "base64") : data.text);
  } catch (cause) {
    throw stateError("corrupt", "a value of a checkpoint cannot be read", { cause, position: "value" });
  }
}

/** A packed value as it is found, or `undefined` for what is none. */
export function parsePacked(value: unknown): Packed | undefined {
  if (!isPlainObject(value)) {
    return undefined;
  }
  const { type, text, base64, group, parts, isBase64 } = value;
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
  return isMoved ? { type, group, parts, isBase64 } : undefined;
}

/** A packed value as a member of an item. */
export function packedJson(packed: Packed): JsonObject {
  return { ...packed };
}

async function moveOut(store: FoundryStateStore, scope: CheckpointScope, value: Packed, tags: Tags): Promise<Packed> {
  if ("group" in value) {
    return value;
  }
  const text = "base64" in value ? value.base64 : value.text;
  const group = randomBytes(12).toString("base64url");
  const parts = Math.ceil(text.length / PART_LENGTH);
  await inParallel(range(1, parts), async (part) => {
    const piece = text.slice((part - 1) * PART_LENGTH, part * PART_LENGTH);
    // Quoted once more: a part may end inside of a surrogate pair, and only an escaped half of one has UTF-8.
    await store.setItem(partKey(scope, group, part), { v: 1, text: JSON.stringify(piece) }, { tags });
  });
  return { type: value.type, group, parts, isBase64: "base64" in value };
}

async function readParts(
  store: FoundryStateStore,
  scope: CheckpointScope,
  { type, group, parts, isBase64 }: Extract<Packed, { readonly group: string }>,
): Promise<Exclude<Packed, { readonly group: string }>> {
  const pieces = await inParallel(range(1, parts), async (part) => {
    const item = await store.getItem(partKey(scope, group, part));
    const text = item?.value["text"];
    const piece: unknown = typeof text === "string" ? JSON.parse(text) : undefined;
    if (typeof piece !== "string") {
      throw stateError("corrupt", "a part of a checkpoint is missing", { position: `part ${part}` });
    }
    return piece;
  });
  const text = pieces.join("");
  return isBase64 ? { type, base64: text } : { type, text };
}

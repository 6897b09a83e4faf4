import { isPlainObject } from "@agentfw/core";
import { stateError } from "../errors.ts";
import type { JsonObject } from "../types.ts";
import type { CheckpointPlace } from "./names.ts";
import { type Packed, packedJson, parsePacked } from "./packed.ts";

/**
 * A checkpoint as one item holds it. The values of channels that a step changed are in it; those of the others are in the
 * checkpoint that changed them last, whose id is here. Ids and not versions lead there, because two branches of a thread
 * count the same versions.
 */
export interface StoredCheckpoint extends CheckpointPlace {
  readonly parentId: string | undefined;
  /** Without its channel values. */
  readonly checkpoint: Packed;
  readonly metadata: Packed;
  readonly values: ReadonlyMap<string, Packed>;
  readonly elsewhere: ReadonlyMap<string, string>;
}

const VERSION = 1;

/** The value of the item. */
export function encodeCheckpoint(stored: StoredCheckpoint): JsonObject {
  const { thread, namespace, id, parentId, checkpoint, metadata, values, elsewhere } = stored;
  return {
    v: VERSION,
    thread,
    namespace,
    id,
    ...(parentId === undefined ? {} : { parentId }),
    checkpoint: packedJson(checkpoint),
    metadata: packedJson(metadata),
    // Pairs and not members: a channel may be called `__proto__`.
    values: [...values].map(([channel, value]) => [channel, packedJson(value)]),
    elsewhere: [...elsewhere],
  };
}

/** Reads the value of an item. @throws `corrupt`, `unsupported` for a later version */
export function decodeCheckpoint(value: JsonObject): StoredCheckpoint {
  if (value["v"] !== VERSION) {
    throw stateError("unsupported", "the checkpoint is of another version");
  }
  const { thread, namespace, id, parentId } = value;
  const [checkpoint, metadata] = [parsePacked(value["checkpoint"]), parsePacked(value["metadata"])];
  const values = pairsOf(value["values"], parsePacked);
  const elsewhere = pairsOf(value["elsewhere"], (other) => (typeof other === "string" ? other : undefined));
  const isNamed = typeof thread === "string" && typeof namespace === "string" && typeof id === "string";
  if (!isNamed || (parentId !== undefined && typeof parentId !== "string")) {
    throw corrupt();
  }
  if (checkpoint === undefined || metadata === undefined || values === undefined || elsewhere === undefined) {
    throw corrupt();
  }
  return { thread, namespace, id, parentId, checkpoint, metadata, values, elsewhere };
}

/** One write of a task. */
export interface StoredWrite {
  /** Its place among the writes of the task; special ones are negative. */
  readonly index: number;
  readonly channel: string;
  readonly path: string;
  readonly value: Packed;
}

/** All writes of one task, for one checkpoint. */
export interface StoredWrites {
  readonly taskId: string;
  readonly writes: readonly StoredWrite[];
}

/** The value of the item. */
export function encodeWrites({ taskId, writes }: StoredWrites): JsonObject {
  const list = writes.map(({ index, channel, path, value }) => ({ index, channel, path, value: packedJson(value) }));
  return { v: VERSION, taskId, writes: list };
}

/** Reads the value of an item. @throws `corrupt`, `unsupported` for a later version */
export function decodeWrites(value: JsonObject): StoredWrites {
  if (value["v"] !== VERSION) {
    throw stateError("unsupported", "the writes are of another version");
  }
  const { taskId, writes } = value;
  if (typeof taskId !== "string" || !Array.isArray(writes)) {
    throw corrupt();
  }
  return { taskId, writes: writes.map(writeOf) };
}

function writeOf(entry: unknown): StoredWrite {
  const { index, channel, path, value } = isPlainObject(entry) ? entry : {};
  const packed = parsePacked(value);
  if (typeof index !== "number" || typeof channel !== "string" || typeof path !== "string" || packed === undefined) {
    throw corrupt();
  }
  return { index, channel, path, value: packed };
}

function pairsOf<T>(list: unknown, parse: (value: unknown) => T | undefined): ReadonlyMap<string, T> | undefined {
  if (!Array.isArray(list)) {
    return undefined;
  }
  const pairs = new Map<string, T>();
  for (const entry of list) {
    const [name, value]: unknown[] = Array.isArray(entry) ? entry : [];
    const parsed = parse(value);
    if (typeof name !== "string" || parsed === undefined) {
      return undefined;
    }
    pairs.set(name, parsed);
  }
  return pairs;
}

function corrupt(): Error {
  return stateError("corrupt", "a checkpoint cannot be read; it was left as it is", { position: "checkpoint" });
}

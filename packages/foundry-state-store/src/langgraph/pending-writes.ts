import { setTimeout as pause } from "node:timers/promises";
import { isAgentFrameworkError } from "@agentfw/core";
import {
  type CheckpointPendingWrite,
  compareWritesSortKeys,
  type PendingWrite,
  type SerializerProtocol,
  WRITES_IDX_MAP,
  writesSortKey,
} from "@langchain/langgraph-checkpoint";
import type { FoundryStateStore } from "../foundry-state-store.ts";
import { inParallel } from "../in-parallel.ts";
import { decodeWrites, encodeWrites, type StoredWrite } from "./checkpoint-form.ts";
import { type CheckpointPlace, itemTags, writesKey } from "./names.ts";
import { type Packed, pack, spill, unpack } from "./packed.ts";

const LONGEST_PAUSE_MS = 100;

/** The writes of tasks that a checkpoint has not taken in yet. */
export class PendingWrites {
  readonly #store: FoundryStateStore;
  readonly #serde: SerializerProtocol;

  constructor(store: FoundryStateStore, serde: SerializerProtocol) {
    this.#store = store;
    this.#serde = serde;
  }

  /** Adds writes of a task: an ordinary one stays as it was first written, a special one is replaced. */
  async add(
    place: CheckpointPlace,
    writes: readonly PendingWrite[],
    task: { readonly id: string; readonly path: string },
  ): Promise<void> {
    const tags = itemTags("writes", place, place.id);
    const values = await Promise.all(writes.map(([, value]) => pack(this.#serde, value)));
    let added = writes.flatMap(([channel], position): StoredWrite[] => {
      const value = values[position];
      const index = WRITES_IDX_MAP[channel] ?? position;
      return value === undefined ? [] : [{ index, channel, path: task.path, value }];
    });
    const key = writesKey(place, task.id);
    for (let attempt = 0; ; attempt += 1) {
      // Nearly always there are none yet, so that is tried first.
      const existing = attempt === 0 ? undefined : await this.#store.getItem(key);
      const earlier = existing === undefined ? [] : decodeWrites(existing.value).writes;
      const fitted = await this.#fit(place, { taskId: task.id, earlier, added });
      added = fitted.added;
      const value = encodeWrites({ taskId: task.id, writes: fitted.all });
      try {
        await (existing === undefined
          ? this.#store.createItem(key, value, { tags })
          : this.#store.setItem(key, value, { tags, ifMatch: existing.etag }));
        return;
      } catch (error) {
        if (!isAgentFrameworkError(error, "conflict")) {
          throw error;
        }
      }
      await pause(Math.random() * Math.min(2 ** attempt, LONGEST_PAUSE_MS));
    }
  }

  /** All writes of a task as they fit into one item; and those that are new, so that what was moved out once stays there. */
  async #fit(
    place: CheckpointPlace,
    { taskId, earlier, added }: Record<"earlier" | "added", readonly StoredWrite[]> & { readonly taskId: string },
  ): Promise<{ readonly all: readonly StoredWrite[]; readonly added: StoredWrite[] }> {
    const all = merged(earlier, added);
    const target = { store: this.#store, scope: place, tags: itemTags("part", place, place.id) };
    const packed = all.map((write) => write.value);
    const item = (values: readonly Packed[]) => encodeWrites({ taskId, writes: withValues(all, values) });
    const fitting = withValues(all, await spill(target, packed, item));
    const byWrite = new Map(all.map((write, index) => [write, fitting[index]]));
    return { all: fitting, added: added.map((write) => byWrite.get(write) ?? write) };
  }

  /** The writes for a checkpoint, in the order in which a run would apply them. */
  async of(place: CheckpointPlace, signal: AbortSignal | undefined): Promise<CheckpointPendingWrite[]> {
    const keys: string[] = [];
    const tags = itemTags("writes", place, place.id);
    for await (const { key } of this.#store.iterateItemKeys({ tags, signal })) {
      keys.push(key);
    }
    const tasks = await inParallel(keys, (key) => this.#store.getItem(key, { signal }));
    const writes = tasks.flatMap((item) => {
      const { taskId, writes: all } = item === undefined ? { taskId: "", writes: [] } : decodeWrites(item.value);
      return all.map((write) => ({ taskId, write, sortKey: writesSortKey(write.path, taskId, write.index) }));
    });
    writes.sort((left, right) => compareWritesSortKeys(left.sortKey, right.sortKey));
    const source = { store: this.#store, serde: this.#serde, lists: new Map() };
    return inParallel(writes, async ({ taskId, write }): Promise<CheckpointPendingWrite> => {
      return [taskId, write.channel, await unpack(source, place, write.value)];
    });
  }
}

function withValues(writes: readonly StoredWrite[], values: readonly Packed[]): StoredWrite[] {
  return writes.map((write, place) => ({ ...write, value: values[place] ?? write.value }));
}

function merged(earlier: readonly StoredWrite[], added: readonly StoredWrite[]): StoredWrite[] {
  const byIndex = new Map(earlier.map((write) => [write.index, write]));
  for (const write of added) {
    if (write.index < 0 || !byIndex.has(write.index)) {
      byIndex.set(write.index, write);
    }
  }
  return [...byIndex.values()];
}

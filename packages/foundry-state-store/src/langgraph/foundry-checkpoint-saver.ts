import { assertName } from "@agentfw/core";
import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  copyCheckpoint,
  getCheckpointId,
  type PendingWrite,
  type SerializerProtocol,
} from "@langchain/langgraph-checkpoint";
import type { FoundryStateStore } from "../foundry-state-store.ts";
import { assertLasting } from "../lasting-store.ts";
import { CheckpointItems } from "./checkpoint-items.ts";
import { configOf, idsOf, matches, placeOf, requiredPlace, scopeOf } from "./configurable.ts";
import { pack } from "./packed.ts";
import { PendingWrites } from "./pending-writes.ts";

/**
 * LangGraph checkpoints in a Foundry state store, or in the files that stand in for one.
 *
 * *Layout*: an item for each checkpoint with the values that its step changed, and one for the writes of each task. Values
 * beyond what an item holds are in parts beside it. Layout version 1.
 *
 * *Atomicity*: a checkpoint counts when its item is there, and that is written last.
 *
 * *Cost*: `put` takes one request, and one more for a parent that this saver has not seen; the latest checkpoint of a
 * thread one for every 100 of its checkpoints, one for it, one for its pending writes, and one for each that holds values.
 *
 * *Limits*: a store whose items expire is refused: a thread would lose the values that have not changed for longest.
 *
 * *Failure*: errors are those of the store; `corrupt` for a checkpoint of which something is missing.
 */
export class FoundryCheckpointSaver extends BaseCheckpointSaver {
  readonly #items: CheckpointItems;
  readonly #writes: PendingWrites;

  /**
   * @param store Opened with `itemTtlSeconds: -1`. It stays the caller's.
   * @param serde How values become bytes. @default LangGraph's own
   * @throws `configuration` for another store
   */
  constructor(store: FoundryStateStore, serde?: SerializerProtocol) {
    super(serde);
    assertLasting(store, "values");
    this.#items = new CheckpointItems(store, this.serde);
    this.#writes = new PendingWrites(store, this.serde);
  }

  /** The checkpoint that the config names, or else the latest of its thread; `undefined` when there is none. */
  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const scope = scopeOf(config);
    if (scope === undefined) {
      return undefined;
    }
    const id = getCheckpointId(config) || (await this.#items.latestId(scope, config.signal));
    return id === undefined ? undefined : this.#items.tuple({ ...scope, id }, this.#writes, config.signal);
  }

  /** Checkpoints of a thread, or of all, the newest first. Each is read when it is asked for. */
  async *list(config: RunnableConfig, options: CheckpointListOptions = {}): AsyncGenerator<CheckpointTuple> {
    const { limit = Number.POSITIVE_INFINITY, before, filter } = options;
    const { thread, namespace, id } = idsOf(config);
    const beforeId = before === undefined ? "" : getCheckpointId(before);
    let found = 0;
    for (const { key, checkpointId } of await this.#items.listed(thread, namespace, config.signal)) {
      const isWanted = (id === "" || checkpointId === id) && (beforeId === "" || checkpointId < beforeId);
      if (!isWanted || found >= limit) {
        continue;
      }
      const stored = await this.#items.read(key, config.signal);
      if (stored === undefined || (namespace !== undefined && stored.namespace !== namespace)) {
        continue;
      }
      if (filter === undefined || matches(await this.#items.metadata(stored), filter)) {
        found += 1;
        yield await this.#items.tupleOf(stored, this.#writes, config.signal);
      }
    }
  }

  /** Stores a checkpoint with the channel values that its step changed. A repeated put writes the same item again. */
  async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const { place, parentId } = placeOf(config, checkpoint.id);
    const { channel_values: values, ...rest } = copyCheckpoint(checkpoint);
    const changed = Object.keys(newVersions).filter((channel) => Object.hasOwn(values, channel));
    const elsewhere = await this.#items.carriedOver(place, parentId, rest, newVersions);
    const packed = await Promise.all(
      [{ ...rest, channel_values: {} }, metadata, ...changed.map((channel) => values[channel])].map((value) =>
        pack(this.serde, value),
      ),
    );
    await this.#items.write({ place, parentId, elsewhere, changed, packed, versions: rest.channel_versions });
    return configOf(place);
  }

  /** Stores what a task wrote, for the checkpoint that the config names. */
  async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string, taskPath = ""): Promise<void> {
    const place = requiredPlace(config);
    assertName(taskId, "taskId");
    await this.#writes.add(place, writes, { id: taskId, path: taskPath });
  }

  /** Deletes all checkpoints and writes of a thread, in all its namespaces; one request each. */
  async deleteThread(threadId: string): Promise<void> {
    assertName(threadId, "threadId");
    await this.#items.deleteThread(threadId);
  }
}

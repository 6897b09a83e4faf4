import {
  type ChannelVersions,
  type Checkpoint,
  type CheckpointMetadata,
  type CheckpointTuple,
  maxChannelVersion,
  type SerializerProtocol,
  TASKS,
} from "@langchain/langgraph-checkpoint";
import { stateError } from "../errors.ts";
import type { FoundryStateStore } from "../foundry-state-store.ts";
import { inParallel } from "../in-parallel.ts";
import { decodeCheckpoint, encodeCheckpoint, type StoredCheckpoint } from "./checkpoint-form.ts";
import { configOf } from "./configurable.ts";
import {
  type CheckpointPlace,
  type CheckpointScope,
  checkpointKey,
  itemTags,
  searchTags,
  threadTags,
} from "./names.ts";
import { type Packed, type PackedSource, spill, unpack } from "./packed.ts";
import type { PendingWrites } from "./pending-writes.ts";
import { type SeenCheckpoint, SeenCheckpoints } from "./seen-checkpoints.ts";

/** Before this version, what tasks sent was not a channel. */
const TASKS_ARE_A_CHANNEL = 4;

/** What `put` has made ready. */
export interface ReadyCheckpoint {
  readonly place: CheckpointPlace;
  readonly parentId: string | undefined;
  readonly elsewhere: ReadonlyMap<string, string>;
  readonly changed: readonly string[];
  /** The checkpoint, its metadata, then the values of the channels that have changed. */
  readonly packed: readonly Packed[];
  readonly versions: ChannelVersions;
}

/** The items of checkpoints. */
export class CheckpointItems {
  readonly #store: FoundryStateStore;
  readonly #serde: SerializerProtocol;
  readonly #seen: SeenCheckpoints;

  constructor(store: FoundryStateStore, serde: SerializerProtocol) {
    this.#store = store;
    this.#serde = serde;
    this.#seen = new SeenCheckpoints(!store.properties.userIsolation);
  }

  /** The greatest id of a thread: LangGraph's ids grow with time, and the times of items are too coarse to tell. */
  async latestId(scope: CheckpointScope, signal: AbortSignal | undefined): Promise<string | undefined> {
    const [latest] = await this.listed(scope.thread, scope.namespace, signal);
    return latest?.checkpointId;
  }

  /** The keys of checkpoints and their ids, the greatest id first. */
  async listed(
    thread: string | undefined,
    namespace: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly key: string; readonly checkpointId: string }[]> {
    const found: { key: string; checkpointId: string }[] = [];
    const tags = searchTags("checkpoint", thread, namespace);
    for await (const { key, tags: own } of this.#store.iterateItemKeys({ tags, signal })) {
      found.push({ key, checkpointId: own["checkpoint"] ?? "" });
    }
    return found.sort((left, right) => (left.checkpointId < right.checkpointId ? 1 : -1));
  }

  /** A checkpoint by its key. @throws `corrupt`, `unsupported` */
  async read(key: string, signal?: AbortSignal | undefined): Promise<StoredCheckpoint | undefined> {
    const item = await this.#store.getItem(key, { signal });
    return item === undefined ? undefined : decodeCheckpoint(item.value);
  }

  async metadata(stored: StoredCheckpoint): Promise<CheckpointMetadata> {
    const metadata: CheckpointMetadata = Object(await this.#unpack(stored, stored.metadata));
    return metadata;
  }

  /** A checkpoint with its values and pending writes. */
  async tuple(
    place: CheckpointPlace,
    writes: PendingWrites,
    signal: AbortSignal | undefined,
  ): Promise<CheckpointTuple | undefined> {
    const stored = await this.read(checkpointKey(place), signal);
    return stored === undefined ? undefined : this.tupleOf(stored, writes, signal);
  }

  async tupleOf(
    stored: StoredCheckpoint,
    writes: PendingWrites,
    signal: AbortSignal | undefined,
  ): Promise<CheckpointTuple> {
    const [checkpoint, metadata, values, pendingWrites] = await Promise.all([
      this.#unpack(stored, stored.checkpoint),
      this.metadata(stored),
      this.#values(stored, signal),
      writes.of(stored, signal),
    ]);
    const whole: Checkpoint = Object.assign(Object(checkpoint), { channel_values: values });
    const { parentId } = stored;
    const parent = parentId === undefined ? undefined : { ...stored, id: parentId };
    if (whole.v < TASKS_ARE_A_CHANNEL && parent !== undefined) {
      const sent = await writes.of(parent, signal);
      addTasks(
        whole,
        sent.filter(([, channel]) => channel === TASKS).map(([, , value]) => value),
      );
    }
    this.#seen.add(stored, whole.channel_versions);
    return {
      config: configOf(stored),
      checkpoint: whole,
      metadata,
      pendingWrites,
      ...(parent === undefined ? {} : { parentConfig: configOf(parent) }),
    };
  }

  /** Which earlier checkpoint holds each channel that this step did not change. */
  async carriedOver(
    place: CheckpointPlace,
    parentId: string | undefined,
    { channel_versions: versions }: Pick<Checkpoint, "channel_versions">,
    newVersions: ChannelVersions,
  ): Promise<ReadonlyMap<string, string>> {
    const unchanged = Object.keys(versions).filter((channel) => !Object.hasOwn(newVersions, channel));
    if (parentId === undefined || unchanged.length === 0) {
      return new Map();
    }
    const parent = { ...place, id: parentId };
    const seen = this.#seen.get(parent) ?? (await this.#look(parent));
    return new Map(
      unchanged.flatMap((channel) => {
        const holder = seen?.holders.get(channel);
        return holder !== undefined && seen?.versions[channel] === versions[channel] ? [[channel, holder]] : [];
      }),
    );
  }

  async write({ versions, ...ready }: ReadyCheckpoint): Promise<void> {
    const { place, packed } = ready;
    const target = { store: this.#store, scope: place, tags: itemTags("part", place, place.id) };
    const fitting = await spill(target, packed, (values) => encodeCheckpoint(storedOf({ ...ready, packed: values })));
    const stored = storedOf({ ...ready, packed: fitting });
    await this.#store.setItem(checkpointKey(place), encodeCheckpoint(stored), {
      tags: itemTags("checkpoint", place, place.id),
    });
    this.#seen.add(stored, versions);
  }

  /** Checkpoints first, so that nobody sees one without its writes. */
  async deleteThread(thread: string): Promise<void> {
    const keys: string[] = [];
    for await (const { key } of this.#store.iterateItemKeys({ tags: threadTags(thread) })) {
      keys.push(key);
    }
    const isCheckpoint = (key: string) => key.startsWith("c1/");
    for (const group of [keys.filter(isCheckpoint), keys.filter((key) => !isCheckpoint(key))]) {
      await inParallel(group, (key) => this.#store.deleteItem(key));
    }
    this.#seen.forget();
  }

  async #look(place: CheckpointPlace): Promise<SeenCheckpoint | undefined> {
    const stored = await this.read(checkpointKey(place));
    if (stored === undefined) {
      return undefined;
    }
    const checkpoint: Checkpoint = Object(await this.#unpack(stored, stored.checkpoint));
    return this.#seen.add(stored, checkpoint.channel_versions);
  }

  async #values(stored: StoredCheckpoint, signal: AbortSignal | undefined): Promise<Record<string, unknown>> {
    const holders = [...new Set(stored.elsewhere.values())];
    const others = await inParallel(holders, (id) => this.read(checkpointKey({ ...stored, id }), signal));
    const byId = new Map(holders.map((id, index) => [id, others[index]]));
    const packed = [
      ...stored.values,
      ...[...stored.elsewhere].map(([channel, id]) => {
        const value = byId.get(id)?.values.get(channel);
        if (value === undefined) {
          throw stateError("corrupt", "a value of a checkpoint is missing", { position: "value of an earlier step" });
        }
        return [channel, value] as const;
      }),
    ];
    const source = this.#source();
    const values = await inParallel(
      packed,
      async ([channel, value]) => [channel, await unpack(source, stored, value)] as const,
    );
    return Object.fromEntries(values);
  }

  #unpack(scope: CheckpointScope, packed: Packed): Promise<unknown> {
    return unpack(this.#source(), scope, packed);
  }

  #source(): PackedSource {
    return { store: this.#store, serde: this.#serde, lists: new Map() };
  }
}

function storedOf({
  place,
  parentId,
  elsewhere,
  changed,
  packed,
}: Omit<ReadyCheckpoint, "versions">): StoredCheckpoint {
  const [checkpoint, metadata, ...values] = packed;
  if (checkpoint === undefined || metadata === undefined || values.length !== changed.length) {
    throw stateError("configuration", "checkpoint: is incomplete");
  }
  const own = changed.flatMap((channel, index) => {
    const value = values[index];
    return value === undefined ? [] : [[channel, value] as const];
  });
  return { ...place, parentId, checkpoint, metadata, values: new Map(own), elsewhere };
}

/** What tasks sent becomes a channel, as later versions have it. */
function addTasks(checkpoint: Checkpoint, tasks: readonly unknown[]): void {
  const versions = Object.values(checkpoint.channel_versions);
  checkpoint.channel_values[TASKS] = tasks;
  checkpoint.channel_versions[TASKS] = versions.length > 0 ? maxChannelVersion(...versions) : 1;
}

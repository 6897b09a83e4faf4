import { assertName, configurationError } from "@agentfw/core";
import type { RunnableConfig } from "@langchain/core/runnables";
import { getCheckpointId } from "@langchain/langgraph-checkpoint";
import type { CheckpointPlace, CheckpointScope } from "./names.ts";

/** What a config says of a thread, a namespace and a checkpoint, as far as it says anything. */
export interface ConfiguredIds {
  readonly thread: string | undefined;
  readonly namespace: string | undefined;
  /** `""` for none. */
  readonly id: string;
}

/** Reads the ids of a config. @throws `configuration` for one that is no text */
export function idsOf(config: RunnableConfig): ConfiguredIds {
  const { configurable = {} } = config;
  const id: unknown = getCheckpointId(config);
  return {
    thread: textOf(configurable["thread_id"], "thread_id"),
    namespace: textOf(configurable["checkpoint_ns"], "checkpoint_ns"),
    id: textOf(id, "checkpoint_id") ?? "",
  };
}

/** The thread and namespace of a config; `undefined` without a thread. */
export function scopeOf(config: RunnableConfig): CheckpointScope | undefined {
  const { thread, namespace = "" } = idsOf(config);
  return thread === undefined ? undefined : { thread, namespace };
}

/** Where a new checkpoint goes, and which one it follows. @throws `configuration` without a thread */
export function placeOf(
  config: RunnableConfig,
  checkpointId: unknown,
): { readonly place: CheckpointPlace; readonly parentId: string | undefined } {
  const { thread, namespace = "", id } = idsOf(config);
  assertName(thread, "configurable.thread_id");
  assertName(checkpointId, "checkpoint.id");
  return { place: { thread, namespace, id: checkpointId }, parentId: id === "" ? undefined : id };
}

/** The checkpoint that a config names. @throws `configuration` when it names none */
export function requiredPlace(config: RunnableConfig): CheckpointPlace {
  const { id } = idsOf(config);
  assertName(id, "configurable.checkpoint_id");
  return placeOf(config, id).place;
}

/** A config that names a checkpoint. */
export function configOf({ thread, namespace, id }: CheckpointPlace): RunnableConfig {
  return { configurable: { thread_id: thread, checkpoint_ns: namespace, checkpoint_id: id } };
}

/** True when the metadata has all members of the filter, equal in every part. */
export function matches(metadata: unknown, filter: Readonly<Record<string, unknown>>): boolean {
  const members: Readonly<Record<string, unknown>> = Object(metadata);
  return Object.entries(filter).every(([name, value]) => JSON.stringify(members[name]) === JSON.stringify(value));
}

function textOf(value: unknown, field: string): string | undefined {
  if (value !== undefined && typeof value !== "string") {
    throw configurationError(`configurable.${field}`, "must be a string");
  }
  return value;
}

import { createHash } from "node:crypto";
import { configurationError, type Tags } from "@agentfw/core";
import { LIMITS } from "../limits.ts";

/** Where a checkpoint is. */
export interface CheckpointPlace {
  readonly thread: string;
  readonly namespace: string;
  readonly id: string;
}

/** A thread and namespace, without a checkpoint. */
export type CheckpointScope = Omit<CheckpointPlace, "id">;

/** What an item is. */
export type ItemKind = "checkpoint" | "writes" | "part";

/** The key of a checkpoint's item. */
export function checkpointKey(place: CheckpointPlace): string {
  return `c1/${scopeHash(place)}/${hashOf(place.id)}`;
}

/** The key of what one task wrote for a checkpoint. */
export function writesKey(place: CheckpointPlace, taskId: string): string {
  return `w1/${scopeHash(place)}/${hashOf(place.id)}/${hashOf(taskId)}`;
}

/** The key of a piece of a value that is too large for the item that it belongs to. */
export function partKey(scope: CheckpointScope, group: string, part: number): string {
  return `p1/${scopeHash(scope)}/${group}/${part}`;
}

/** What an item can be listed by. The id is in clear, because which checkpoint is newest goes by it. */
export function itemTags(kind: ItemKind, scope: CheckpointScope, id: string): Tags {
  if (id.length > LIMITS.tagValueLength) {
    throw configurationError("checkpoint_id", `must have at most ${LIMITS.tagValueLength} characters`);
  }
  return { agentfw: kind, thread: hashOf(scope.thread), scope: scopeHash(scope), checkpoint: id };
}

/** What is listed where not all is known: a thread, or a thread and a namespace. */
export function searchTags(kind: ItemKind, thread: string | undefined, namespace: string | undefined): Tags {
  return {
    agentfw: kind,
    ...(thread === undefined ? {} : { thread: hashOf(thread) }),
    ...(thread === undefined || namespace === undefined ? {} : { scope: scopeHash({ thread, namespace }) }),
  };
}

/** What all items of a thread carry. */
export function threadTags(thread: string): Tags {
  return { thread: hashOf(thread) };
}

function scopeHash({ thread, namespace }: CheckpointScope): string {
  return hashOf(JSON.stringify([thread, namespace]));
}

/** 128 bits: a name of any length and with any characters, in a key of at most 128 characters. */
function hashOf(text: string): string {
  return createHash("sha256").update(JSON.stringify(text), "utf8").digest().subarray(0, 16).toString("base64url");
}

import type { HistoryKey, HistoryRecord, HistoryStore, Message } from "@agentfw/core";
import { LOADED_MESSAGES, messages, TurnSource } from "./conversation.ts";
import type { Operation } from "./measurement.ts";
import { assertLoaded } from "./provider-turns.ts";

/** Turns that are made before a block and appended in it. */
const TURNS_IN_A_BLOCK = 125;
/** As many of a conversation's records are appended at once when it is filled. */
const PIECE = 1000;

/** Messages as records, whose JSON text is there already. */
export function records(list: readonly Message[]): HistoryRecord[] {
  return list.map((message) => ({ id: message.messageId, data: JSON.stringify(message) }));
}

/** The key of a conversation that nobody owns. */
export function keyOf(session: string): HistoryKey {
  return { owner: null, source: "history", session };
}

/** Where turns of records are appended. */
export interface Target {
  /** Makes ready for a block of turns: a conversation that is as long as it is said to be. */
  prepare(): Promise<unknown>;
  append(added: readonly HistoryRecord[]): Promise<unknown>;
}

/** Appends turns whose records were made before the block. */
export function appendingRecords(name: string, { prepare, append }: Target): Operation {
  const turns = new TurnSource();
  let ready: HistoryRecord[][] = [];
  return {
    name,
    maxOperations: TURNS_IN_A_BLOCK,
    prepare: async () => {
      await prepare();
      ready = Array.from({ length: TURNS_IN_A_BLOCK }, () => {
        const { user, assistant } = turns.next();
        return records([user, assistant]);
      });
    },
    operation: () => append(ready.pop() ?? []),
  };
}

/** Loads the newest records of a conversation that a store was filled with. */
export async function loadingRecords(store: HistoryStore, name: string, count: number): Promise<Operation> {
  const key = keyOf(String(count));
  await inPieces(count, (piece) => store.append(key, piece));
  return {
    name,
    operation: async () => assertLoaded((await store.read(key, { last: LOADED_MESSAGES })).records.length),
  };
}

/** Appends the records of the first messages, many at once. */
export async function inPieces(
  count: number,
  append: (piece: readonly HistoryRecord[]) => Promise<unknown>,
): Promise<void> {
  const all = records(messages(count));
  for (let start = 0; start < all.length; start += PIECE) {
    await append(all.slice(start, start + PIECE));
  }
}

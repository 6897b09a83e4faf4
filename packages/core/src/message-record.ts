import { copyPlain } from "./json.ts";
import type { Message } from "./message.ts";
import { messageFromJson } from "./message-codec.ts";
import type { HistoryRecord } from "./ports/history-types.ts";

/** What was read from records that cannot change: a store in memory hands the same ones out again and again. */
const remembered = new WeakMap<HistoryRecord, Message>();

/** The message whose JSON a record holds; nobody else has it. @throws when it holds something else. */
export function messageFromRecord(record: HistoryRecord): Message {
  const known = remembered.get(record);
  if (known !== undefined) {
    return copyPlain(known);
  }
  const message = messageFromJson(JSON.parse(record.data));
  if (Object.isFrozen(record)) {
    remembered.set(record, copyPlain(message));
  }
  return message;
}

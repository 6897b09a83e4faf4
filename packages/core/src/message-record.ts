import { copyPlain } from "./json.ts";
import type { Message } from "./message.ts";
import type { HistoryRecord } from "./ports/history-types.ts";

/**
 * A record that cannot change and knows the message in it, so that within a process no text is parsed that was just
 * written, nor twice. Whoever makes one vouches that `data` is one well-formed JSON text on one line.
 */
export class KnownRecord implements HistoryRecord {
  readonly id: string;
  readonly data: string;
  #message: Message | undefined;

  /** @param message What reading `data` would give. The record keeps it for itself. */
  constructor(id: string, data: string, message?: Message) {
    this.id = id;
    this.data = data;
    this.#message = message;
    Object.freeze(this);
  }

  /** True for what the constructor made; what merely has its prototype may change, and hold anything. */
  static is(record: object): record is KnownRecord {
    return #message in record;
  }

  /** The message in a record, which nobody else has; `read` is asked for what no record knows yet. */
  static messageOf(record: HistoryRecord, read: (data: string) => Message): Message {
    if (!KnownRecord.is(record)) {
      return read(record.data);
    }
    record.#message ??= read(record.data);
    return copyPlain(record.#message);
  }
}

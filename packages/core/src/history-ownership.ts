import type { Message } from "./message.ts";
import type { MessageLog } from "./message-log.ts";

/**
 * True when what the model said is what was stored, after an append that skipped messages because their ids are stored.
 * Input that is sent again may be older than the window, and a result may have been stored by a process that was slower;
 * what the model said is this run's alone, and another attempt at it may have stored its own under the same id.
 *
 * The store tells how many messages it added and not which. They stand behind those that were there before, so of the
 * messages of the append they are the newest: that is what is read, mostly in one page. Where fewer are left, a limit of the
 * store or somebody's clear took some since, and nothing is known of what is missing.
 */
export async function isOurs(
  log: MessageLog,
  messages: readonly Message[],
  appended: number,
  produced: readonly Message[],
): Promise<boolean> {
  const said = messages.filter((message) => message.role === "assistant" && produced.includes(message));
  if (said.length === 0) {
    return true;
  }
  const added = await newestOf(log, new Set(messages.map(({ messageId }) => messageId)), appended);
  return added.size < appended || said.every(({ messageId }) => added.has(messageId));
}

/** The newest stored ids among these, so many of them. */
async function newestOf(log: MessageLog, ids: ReadonlySet<string>, count: number): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  let before: string | undefined;
  do {
    const page = await log.read({ last: ids.size, before });
    for (const { messageId } of page.messages.toReversed()) {
      if (found.size < count && ids.has(messageId)) {
        found.add(messageId);
      }
    }
    before = page.older;
  } while (before !== undefined && found.size < count);
  return found;
}

import { expectClosed } from "../closing.ts";
import { endings, ensure, expectError, present, same } from "../expect.ts";
import { jsonOfSize } from "../texts.ts";
import { conversation, everyCall, expectStored, type HistoryClause, record, records } from "./support.ts";

const SECRET = "c0ffee-secret-c0ffee";

/** What a store owes to what is around it. */
export const boundaryClauses: readonly HistoryClause[] = [
  {
    id: "H85",
    title: "close leaves a client that was passed in open",
    contract: "HistoryStore 16",
    reason: "The application shares its client with everything else.",
    requires: { hooks: ["sharedClient"] },
    async run(trial) {
      const opened = await trial.open();
      const shared = await present(opened.sharedClient?.(), "sharedClient()");
      await shared.store.append(conversation(), records("a", 1));
      await expectStored(shared.store, conversation(), records("a", 1), "a store over a client that was passed in");
      await shared.store.close?.();
      same(await shared.isClientOpen(), true, "the client works after the store's close()");
    },
  },
  {
    id: "H95",
    title: "a call after close is refused, and close can be called again",
    contract: "HistoryStore 16",
    reason:
      "A store that opens again by itself keeps a program from ending, and one that answers nothing loses the conversation.",
    async run(trial) {
      const opened = await trial.open();
      const { store } = opened;
      await store.append(conversation(), records("a", 1));
      await expectClosed(trial, store, everyCall(store));
      const other = await opened.another?.();
      if (other !== undefined) {
        await expectStored(other, conversation(), records("a", 1), "calls after close() change nothing");
      }
    },
  },
  {
    id: "H86",
    title: "error messages carry neither the owner nor what is stored",
    contract: "Secrets and trust",
    reason: "Errors go to logs, and to people who must not read the conversation.",
    async run(trial) {
      const { store } = await trial.open();
      const key = conversation("session-1", { owner: SECRET });
      const text = JSON.stringify({ text: SECRET });
      await store.append(key, [record("a-0", text), record("a-1", text)]);
      const { maxRecordBytes } = store.capabilities;
      const large = maxRecordBytes > 8_000_000 ? [] : [record("large", jsonOfSize(maxRecordBytes + 1))];
      const ended = await endings<unknown>([
        store.append(key, [record("b", `{${SECRET}`)]),
        store.append(key, [record("b", `"${SECRET}\n"`)]),
        store.append(key, [record("b", text), record("b", text)]),
        store.append({ ...key, session: "" }, [record("b", text)]),
        store.append(key, [record("b", text), ...large], { ifVersion: "no such version" }),
        store.read(key, { last: 1, before: "no such cursor" }),
      ]);
      for (const { error } of ended) {
        if (error !== undefined) {
          const { message } = expectError(error, "each of these calls, where it rejects");
          ensure(!message.includes(SECRET), "an error message carries no owner and no stored text");
        }
      }
    },
  },
];

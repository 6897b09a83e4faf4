import { same } from "../expect.ts";
import { conversation, expectStored, type HistoryClause, records } from "./support.ts";

/** Removing one conversation, and only that. */
export const clearClauses: readonly HistoryClause[] = [
  {
    id: "H49",
    title: "clear removes exactly that conversation, whatever characters its key holds",
    contract: "HistoryStore 5",
    reason: "A key used as a pattern deletes the conversations of others.",
    async run(trial) {
      const { store } = await trial.open();
      const bystanders = [
        conversation("abc"),
        conversation("abc", { source: "audit" }),
        conversation("abc", { owner: null }),
        conversation("ABC"),
        conversation("a"),
        conversation("abcd"),
        conversation("x/abc"),
      ];
      for (const key of bystanders) {
        await store.append(key, records("kept", 2));
      }
      for (const session of ["*", "a*", "?bc", "[a-z]bc", "%", "_bc", "a\\*", "abc*", "{abc}", ".", "x"]) {
        await store.append(conversation(session), records("gone", 2));
        await store.clear(conversation(session));
        await expectStored(store, conversation(session), [], `the cleared session ${session}`);
      }
      for (const over of [{ owner: "*" }, { owner: "" }, { source: "*" }, { source: "%" }]) {
        await store.clear(conversation("abc", over));
      }
      for (const [index, key] of bystanders.entries()) {
        await expectStored(store, key, records("kept", 2), `bystander ${index} after all clears`);
      }
    },
  },
  {
    id: "H50",
    title: "clear can be repeated, and the conversation that comes after it is a new one",
    contract: "HistoryStore 2, 5",
    reason: "What was cleared must not come back, nor keep the same messages from being stored again.",
    async run(trial) {
      const { store } = await trial.open();
      await store.append(conversation(), records("a", 3));
      await store.clear(conversation());
      await store.clear(conversation());
      const { version, records: none } = await store.read(conversation());
      same(none.length, 0, "the number of records after two clears");
      same(version, "", "the version after two clears");
      const { appended } = await store.append(conversation(), records("a", 2));
      same(appended, 2, "appended of ids that were stored before the clear");
      await expectStored(store, conversation(), records("a", 2), "the conversation after the clear");
    },
  },
];

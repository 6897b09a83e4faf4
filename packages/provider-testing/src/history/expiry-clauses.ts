import { ensure, expectCode, same, sameList } from "../expect.ts";
import { withLifetime } from "../lifetime.ts";
import { show } from "../show.ts";
import { conversation, expectStored, type HistoryClause, record, records } from "./support.ts";

const CAPABILITIES = { capabilities: ["ttl"] };

/** Time to live belongs to the conversation. */
export const expiryClauses: readonly HistoryClause[] = [
  {
    id: "H67",
    title: "ttlSeconds works where ttl is declared, and is refused where it is not or makes no sense",
    contract: "HistoryStore 7, 17",
    reason: "Data that should be gone and is not is a breach; data that should stay and is gone is a loss.",
    async run(trial) {
      if (!trial.declares("ttl")) {
        await expectCode(trial.open({ ttlSeconds: 60 }), "open() with ttlSeconds", "unsupported", "configuration");
        return;
      }
      for (const ttlSeconds of [0, -1, Number.NaN]) {
        await expectCode(trial.open({ ttlSeconds }), `open() with ttlSeconds ${ttlSeconds}`, "configuration");
      }
      await withLifetime(trial, async ({ store }, { pass }) => {
        await store.append(conversation(), records("a", 2));
        await expectStored(store, conversation(), records("a", 2), "a young conversation");
        await pass(1.2);
        await expectStored(store, conversation(), [], "an expired conversation");
      });
    },
  },
  {
    id: "H68",
    title: "each write renews the whole conversation, so it never expires in part",
    contract: "HistoryStore 7",
    reason: "A conversation that loses its beginning while it goes on is a different conversation.",
    requires: CAPABILITIES,
    async run(trial) {
      await withLifetime(trial, async ({ store }, { pass }) => {
        const stored = [];
        for (let turn = 0; turn < 4; turn += 1) {
          const batch = records(`turn-${turn}`, 2);
          await store.append(conversation(), batch);
          stored.push(...batch);
          await pass(0.6);
          await expectStored(store, conversation(), stored, `${(turn + 1) * 0.6} lives after the first write`);
        }
        await pass(0.6);
        await expectStored(store, conversation(), [], "1.2 lives after the last write");
      });
    },
  },
  {
    id: "H69",
    title: "a replace renews the conversation",
    contract: "HistoryStore 7, 11",
    reason: "A compaction is a write.",
    requires: { capabilities: ["ttl", "replace"] },
    async run(trial) {
      await withLifetime(trial, async ({ store }, { pass }) => {
        await store.append(conversation(), records("a", 3));
        await pass(0.6);
        await store.replace?.(conversation(), { fromId: "a-0", throughId: "a-1" }, [record("summary")]);
        await pass(0.6);
        await expectStored(store, conversation(), [record("summary"), record("a-2")], "0.6 lives after the replace");
      });
    },
  },
  {
    id: "H70",
    title: "reading does not renew a conversation",
    contract: "HistoryStore 7",
    reason: "A page that someone keeps open must not keep the data for ever.",
    requires: CAPABILITIES,
    async run(trial) {
      await withLifetime(trial, async ({ store }, { pass }) => {
        await store.append(conversation(), records("a", 2));
        await pass(0.6);
        await store.read(conversation());
        await store.read(conversation(), { last: 1, withFirst: true });
        if (trial.declares("list")) {
          await store.list?.({ allOwners: true });
        }
        await pass(0.6);
        await expectStored(store, conversation(), [], "1.2 lives after the write, 0.6 after the last read");
      });
    },
  },
  {
    id: "H71",
    title: "an expired conversation is absent at once for every call, and the next one is new",
    contract: "HistoryStore 2, 6, 7",
    reason: "What is still on the disk is none of the caller's business.",
    requires: CAPABILITIES,
    async run(trial) {
      await withLifetime(trial, async ({ store }, { pass }) => {
        const { version: old } = await store.append(conversation(), records("a", 3));
        await pass(1.2);
        for (const options of [{}, { last: 2, withFirst: true }]) {
          const page = await store.read(conversation(), options);
          same(page.records.length, 0, "the number of records of an expired conversation");
          same(page.version, "", "the version of an expired conversation");
          same(page.first?.id, undefined, "first of an expired conversation");
        }
        if (trial.declares("conditionalAppend")) {
          const stale = store.append(conversation(), records("b", 1), { ifVersion: old });
          await expectCode(stale, "an append under the version of an expired conversation", "conflict");
        }
        const { version, appended } = await store.append(conversation(), records("a", 2));
        same(appended, 2, "appended of ids that the expired conversation held");
        ensure(version !== old && version !== "", "the version of the new conversation is new", version);
        await expectStored(store, conversation(), records("a", 2), "the new conversation");
      });
    },
  },
  {
    id: "H72",
    title: "ids stay remembered as long as their records",
    contract: "HistoryStore 2, 7",
    reason: "An index of ids with an expiry of its own lets a late retry store everything twice.",
    requires: CAPABILITIES,
    async run(trial) {
      await withLifetime(trial, async ({ store }, { pass }) => {
        await store.append(conversation(), records("a", 2));
        await pass(0.6);
        await store.append(conversation(), records("b", 2));
        await pass(0.6);
        const { appended } = await store.append(conversation(), records("a", 2));
        same(appended, 0, "appended of a retry 1.2 lives after its records, which were renewed meanwhile");
        const expected = [...records("a", 2), ...records("b", 2)];
        await expectStored(store, conversation(), expected, "after the retry");
      });
    },
  },
  {
    id: "H73",
    title: "conversations expire one by one, and list never gives an expired one",
    contract: "HistoryStore 7, 15",
    reason: "A list of sessions that cannot be opened is a list of errors.",
    requires: { capabilities: ["ttl", "list"] },
    async run(trial) {
      await withLifetime(trial, async ({ store }, { pass }) => {
        await store.append(conversation("early"), records("a", 1));
        await pass(0.6);
        await store.append(conversation("late"), records("a", 1));
        await pass(0.6);
        const { items, cursor } = (await store.list?.({ owner: "owner-1" })) ?? { items: [] };
        sameList(
          items.map(({ key }) => key.session),
          ["late"],
          "the sessions that are listed after the first one expired",
        );
        same(cursor, undefined, `the cursor after the only item (${show(items)})`);
        await expectStored(store, conversation("late"), records("a", 1), "the conversation that is still there");
      });
    },
  },
];

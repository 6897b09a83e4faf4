import type { HistoryStore } from "@agentfw/core";
import { endings, ensure, expectCode, expectError, present, same } from "../expect.ts";
import { show } from "../show.ts";
import { conversation, expectStored, expectWholeBatches, type HistoryClause, records } from "./support.ts";

/** Versions, and appends that depend on them. */
export const versionClauses: readonly HistoryClause[] = [
  {
    id: "H34",
    title: "each append that adds something gives a new version, which read gives too",
    contract: "HistoryStore 6",
    reason: "Whoever compares versions must notice every write.",
    async run(trial) {
      const { store } = await trial.open();
      const seen = new Set([""]);
      for (let turn = 0; turn < 20; turn += 1) {
        const { version, appended } = await store.append(conversation(), records(`turn-${turn}`, 1 + (turn % 3)));
        same(appended, 1 + (turn % 3), "appended of new records");
        ensure(!seen.has(version), 'a version is new with every append, and never ""', version);
        seen.add(version);
        for (const options of [{}, { last: 1 }]) {
          same((await store.read(conversation(), options)).version, version, "the version that is read");
        }
      }
    },
  },
  {
    id: "H35",
    title: "versions do not come back after a clear",
    contract: "HistoryStore 6",
    reason: "A writer that slept through a clear must not append to the conversation that came after it.",
    async run(trial) {
      const { store } = await trial.open();
      const seen = new Set<string>();
      for (let life = 0; life < 4; life += 1) {
        for (let turn = 0; turn < 3; turn += 1) {
          // The same ids and sizes in each life: a version made of those alone repeats.
          const { version, appended } = await store.append(conversation(), records(`turn-${turn}`, 2));
          same(appended, 2, life === 0 ? "appended of new records" : "appended of ids that a clear removed");
          ensure(!seen.has(version), "a version of an earlier life does not come back", version);
          seen.add(version);
        }
        await store.clear(conversation());
        same((await store.read(conversation())).version, "", "the version after a clear");
      }
    },
  },
  {
    id: "H36",
    title: "ifVersion is honored where conditionalAppend is declared, and refused where it is not",
    contract: "HistoryStore 6, 17",
    reason: "A condition that is silently ignored is worse than none.",
    async run(trial) {
      const { store } = await trial.open();
      const { version } = await store.append(conversation(), records("a", 1));
      const call = store.append(conversation(), records("b", 1), { ifVersion: version });
      if (trial.declares("conditionalAppend")) {
        same((await call).appended, 1, "appended under the current version");
        await expectStored(store, conversation(), [...records("a", 1), ...records("b", 1)], "the conditional append");
      } else {
        await expectCode(call, "ifVersion without conditionalAppend", "unsupported");
        await expectStored(store, conversation(), records("a", 1), "a refused call writes nothing");
      }
    },
  },
  {
    id: "H37",
    title: "an append under an old version is a conflict that carries the current version and writes nothing",
    contract: "HistoryStore 6",
    reason: "The caller reads again and decides anew; nothing of the refused turn may be stored.",
    requires: { capabilities: ["conditionalAppend"] },
    async run(trial) {
      const { store } = await trial.open();
      const old = await store.append(conversation(), records("a", 1));
      const { version } = await store.append(conversation(), records("b", 1));
      await store.append(conversation("other"), records("c", 1));
      for (const ifVersion of [old.version, "", "no such version"]) {
        const call = store.append(conversation(), records("refused", 2), { ifVersion });
        const error = await expectCode(call, `ifVersion ${show(ifVersion)}`, "conflict");
        same(error.currentVersion, version, "currentVersion of the conflict");
      }
      // A part that is stored already does not carry the rest past the condition.
      const partly = [...records("a", 1), ...records("refused", 2)];
      const call = store.append(conversation(), partly, { ifVersion: old.version });
      await expectCode(call, "a partly stored append under an old version", "conflict");
      await expectStored(store, conversation(), [...records("a", 1), ...records("b", 1)], "after the conflicts");
    },
  },
  {
    id: "H38",
    title: "ids are judged before ifVersion, so a retry never conflicts with itself",
    contract: "HistoryStore 2, 6",
    reason: "The first try moved the version; its retry still carries the old one.",
    requires: { capabilities: ["conditionalAppend"] },
    async run(trial) {
      const { store } = await trial.open();
      const { version } = await store.append(conversation(), records("a", 1));
      const first = await store.append(conversation(), records("b", 2), { ifVersion: version });
      const retry = await store.append(conversation(), records("b", 2), { ifVersion: version });
      same(retry.appended, 0, "appended of the retry");
      same(retry.version, first.version, "the version of the retry");
      const fresh = await store.append(conversation("fresh"), records("c", 1), { ifVersion: "" });
      const again = await store.append(conversation("fresh"), records("c", 1), { ifVersion: "" });
      same(again.version, fresh.version, "the version of a retried first append");
    },
  },
  {
    id: "H39",
    title: 'ifVersion "" appends only where there is no conversation, also after a clear',
    contract: "HistoryStore 6",
    reason: "Of two callers that start one conversation, the second must hear of the first.",
    requires: { capabilities: ["conditionalAppend"] },
    async run(trial) {
      const { store } = await trial.open();
      const { version } = await store.append(conversation(), records("a", 1), { ifVersion: "" });
      const call = store.append(conversation(), records("b", 1), { ifVersion: "" });
      const error = await expectCode(call, 'ifVersion "" on a conversation', "conflict");
      same(error.currentVersion, version, "currentVersion of the conflict");
      await store.clear(conversation());
      const stale = store.append(conversation(), records("c", 1), { ifVersion: version });
      await expectCode(stale, "a version from before the clear", "conflict");
      await store.append(conversation(), records("d", 1), { ifVersion: "" });
      await expectStored(store, conversation(), records("d", 1), "the new life of the conversation");
    },
  },
  {
    id: "H40",
    title: "of 20 conditional appends at once exactly one wins",
    contract: "HistoryStore 6",
    reason: "A check and a write in two steps lets both through.",
    requires: { capabilities: ["conditionalAppend"] },
    async run(trial) {
      const { store } = await trial.open();
      await expectOneWinner([store], "");
      const { version } = await store.read(conversation());
      await expectOneWinner([store], version);
    },
  },
  {
    id: "H41",
    title: "of 20 conditional appends at once through two stores exactly one wins",
    contract: "HistoryStore 6",
    reason: "The check must be made where the data is, not in the process that asks.",
    requires: { capabilities: ["conditionalAppend", "processes"], hooks: ["another"] },
    async run(trial) {
      const opened = await trial.open();
      const stores = [opened.store, await present(opened.another?.(), "another()")];
      await expectOneWinner(stores, "");
      const { version } = await opened.store.read(conversation());
      await expectOneWinner(stores, version);
    },
  },
];

/** Lets 20 appends depend on one version. */
async function expectOneWinner(stores: readonly HistoryStore[], ifVersion: string): Promise<void> {
  const before = await present(stores[0], "a store").read(conversation());
  const batches = Array.from({ length: 20 }, (_, index) => records(`after-${ifVersion}-${index}`, 2));
  const ended = await endings(
    batches.map((batch, index) =>
      present(stores[index % stores.length], "a store").append(conversation(), batch, { ifVersion }),
    ),
  );
  const won = batches.filter((_, index) => ended[index]?.error === undefined);
  same(won.length, 1, `the number of appends that won under version ${show(ifVersion)}`);
  for (const { error } of ended) {
    if (error !== undefined) {
      expectError(error, "every other append", "conflict");
    }
  }
  for (const store of stores) {
    const { records: stored } = await store.read(conversation());
    expectWholeBatches(stored.slice(before.records.length), won, "only the winner is stored");
  }
}

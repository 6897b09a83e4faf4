import { ensure, expectCode, present, same } from "../expect.ts";
import { JSON_TEXTS, jsonOfSize } from "../texts.ts";
import { conversation, expectStored, type HistoryClause, record, records } from "./support.ts";

const STORED = records("a", 5);

const RANGE = { fromId: "a-1", throughId: "a-3" };

/** What a replace depends on, and what it refuses. */
export const replaceConditionClauses: readonly HistoryClause[] = [
  {
    id: "H65",
    title: "replace under an old version is a conflict that carries the current version and changes nothing",
    contract: "HistoryStore 6, 11",
    reason: "A summary that was made from an older history must not stand for a newer one.",
    requires: { capabilities: ["replace", "conditionalAppend"] },
    async run(trial) {
      const { store } = await trial.open();
      const old = await store.append(conversation(), STORED.slice(0, 4));
      const { version } = await store.append(conversation(), STORED.slice(4));
      for (const ifVersion of [old.version, ""]) {
        const call = store.replace?.(conversation(), RANGE, [record("new")], { ifVersion });
        const error = await expectCode(present(call, "replace()"), "replace under an old version", "conflict");
        same(error.currentVersion, version, "currentVersion of the conflict");
      }
      await expectStored(store, conversation(), STORED, "after the conflicts");
      const call = store.replace?.(conversation(), RANGE, [record("new")], { ifVersion: version });
      const replaced = await present(call, "replace()");
      const stale = store.append(conversation(), [record("late")], { ifVersion: version });
      const error = await expectCode(stale, "an append under the version before the replace", "conflict");
      same(error.currentVersion, replaced.version, "currentVersion after the replace");
    },
  },
  {
    id: "H66",
    title: "replace refuses malformed and oversized records before anything is changed",
    contract: "HistoryStore 3, 10, 11",
    reason: "A refused summary must not cost the turns that it was to replace.",
    requires: { capabilities: ["replace"] },
    async run(trial) {
      const { store } = await trial.open();
      const { version } = await store.append(conversation(), STORED);
      const bad = [[record("x", "{")], [record("x", '"a\nb"')], [record("")], [record("x"), record("x")]];
      for (const replacement of bad) {
        const call = store.replace?.(conversation(), RANGE, [record("new"), ...replacement]);
        await expectCode(present(call, "replace()"), "a malformed replacement", "configuration");
      }
      const { maxRecordBytes } = store.capabilities;
      if (maxRecordBytes <= 128 * 1024 * 1024) {
        const large = [record("new"), record("large", jsonOfSize(maxRecordBytes + 1))];
        const call = store.replace?.(conversation(), RANGE, large);
        await expectCode(present(call, "replace()"), "an oversized replacement", "too_large");
      }
      const page = await expectStored(store, conversation(), STORED, "after refused replacements");
      same(page.version, version, "the version after refused replacements");
      const texts = JSON_TEXTS.map((data, index) => record(`text-${index}`, data));
      await present(store.replace?.(conversation(), RANGE, texts), "replace()");
      const expected = [record("a-0"), ...texts, record("a-4")];
      const after = await expectStored(store, conversation(), expected, "data that was stored by a replace");
      ensure(after.version !== version, "a replace gives a new version", after.version);
    },
  },
];

import { ensure, expectCode, same } from "../expect.ts";
import { show } from "../show.ts";
import { INVENTED_CURSORS } from "../texts.ts";
import { conversation, expectRecords, type HistoryClause, readBackwards, record, records } from "./support.ts";

/** The newest records, and the way back from them. */
export const readClauses: readonly HistoryClause[] = [
  {
    id: "H42",
    title: "read with last gives the newest records, oldest first",
    contract: "HistoryStore 3",
    reason: "A model is shown the end of a long conversation, in its order.",
    async run(trial) {
      const { store } = await trial.open();
      const all = records("a", 30);
      await store.append(conversation(), all.slice(0, 7));
      await store.append(conversation(), all.slice(7));
      for (const last of [1, 2, 20, 29, 30, 31, 1_000]) {
        const page = await store.read(conversation(), { last });
        expectRecords(page.records, all.slice(-last), `the newest ${last} of 30`);
      }
    },
  },
  {
    id: "H43",
    title: "following older from page to page gives every record once",
    contract: "HistoryStore 3",
    reason: "A gap between two pages is a message that nobody sees; an overlap is one that is sent twice.",
    async run(trial) {
      const { store } = await trial.open();
      const all = records("a", 53);
      for (let start = 0; start < all.length; start += 5) {
        await store.append(conversation(), all.slice(start, start + 5));
      }
      for (const last of [1, 7, 10, 26, 53, 60]) {
        const { records: found, pages } = await readBackwards(store, conversation(), last);
        expectRecords(found, all, `all records in pages of ${last}`);
        same(pages, Math.ceil(all.length / last), `the number of pages of ${last}`);
      }
      const { older } = await store.read(conversation(), { last: 13 });
      const rest = await store.read(conversation(), { before: older });
      expectRecords(rest.records, all.slice(0, -13), "all records before a cursor");
    },
  },
  {
    id: "H44",
    title: "older is there when there are older records, and absent when there are none",
    contract: "HistoryStore 3",
    reason: "A cursor at the end sends a user interface to load nothing, again and again.",
    async run(trial) {
      const { store } = await trial.open();
      await store.append(conversation(), records("a", 10));
      for (const last of [10, 11, undefined]) {
        const { older } = await store.read(conversation(), { last });
        same(older, undefined, `older of a page that holds the first record (last: ${last})`);
      }
      const { older } = await store.read(conversation(), { last: 9 });
      ensure(typeof older === "string" && older !== "", "older of a page with one record before it", older);
      const page = await store.read(conversation(), { last: 5, before: older });
      expectRecords(page.records, records("a", 1), "the last page");
      same(page.older, undefined, "older of the last page");
    },
  },
  {
    id: "H45",
    title: "appends during paging do not shift the pages",
    contract: "HistoryStore 3",
    reason: "A cursor that counts from the end repeats records as soon as someone answers.",
    async run(trial) {
      const { store } = await trial.open();
      const all = records("a", 24);
      await store.append(conversation(), all);
      let { records: found, older: before } = await store.read(conversation(), { last: 5 });
      for (let turn = 0; before !== undefined; turn += 1) {
        await store.append(conversation(), records(`meanwhile-${turn}`, 3));
        const page = await store.read(conversation(), { last: 5, before });
        found = [...page.records, ...found];
        before = page.older;
        ensure(turn < 100, "paging back must come to an end");
      }
      expectRecords(found, all, "the records that were there when paging began");
    },
  },
  {
    id: "H46",
    title: "withFirst gives the first record of the conversation beside any page",
    contract: "HistoryStore 3; HistoryProvider",
    reason: "A stored system message must be there however long the conversation has become.",
    async run(trial) {
      const { store } = await trial.open();
      const all = [record("system"), ...records("a", 40)];
      await store.append(conversation(), all.slice(0, 1));
      const { version } = await store.append(conversation(), all.slice(1));
      for (const last of [1, 10, 41, undefined]) {
        const { first, records: found, ...rest } = await store.read(conversation(), { last, withFirst: true });
        same(rest.version, version, `the version beside a page of ${last} and the first record`);
        expectRecords(first === undefined ? [] : [first], all.slice(0, 1), `first beside a page of ${last}`);
        expectRecords(found, last === undefined ? all : all.slice(-last), `the page of ${last} itself`);
      }
      const { older } = await store.read(conversation(), { last: 10 });
      const page = await store.read(conversation(), { last: 10, before: older, withFirst: true });
      same(page.first?.id, "system", "first beside an older page");
      same(page.version, version, "the version beside an older page");
    },
  },
  {
    id: "H47",
    title: "malformed read options are refused",
    contract: "HistoryStore 3",
    reason: "last: 0 or NaN must not mean all, nor nothing.",
    async run(trial) {
      const { store } = await trial.open();
      await store.append(conversation(), records("a", 3));
      for (const last of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "5", null]) {
        const call = Reflect.apply(store.read, store, [conversation(), { last }]);
        await expectCode(call, `last: ${typeof last === "number" ? last : show(last)}`, "configuration");
      }
      for (const options of [
        { before: "" },
        { before: 3 },
        { onCorrupt: "ignore" },
        { onCorrupt: null },
        { withFirst: "no" },
      ]) {
        const call = Reflect.apply(store.read, store, [conversation(), options]);
        await expectCode(call, show(options), "configuration");
      }
    },
  },
  {
    id: "H48",
    title: "a cursor that the store never gave is refused, not answered with an empty page",
    contract: "HistoryStore 3, 4",
    reason: "A failure is never an empty answer.",
    async run(trial) {
      const { store } = await trial.open();
      await store.append(conversation(), records("a", 10));
      for (const before of INVENTED_CURSORS) {
        const call = store.read(conversation(), { last: 5, before });
        await expectCode(call, `before: ${show(before)}`, "configuration", "conflict", "not_found");
      }
    },
  },
];

import type { HistoryKey, HistoryList, HistoryListFilter, HistoryListOptions, HistoryStore } from "@agentfw/core";
import { all, ensure, expectCode, present, same, sameList } from "../expect.ts";
import { show } from "../show.ts";
import { INVENTED_CURSORS } from "../texts.ts";
import { conversation, type HistoryClause, records } from "./support.ts";

const CAPABILITIES = { capabilities: ["list"] };

/** Keys over three owners and two sources. */
const KEYS: readonly HistoryKey[] = [
  ...["s1", "s2", "s3"].map((session) => conversation(session)),
  conversation("s1", { source: "audit" }),
  conversation("s1", { owner: "owner-2" }),
  conversation("s1", { owner: null }),
  conversation("s2", { owner: null, source: "audit" }),
  conversation("s1", { owner: "" }),
  conversation("s1", { owner: "null" }),
  conversation("s1", { owner: "owner-" }),
  conversation("s1", { owner: "owner-1:main" }),
];

/** Paging over conversations. */
export const listClauses: readonly HistoryClause[] = [
  {
    id: "H78",
    title: "list works where it is declared, and is refused where it is not or without an owner",
    contract: "HistoryStore 15, 17",
    reason: "A forgotten owner must not list the conversations of all tenants.",
    async run(trial) {
      const { store } = await trial.open();
      await store.append(conversation(), records("a", 1));
      const call = store.list?.({ owner: "owner-1" });
      if (!trial.declares("list")) {
        if (call !== undefined) {
          await expectCode(call, "list without the capability", "unsupported");
        }
        return;
      }
      const { items } = await present(call, "list()");
      sameList(
        items.map(({ key }) => show(key)),
        [show(conversation())],
        "the conversations of the owner",
      );
      for (const filter of [
        {},
        undefined,
        { owner: undefined },
        { source: "main" },
        { allOwners: false },
        { owner: "owner-1", allOwners: false },
        { owner: "owner-1", allOwners: true },
        { owner: 7 },
      ]) {
        const refused = Reflect.apply(present(store.list, "list"), store, [filter]);
        await expectCode(refused, `list(${show(filter)})`, "configuration");
      }
    },
  },
  {
    id: "H79",
    title: "list gives exactly the conversations of the owner and source that are asked for",
    contract: "Identity; HistoryStore 15",
    reason: 'null is not "", and an owner whose name begins alike is another owner.',
    requires: CAPABILITIES,
    async run(trial) {
      const { store } = await trial.open();
      await all(KEYS.map((key) => store.append(key, records("a", 1))));
      const filters: HistoryListFilter[] = [
        { owner: "owner-1" },
        { owner: "owner-1", source: "main" },
        { owner: "owner-1", source: "audit" },
        { owner: null },
        { owner: "" },
        { owner: "null" },
        { owner: "nobody" },
        { owner: "*" },
        { allOwners: true },
        { allOwners: true, source: "audit" },
      ];
      for (const filter of filters) {
        const expected = KEYS.filter(
          (key) =>
            ("allOwners" in filter || key.owner === filter.owner) &&
            (filter.source === undefined || key.source === filter.source),
        );
        sameList(
          (await listAll(store, filter)).map(keyText).sort(),
          expected.map(keyText).sort(),
          `list(${show(filter)})`,
        );
      }
    },
  },
  {
    id: "H80",
    title:
      "pages of a list give each conversation once, hold no more than the limit, and go on from given cursors only",
    contract: "HistoryStore 15",
    reason: "Store scans may return a key twice; callers must not have to know.",
    requires: CAPABILITIES,
    async run(trial) {
      const { store } = await trial.open();
      const sessions = Array.from({ length: 45 }, (_, index) => `session-${index}`);
      await all(sessions.map((session) => store.append(conversation(session), records("a", 2))));
      for (const limit of [1, 7, 44, 45, 46]) {
        const found = await listAll(store, { owner: "owner-1" }, limit);
        sameList(found.map(({ session }) => session).sort(), [...sessions].sort(), `all sessions in pages of ${limit}`);
      }
      const more = Array.from({ length: 60 }, (_, index) => `more-${index}`);
      await all(more.map((session) => store.append(conversation(session), records("a", 1))));
      const found = await listAll(store, { owner: "owner-1" });
      const sorted = [...sessions, ...more].sort();
      sameList(found.map(({ session }) => session).sort(), sorted, "all sessions in pages of the default size");
      for (const limit of [0, -1, 1.5, Number.NaN]) {
        const call = list(store, { owner: "owner-1" }, { limit });
        await expectCode(call, `list with limit ${limit}`, "configuration");
      }
      for (const cursor of INVENTED_CURSORS) {
        const call = list(store, { owner: "owner-1" }, { cursor });
        await expectCode(call, `list with the cursor ${show(cursor)}`, "configuration", "conflict", "not_found");
      }
    },
  },
  {
    id: "H81",
    title: "list follows what is written and cleared, and survives writes during paging",
    contract: "HistoryStore 5, 15",
    reason: "An index that is kept beside the data must not lie about it.",
    requires: CAPABILITIES,
    async run(trial) {
      const { store } = await trial.open();
      await store.append(conversation("empty"), []);
      for (let index = 0; index < 12; index += 1) {
        await store.append(conversation(`s${index}`), records("a", 1));
      }
      await store.clear(conversation("s3"));
      await store.clear(conversation("s7"));
      await store.append(conversation("s7"), records("b", 1));
      const staying = Array.from({ length: 12 }, (_, index) => `s${index}`).filter((name) => name !== "s3");
      sameList(
        (await listAll(store, { owner: "owner-1" })).map(({ session }) => session).sort(),
        [...staying].sort(),
        "the sessions after two clears and one new beginning",
      );
      let turn = 0;
      const during = await listAll(store, { owner: "owner-1" }, 3, async () => {
        turn += 1;
        await store.append(conversation(`new-${turn}`), records("a", 1));
        await store.append(conversation("s0"), records(`turn-${turn}`, 1));
      });
      const seen = during.map(({ session }) => session);
      same(new Set(seen).size, seen.length, "the number of different sessions in a list with writes during paging");
      sameList(
        seen.filter((name) => staying.includes(name)).sort(),
        [...staying].sort(),
        "the sessions that were there all the time",
      );
    },
  },
];

function keyText(key: HistoryKey): string {
  return JSON.stringify([key.owner, key.source, key.session]);
}

function list(store: HistoryStore, filter: HistoryListFilter, options: HistoryListOptions): Promise<HistoryList> {
  return present(store.list?.(filter, options), "list()");
}

/** All pages of a list. */
async function listAll(
  store: HistoryStore,
  filter: HistoryListFilter,
  limit?: number,
  betweenPages?: () => Promise<void>,
): Promise<HistoryKey[]> {
  const keys: HistoryKey[] = [];
  let cursor: string | undefined;
  for (let pages = 1; ; pages += 1) {
    const page = await list(store, filter, { limit, cursor });
    ensure(page.items.length <= (limit ?? 100), `a page holds at most ${limit ?? 100} items`, page.items.length);
    keys.push(...page.items.map(({ key }) => key));
    cursor = page.cursor;
    if (cursor === undefined) {
      return keys;
    }
    ensure(pages < 1_000, "the pages of a list must come to an end");
    await betweenPages?.();
  }
}

import type { HistoryKey, HistoryStore } from "@agentfw/core";
import { ensure, expectCode, present, sameList } from "../expect.ts";
import { show } from "../show.ts";
import { HOSTILE_NAMES, mayBeRefused } from "../texts.ts";
import { expectMembersRefused, expectOptionsRefused, NO_NUMBERS, NO_TEXTS } from "../wrong-options.ts";
import { conversation, expectStored, type HistoryClause, type HistoryTrial, record, records } from "./support.ts";

/** Owners that a careless encoding makes one of. */
const OWNERS: readonly (string | null)[] = [null, "", "null", "default", "t", "T", "t:1", "a/b", "*", "😀"];

/** Pairs that a delimiter between the parts makes one of. */
const SPLIT_KEYS: readonly HistoryKey[] = [
  { owner: "t", source: "main", session: "1:2" },
  { owner: "t:1", source: "main", session: "2" },
  { owner: "a", source: "b:main", session: "c" },
  { owner: "a:b", source: "main", session: "c" },
  { owner: "a", source: "b", session: "main/c" },
  { owner: "a", source: "b/main", session: "c" },
  { owner: "o", source: "s", session: "x" },
  { owner: "s", source: "o", session: "x" },
  { owner: null, source: "o", session: "s" },
  { owner: "o", source: "main", session: "s" },
];

/** Keys, ids and records as callers send them. */
export const inputClauses: readonly HistoryClause[] = [
  {
    id: "H14",
    title: "a key without a session, a source or a proper owner is refused by every call",
    contract: "Identity",
    reason: "A default key is one that all users share.",
    async run(trial) {
      const { store } = await trial.open();
      for (const part of ["session", "source", "owner"] as const) {
        for (const value of part === "owner" ? [undefined, 7] : ["", undefined, null, 7]) {
          const key = { ...conversation() };
          Object.assign(key, { [part]: value });
          await expectKeyRefused(store, key, `a key whose ${part} is ${show(value)}`);
        }
      }
      for (const key of [null, undefined, 7, "key", []]) {
        await expectKeyRefused(store, key, `a key that is ${show(key)}`);
      }
    },
  },
  {
    id: "H15",
    title: "sessions with any characters are kept apart, or refused where nothing can hold them",
    contract: "Identity; HistoryStore 5",
    reason: "A file name, a key pattern or a truncated column must not lead to another user's conversation.",
    async run(trial) {
      await expectKeptApart(
        trial,
        HOSTILE_NAMES.flatMap((session) => [conversation(session), conversation(session, { source: "audit" })]),
      );
    },
  },
  {
    id: "H16",
    title: "owners and sources with any characters are kept apart: null, empty, and parts that join to one text",
    contract: "Identity",
    reason: "Two tenants must never meet in one key.",
    async run(trial) {
      const owners = [...new Set([...OWNERS, ...HOSTILE_NAMES])];
      await expectKeptApart(trial, [
        ...owners.map((owner) => conversation("session-1", { owner })),
        ...HOSTILE_NAMES.map((source) => conversation("session-1", { source })),
        ...SPLIT_KEYS,
      ]);
    },
  },
  {
    id: "H17",
    title: "record ids with any characters are kept apart and come back as they were",
    contract: "HistoryStore 2, 3",
    reason: "Ids come from models and clients; a delimiter in one must not make it another.",
    async run(trial) {
      const { store } = await trial.open();
      const ids = [...HOSTILE_NAMES, "call-1/result", "1", "01", '"quoted"', "id|data"];
      const kept: string[] = [];
      for (const id of ids) {
        const one = record(id, JSON.stringify({ id }));
        const { appended } = await refusedOr(store.append(conversation(), [one]), [id], { version: "", appended: 0 });
        kept.push(...(appended === 1 ? [id] : []));
        ensure(appended === 1 || mayBeRefused(id), "an id is stored beside all others", id);
      }
      const { records: stored } = await store.read(conversation());
      sameList(
        stored.map(({ id, data }) => `${id} ${data}`),
        kept.map((id) => `${id} ${JSON.stringify({ id })}`),
        "ids and their data",
      );
    },
  },
  {
    id: "H18",
    title: "data that is not one JSON text on one line is refused before anything is written",
    contract: "HistoryStore 3",
    reason: "What is stored must be readable later, also by tools that read line by line.",
    async run(trial) {
      const { store } = await trial.open();
      await store.append(conversation(), records("a", 1));
      const bad = [
        record("x", ""),
        record("x", "{"),
        record("x", "undefined"),
        record("x", "{'a':1}"),
        record("x", '{"a":1}{"b":2}'),
        record("x", '{"a":\n1}'),
        record("x", '{"a":\r1}'),
        record("x", '{"a":1}\n'),
        record("x", '"\ud83d"'),
        { ...record("x"), data: undefined },
        { ...record("x"), data: { text: "not yet JSON" } },
      ];
      for (const one of bad) {
        const batch = [...records("b", 2), one];
        const call = Reflect.apply(store.append, store, [conversation(), batch]);
        await expectCode(call, `a record ${show(one)}`, "configuration");
      }
      await expectStored(store, conversation(), records("a", 1), "after refused appends");
    },
  },
  {
    id: "H19",
    title: "records without an id, or with one id twice, are refused before anything is written",
    contract: "HistoryStore 2",
    reason: "Everything that makes a retry safe goes by the id.",
    async run(trial) {
      const { store } = await trial.open();
      await store.append(conversation(), records("a", 1));
      for (const id of ["", undefined, null, 7]) {
        const batch = [...records("b", 2), { id, data: "{}" }];
        const call = Reflect.apply(store.append, store, [conversation(), batch]);
        await expectCode(call, `a record with the id ${show(id)}`, "configuration");
      }
      const twice = [...records("b", 2), record("b-0", '"again"')];
      await expectCode(store.append(conversation(), twice), "an id twice in one append", "configuration");
      const call = Reflect.apply(store.append, store, [conversation(), undefined]);
      await expectCode(call, "records that are no array", "configuration");
      for (const one of [null, undefined, 7, "record", []]) {
        const call = Reflect.apply(store.append, store, [conversation(), [one]]);
        await expectCode(call, `a record that is ${show(one)}`, "configuration");
      }
      await expectStored(store, conversation(), records("a", 1), "after refused appends");
    },
  },
  {
    id: "H88",
    title: "options that are no object, and members of them of the wrong type, are refused by every call",
    contract: "HistoryStore 3, 14",
    reason: "A limit, a condition or an owner that was passed wrongly must not be taken for none.",
    async run(trial) {
      const { store } = await trial.open();
      await store.append(conversation(), records("a", 1));
      const { replace, list } = store.capabilities;
      await expectOptionsRefused(store, [
        ["append", conversation(), records("b", 1)],
        ["append", conversation(), []],
        ["read", conversation()],
        ["clear", conversation()],
        ...(replace
          ? [["replace", conversation(), { fromId: "a-0", throughId: "a-0" }, records("b", 1)] as const]
          : []),
        ...(list ? [["list", { owner: null }] as const] : []),
      ]);
      await expectMembers(trial, store);
      await expectStored(store, conversation(), records("a", 1), "after refused calls");
    },
  },
];

/** Without the capability, what belongs to it is `unsupported`, whatever it is. */
async function expectMembers(trial: HistoryTrial, store: HistoryStore): Promise<void> {
  const codes = trial.declares("conditionalAppend") ? [] : (["unsupported"] as const);
  const condition = { ifVersion: NO_TEXTS };
  await expectMembersRefused(store, ["append", conversation(), records("b", 1)], condition, ...codes);
  if (trial.declares("replace")) {
    const range = { fromId: "a-0", throughId: "a-0" };
    await expectMembersRefused(store, ["replace", conversation(), range, records("b", 1)], condition, ...codes);
  }
  if (trial.declares("list")) {
    await expectMembersRefused(store, ["list", { owner: null }], { limit: NO_NUMBERS, cursor: NO_TEXTS });
    for (const source of NO_TEXTS) {
      const call = Reflect.apply(present(store.list, "list"), store, [{ owner: null, source }]);
      await expectCode(call, `list with the source ${show(source)}`, "configuration");
    }
  }
}

async function expectKeyRefused(store: HistoryStore, key: unknown, what: string): Promise<void> {
  const range = { fromId: "a", throughId: "a" };
  const { append, read, clear, replace } = store;
  const calls: Readonly<Record<string, () => Promise<unknown>>> = {
    append: () => Reflect.apply(append, store, [key, records("a", 1)]),
    "append of nothing": () => Reflect.apply(append, store, [key, []]),
    read: () => Reflect.apply(read, store, [key]),
    clear: () => Reflect.apply(clear, store, [key]),
    ...(store.capabilities.replace && replace !== undefined
      ? { replace: () => Reflect.apply(replace, store, [key, range, []]) }
      : {}),
  };
  for (const [name, call] of Object.entries(calls)) {
    await expectCode(call(), `${name} with ${what}`, "configuration");
  }
}

/** The result of a call that may refuse a hostile name, and then must do so as bad input. */
async function refusedOr<T>(call: Promise<T>, names: readonly string[], refused: T): Promise<T> {
  if (!names.some(mayBeRefused)) {
    return call;
  }
  const outcome = await call.then(
    (value) => ({ value }),
    async (error: unknown) => {
      await expectCode(Promise.reject(error), "a name that cannot be held", "configuration", "too_large");
      return { value: refused };
    },
  );
  return outcome.value;
}

/** Stores one text under each key, reads them all, replaces each where that is declared, then clears some. */
async function expectKeptApart(trial: HistoryTrial, keys: readonly HistoryKey[]): Promise<void> {
  const { store } = await trial.open();
  const kept: HistoryKey[] = [];
  for (const key of keys) {
    const one = record("m1", JSON.stringify(key));
    const names = [key.owner ?? "", key.source, key.session];
    const { appended } = await refusedOr(store.append(key, [one]), names, { version: "", appended: -1 });
    ensure(appended !== 0, "a key leads to a conversation of its own", key);
    if (appended === 1) {
      kept.push(key);
    }
  }
  const expectOwn = (key: HistoryKey, data: unknown) =>
    expectStored(store, key, [record("m1", JSON.stringify(data))], `the conversation of ${show(key)}`);
  for (const key of kept) {
    await expectOwn(key, key);
  }
  const isReplaced = trial.declares("replace");
  for (const key of isReplaced ? kept : []) {
    const range = { fromId: "m1", throughId: "m1" };
    await store.replace?.(key, range, [record("m1", JSON.stringify([key]))]);
  }
  // What is cleared lies between what is kept, so a clear that reaches too far meets something.
  const cleared = kept.filter((_, index) => index % 3 === 0);
  for (const key of cleared) {
    await store.clear(key);
    await expectStored(store, key, [], `the cleared conversation of ${show(key)}`);
  }
  for (const key of kept.filter((one) => !cleared.includes(one))) {
    await expectOwn(key, isReplaced ? [key] : key);
  }
}

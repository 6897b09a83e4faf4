import type { HistoryKey, HistoryRecord } from "@agentfw/core";
import { changed, MOMENTS, type Moment, silently, whileChanging } from "../changed-arguments.ts";
import { present, same, sameList } from "../expect.ts";
import { show } from "../show.ts";
import {
  conversation,
  expectRecords,
  expectStored,
  type HistoryClause,
  type HistoryTrial,
  records,
} from "./support.ts";

const ELSEWHERE = { owner: "owner-2", source: "audit", session: "elsewhere" };

/** What belongs to callers: their arguments, also while a call runs, and the results that they were given. */
export const argumentClauses: readonly HistoryClause[] = [
  {
    id: "H26",
    title: "what the caller does to arguments once a call has returned, and to results, changes nothing stored",
    contract: "HistoryStore 3",
    reason: "A caller that edits a loaded message, or fills one list again and again, must not edit the history.",
    async run(trial) {
      for (const moment of MOMENTS) {
        await expectAppendAsPassed(trial, moment);
        await expectReadAsPassed(trial, moment);
        await expectClearAsPassed(trial, moment);
        if (trial.declares("replace")) {
          await expectReplaceAsPassed(trial, moment);
        }
        if (trial.declares("list")) {
          await expectListAsPassed(trial, moment);
        }
      }
      await expectResultsUnshared(trial);
    },
  },
];

async function expectAppendAsPassed(trial: HistoryTrial, moment: Moment): Promise<void> {
  const { store } = await trial.open();
  const [key, mine, options] = [conversation(), records("a", 3), condition(trial, "")];
  const change = () => {
    tamper(mine);
    Object.assign(key, ELSEWHERE);
    Object.assign(options, { ifVersion: "changed", signal: AbortSignal.abort() });
  };
  const { appended } = await whileChanging(moment, "append", () => store.append(key, mine, options), change);
  const what = changed("append", moment);
  same(appended, 3, `${what}: appended`);
  await expectStored(store, conversation(), records("a", 3), what);
  await expectStored(store, ELSEWHERE, [], `${what}: the conversation that the key was changed to`);
}

async function expectReadAsPassed(trial: HistoryTrial, moment: Moment): Promise<void> {
  const { store } = await trial.open();
  await store.append(conversation(), records("a", 4));
  await store.append(ELSEWHERE, records("b", 4));
  const { older } = await store.read(conversation(), { last: 1 });
  const [key, options] = [conversation(), { last: 2, before: older, withFirst: true }];
  const change = () => {
    Object.assign(key, ELSEWHERE);
    const other = { last: 3, before: undefined, withFirst: false, onCorrupt: "changed", signal: AbortSignal.abort() };
    Object.assign(options, other);
  };
  const page = await whileChanging(moment, "read", () => store.read(key, options), change);
  const what = changed("read", moment);
  expectRecords(page.records, records("a", 3).slice(1), what);
  same(page.first?.id, "a-0", `${what}: first`);
}

async function expectClearAsPassed(trial: HistoryTrial, moment: Moment): Promise<void> {
  const { store } = await trial.open();
  await store.append(conversation(), records("a", 2));
  await store.append(ELSEWHERE, records("b", 2));
  const [key, options] = [conversation(), {}];
  const change = () => {
    Object.assign(key, ELSEWHERE);
    Object.assign(options, { signal: AbortSignal.abort() });
  };
  await whileChanging(moment, "clear", () => store.clear(key, options), change);
  const what = changed("clear", moment);
  await expectStored(store, conversation(), [], what);
  await expectStored(store, ELSEWHERE, records("b", 2), `${what}: the conversation that the key was changed to`);
}

async function expectReplaceAsPassed(trial: HistoryTrial, moment: Moment): Promise<void> {
  const { store } = await trial.open();
  await store.append(ELSEWHERE, records("a", 3));
  const { version } = await store.append(conversation(), records("a", 3));
  const [key, range, mine] = [conversation(), { fromId: "a-1", throughId: "a-1" }, records("r", 2)];
  const options = condition(trial, version);
  const change = () => {
    tamper(mine);
    Object.assign(key, ELSEWHERE);
    Object.assign(range, { fromId: "a-0", throughId: "a-2" });
    Object.assign(options, { ifVersion: "changed", signal: AbortSignal.abort() });
  };
  const call = async () => present(store.replace, "replace()").call(store, key, range, mine, options);
  await whileChanging(moment, "replace", call, change);
  const [first, , last] = records("a", 3);
  const expected = [present(first, "a record"), ...records("r", 2), present(last, "a record")];
  await expectStored(store, conversation(), expected, changed("replace", moment));
  await expectStored(store, ELSEWHERE, records("a", 3), `${changed("replace", moment)}: what the key was changed to`);
}

async function expectListAsPassed(trial: HistoryTrial, moment: Moment): Promise<void> {
  const { store } = await trial.open();
  const expected = ["s1", "s2", "s3"].map((session) => conversation(session));
  for (const key of [...expected, conversation("s4", { source: "audit" }), ELSEWHERE]) {
    await store.append(key, records("a", 1));
  }
  const found: HistoryKey[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < expected.length; pages += 1) {
    const [filter, options] = [
      { owner: "owner-1", source: "main" },
      { limit: 1, cursor },
    ];
    const change = () => {
      Object.assign(filter, { owner: "owner-2", source: "audit" });
      Object.assign(options, { limit: 100, cursor: undefined, signal: AbortSignal.abort() });
    };
    const call = async () => present(store.list, "list()").call(store, filter, options);
    const page = await whileChanging(moment, "list", call, change);
    found.push(...page.items.map(({ key }) => key));
    cursor = page.cursor;
  }
  const texts = (keys: readonly HistoryKey[]) =>
    keys.map(({ owner, source, session }) => show([owner, source, session])).sort();
  sameList(texts(found), texts(expected), changed("list", moment));
}

async function expectResultsUnshared(trial: HistoryTrial): Promise<void> {
  const { store } = await trial.open();
  const [key, mine] = [conversation(), records("a", 3)];
  await store.append(key, mine);
  tamper(mine);
  Object.assign(key, ELSEWHERE);
  const page = await store.read(conversation());
  tamper(page.records);
  const { first } = await store.read(conversation(), { last: 1, withFirst: true });
  tamper([first]);
  await expectStored(store, conversation(), records("a", 3), "after changing the arguments and a result");
}

/** A condition where the store has conditions; else none, until the caller puts one in. */
function condition(trial: HistoryTrial, ifVersion: string): { ifVersion?: string } {
  return trial.declares("conditionalAppend") ? { ifVersion } : {};
}

/** Tries to change a list and its members. That it is frozen and throws is as good. */
function tamper(list: readonly (HistoryRecord | undefined)[]): void {
  for (const [index, item] of list.entries()) {
    silently(() => Object.assign(Object(item), { id: `changed-${index}`, data: '"changed"' }));
  }
  silently(() => Reflect.apply(Array.prototype.splice, list, [0, 1]));
  silently(() => Reflect.apply(Array.prototype.push, list, records("extra", 2)));
}

import { changed, MOMENTS, type Moment, silently, whileChanging } from "../changed-arguments.ts";
import { same, sameList } from "../expect.ts";
import type { OpenedStateStore } from "../opened.ts";
import { expectItem, listAll, type StateClause, type StateTrial, sameTags, value } from "./support.ts";

const DRAFT = { kind: "draft" };

/** Options of a call, which are the caller's to change. */
type Scope = { readonly owner?: string | null };

/** What belongs to callers: their arguments, also while a call runs, and the results that they were given. */
export const argumentClauses: readonly StateClause[] = [
  {
    id: "S10",
    title: "what the caller does to arguments once a call has returned, and to results, changes nothing stored",
    contract: "StateStore",
    reason: "Two readers must not share an object through the store, nor a call and the next one their options.",
    async run(trial) {
      for (const moment of MOMENTS) {
        await expectWritesAsPassed(trial, moment);
        await expectDeleteAsPassed(trial, moment);
        await expectReadsAsPassed(trial, moment);
      }
      await expectResultsUnshared(trial);
    },
  },
];

async function expectWritesAsPassed(trial: StateTrial, moment: Moment): Promise<void> {
  const opened = await trial.open();
  const { store } = opened;
  const scope = ownScope(trial, opened);
  const first = { ...scope, tags: { ...DRAFT } };
  const change = (options: { readonly tags: object }) => () => {
    Object.assign(options.tags, { kind: "changed", more: "yes" });
    Object.assign(options, { owner: "bob", ifMatch: "changed", tags: {}, signal: AbortSignal.abort() });
  };
  const created = await whileChanging(moment, "create", () => store.create("a", value(1), first), change(first));
  let what = changed("create", moment);
  sameTags((await expectItem(store, "a", value(1), what, scope)).tags, DRAFT, `${what}: the tags`);
  const second = { ...scope, tags: { ...DRAFT }, ifMatch: created.etag };
  await whileChanging(moment, "set", () => store.set("a", value(2), second), change(second));
  what = changed("set", moment);
  sameTags((await expectItem(store, "a", value(2), what, scope)).tags, DRAFT, `${what}: the tags`);
}

async function expectDeleteAsPassed(trial: StateTrial, moment: Moment): Promise<void> {
  const opened = await trial.open();
  const { store } = opened;
  const scope = ownScope(trial, opened);
  const { etag } = await store.create("a", value(1), scope);
  const options = { ...scope, ifMatch: etag };
  const change = () => {
    Object.assign(options, { owner: "bob", ifMatch: "changed", signal: AbortSignal.abort() });
  };
  const deleted = await whileChanging(moment, "delete", () => store.delete("a", options), change);
  same(deleted, true, changed("delete", moment));
}

async function expectReadsAsPassed(trial: StateTrial, moment: Moment): Promise<void> {
  const opened = await trial.open();
  const { store } = opened;
  const scope = ownScope(trial, opened);
  for (const key of ["a", "b", "c"]) {
    await store.create(key, value(key), { ...scope, tags: DRAFT });
  }
  await store.create("other", value(0), { ...scope, tags: { kind: "other" } });
  const keys = (await listAll(store, { ...scope, tags: DRAFT, order: "desc" })).map(({ key }) => key);
  const reading = { ...scope };
  const change = () => {
    Object.assign(reading, { owner: "bob", signal: AbortSignal.abort() });
  };
  const item = await whileChanging(moment, "get", () => store.get("a", reading), change);
  same(item?.text, value("a"), changed("get", moment));
  let cursor: string | undefined;
  const found: string[] = [];
  for (let pages = 0; pages < keys.length; pages += 1) {
    const options = { ...scope, tags: { ...DRAFT }, limit: 1, cursor, order: "desc" as const };
    const page = await whileChanging(
      moment,
      "listKeys",
      () => store.listKeys(options),
      () => {
        Object.assign(options.tags, { kind: "other" });
        const others = { owner: "bob", tags: {}, limit: 100, cursor: undefined, order: "asc" };
        Object.assign(options, others, { signal: AbortSignal.abort() });
      },
    );
    found.push(...page.keys.map(({ key }) => key));
    cursor = page.cursor;
  }
  sameList(found, keys, changed("listKeys", moment));
}

async function expectResultsUnshared(trial: StateTrial): Promise<void> {
  const { store } = await trial.open();
  const tags = { ...DRAFT };
  await store.set("a", value(1), { tags });
  tags.kind = "changed";
  const item = await expectItem(store, "a", value(1), "after changing the tags that were passed");
  sameTags(item.tags, DRAFT, "the tags after changing those that were passed");
  for (const read of [item, ...(await store.listKeys()).keys]) {
    silently(() => Object.assign(read.tags, { kind: "changed" }));
    silently(() => Object.assign(read, { text: value(2), etag: "changed" }));
  }
  const again = await expectItem(store, "a", value(1), "after changing a result");
  sameTags(again.tags, DRAFT, "the tags after changing a result");
  sameList(
    (await store.listKeys()).keys.map(({ etag }) => etag),
    [again.etag],
    "the etags that are listed",
  );
}

/** An owner where calls take one. */
function ownScope(trial: StateTrial, { asOwner }: OpenedStateStore): Scope {
  return trial.declares("isolation") && asOwner === undefined ? { owner: "alice" } : {};
}

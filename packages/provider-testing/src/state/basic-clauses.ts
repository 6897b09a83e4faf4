import { ensure, expectCode, fail, same } from "../expect.ts";
import { show } from "../show.ts";
import { HOSTILE_NAMES, JSON_TEXTS, jsonOfSize, mayBeRefused } from "../texts.ts";
import { expectAbsent, expectItem, expectKeys, type StateClause, sameTags, value } from "./support.ts";

const LARGEST_BUILT = 8 * 1024 * 1024;

const LARGEST_REFUSED = 128 * 1024 * 1024;

/** What every StateStore does. */
export const basicClauses: readonly StateClause[] = [
  {
    id: "S01",
    title: "the contract version is 1 and the capabilities are well-formed",
    contract: "StateStore",
    reason: "Core decides by them what it may ask of the store.",
    async run(trial) {
      const { store } = await trial.open();
      same(store.contractVersion, 1, "contractVersion");
      const { maxValueBytes, ttl, isolation } = store.capabilities;
      ensure(
        Number.isSafeInteger(maxValueBytes) && maxValueBytes >= 1_000,
        "capabilities.maxValueBytes must be a whole number of at least 1,000",
        maxValueBytes,
      );
      ensure(typeof ttl === "boolean", "capabilities.ttl must be true or false", ttl);
      ensure(typeof isolation === "boolean", "capabilities.isolation must be true or false", isolation);
    },
  },
  {
    id: "S02",
    title: "what is written can be read, with its etag and tags; an unknown key reads as undefined",
    contract: "StateStore",
    reason: "A missing item is an answer, and must be told from a failure.",
    async run(trial) {
      const { store } = await trial.open();
      await expectAbsent(store, "unknown", "an unknown key");
      await expectKeys(store, [], "the keys of an empty store");
      const created = await store.create("a", value(1), { tags: { kind: "draft" } });
      const item = await expectItem(store, "a", value(1), "a created item");
      same(item.etag, created.etag, "the etag that is read");
      sameTags(item.tags, { kind: "draft" }, "the tags that are read");
      const written = await store.set("b", value(2));
      const plain = await expectItem(store, "b", value(2), "an item that set made");
      same(plain.etag, written.etag, "the etag that is read");
      sameTags(plain.tags, {}, "the tags of an item without tags");
      await expectAbsent(store, "unknown", "an unknown key beside others");
      await expectKeys(store, ["a", "b"], "the keys");
    },
  },
  {
    id: "S03",
    title: "set replaces the whole item",
    contract: "StateStore",
    reason: "State is a snapshot; a merge would keep what was removed.",
    async run(trial) {
      const { store } = await trial.open();
      await store.set("a", '{"kept":1,"removed":2}');
      await store.set("a", '{"kept":3}');
      await expectItem(store, "a", '{"kept":3}', "the item after the second write");
      await expectKeys(store, ["a"], "the keys after two writes to one");
    },
  },
  {
    id: "S04",
    title: "delete says whether something was deleted, and can be repeated",
    contract: "StateStore",
    reason: "A cleanup that runs twice is not an error.",
    async run(trial) {
      const { store } = await trial.open();
      same(await store.delete("unknown"), false, "delete of an unknown key");
      await store.set("a", value(1));
      await store.set("b", value(2));
      same(await store.delete("a"), true, "delete of an item");
      same(await store.delete("a"), false, "delete of a deleted item");
      await expectAbsent(store, "a", "a deleted item");
      await expectItem(store, "b", value(2), "another item");
      await expectKeys(store, ["b"], "the keys after a delete");
    },
  },
  {
    id: "S05",
    title: "text comes back byte for byte: numbers keep their text, keys their order",
    contract: "StateStore",
    reason: "12345678901234567890 and 1.0 are not what JSON.parse makes of them.",
    async run(trial) {
      const { store } = await trial.open();
      for (const [index, text] of JSON_TEXTS.entries()) {
        await store.create(`item-${index}`, text);
        await expectItem(store, `item-${index}`, text, `text ${index} by create`);
        await store.set("same", text);
        await expectItem(store, "same", text, `text ${index} by set`);
      }
    },
  },
  {
    id: "S06",
    title: "what is not the text of one JSON object is refused before anything is written",
    contract: "StateStore",
    reason: "Readers rely on an object, and on the item that was there before.",
    async run(trial) {
      const { store } = await trial.open();
      const { etag } = await store.set("a", value(1));
      const bad = [
        "[]",
        '"text"',
        "1",
        "true",
        "null",
        "",
        "{",
        '{"a":1} x',
        "{'a':1}",
        "undefined",
        undefined,
        { a: 1 },
      ];
      for (const text of bad) {
        for (const call of [
          () => Reflect.apply(store.set, store, ["a", text]),
          () => Reflect.apply(store.set, store, ["new", text]),
          () => Reflect.apply(store.create, store, ["new", text]),
        ]) {
          await expectCode(call(), `the text ${show(text)}`, "configuration");
        }
      }
      const item = await expectItem(store, "a", value(1), "after refused writes");
      same(item.etag, etag, "the etag after refused writes");
      await expectKeys(store, ["a"], "the keys after refused writes");
    },
  },
  {
    id: "S07",
    title: "text above maxValueBytes is too_large, counted in UTF-8, and text of exactly that size is stored",
    contract: "StateStore",
    reason: "A limit must be told before the write, and be usable in full.",
    async run(trial) {
      const { store } = await trial.open();
      const { maxValueBytes } = store.capabilities;
      if (maxValueBytes > LARGEST_REFUSED) {
        trial.notCovered(`maxValueBytes is ${maxValueBytes}, more than the kit builds`);
      }
      await store.set("a", value(1));
      const large = jsonOfSize(maxValueBytes + 1);
      await expectCode(store.set("a", large), "set of one byte too much", "too_large");
      await expectCode(store.create("new", large), "create of one byte too much", "too_large");
      await expectItem(store, "a", value(1), "after a refused write");
      await expectAbsent(store, "new", "a refused item");
      if (maxValueBytes <= LARGEST_BUILT) {
        await store.set("a", jsonOfSize(maxValueBytes));
        await expectItem(store, "a", jsonOfSize(maxValueBytes), "text at the limit");
      }
    },
  },
  {
    id: "S08",
    title: "keys with any characters are kept apart, or refused where nothing can hold them",
    contract: "Identity; StateStore",
    reason: "A path segment, a pattern or a truncated column must not lead to another item.",
    async run(trial) {
      const { store } = await trial.open();
      const kept: string[] = [];
      for (const key of HOSTILE_NAMES) {
        const stored = await store.create(key, value(key)).then(
          () => true,
          (error: unknown) => refusal(key, error),
        );
        kept.push(...(stored ? [key] : []));
      }
      for (const key of kept) {
        await expectItem(store, key, value(key), `the item under ${show(key)}`);
      }
      await expectKeys(store, kept, "the keys that are listed", { limit: 100 });
      for (const key of kept) {
        await store.set(key, value(`${key} again`));
      }
      const deleted = kept.filter((_, index) => index % 3 === 0);
      for (const key of deleted) {
        same(await store.delete(key), true, `delete of ${show(key)}`);
      }
      const rest = kept.filter((key) => !deleted.includes(key));
      await expectKeys(store, rest, "the keys after deleting every third");
      for (const key of rest) {
        const guarantee = `the item under ${show(key)} after other writes and deletes`;
        await expectItem(store, key, value(`${key} again`), guarantee);
      }
    },
  },
  {
    id: "S09",
    title: "malformed keys, tags and list options are refused",
    contract: "StateStore",
    reason: "An undefined key must not become the text undefined, nor a Map of tags no tags at all.",
    async run(trial) {
      const { store } = await trial.open();
      for (const key of ["", undefined, null, 7]) {
        for (const method of ["create", "set", "get", "delete"] as const) {
          const call = Reflect.apply(store[method], store, [key, value(1)]);
          await expectCode(call, `${method} with the key ${show(key)}`, "configuration");
        }
      }
      const noObjects = [new Map([["a", "x"]]), new Date(0), ["x"], "x", null];
      for (const tags of [{ a: 1 }, { "": "x" }, { a: null }, ...noObjects]) {
        const call = Reflect.apply(store.set, store, ["a", value(1), { tags }]);
        await expectCode(call, `set with tags ${show(tags)}`, "configuration");
        const list = Reflect.apply(store.listKeys, store, [{ tags }]);
        await expectCode(list, `listKeys with tags ${show(tags)}`, "configuration");
      }
      const lists = [{ limit: 0 }, { limit: -1 }, { limit: 1.5 }, { order: "up" }];
      for (const options of lists) {
        const call = Reflect.apply(store.listKeys, store, [options]);
        await expectCode(call, `listKeys(${show(options)})`, "configuration");
      }
      await expectKeys(store, [], "the keys after refused calls");
    },
  },
];

async function refusal(key: string, error: unknown): Promise<false> {
  if (!mayBeRefused(key)) {
    return fail(`the key ${show(key)} must be stored; create rejected with ${show(error)}`);
  }
  await expectCode(Promise.reject(error), `the key ${show(key)}`, "configuration", "too_large");
  return false;
}

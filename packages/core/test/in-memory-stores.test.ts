import { describe, expect, test } from "vitest";
import {
  type FileWriteOptions,
  type HistoryListOptions,
  InMemoryFileStore,
  InMemoryHistoryStore,
  InMemoryStateStore,
  type StateListOptions,
} from "../src/index.ts";

const REFUSED = { code: "configuration" };

async function histories(): Promise<InMemoryHistoryStore> {
  const store = new InMemoryHistoryStore();
  for (const session of ["a", "b", "c"]) {
    await store.append({ owner: null, source: "s", session }, [{ id: "1", data: "1" }]);
  }
  return store;
}

async function items(): Promise<InMemoryStateStore> {
  const store = new InMemoryStateStore();
  for (const key of ["a", "b", "c"]) {
    await store.set(key, "{}");
  }
  return store;
}

describe("a cursor", () => {
  test.each(["", "no such cursor", "-1", "{}", "\u0000"])("that no page gave is refused: %j", async (cursor) => {
    await expect((await histories()).list({ owner: null }, { cursor })).rejects.toMatchObject(REFUSED);
    await expect((await items()).listKeys({ cursor })).rejects.toMatchObject(REFUSED);
  });

  test("of a page leads to the next, in both directions", async () => {
    const [store, state] = [await histories(), await items()];
    const first = await store.list({ owner: null }, { limit: 2 });
    const second = await store.list({ owner: null }, { limit: 2, cursor: first.cursor });
    expect([...first.items, ...second.items].map(({ key }) => key.session)).toEqual(["a", "b", "c"]);
    for (const [order, expected] of [
      ["asc", ["a", "b", "c"]],
      ["desc", ["c", "b", "a"]],
    ] as const) {
      const page = await state.listKeys({ limit: 2, order });
      const rest = await state.listKeys({ limit: 2, order, cursor: page.cursor });
      expect([...page.keys, ...rest.keys].map(({ key }) => key)).toEqual(expected);
    }
  });
});

describe("what is of the wrong type is refused", () => {
  const key = { owner: null, source: "s", session: "a" };

  test.each<unknown>([null, 5, true, {}, []])("%j", async (wrong) => {
    const [store, state, files] = [await histories(), await items(), new InMemoryFileStore()];
    const wrongly = <T>(name: string): T => JSON.parse(JSON.stringify({ [name]: wrong }));
    await files.write("a.md", "one");
    for (const call of [
      store.append(key, [{ id: "2", data: "2" }], wrongly("ifVersion")),
      store.replace(key, { fromId: "1", throughId: "1" }, [], wrongly("ifVersion")),
      store.list({ owner: null }, wrongly<HistoryListOptions>("cursor")),
      state.set("a", "{}", wrongly("ifMatch")),
      state.delete("a", wrongly("ifMatch")),
      state.listKeys(wrongly<StateListOptions>("cursor")),
      files.write("a.md", "two", wrongly<FileWriteOptions>("ifMatch")),
      files.write("a.md", "two", wrongly<FileWriteOptions>("ifNoneMatch")),
      files.search("o", wrongly("directory")),
    ]) {
      await expect(call).rejects.toMatchObject(REFUSED);
    }
    expect(await files.read("a.md")).toMatchObject({ text: "one" });
  });
});

describe("the name of a directory", () => {
  const open = async () => {
    const store = new InMemoryFileStore();
    await store.write("Notes/Old/a.md", "one");
    return store;
  };

  test.each(["notes/b.md", "Notes/old/b.md", "NOTES/New/b.md", "notes", "Notes/old", "Notes/Old", "Notes/Old/a.md/b"])(
    "is taken in every other spelling, and as a file: %s",
    async (path) => {
      const store = await open();
      await expect(store.write(path, "two")).rejects.toMatchObject({ code: "conflict" });
      expect(await store.list("")).toEqual(["Notes/Old/a.md"]);
    },
  );

  test("is free again when its last file is gone, and its own spelling is always right", async () => {
    const store = await open();
    await store.write("Notes/Old/b.md", "two");
    await store.write("Notes/c.md", "three");
    await store.write("Notes/Old/a.md", "four");
    for (const path of await store.list("")) {
      await store.delete(path);
    }
    await store.write("notes/old", "five");
    expect(await store.list("")).toEqual(["notes/old"]);
  });
});

test("a replace whose run stands the other way around is a conflict", async () => {
  const store = await histories();
  const key = { owner: null, source: "s", session: "a" };
  await store.append(key, [{ id: "2", data: "2" }]);
  const call = store.replace(key, { fromId: "2", throughId: "1" }, []);
  await expect(call).rejects.toMatchObject({ code: "conflict" });
});

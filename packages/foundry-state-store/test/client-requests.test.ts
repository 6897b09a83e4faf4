import { describe, expect, test } from "vitest";
import { FoundryStateStore } from "../src/index.ts";
import { failure, ITEM, openScripted, REFERENCE, STORE, scriptedServer } from "./support/scripted.ts";

const VECTORS = [
  ["checkpoints", "Y2hlY2twb2ludHM"],
  ["checkpoints/thread-abc", "Y2hlY2twb2ludHMvdGhyZWFkLWFiYw"],
  ["step-1", "c3RlcC0x"],
  ["step/1", "c3RlcC8x"],
  ["agent_sessions", "YWdlbnRfc2Vzc2lvbnM"],
  ["a", "YQ"],
  ["ab", "YWI"],
  ["abc", "YWJj"],
  ["??>>", "Pz8-Pg"],
  ["~~~???", "fn5-Pz8_"],
  ["é", "w6k"],
  ["😀", "8J-YgA"],
  ["checkpoints/作業 %?#", "Y2hlY2twb2ludHMv5L2c5qWtICU_Iw"],
  ["task/one ?#%", "dGFzay9vbmUgPyMl"],
] as const;

describe("paths", () => {
  test.each(VECTORS)("C3 %j is one segment, as a store and as a key", async (name, segment) => {
    const server = await scriptedServer();
    server.answer({ status: 200, body: { ...STORE, name } }, { status: 200, body: { ...ITEM, key: name } });
    const store = await FoundryStateStore.getOrCreate(name, { endpoint: server.endpoint });
    await store.getItem(name);
    expect(server.seen.map(({ url }) => url)).toEqual([
      `/p/storage/state_stores/${segment}?api-version=v1`,
      `/p/storage/state_stores/${segment}/items/${segment}?api-version=v1`,
    ]);
  });

  test("one request for each item operation, with its verb and body", async () => {
    const { server, store } = await openScripted();
    const at = "/p/storage/state_stores/Y2hlY2twb2ludHM";
    server.answer(
      { status: 201, body: REFERENCE },
      { status: 200, body: REFERENCE },
      { status: 200, body: ITEM },
      { status: 200, body: { id: "it_1", key: "k", deleted: true } },
      { status: 200, body: { data: [], has_more: false } },
      { status: 200, body: STORE },
      { status: 200, body: STORE },
      { status: 200, body: { id: "ss_1", deleted: true } },
    );
    await store.createItem("k", { a: 1 }, { tags: { kind: "c" } });
    await store.setItem("k", { a: 1 });
    await store.getItem("k");
    await store.deleteItem("k", { ifMatch: '"e1"' });
    await store.listItemKeys();
    await store.getStore();
    await store.updateStore({ description: null, tags: null });
    await store.deleteStore();
    expect(server.seen.map(({ method, url, body }) => [method, url, body])).toEqual([
      ["POST", `${at}/items?api-version=v1`, '{"key":"k","tags":{"kind":"c"},"value":{"a":1}}'],
      ["PUT", `${at}/items/aw?api-version=v1`, '{"value":{"a":1}}'],
      ["GET", `${at}/items/aw?api-version=v1`, ""],
      ["DELETE", `${at}/items/aw?api-version=v1`, ""],
      ["GET", `${at}/items:keys?api-version=v1&order=desc`, ""],
      ["GET", `${at}?api-version=v1`, ""],
      ["PATCH", `${at}?api-version=v1`, '{"description":null,"tags":{}}'],
      ["DELETE", `${at}?api-version=v1`, ""],
    ]);
    expect(server.seen[3]?.headers["if-match"]).toBe('"e1"');
    expect(server.seen[0]?.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(server.seen[0]?.headers["user-agent"]).toMatch(/^agentfw-foundry-state-store /);
    expect(server.seen.every(({ headers }) => headers["x-ms-client-request-id"] !== undefined)).toBe(true);
    expect(server.seen.some(({ headers }) => "x-ms-user-id" in headers || "x-agent-user-id" in headers)).toBe(false);
  });

  test("an update sends what is said and nothing else", async () => {
    const { server, store } = await openScripted();
    server.otherwise(() => ({ status: 200, body: STORE }));
    for (const changes of [{}, { description: "x" }, { tags: { a: "1" } }]) {
      await store.updateStore(changes);
    }
    expect(server.seen.map(({ body }) => body)).toEqual(["{}", '{"description":"x"}', '{"tags":{"a":"1"}}']);
    const call = Reflect.apply(store.updateStore, store, [{ name: "other" }]);
    expect(await failure(call)).toMatchObject({ code: "configuration", message: expect.stringContaining("name") });
  });
});

describe("conditions", () => {
  test("C16 an etag goes as it is, quotes included, and requireExists as *", async () => {
    const { server, store } = await openScripted();
    server.otherwise(() => ({ status: 200, body: REFERENCE }));
    await store.setItem("k", { a: 1 }, { ifMatch: '"0x8DD"' });
    await store.setItem("k", { a: 1 }, { requireExists: true });
    await store.setItem("k", { a: 1 });
    await store.set("k", "{}", { ifMatch: "*" });
    expect(server.seen.map(({ headers }) => headers["if-match"])).toEqual(['"0x8DD"', "*", undefined, "*"]);
  });

  const long = "k".repeat(129);

  test.each<[string, (store: FoundryStateStore) => Promise<unknown>]>([
    ["ifMatch and requireExists together", (store) => store.setItem("k", {}, { ifMatch: '"e"', requireExists: true })],
    ["after and before together", (store) => store.listItemKeys({ after: "x", before: "y" })],
    ["an empty key", (store) => store.getItem("")],
    ["a key of 129 characters", (store) => store.getItem(long)],
    ["a key of 129 characters, to write", (store) => store.set(long, "{}")],
    ["a key with a lone surrogate", (store) => store.setItem("\ud83d", {})],
    ["limit 0", (store) => store.listItemKeys({ limit: 0 })],
    ["limit 101", (store) => store.listItemKeys({ limit: 101 })],
    ["an unknown order", (store) => Reflect.apply(store.listItemKeys, store, [{ order: "up" }])],
    ["a value that is no object", (store) => Reflect.apply(store.setItem, store, ["k", [1]])],
    ["a value that JSON cannot hold", (store) => Reflect.apply(store.setItem, store, ["k", { a: 1n }])],
    [
      "17 tags",
      (store) =>
        store.setItem("k", {}, { tags: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`t${n}`, ""])) }),
    ],
    ["a tag's name with a space", (store) => store.listItemKeys({ tags: { "a b": "1" } })],
    ["a tag of 257 characters", (store) => store.setItem("k", {}, { tags: { a: "x".repeat(257) } })],
    ["an empty call id", (store) => store.getItem("k", { callId: "" })],
    ["a call id with a line break", (store) => store.getItem("k", { callId: "a\nb" })],
    ["an etag with a line break", (store) => store.setItem("k", {}, { ifMatch: '"a\nb"' })],
    ["an owner, without isolation", (store) => store.get("k", { owner: "ann" })],
    ["pageSize 0", (store) => store.iterateItemKeys({ pageSize: 0 }).next()],
  ])("C15 refuses %s before anything is sent", async (_, call) => {
    const { server, store } = await openScripted();
    const error = await failure(call(store));
    expect(["configuration", "unsupported"]).toContain(error.code);
    expect(server.seen).toEqual([]);
  });

  test.each([
    ["createItem", ["k", {}, { ifMatch: '"e"' }], "ifMatch"],
    ["setItem", ["k", {}, { ttlSeconds: 60 }], "ttlSeconds"],
    ["getItem", ["k", { owner: "ann" }], "owner"],
    ["deleteItem", ["k", { requireExists: true }], "requireExists"],
    ["listItemKeys", [{ cursor: "x" }], "cursor"],
    ["getStore", [{ callId: "x" }], "callId"],
    ["updateStore", [{}, { tags: {} }], "tags"],
    ["deleteStore", [{ key: "k" }], "key"],
    ["create", ["k", "{}", { ifMatch: '"e"' }], "ifMatch"],
    ["set", ["k", "{}", { requireExists: true }], "requireExists"],
    ["get", ["k", { callId: "x" }], "callId"],
    ["delete", ["k", { tags: {} }], "tags"],
    ["listKeys", [{ after: "x" }], "after"],
  ] as const)(
    "an option that %s does not have is refused, and not left out of account",
    async (name, given, option) => {
      const { server, store } = await openScripted();
      const error = await failure(Reflect.apply(store[name], store, given));
      expect(error).toMatchObject({ code: "configuration", message: expect.stringMatching(`^${option}: is none of `) });
      expect(server.seen).toEqual([]);
    },
  );

  test.each(["limit", "after", "before"])("%s is no option of a walk over all keys", async (option) => {
    const { server, store } = await openScripted();
    const walk: AsyncGenerator = Reflect.apply(store.iterateItemKeys, store, [{ [option]: "x" }]);
    expect(await failure(walk.next())).toMatchObject({
      code: "configuration",
      message: expect.stringContaining(option),
    });
    expect(server.seen).toEqual([]);
  });

  test("C15 refuses a value above the limit before anything is sent, and takes one at the limit", async () => {
    const { server, store } = await openScripted();
    server.otherwise(() => ({ status: 200, body: REFERENCE }));
    const value = (bytes: number) => ({ text: "x".repeat(bytes - '{"text":""}'.length) });
    expect(await failure(store.setItem("k", value(1_048_577)))).toMatchObject({ code: "too_large" });
    expect(server.seen).toEqual([]);
    await store.setItem("k", value(1_048_576));
    expect(server.seen).toHaveLength(1);
  });
});

describe("listing", () => {
  test("C17 sends the version first, the order always, and escapes every value", async () => {
    const { server, store } = await openScripted();
    server.otherwise(() => ({ status: 200, body: { data: [], has_more: false } }));
    await store.listItemKeys({
      tags: { kind: "a b/c", phase: "ü&=+'()*!" },
      limit: 50,
      after: "at +/= x",
      order: "asc",
    });
    await store.listItemKeys();
    await store.listItemKeys({ before: "x" });
    await store.listKeys({ cursor: "x" });
    expect(server.seen.map(({ url }) => url.split("?")[1])).toEqual([
      "api-version=v1&tags.kind=a%20b%2Fc&tags.phase=%C3%BC%26%3D%2B%27%28%29%2A%21&limit=50&after=at%20%2B%2F%3D%20x&order=asc",
      "api-version=v1&order=desc",
      "api-version=v1&before=x&order=desc",
      "api-version=v1&limit=100&after=x&order=asc",
    ]);
  });

  const key = (name: string) => ({ ...REFERENCE, key: name });

  test("C18 a cursor is passed on as it came, whatever it looks like", async () => {
    const { server, store } = await openScripted();
    server.answer(
      { status: 200, body: { data: [key("a")], first_id: "x", last_id: "no id of any item +/= %41", has_more: true } },
      { status: 200, body: { data: [key("b")], has_more: false } },
    );
    const found = [];
    for await (const { key } of store.iterateItemKeys()) {
      found.push(key);
    }
    expect(found).toEqual(["a", "b"]);
    expect(new URL(server.seen[1]?.url ?? "", "http://h").searchParams.get("after")).toBe("no id of any item +/= %41");
  });

  test.each([{ last_id: null }, {}])(
    "C18 a page without a cursor is the last, even if there is said to be more: %j",
    async (end) => {
      const { server, store } = await openScripted();
      server.answer({ status: 200, body: { data: [key("a")], has_more: true, ...end } });
      const found = [];
      for await (const { key } of store.iterateItemKeys({ pageSize: 10 })) {
        found.push(key);
      }
      expect([found, server.seen.length]).toEqual([["a"], 1]);
    },
  );

  test("C18 a service that gives the same page again is an error, and no endless walk", async () => {
    const { server, store } = await openScripted();
    server.otherwise(() => ({ status: 200, body: { data: [key("a")], last_id: "same", has_more: true } }));
    const walk = async () => {
      for await (const _ of store.iterateItemKeys()) {
        // Only the walk matters.
      }
    };
    expect(await failure(walk())).toMatchObject({ code: "unavailable" });
  });
});

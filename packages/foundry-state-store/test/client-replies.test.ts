import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { failure, ITEM, openScripted, REFERENCE, type Scripted, STORE } from "./support/scripted.ts";

describe("C12 what is not there", () => {
  test("is undefined as an item, not_found as a store, and existed: false as a delete", async () => {
    const { server, store } = await openScripted();
    server.answer(
      { status: 404, body: {} },
      { status: 404, body: {} },
      { status: 200, body: { key: "k", deleted: true } },
    );
    expect(await store.getItem("k")).toBeUndefined();
    expect(await failure(store.getStore())).toMatchObject({ code: "not_found" });
    expect(await store.deleteItem("k")).toEqual({ existed: false });
    server.answer(
      { status: 200, body: { id: null, key: "k", deleted: true } },
      { status: 200 },
      { status: 200, body: { id: "it_1", deleted: true } },
    );
    expect([await store.delete("k"), await store.delete("k"), await store.delete("k")]).toEqual([false, false, true]);
    server.answer({ status: 404, body: {} }, { status: 404, body: {} });
    expect(await failure(store.setItem("k", {}))).toMatchObject({ code: "not_found" });
    expect(await failure(store.listItemKeys())).toMatchObject({ code: "not_found" });
  });
});

describe("C13 an etag that does not match", () => {
  test("is a conflict with the current one where the header says it, and without where not", async () => {
    const { server, store } = await openScripted();
    server.answer(
      { status: 412, body: {}, headers: { etag: '"e2"' } },
      { status: 412, body: {} },
      { status: 412, body: {} },
    );
    const error = await failure(store.setItem("k", {}, { ifMatch: '"e1"' }));
    expect(error).toMatchObject({ code: "conflict", currentVersion: '"e2"' });
    const unknown = await failure(store.setItem("k", {}, { ifMatch: '"e1"' }));
    expect([unknown.code, unknown.currentVersion]).toEqual(["conflict", undefined]);
    expect(await failure(store.deleteItem("k", { ifMatch: '"e1"' }))).toMatchObject({ code: "conflict" });
    expect(server.seen).toHaveLength(3);
  });

  test("a key that is taken is a conflict; by core's port with the etag that is there, which takes a look", async () => {
    const { server, store } = await openScripted();
    server.answer({ status: 409, body: {} }, { status: 409, body: {} }, { status: 200, body: ITEM });
    expect(await failure(store.createItem("k", {}))).toMatchObject({ code: "conflict" });
    expect(server.seen).toHaveLength(1);
    expect(await failure(store.create("k", "{}"))).toMatchObject({ code: "conflict", currentVersion: '"e1"' });
  });
});

describe("C14 failures", () => {
  const SECRET = "c0ffee-secret";

  const cases: [string, Scripted, string, string][] = [
    [
      "400 with a field",
      { status: 400, body: { error: { code: "x", message: SECRET, param: "value" } } },
      "configuration",
      "configuration",
    ],
    [
      "400 with a field that is none",
      { status: 400, body: { error: { param: `${SECRET} is bad` } } },
      "configuration",
      "configuration",
    ],
    ["401", { status: 401, body: {} }, "unauthorized", "unauthorized"],
    ["403", { status: 403, body: { error: { message: SECRET } } }, "unauthorized", "unauthorized"],
    ["409", { status: 409, body: {} }, "conflict", "conflict"],
    ["413", { status: 413, raw: SECRET }, "too_large", "too_large"],
    ["405", { status: 405, body: {} }, "unsupported", "unsupported"],
    [
      "302 to elsewhere",
      { status: 302, headers: { location: "http://127.0.0.1:1/" } },
      "configuration",
      "configuration",
    ],
    ["500 in HTML", { status: 500, raw: `<html>${SECRET}</html>` }, "unavailable", "outcome_unknown"],
    ["502 without a body", { status: 502 }, "unavailable", "outcome_unknown"],
    ["503 that does not say when", { status: 503, body: {} }, "unavailable", "outcome_unknown"],
    ["503 that says when", { status: 503, body: {}, headers: { "retry-after": "0" } }, "unavailable", "unavailable"],
    ["408", { status: 408, body: {} }, "unavailable", "outcome_unknown"],
    ["429", { status: 429, body: {}, headers: { "retry-after": "0" } }, "unavailable", "unavailable"],
    [
      "400 in invalid UTF-8",
      { status: 400, raw: Buffer.from([0x7b, 0xff, 0xfe, 0x7d]) },
      "configuration",
      "configuration",
    ],
    ["200 in HTML", { status: 200, raw: `<html>${SECRET}</html>` }, "unavailable", "outcome_unknown"],
    ["200 without a body", { status: 200 }, "unavailable", "outcome_unknown"],
    ["200 that lacks what is needed", { status: 200, body: { id: SECRET } }, "unavailable", "outcome_unknown"],
    [
      "200 whose value is no object",
      { status: 200, body: { ...ITEM, etag: 7, value: [SECRET] } },
      "unavailable",
      "outcome_unknown",
    ],
  ];

  test.each(cases)(
    "%s has its code for reads and writes, and repeats nothing of the body",
    async (_, scripted, read, write) => {
      const { server, store } = await openScripted({
        pipelineOptions: { retryOptions: { maxRetries: 1, retryDelayInMs: 1 } },
      });
      server.otherwise(() => scripted);
      for (const [call, code] of [
        [() => store.getItem("k"), read],
        [() => store.setItem("k", { a: 1 }), write],
      ] as const) {
        const error = await failure(call());
        expect(error.code).toBe(code);
        expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(SECRET);
        expect(error.cause).toMatchObject({ status: typeof scripted === "object" ? scripted.status : 0 });
      }
    },
  );

  test("the service's request id is there for its operators", async () => {
    const { server, store } = await openScripted();
    server.answer({ status: 400, body: {}, headers: { "x-request-id": "abc-123" } });
    expect(await failure(store.setItem("k", {}))).toMatchObject({ cause: { requestId: "abc-123", status: 400 } });
  });

  test("what the network says comes without the request, its token and its path", async () => {
    const { server, store } = await openScripted({
      credential: { getToken: async () => ({ token: SECRET, expiresOnTimestamp: 9e15 }) },
    });
    server.otherwise(() => "reset");
    const error = await failure(store.setItem("k", { a: 1 }, { callId: SECRET }));
    expect(error.cause).toMatchObject({ code: "ECONNRESET" });
    const shown = inspect(error, { depth: 9, showHidden: true });
    for (const secret of [SECRET, "aw?api", "Y2hlY2twb2ludHM"]) {
      expect(shown).not.toContain(secret);
    }
  });
});

describe("C21 replies", () => {
  test("are read for what is needed, whatever else is there or missing", async () => {
    const { server, store } = await openScripted();
    const reference = { key: "k", etag: '"e1"', extra: { deep: [1] } };
    server.answer(
      { status: 200, body: { ...reference, value: null } },
      { status: 200, body: { ...reference, value: { a: 1 }, tags: null } },
      { status: 200, body: { data: [{ ...reference, value: null, tags: null }, reference], extra: 1 } },
      { status: 200, body: { name: "checkpoints", item_ttl_seconds: -1, description: null, tags: null, extra: 1 } },
    );
    expect(await store.setItem("k", {})).toMatchObject({ key: "k", etag: '"e1"' });
    expect(await store.getItem("k")).toMatchObject({ value: { a: 1 }, tags: {} });
    expect(await store.listItemKeys()).toMatchObject({ keys: [{ key: "k", tags: {} }, { key: "k" }], hasMore: false });
    expect(await store.getStore()).toMatchObject({ name: "checkpoints", userIsolation: false, tags: {} });
  });

  test("have their etag in the body, or else in the header", async () => {
    const { server, store } = await openScripted();
    server.answer(
      { status: 200, body: { key: "k" }, headers: { etag: '"h1"' } },
      { status: 200, body: REFERENCE, headers: { etag: '"h2"' } },
    );
    expect((await store.setItem("k", {})).etag).toBe('"h1"');
    expect((await store.setItem("k", {})).etag).toBe('"e1"');
  });

  test("keep the text of numbers where it is asked for", async () => {
    const { server, store } = await openScripted();
    const value = '{"n":9007199254740993, "f":1.0,"s":"\\"}\\\\"}';
    server.otherwise(() => ({
      status: 200,
      raw: `{ "tags" : {"value":"no"}, "value" : ${value} ,"key":"k","etag":"e" }`,
    }));
    const item = await store.getItem("k");
    expect(item?.text).toBe(value);
    expect(item?.value).toEqual({ n: 9007199254740992, f: 1, s: '"}\\' });
    expect((await store.get("k"))?.text).toBe(value);
    await store.set("k", value);
    expect(server.seen.at(-1)?.body).toBe(`{"value":${value}}`);
  });
});

test("a store that is gone is told by an item write, and not made again", async () => {
  const { server, store } = await openScripted();
  server.otherwise(() => ({ status: 404, body: STORE }));
  expect(await failure(store.create("k", "{}"))).toMatchObject({ code: "not_found" });
  expect(server.seen.map(({ method }) => method)).toEqual(["POST"]);
});

import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { currentCallId, runWithCallId } from "../src/index.ts";
import { credentialOf, failure, ITEM, openScripted, REFERENCE, STORE } from "./support/scripted.ts";

const HEADER = "x-agent-foundry-call-id";

describe("the call id", () => {
  test("C8 is the one that is around, unless one is named; the store's own operations send it too", async () => {
    const { server, store } = await openScripted();
    server.otherwise(({ url }) => ({ status: 200, body: url.includes("/items/") ? ITEM : STORE }));
    await runWithCallId("around", async () => {
      await store.getItem("k");
      await store.getItem("k", { callId: "named" });
      await store.withCallId("bound").getItem("k");
      await store.withCallId("bound").getItem("k", { callId: "named" });
      await store.withCallId("bound").get("k");
      await store.getStore();
      await runWithCallId(undefined, () => store.getItem("k"));
    });
    await store.getItem("k");
    const sent = server.seen.map(({ headers }) => headers[HEADER]);
    expect(sent).toEqual(["around", "named", "bound", "named", "bound", "around", undefined, undefined]);
  });

  test("a store that is bound to a call asks about itself on behalf of that", async () => {
    const { server, store } = await openScripted();
    server.otherwise(() => ({ status: 200, body: STORE }));
    await runWithCallId("around", async () => {
      const bound = store.withCallId("bound");
      await bound.getStore();
      await bound.updateStore({ description: "d" });
      await bound.deleteStore();
    });
    expect(server.seen.map(({ headers }) => headers[HEADER])).toEqual(["bound", "bound", "bound"]);
  });

  test("a walk over keys stays with the caller who began it, and with what was asked for then", async () => {
    const { server, store } = await openScripted();
    const page = (key: string) => ({ data: [{ ...REFERENCE, key }], has_more: true, last_id: key });
    server.answer({ status: 200, body: page("a") }, { status: 200, body: { ...page("b"), has_more: false } });
    const tags: Record<string, string> = { kind: "x" };
    const walk = store.iterateItemKeys({ tags });
    await runWithCallId("first", () => walk.next());
    tags["kind"] = "y";
    expect(await runWithCallId("second", () => walk.next())).toMatchObject({ value: { key: "b" } });
    expect(server.seen.map(({ headers }) => headers[HEADER])).toEqual(["first", "first"]);
    expect(server.seen[1]?.url).toContain("tags.kind=x");
  });

  test("C9 never crosses from one request to another, through waits and timers", async () => {
    const { server, store } = await openScripted();
    server.otherwise(() => ({ status: 200, body: ITEM }));
    const request = (number: number) =>
      runWithCallId(`call-${number}`, async () => {
        for (let step = 0; step < 5; step += 1) {
          await pause(number % 3);
          await store.getItem(`key-${number}`);
          await new Promise<void>((resolve) => setImmediate(resolve));
          await Promise.all([
            store.getItem(`key-${number}`),
            Promise.resolve().then(() => store.getItem(`key-${number}`)),
          ]);
        }
      });
    await Promise.all(Array.from({ length: 20 }, (_, number) => request(number)));
    expect(server.seen).toHaveLength(300);
    for (const { url, headers } of server.seen) {
      const key = Buffer.from(/items\/([^?]+)/.exec(url)?.[1] ?? "", "base64url").toString();
      expect(headers[HEADER]).toBe(key.replace("key-", "call-"));
    }
  });

  test("C10 can be kept for work that goes on after the request", async () => {
    const { server, store } = await openScripted();
    server.otherwise(() => ({ status: 200, body: ITEM }));
    const kept = await runWithCallId("call-1", async () => currentCallId());
    expect(currentCallId()).toBeUndefined();
    await store.getItem("k", { callId: kept });
    expect(server.seen[0]?.headers[HEADER]).toBe("call-1");
  });

  test("C9 a token that several requests wait for does not mix them up", async () => {
    const slow = {
      async getToken() {
        await pause(20);
        return { token: "t", expiresOnTimestamp: Date.now() + 3_600_000 };
      },
    };
    const { server, store } = await openScripted({ credential: slow });
    server.otherwise(() => ({ status: 200, body: ITEM }));
    await Promise.all(["a", "b", "c"].map((id) => runWithCallId(id, () => store.getItem(id))));
    for (const { url, headers } of server.seen) {
      expect(Buffer.from(/items\/([^?]+)/.exec(url)?.[1] ?? "", "base64url").toString()).toBe(headers[HEADER]);
    }
  });
});

describe("C11 the token", () => {
  test("is asked for with the scope, once, also by many at once", async () => {
    const credential = credentialOf({ token: "one" });
    const { server, store } = await openScripted({ credential });
    server.otherwise(() => ({ status: 200, body: ITEM }));
    await Promise.all([1, 2, 3].map(() => store.getItem("k")));
    expect(credential.asked).toEqual([{ scopes: "https://ai.azure.com/.default", claims: undefined }]);
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual(Array(3).fill("Bearer one"));
  });

  test("is renewed before it ends", async () => {
    const credential = credentialOf({ token: "old", expiresInMs: 60_000 }, { token: "new" });
    const { server, store } = await openScripted({ credential });
    server.otherwise(() => ({ status: 200, body: ITEM }));
    await store.getItem("k");
    expect(server.seen[0]?.headers.authorization).toBe("Bearer new");
  });

  test("is renewed after a 401, once, also for a write; then the 401 is the answer", async () => {
    const credential = credentialOf({ token: "one" }, { token: "two" });
    const { server, store } = await openScripted({ credential });
    server.answer({ status: 401, body: {} }, { status: 201, body: REFERENCE });
    await store.createItem("k", { a: 1 });
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual(["Bearer one", "Bearer two"]);
    expect(server.seen[1]?.body).toBe('{"value":{"a":1}}'.replace("{", '{"key":"k",'));
    server.seen.length = 0;
    server.otherwise(() => ({ status: 401, body: {} }));
    expect(await failure(store.setItem("k", {}))).toMatchObject({ code: "unauthorized", cause: { status: 401 } });
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual(["Bearer two"]);
  });

  test("carries the claims that the service asks for", async () => {
    const credential = credentialOf({ token: "one" }, { token: "two" });
    const { server, store } = await openScripted({ credential });
    const claims = Buffer.from('{"access_token":{}}').toString("base64");
    server.answer(
      {
        status: 401,
        body: {},
        headers: { "www-authenticate": `Bearer error="insufficient_claims", claims="${claims}"` },
      },
      { status: 200, body: ITEM },
    );
    await store.getItem("k");
    expect(credential.asked[1]?.claims).toBe('{"access_token":{}}');
  });

  test("that cannot be had is unauthorized, and nothing was sent", async () => {
    let isBroken = false;
    const credential = {
      async getToken() {
        if (isBroken) {
          throw new Error("no login");
        }
        return { token: "one", expiresOnTimestamp: Date.now() + 1 };
      },
    };
    const { server, store } = await openScripted({ credential });
    isBroken = true;
    await pause(5);
    expect(await failure(store.setItem("k", {}))).toMatchObject({
      code: "unauthorized",
      cause: { message: "no login" },
    });
    expect(server.seen).toEqual([]);
  });

  test.each([
    null,
    undefined,
    "token",
    {},
    { token: "", expiresOnTimestamp: 9e15 },
    { token: 5, expiresOnTimestamp: 9e15 },
    { token: "a\r\nx-evil: 1", expiresOnTimestamp: 9e15 },
    { token: "ü", expiresOnTimestamp: 9e15 },
  ])("that is none, as %j, is unauthorized, and nothing was sent", async (token) => {
    let isGood = true;
    const good = { token: "one", expiresOnTimestamp: Date.now() + 1 };
    const credential = { getToken: async () => (isGood ? good : token) };
    const { server, store } = await openScripted(Object({ credential }));
    isGood = false;
    await pause(5);
    expect(await failure(store.setItem("k", {}))).toMatchObject({ code: "unauthorized" });
    expect(server.seen).toEqual([]);
  });

  test("is asked for again by the next call where the credential never answered", async () => {
    let asked = 0;
    const credential = {
      getToken: () => {
        asked += 1;
        const token = { token: `token-${asked}`, expiresOnTimestamp: Date.now() + (asked === 1 ? 1 : 3_600_000) };
        return asked === 2 ? new Promise<never>(() => {}) : Promise.resolve(token);
      },
    };
    const { server, store } = await openScripted({ credential, timeoutMs: 1_000 });
    server.otherwise(() => ({ status: 200, body: ITEM }));
    await pause(5);
    const both = await Promise.all([failure(store.getItem("k")), failure(store.getItem("k"))]);
    expect(both).toMatchObject([{ code: "timeout" }, { code: "timeout" }]);
    await store.getItem("k");
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual(["Bearer token-3"]);
    expect(asked).toBe(3);
  });

  test("that is waited for too long is a timeout, also for a write", async () => {
    let isSlow = false;
    const credential = {
      getToken: () =>
        isSlow ? new Promise<never>(() => {}) : Promise.resolve({ token: "one", expiresOnTimestamp: Date.now() + 1 }),
    };
    const { server, store } = await openScripted({ credential, timeoutMs: 2_000 });
    isSlow = true;
    await pause(5);
    expect(await failure(store.setItem("k", {}))).toMatchObject({ code: "timeout" });
    expect(server.seen).toEqual([]);
  });

  test("that is waited for too long after a 401 is a timeout: the service did nothing", async () => {
    let asked = 0;
    const credential = {
      getToken: () => {
        asked += 1;
        return asked > 1 ? new Promise<never>(() => {}) : Promise.resolve({ token: "one", expiresOnTimestamp: 9e15 });
      },
    };
    const { server, store } = await openScripted({ credential, timeoutMs: 2_000 });
    server.answer({ status: 401, body: {} });
    expect(await failure(store.setItem("k", {}))).toMatchObject({ code: "timeout" });
    expect([asked, server.seen.length]).toEqual([2, 1]);
  });
});

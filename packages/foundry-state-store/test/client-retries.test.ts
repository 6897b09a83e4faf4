import { connectionFailure } from "@agentfw/core/backend";
import { createDefaultHttpClient, type HttpClient, RestError } from "@azure/core-rest-pipeline";
import { describe, expect, test } from "vitest";
import { FoundryStateStore } from "../src/index.ts";
import { failure, ITEM, openScripted, REFERENCE, type Scripted, STORE } from "./support/scripted.ts";

const SOON = { pipelineOptions: { retryOptions: { retryDelayInMs: 5 } } };

describe("C19 retries", () => {
  test("a read is tried again", async () => {
    const { server, store } = await openScripted(SOON);
    server.answer({ status: 503, body: {} }, { status: 503, body: {} }, { status: 200, body: ITEM });
    expect((await store.getItem("k"))?.value).toEqual({ a: 1 });
    expect(server.seen).toHaveLength(3);
    server.answer("reset", "reset", { status: 200, body: { data: [], has_more: false } });
    expect((await store.listItemKeys()).keys).toEqual([]);
    expect(server.seen).toHaveLength(6);
  });

  test("a read whose answer broke off is tried again, and a write is not", async () => {
    const { server, store } = await openScripted(SOON);
    const broken: Scripted = { status: 200, raw: '{"id":"it_1",', headers: { "content-length": "500" }, end: "reset" };
    server.answer(broken, { status: 200, body: ITEM });
    expect((await store.getItem("k"))?.value).toEqual({ a: 1 });
    expect(server.seen).toHaveLength(2);
    server.answer(broken, { status: 200, body: REFERENCE });
    expect(await failure(store.setItem("k", {}))).toMatchObject({ code: "outcome_unknown" });
    expect(server.seen).toHaveLength(3);
  });

  test.each(["-5", "1.5", "soon", "Tomorrow"])("a write is not, where %j says nothing about when", async (when) => {
    const { server, store } = await openScripted(SOON);
    server.answer({ status: 503, body: {}, headers: { "retry-after": when } }, { status: 200, body: REFERENCE });
    expect(await failure(store.setItem("k", {}))).toMatchObject({ code: "outcome_unknown" });
    expect(server.seen).toHaveLength(1);
  });

  test("a write is, where a date says when", async () => {
    const { server, store } = await openScripted(SOON);
    const now = new Date().toUTCString();
    server.answer({ status: 503, body: {}, headers: { "retry-after": now } }, { status: 200, body: REFERENCE });
    await store.setItem("k", {});
    expect(server.seen).toHaveLength(2);
  });

  test("a create that failed with 500 is not, and its outcome is unknown", async () => {
    const { server, store } = await openScripted(SOON);
    server.answer({ status: 500, body: {} }, { status: 201, body: REFERENCE });
    expect(await failure(store.createItem("k", {}))).toMatchObject({ code: "outcome_unknown" });
    expect(server.seen).toHaveLength(1);
  });

  test.each(["setItem", "deleteItem"] as const)(
    "a %s whose connection ended is not, and its outcome is unknown",
    async (name) => {
      const { server, store } = await openScripted(SOON);
      server.answer("reset", { status: 200, body: REFERENCE });
      const call = name === "setItem" ? store.setItem("k", {}) : store.deleteItem("k");
      expect(await failure(call)).toMatchObject({ code: "outcome_unknown", cause: { code: "ECONNRESET" } });
      expect(server.seen).toHaveLength(1);
    },
  );

  test("a write is where nothing was done: too many requests, or unavailable with the time to come back", async () => {
    const { server, store } = await openScripted(SOON);
    server.answer(
      { status: 429, body: {} },
      { status: 503, body: {}, headers: { "retry-after": "0" } },
      { status: 200, body: REFERENCE },
    );
    await store.setItem("k", {});
    expect(server.seen).toHaveLength(3);
  });

  test("a write to where nobody listens is unavailable: nothing was sent", async () => {
    const { store } = await openScripted(SOON);
    const endpoint = "http://127.0.0.1:1/p";
    expect(await failure(FoundryStateStore.getOrCreate("checkpoints", { endpoint, ...SOON }))).toMatchObject({
      code: "unavailable",
    });
    expect(store.isLocal).toBe(false);
  });

  test("a store whose POST was lost is looked for; unknown only where it is not there", async () => {
    const { server } = await openScripted(SOON);
    const open = () => FoundryStateStore.getOrCreate("checkpoints", { endpoint: server.endpoint, ...SOON });
    server.answer({ status: 503, body: {} }, { status: 404, body: {} }, "reset", { status: 200, body: STORE });
    expect((await open()).name).toBe("checkpoints");
    expect(server.seen.map(({ method }) => method)).toEqual(["GET", "GET", "POST", "GET"]);
    server.answer({ status: 404, body: {} }, { status: 500, body: {} }, { status: 404, body: {} });
    expect(await failure(open())).toMatchObject({ code: "outcome_unknown" });
  });

  test.each([
    ["ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:1", "unavailable"],
    ["EAI_AGAIN", "getaddrinfo EAI_AGAIN foundry.example", "unavailable"],
    ["EHOSTUNREACH", "connect EHOSTUNREACH 10.0.0.1:443", "unavailable"],
    ["EHOSTUNREACH", "read EHOSTUNREACH", undefined],
    ["ENETUNREACH", "write ENETUNREACH", undefined],
    ["CERT_HAS_EXPIRED", "certificate has expired", "configuration"],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "Hostname does not match", "configuration"],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "self-signed certificate", "configuration"],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "unable to verify", "configuration"],
    ["ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC", "decryption failed", undefined],
    ["EPROTO", "write EPROTO", undefined],
    ["ECONNRESET", "socket hang up", undefined],
    ["ETIMEDOUT", "read ETIMEDOUT", undefined],
    ["EPIPE", "write EPIPE", undefined],
    ["REQUEST_SEND_ERROR", "failed", undefined],
    [undefined, "failed", undefined],
  ])("%s (%s) before anything was sent is %s", (code, message, expected) => {
    expect(connectionFailure(new RestError(message, code === undefined ? {} : { code }))?.code).toBe(expected);
  });

  test("a certificate that is not trusted is a matter of configuration, and told after one try, also of a write", async () => {
    const { server } = await openScripted(SOON);
    const usual = createDefaultHttpClient();
    let tries = 0;
    let isTrusted = true;
    const httpClient: HttpClient = {
      async sendRequest(request) {
        tries += 1;
        if (isTrusted) {
          return usual.sendRequest(request);
        }
        throw new RestError("self-signed certificate", { code: "DEPTH_ZERO_SELF_SIGNED_CERT", request });
      },
    };
    server.answer({ status: 200, body: STORE });
    const store = await FoundryStateStore.getOrCreate("checkpoints", {
      endpoint: server.endpoint,
      httpClient,
      ...SOON,
    });
    isTrusted = false;
    for (const call of [() => store.getItem("k"), () => store.setItem("k", {})]) {
      tries = 0;
      const told = { code: "configuration", message: expect.stringContaining("certificate is not trusted") };
      expect(await failure(call())).toMatchObject(told);
      expect(tries).toBe(1);
    }
  });
});

describe("C20 the time to come back", () => {
  test("is waited for", async () => {
    const { server, store } = await openScripted({ ...SOON, timeoutMs: 30_000 });
    server.answer({ status: 429, body: {}, headers: { "retry-after": "2" } }, { status: 200, body: ITEM });
    await store.getItem("k");
    const [first, second] = server.seen.map(({ at }) => at);
    // The server's own clock: timers may fire a millisecond early, and never a second.
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThan(1_900);
  });

  test("beyond the deadline is not waited for: the answer is told at once", async () => {
    const { server, store } = await openScripted({ ...SOON, timeoutMs: 5_000 });
    server.answer({ status: 429, body: {}, headers: { "retry-after": "600" } });
    expect(await failure(store.getItem("k"))).toMatchObject({ code: "unavailable", cause: { status: 429 } });
    expect(server.seen).toHaveLength(1);
  });
});

describe("deadlines and aborts", () => {
  test("a service that does not answer is a timeout for a read, and an unknown outcome for a write", async () => {
    const { server, store } = await openScripted({ timeoutMs: 2_000 });
    server.otherwise(() => "hang");
    expect(await failure(store.getItem("k"))).toMatchObject({ code: "timeout" });
    expect(await failure(store.setItem("k", {}))).toMatchObject({ code: "outcome_unknown" });
  });

  test("an abort on the way is the abort for a read, and an unknown outcome for a write", async () => {
    const { server, store } = await openScripted();
    for (const [call, check] of [
      [(signal: AbortSignal) => store.getItem("k", { signal }), { name: "AbortError" }],
      [
        (signal: AbortSignal) => store.setItem("k", {}, { signal }),
        { code: "outcome_unknown", cause: { name: "AbortError" } },
      ],
    ] as const) {
      const controller = new AbortController();
      const asked = new Promise<void>((resolve) => {
        server.otherwise(() => {
          resolve();
          return "hang";
        });
      });
      const pending = failure(call(controller.signal));
      await asked;
      controller.abort();
      expect(await pending).toMatchObject(check);
    }
  });

  test("what was aborted before sends nothing", async () => {
    const { server, store } = await openScripted();
    const signal = AbortSignal.abort();
    expect(await failure(store.setItem("k", {}, { signal }))).toMatchObject({ name: "AbortError" });
    expect(await failure(FoundryStateStore.getOrCreate("x", { endpoint: server.endpoint, signal }))).toMatchObject({
      name: "AbortError",
    });
    expect(server.seen).toEqual([]);
  });

  test("a wait before a retry ends with the abort, and nothing was done", async () => {
    const { server } = await openScripted();
    const controller = new AbortController();
    const usual = createDefaultHttpClient();
    const httpClient: HttpClient = {
      async sendRequest(request) {
        const response = await usual.sendRequest(request);
        if (response.status === 429) {
          // Not before the answer has been read, and long before it is time to come back.
          setTimeout(() => controller.abort(), 20);
        }
        return response;
      },
    };
    server.answer({ status: 200, body: STORE }, { status: 429, body: {}, headers: { "retry-after": "10" } });
    const options = { endpoint: server.endpoint, timeoutMs: 20_000, httpClient };
    const store = await FoundryStateStore.getOrCreate("checkpoints", options);
    expect(await failure(store.setItem("k", {}, { signal: controller.signal }))).toMatchObject({ name: "AbortError" });
  });
});

test("getOrCreate of a store that answers something else is no success", async () => {
  const { server } = await openScripted(SOON);
  server.otherwise(() => ({ status: 200, body: { ...STORE, name: 7 } }));
  expect(
    await failure(FoundryStateStore.getOrCreate("checkpoints", { endpoint: server.endpoint, ...SOON })),
  ).toMatchObject({
    code: "unavailable",
  });
});

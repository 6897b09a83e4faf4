import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DiagnosticEvent } from "@agentfw/core";
import { createDefaultHttpClient, type HttpClient, type PipelineRequest } from "@azure/core-rest-pipeline";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { FoundryStateStore, LocalStateStore } from "../src/index.ts";
import { failure, openScripted, REFERENCE, STORE, scriptedServer } from "./support/scripted.ts";

beforeEach(() => {
  vi.stubEnv("FOUNDRY_PROJECT_ENDPOINT", "");
  vi.stubEnv("FOUNDRY_HOSTING_ENVIRONMENT", "");
});

afterEach(() => {
  vi.unstubAllEnvs();
});

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "agentfw-opening-"));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

describe("the endpoint", () => {
  test.each(["", "/", "///", "/storage", "/storage/", "/Storage//"])(
    "C1 leads to one base URL, ending in %j or not",
    async (end) => {
      const server = await scriptedServer();
      server.answer({ status: 200, body: STORE });
      await FoundryStateStore.getOrCreate("checkpoints", { endpoint: server.endpoint + end });
      expect(server.seen.map(({ url }) => url)).toEqual(["/p/storage/state_stores/Y2hlY2twb2ludHM?api-version=v1"]);
    },
  );

  test("C2 comes from the environment where it is not given", async () => {
    const server = await scriptedServer();
    vi.stubEnv("FOUNDRY_PROJECT_ENDPOINT", server.endpoint);
    server.answer({ status: 200, body: STORE });
    const store = await FoundryStateStore.getOrCreate("checkpoints");
    expect([store.isLocal, server.seen.length]).toEqual([false, 1]);
  });

  test("C2 is asked for by name where a hosted program has none", async () => {
    vi.stubEnv("FOUNDRY_HOSTING_ENVIRONMENT", "container");
    const error = await failure(FoundryStateStore.getOrCreate("checkpoints"));
    expect(error).toMatchObject({
      code: "configuration",
      message: expect.stringContaining("FOUNDRY_PROJECT_ENDPOINT"),
    });
  });

  test.each(["ftp://h/p", "/p", "", "http://example.com/p", "https://u:secret@h/p", "https://h/p?x=1"])(
    "C2 is refused as %j, and not shown",
    async (endpoint) => {
      const error = await failure(FoundryStateStore.getOrCreate("checkpoints", { endpoint }));
      expect(error.code).toBe("configuration");
      expect(error.message).toContain("endpoint");
      expect(error.message).not.toContain("secret");
    },
  );

  test("the service needs a credential", async () => {
    const error = await failure(FoundryStateStore.getOrCreate("checkpoints", { endpoint: "https://h/p" }));
    expect(error).toMatchObject({ code: "configuration", message: expect.stringContaining("credential") });
  });

  test("an agent's name leads to the surface that is scoped to it, under its preview header", async () => {
    const server = await scriptedServer();
    server.answer({ status: 200, body: STORE });
    await FoundryStateStore.getOrCreate("checkpoints", { endpoint: server.endpoint, agentName: "my agent/1" });
    const [request] = server.seen;
    expect(request?.url).toBe("/p/agents/my%20agent%2F1/endpoint/state_stores/Y2hlY2twb2ludHM?api-version=v1");
    expect(request?.headers["foundry-features"]).toBe("StateStores=V1Preview");
  });
});

describe("getOrCreate", () => {
  const options = { userIsolation: true, itemTtlSeconds: 60, description: "d", tags: { a: "1" } };

  test("C4 asks once where the store exists, and sends no options", async () => {
    const server = await scriptedServer();
    server.answer({ status: 200, body: { ...STORE, user_isolation: true, item_ttl_seconds: 60 } });
    const store = await FoundryStateStore.getOrCreate("checkpoints", { endpoint: server.endpoint, ...options });
    expect(server.seen.map(({ method, body }) => [method, body])).toEqual([["GET", ""]]);
    expect(store.properties).toMatchObject({ id: "ss_1", name: "checkpoints", createdAt: "2023-11-14T22:13:20.000Z" });
  });

  test("C5 creates it with all options where it does not", async () => {
    const server = await scriptedServer();
    server.answer(
      { status: 404, body: {} },
      { status: 201, body: { ...STORE, user_isolation: true, item_ttl_seconds: 60 } },
    );
    await FoundryStateStore.getOrCreate("checkpoints", { endpoint: server.endpoint, ...options });
    expect(server.seen.map(({ method }) => method)).toEqual(["GET", "POST"]);
    expect(server.seen[1]?.url).toBe("/p/storage/state_stores?api-version=v1");
    expect(JSON.parse(server.seen[1]?.body ?? "")).toEqual({
      name: "checkpoints",
      user_isolation: true,
      item_ttl_seconds: 60,
      description: "d",
      tags: { a: "1" },
    });
  });

  test("C5 says the defaults aloud", async () => {
    const server = await scriptedServer();
    server.answer({ status: 404, body: {} }, { status: 201, body: STORE });
    await FoundryStateStore.getOrCreate("checkpoints", { endpoint: server.endpoint });
    expect(JSON.parse(server.seen[1]?.body ?? "")).toEqual({
      name: "checkpoints",
      user_isolation: false,
      item_ttl_seconds: 2_592_000,
    });
  });

  test("C6 takes the store that somebody else made in between", async () => {
    const server = await scriptedServer();
    server.answer({ status: 404, body: {} }, { status: 409, body: {} }, { status: 200, body: STORE });
    const store = await FoundryStateStore.getOrCreate("checkpoints", { endpoint: server.endpoint });
    expect(server.seen.map(({ method }) => method)).toEqual(["GET", "POST", "GET"]);
    expect(store.name).toBe("checkpoints");
  });

  test("an endpoint that leads to no service is told so, and not that a store is missing", async () => {
    const server = await scriptedServer();
    server.otherwise(() => ({ status: 404, raw: "<html>" }));
    const error = await failure(FoundryStateStore.getOrCreate("checkpoints", { endpoint: server.endpoint }));
    expect(error).toMatchObject({ code: "configuration", message: expect.stringContaining("endpoint") });
    expect(server.seen).toHaveLength(2);
  });

  test("C7 names the field that the service refused, and gives up what it used", async () => {
    const server = await scriptedServer();
    const refusal = { error: { code: "x", message: "secret", param: "tags.a" } };
    server.answer({ status: 404, body: {} }, { status: 400, body: refusal }, { status: 200, body: STORE });
    const signals: PipelineRequest["abortSignal"][] = [];
    const usual = createDefaultHttpClient();
    const httpClient: HttpClient = {
      sendRequest(request) {
        signals.push(request.abortSignal);
        return usual.sendRequest(request);
      },
    };
    const error = await failure(
      FoundryStateStore.getOrCreate("checkpoints", { endpoint: server.endpoint, tags: { a: "1" }, httpClient }),
    );
    expect(error).toMatchObject({ code: "configuration", cause: { status: 400, param: "tags.a" } });
    expect(error.message).toContain("tags.a");
    // Whatever listens to the call is told that it is over, and its connection is the next one's.
    expect(signals.map((signal) => signal?.aborted)).toEqual([true, true]);
    await FoundryStateStore.getOrCreate("checkpoints", { endpoint: server.endpoint, httpClient });
    expect(server.seen).toHaveLength(3);
    expect(new Set(server.seen.map(({ port }) => port)).size).toBe(1);
  });

  test.each([
    ["name", { name: "" }],
    ["name", { name: "x".repeat(129) }],
    ["name", { name: "\ud83d" }],
    ["itemTtlSeconds", { itemTtlSeconds: 0 }],
    ["description", { description: "d".repeat(1025) }],
    ["tags", { tags: { "a b": "1" } }],
    ["userIsolation", { userIsolation: "yes" }],
    ["onMismatch", { onMismatch: "maybe" }],
    ["timeoutMs", { timeoutMs: 0 }],
    ["ttlSeconds", { ttlSeconds: 60 }],
    ["credential", { credential: {}, endpoint: "https://h/p" }],
    ["endpoint", { endpoint: null }],
    ["agentName", { agentName: ".." }],
    ["agentName", { agentName: "\ud83d" }],
    ["httpClient", { httpClient: {} }],
    ["pipelineOptions", { pipelineOptions: 5 }],
    ["retryOptions", { pipelineOptions: { retryOptions: null } }],
    ["maxRetries", { pipelineOptions: { retryOptions: { maxRetries: "3" } } }],
    ["localDirectory", { localDirectory: 5 }],
  ])("refuses a bad %s before it asks", async (field, { name = "checkpoints", ...given }: Record<string, unknown>) => {
    const server = await scriptedServer();
    const call = Reflect.apply(FoundryStateStore.getOrCreate, FoundryStateStore, [
      name,
      { endpoint: server.endpoint, ...given },
    ]);
    const error = await failure(call);
    expect(error).toMatchObject({ code: "configuration", message: expect.stringContaining(field) });
    expect(server.seen).toEqual([]);
  });
});

describe("C24 a store that exists and differs", () => {
  async function reopen(options: object, properties: object): Promise<{ events: DiagnosticEvent[] }> {
    const events: DiagnosticEvent[] = [];
    await openScripted({ ...options, onDiagnostic: (event) => void events.push(event) }, properties);
    return { events };
  }

  test("fails where it keeps users apart or does not, unless that is to be ignored", async () => {
    for (const [asked, is] of [
      [true, false],
      [false, true],
    ]) {
      const error = await failure(reopen({ userIsolation: asked }, { user_isolation: is }));
      expect(error).toMatchObject({ code: "configuration", message: expect.stringContaining("userIsolation") });
      await reopen({ userIsolation: asked, onMismatch: "ignore" }, { user_isolation: is });
    }
    await reopen({}, { user_isolation: true });
  });

  test("is told of where its items live shorter or longer, and fails where that is asked for", async () => {
    const { events } = await reopen({ itemTtlSeconds: 60 }, { item_ttl_seconds: -1 });
    expect(events).toMatchObject([{ type: "store_differs" }]);
    expect((await reopen({ itemTtlSeconds: 60, onMismatch: "ignore" }, { item_ttl_seconds: -1 })).events).toEqual([]);
    const error = await failure(reopen({ itemTtlSeconds: 60, onMismatch: "fail" }, { item_ttl_seconds: -1 }));
    expect(error).toMatchObject({ code: "configuration", message: expect.stringContaining("itemTtlSeconds") });
  });
});

describe("C22 where nothing hosted is configured", () => {
  test("files on this machine are used, and that is said once", async () => {
    const warnings: string[] = [];
    const onWarning = (warning: Error) => void warnings.push(`${Reflect.get(warning, "code")} ${warning.message}`);
    process.on("warning", onWarning);
    onTestFinished(() => void process.off("warning", onWarning));
    const localDirectory = await folder();
    const first = await FoundryStateStore.getOrCreate("checkpoints", { localDirectory });
    const second = await FoundryStateStore.getOrCreate("others", { localDirectory });
    expect([first.isLocal, second.isLocal, first instanceof LocalStateStore]).toEqual([true, true, true]);
    await first.setItem("k", { a: 1 });
    expect(
      (await (await LocalStateStore.getOrCreate("checkpoints", { directory: localDirectory })).getItem("k"))?.value,
    ).toEqual({ a: 1 });
    await new Promise((resolve) => setImmediate(resolve));
    expect(warnings.filter((text) => text.startsWith("AGENTFW_LOCAL_STATE_STORE"))).toHaveLength(1);
  });

  test("whoever takes diagnostics is told there, once", async () => {
    const events: DiagnosticEvent[] = [];
    const onDiagnostic = (event: DiagnosticEvent) => void events.push(event);
    await FoundryStateStore.getOrCreate("checkpoints", { localDirectory: await folder(), onDiagnostic });
    await FoundryStateStore.getOrCreate("others", { localDirectory: await folder(), onDiagnostic });
    expect(events).toMatchObject([{ type: "local_state_store" }]);
  });

  test("user isolation is an error, unless it is given up", async () => {
    const events: DiagnosticEvent[] = [];
    const options = {
      localDirectory: await folder(),
      userIsolation: true,
      onDiagnostic: (event: DiagnosticEvent) => void events.push(event),
    };
    const error = await failure(FoundryStateStore.getOrCreate("checkpoints", options));
    expect(error).toMatchObject({ code: "configuration", message: expect.stringContaining("allowUnisolatedLocal") });
    const store = await FoundryStateStore.getOrCreate("checkpoints", { ...options, allowUnisolatedLocal: true });
    expect(store.properties.userIsolation).toBe(false);
    expect(events.map(({ type }) => type)).toContain("unisolated_state_store");
    const again = await FoundryStateStore.getOrCreate("checkpoints", { ...options, allowUnisolatedLocal: true });
    expect((await again.setItem("k", { a: 1 }, { callId: "any" })).key).toBe("k");
  });
});

test("a store that is opened twice is the same store", async () => {
  const { server, store } = await openScripted();
  server.answer({ status: 200, body: REFERENCE });
  expect(await store.setItem("k", { a: 1 })).toMatchObject({ etag: '"e1"', key: "k" });
});

import { readdir } from "node:fs/promises";
import { isAgentFrameworkError } from "@agentfw/core";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { FoundryStateStore, LocalStateStore } from "../src/index.ts";
import { temporaryFolder } from "./support/folder.ts";
import { breakEngine, holdEngine } from "./support/loading.ts";
import { failure, STORE, scriptedServer } from "./support/scripted.ts";

const MISSING = Object.assign(new Error("no such file"), { code: "ERR_MODULE_NOT_FOUND" });

const QUIET = { onDiagnostic: () => {} };

beforeEach(() => {
  vi.stubEnv("FOUNDRY_PROJECT_ENDPOINT", "");
  vi.stubEnv("FOUNDRY_HOSTING_ENVIRONMENT", "");
});

afterEach(() => {
  vi.unstubAllEnvs();
});

/** The ways to open a store in files: by its own class, and where nothing hosted is configured. */
const FILES = [
  ["LocalStateStore", LocalStateStore, "directory"],
  ["FoundryStateStore in its place", FoundryStateStore, "localDirectory"],
] as const;

describe("opening a store in the service while its engine is loaded", () => {
  test("asks for what was said at the time of the call", async () => {
    const server = await scriptedServer();
    server.answer({ status: 404, body: {} }, { status: 201, body: STORE });
    const engine = await holdEngine("service");
    const tags: Record<string, string> = { a: "1" };
    const options = { endpoint: server.endpoint, itemTtlSeconds: -1, description: "d", tags };
    const call = FoundryStateStore.getOrCreate("checkpoints", options);
    Object.assign(options, { endpoint: "https://elsewhere", itemTtlSeconds: 60, description: "other" });
    tags["b"] = "2";
    engine.end();
    expect((await call).isLocal).toBe(false);
    expect(JSON.parse(server.seen[1]?.body ?? "")).toMatchObject({
      ...{ name: "checkpoints", item_ttl_seconds: -1, description: "d", tags: { a: "1" } },
    });
  });

  test("ends with its abort or its time, and asks nothing then", async () => {
    const server = await scriptedServer();
    const { endpoint } = server;
    const engine = await holdEngine("service");
    const stop = new AbortController();
    const aborted = failure(FoundryStateStore.getOrCreate("checkpoints", { endpoint, signal: stop.signal }));
    const late = failure(FoundryStateStore.getOrCreate("checkpoints", { endpoint, timeoutMs: 20 }));
    const reason = new Error("enough");
    stop.abort(reason);
    expect(await aborted).toBe(reason);
    expect(await late).toMatchObject({ code: "timeout", provider: "foundry-state-store" });
    server.answer({ status: 200, body: STORE });
    engine.end();
    await FoundryStateStore.getOrCreate("checkpoints", { endpoint });
    expect(server.seen).toHaveLength(1);
  });

  test("is unavailable when it cannot be loaded, and works when it can again", async () => {
    const server = await scriptedServer();
    const { endpoint } = server;
    const engine = breakEngine("service", MISSING);
    const error = await failure(FoundryStateStore.getOrCreate("checkpoints", { endpoint }));
    expect(isAgentFrameworkError(error, "unavailable") && error.provider).toBe("foundry-state-store");
    expect(error.cause).toBe(MISSING);
    expect(server.seen).toEqual([]);
    engine.repair();
    server.answer({ status: 200, body: STORE });
    expect((await FoundryStateStore.getOrCreate("checkpoints", { endpoint })).name).toBe("checkpoints");
  });

  test("is refused as ever when an option is bad", async () => {
    await holdEngine("service");
    for (const [field, given] of [
      ["timeoutMs", { timeoutMs: 0 }],
      ["endpoint", { endpoint: "ftp://h/p" }],
      ["credential", { endpoint: "https://h/p" }],
      ["maxRetries", { pipelineOptions: { retryOptions: { maxRetries: -1 } } }],
    ] as const) {
      const error = await failure(
        FoundryStateStore.getOrCreate("checkpoints", { endpoint: "http://127.0.0.1", ...given }),
      );
      expect(error).toMatchObject({ code: "configuration", message: expect.stringContaining(field) });
    }
  });
});

describe.each(FILES)("opening a store in files while their engine is loaded, by %s", (_name, kind, folder) => {
  test("goes to the folder, and with the options, of the time of the call", async () => {
    const directory = await temporaryFolder();
    const engine = await holdEngine("files");
    const options = { [folder]: directory, itemTtlSeconds: -1, description: "d", ...QUIET };
    const call = kind.getOrCreate("checkpoints", options);
    Object.assign(options, { [folder]: await temporaryFolder(), itemTtlSeconds: 60, description: "other" });
    engine.end();
    const store = await call;
    expect(store.properties).toMatchObject({ itemTtlSeconds: -1, description: "d" });
    expect(store).toBeInstanceOf(LocalStateStore);
    expect(await readdir(directory)).toHaveLength(1);
  });

  test("ends with its abort or its time, and writes nothing then", async () => {
    const directory = await temporaryFolder();
    const engine = await holdEngine("files");
    const stop = new AbortController();
    const options = { [folder]: directory, ...QUIET };
    const aborted = failure(kind.getOrCreate("aborted", { ...options, signal: stop.signal }));
    const late = failure(kind.getOrCreate("late", { ...options, timeoutMs: 20 }));
    const reason = new Error("enough");
    stop.abort(reason);
    expect(await aborted).toBe(reason);
    expect(await late).toMatchObject({ code: "timeout", provider: "foundry-state-store" });
    engine.end();
    await kind.getOrCreate("another", options);
    expect(await readdir(directory)).toHaveLength(1);
  });

  test("is unavailable when it cannot be loaded, and works when it can again", async () => {
    const directory = await temporaryFolder();
    const options = { [folder]: directory, ...QUIET };
    const engine = breakEngine("files", MISSING);
    const error = await failure(kind.getOrCreate("checkpoints", options));
    expect(isAgentFrameworkError(error, "unavailable") && error.provider).toBe("foundry-state-store");
    expect(error.cause).toBe(MISSING);
    expect(await readdir(directory)).toEqual([]);
    engine.repair();
    const store = await kind.getOrCreate("checkpoints", options);
    await store.setItem("k", { a: 1 });
    expect((await store.getItem("k"))?.value).toEqual({ a: 1 });
  });
});

test("a store in files needs nothing of what speaks to the service, and the other way round", async () => {
  const server = await scriptedServer();
  server.answer({ status: 200, body: STORE });
  const service = breakEngine("service", MISSING);
  const local = await FoundryStateStore.getOrCreate("c", { localDirectory: await temporaryFolder(), ...QUIET });
  service.repair();
  breakEngine("files", MISSING);
  const hosted = await FoundryStateStore.getOrCreate("checkpoints", { endpoint: server.endpoint });
  expect([local.isLocal, hosted.isLocal]).toEqual([true, false]);
});

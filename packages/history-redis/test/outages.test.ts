import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { isAgentFrameworkError } from "@agentfw/core";
import { ServerProblem } from "@agentfw/core/backend";
import { describe, expect, onTestFinished, test } from "vitest";
import { ownConnection } from "../src/connection.ts";
import { RedisHistoryStore } from "../src/index.ts";
import { openFaulty, until } from "./support/faults.ts";
import { codeOf, conversation, openClient, pause, recordsOf, rejection } from "./support/redis.ts";
import { type Connected, freshPrefix, nodePort } from "./support/stores.ts";

const KEY = conversation("s");
const EVERYWHERE: readonly Connected[] = ["url", "ioredis 6", "ioredis 5", "cluster"];

describe("a server that cannot be reached", () => {
  test("is told at once by the first call, and tried again by the next", async () => {
    const { store, proxies } = await openFaulty("url", { timeoutMs: 60_000, isCold: true });
    await proxies[0]?.refuse();
    const error = await rejection(store.append(KEY, recordsOf("1")));
    expect(error).toMatchObject({ code: "unavailable", retryable: true });
    expect(await codeOf(store.read(KEY))).toBe("unavailable");
    expect(await codeOf(store.list({ owner: "alice" }))).toBe("unavailable");
    await proxies[0]?.pass();
    expect((await store.append(KEY, recordsOf("1"))).appended).toBe(1);
  });

  test("is told at once over a client that never was connected", async () => {
    const client = openClient("redis://127.0.0.1:1", { lazyConnect: true });
    const store = new RedisHistoryStore({ client }, { timeoutMs: 60_000 });
    expect(await codeOf(store.append(KEY, recordsOf("1")))).toBe("unavailable");
    expect(await codeOf(store.read(KEY))).toBe("unavailable");
  });

  test("by its name is unavailable", async () => {
    const store = new RedisHistoryStore({ url: "redis://no-such-host.invalid" }, { timeoutMs: 60_000 });
    expect(await codeOf(store.read(KEY))).toBe("unavailable");
    await store.close();
  });

  test.each(EVERYWHERE)("for a moment is waited for (%s)", async (connected) => {
    const { store, proxies } = await openFaulty(connected, { timeoutMs: 20_000 });
    await store.append(KEY, recordsOf("1"));
    await Promise.all(proxies.map((proxy) => proxy.refuse()));
    await pause(50);
    const calls = [store.read(KEY), store.append(conversation("t"), recordsOf("2")), store.list({ owner: "alice" })];
    await pause(100);
    await Promise.all(proxies.map((proxy) => proxy.pass()));
    const [page] = await Promise.all(calls);
    expect(page).toMatchObject({ records: recordsOf("1") });
  });

  test.each(EVERYWHERE)("gets nothing that its caller was told had failed (%s)", async (connected) => {
    const { store, direct, proxies } = await openFaulty(connected, { timeoutMs: 1_000 });
    await store.append(KEY, recordsOf("1"));
    await Promise.all(proxies.map((proxy) => proxy.refuse()));
    await until(async () => ["unavailable", "timeout"].includes(await codeOf(store.read(KEY))));
    const codes = await Promise.all([
      codeOf(store.append(KEY, recordsOf("2"))),
      codeOf(store.replace(KEY, { fromId: "1", throughId: "1" }, recordsOf("x"))),
      codeOf(store.clear(KEY)),
    ]);
    for (const code of codes) {
      expect(["unavailable", "timeout"]).toContain(code);
    }
    await Promise.all(proxies.map((proxy) => proxy.pass()));
    await until(async () => (await store.read(KEY).catch(() => undefined)) !== undefined);
    await pause(200);
    expect((await direct.read(KEY)).records).toEqual(recordsOf("1"));
  });
});

describe("a server that does not answer", () => {
  test.each(EVERYWHERE)("is a timeout for reads, an unknown outcome for writes (%s)", async (connected) => {
    const { store, proxies } = await openFaulty(connected, { timeoutMs: 1_000 });
    await store.append(KEY, recordsOf("1"));
    for (const proxy of proxies) {
      proxy.blackhole();
    }
    const errors = await Promise.all([
      rejection(store.read(KEY)),
      rejection(store.read(KEY, { last: 1, withFirst: true })),
      rejection(store.list({ owner: "alice" })),
      rejection(store.append(KEY, recordsOf("2", "3"))),
      rejection(store.replace(KEY, { fromId: "1", throughId: "1" }, recordsOf("x"))),
      rejection(store.clear(conversation("t"))),
    ]);
    const unknown = Array.from({ length: 3 }, () => "outcome_unknown");
    expect(errors.map((error) => isAgentFrameworkError(error) && error.code)).toEqual([
      "timeout",
      "timeout",
      "timeout",
      ...unknown,
    ]);
    await Promise.all(proxies.map((proxy) => proxy.pass()));
    await until(async () => (await store.read(KEY).catch(() => undefined)) !== undefined);
  });

  test("from the beginning keeps no call longer than its time", async () => {
    const { store, proxies } = await openFaulty("url", { timeoutMs: 1_000, isCold: true });
    proxies[0]?.blackhole();
    for (const call of [() => store.append(KEY, recordsOf("1")), () => store.read(KEY), () => store.clear(KEY)]) {
      expect(["timeout", "unavailable"]).toContain(await codeOf(call()));
    }
    await proxies[0]?.pass();
    await until(async () => (await store.read(KEY).catch(() => undefined))?.records.length === 0);
  });

  test("when it is given a password is connected to anew by the next call", async () => {
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.on("error", () => undefined).resume();
    }).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const to = { host: "127.0.0.1", port, username: "", password: "secret", database: 1, isTls: false };
    const connection = ownConnection(to, 1_000);
    for (const expected of [1, 2]) {
      const error = await rejection(connection.open());
      expect(error).toBeInstanceOf(ServerProblem);
      expect(error).toMatchObject({ message: "no answer within 1000 ms" });
      await until(() => connections === expected);
    }
  });

  test("on one connection is reached over another one by the next call", async () => {
    const { port, mute } = await startMutable();
    const url = `redis://127.0.0.1:${port}`;
    const store = new RedisHistoryStore({ url }, { keyPrefix: freshPrefix(), timeoutMs: 1_000 });
    onTestFinished(() => store.close());
    await store.append(KEY, recordsOf("1"));
    mute();
    expect(await codeOf(store.read(KEY))).toBe("timeout");
    expect((await store.read(KEY)).records).toEqual(recordsOf("1"));
  });

  test("lets calls end in the order in which they were made, each after its own time", async () => {
    const { store, proxies } = await openFaulty("url", { timeoutMs: 1_000 });
    await store.read(KEY);
    proxies[0]?.blackhole();
    const ended: string[] = [];
    const first = codeOf(store.read(KEY)).then(() => ended.push("first"));
    await pause(200);
    const second = codeOf(store.read(KEY)).then(() => ended.push("second"));
    await first;
    expect(ended).toEqual(["first"]);
    await second;
    expect(ended).toEqual(["first", "second"]);
  });
});

/** A way to the server on which those connections that are open fall silent at a word; later ones work. */
async function startMutable() {
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(nodePort(), "127.0.0.1");
    client.pipe(upstream).pipe(client);
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on("error", () => socket.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of open) {
      socket.destroy();
    }
    server.close();
  });
  const address = server.address();
  const mute = () => {
    for (const socket of open) {
      socket.unpipe();
    }
  };
  return { port: typeof address === "object" ? address?.port : 0, mute };
}

describe("a signal", () => {
  test("that aborts a call under way ends a read with its reason and a write in doubt", async () => {
    const { store, proxies } = await openFaulty("url");
    await store.append(KEY, recordsOf("1"));
    proxies[0]?.blackhole();
    const controller = new AbortController();
    const { signal } = controller;
    const calls = [
      rejection(store.read(KEY, { signal })),
      rejection(store.list({ owner: "alice" }, { signal })),
      rejection(store.append(KEY, recordsOf("2"), { signal })),
      rejection(store.replace(KEY, { fromId: "1", throughId: "1" }, recordsOf("x"), { signal })),
      rejection(store.clear(KEY, { signal })),
    ];
    const reason = new DOMException("gone", "AbortError");
    controller.abort(reason);
    const [read, list, ...writes] = await Promise.all(calls);
    expect([read, list]).toEqual([reason, reason]);
    for (const error of writes) {
      expect(error).toMatchObject({ code: "outcome_unknown", retryable: true, cause: reason });
    }
  });

  test("that aborts while the connection is down ends a write with its reason, and it is never sent", async () => {
    const { store, direct, proxies } = await openFaulty("url", { timeoutMs: 20_000 });
    await store.append(KEY, recordsOf("1"));
    await proxies[0]?.refuse();
    await pause(50);
    const controller = new AbortController();
    const call = rejection(store.append(KEY, recordsOf("2"), { signal: controller.signal }));
    await pause(50);
    controller.abort();
    expect(await call).toBe(controller.signal.reason);
    await proxies[0]?.pass();
    await store.read(KEY);
    expect((await direct.read(KEY)).records).toEqual(recordsOf("1"));
  });
});

describe("close", () => {
  test("ends the store's own connection after the calls under way, and can be repeated", async () => {
    const { store, proxies } = await openFaulty("url");
    await store.append(KEY, recordsOf("1"));
    const calls = Array.from({ length: 20 }, () => store.read(KEY));
    await store.close();
    await store.close();
    for (const page of await Promise.all(calls)) {
      expect(page.records).toEqual(recordsOf("1"));
    }
    await until(() => proxies[0]?.connections === 0);
    expect(await rejection(store.read(KEY))).toMatchObject({ code: "configuration" });
    expect(await codeOf(store.append(KEY, recordsOf("2")))).toBe("configuration");
  });

  test("of a store that was never used does nothing", async () => {
    const store = new RedisHistoryStore({ url: "redis://127.0.0.1:1" });
    await store.close();
  });

  test("does not wait for a server that does not answer", async () => {
    const { store, proxies } = await openFaulty("url", { timeoutMs: 1_000 });
    await store.read(KEY);
    proxies[0]?.blackhole();
    await store.close();
  });

  test("leaves a client that was passed in alone; one that its owner closed is unavailable", async () => {
    const client = openClient();
    const keyPrefix = freshPrefix();
    const first = new RedisHistoryStore({ client }, { keyPrefix });
    await first.append(KEY, recordsOf("1"));
    await first.close();
    expect(await codeOf(first.read(KEY))).toBe("configuration");
    const store = new RedisHistoryStore({ client }, { keyPrefix });
    expect((await store.read(KEY)).records).toEqual(recordsOf("1"));
    await client.quit();
    await until(() => client.status === "end");
    expect(await codeOf(store.read(KEY))).toBe("unavailable");
    expect(await codeOf(store.append(KEY, recordsOf("2")))).toBe("unavailable");
  });

  test("many stores on one client add no listeners of their own", async () => {
    const client = openClient(undefined, { lazyConnect: true });
    const stores = Array.from({ length: 50 }, () => new RedisHistoryStore({ client }, { keyPrefix: freshPrefix() }));
    const calls = stores.map((store) => store.read(KEY));
    expect(client.listenerCount("close")).toBeLessThan(5);
    await Promise.all(calls);
    expect(client.listenerCount("ready")).toBeLessThan(5);
  });
});

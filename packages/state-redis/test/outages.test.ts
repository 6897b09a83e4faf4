import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { AgentSession, isAgentFrameworkError, SessionStore } from "@agentfw/core";
import { ServerProblem } from "@agentfw/core/backend";
import { describe, expect, onTestFinished, test } from "vitest";
import { ownConnection } from "../src/connection.ts";
import { RedisStateStore } from "../src/index.ts";
import { openFaulty, until } from "./support/faults.ts";
import { codeOf, openClient, ownServer, pause, rejection } from "./support/redis.ts";
import { type Connected, freshPrefix, nodePort } from "./support/stores.ts";

const TEXT = '{"a":1}';
const EVERYWHERE: readonly Connected[] = ["url", "ioredis 6", "ioredis 5", "cluster"];

describe("a server that cannot be reached", () => {
  test("is told at once by the first call, and tried again by the next", async () => {
    const { store, proxies } = await openFaulty("url", { timeoutMs: 60_000, isCold: true });
    await proxies[0]?.refuse();
    expect(await rejection(store.set("a", TEXT))).toMatchObject({ code: "unavailable", retryable: true });
    expect(await codeOf(store.get("a"))).toBe("unavailable");
    await proxies[0]?.pass();
    await store.set("a", TEXT);
  });

  test("is told at once over a client that never was connected", async () => {
    const client = openClient("redis://127.0.0.1:1", { lazyConnect: true });
    const store = new RedisStateStore({ client }, { timeoutMs: 60_000 });
    expect(await codeOf(store.set("a", TEXT))).toBe("unavailable");
    expect(await codeOf(store.get("a"))).toBe("unavailable");
  });

  test("by its name is unavailable", async () => {
    const store = new RedisStateStore({ url: "redis://no-such-host.invalid" }, { timeoutMs: 60_000 });
    expect(await codeOf(store.get("a"))).toBe("unavailable");
    await store.close();
  });

  test.each(EVERYWHERE)("for a moment is waited for (%s)", async (connected) => {
    const { store, proxies } = await openFaulty(connected, { timeoutMs: 20_000 });
    const { etag } = await store.set("a", TEXT);
    await Promise.all(proxies.map((proxy) => proxy.refuse()));
    await pause(50);
    const calls = [store.get("a"), store.set("b", TEXT), store.listKeys()];
    await pause(100);
    await Promise.all(proxies.map((proxy) => proxy.pass()));
    const [item] = await Promise.all(calls);
    expect(item).toMatchObject({ etag });
  });

  test.each(EVERYWHERE)("gets nothing that its caller was told had failed (%s)", async (connected) => {
    const { store, direct, proxies } = await openFaulty(connected, { timeoutMs: 1_000 });
    await store.set("a", TEXT);
    await Promise.all(proxies.map((proxy) => proxy.refuse()));
    await until(async () => ["unavailable", "timeout"].includes(await codeOf(store.get("a"))));
    const codes = await Promise.all([
      codeOf(store.set("a", '{"a":2}')),
      codeOf(store.create("b", TEXT)),
      codeOf(store.delete("a")),
    ]);
    for (const code of codes) {
      expect(["unavailable", "timeout"]).toContain(code);
    }
    await Promise.all(proxies.map((proxy) => proxy.pass()));
    await until(async () => (await store.get("c").catch(() => null)) === undefined);
    await pause(200);
    expect((await direct.get("a"))?.text).toBe(TEXT);
    expect(await direct.get("b")).toBeUndefined();
  });
});

describe("a server that does not answer", () => {
  test.each(EVERYWHERE)("is a timeout for reads, an unknown outcome for writes (%s)", async (connected) => {
    const { store, proxies } = await openFaulty(connected, { timeoutMs: 1_000 });
    const { etag } = await store.set("a", TEXT);
    for (const proxy of proxies) {
      proxy.blackhole();
    }
    const errors = await Promise.all([
      rejection(store.get("a")),
      rejection(store.listKeys()),
      rejection(store.set("a", TEXT, { ifMatch: etag })),
      rejection(store.create("b", TEXT)),
      rejection(store.delete("c")),
    ]);
    expect(errors.map((error) => isAgentFrameworkError(error) && error.code)).toEqual([
      "timeout",
      "timeout",
      "outcome_unknown",
      "outcome_unknown",
      "outcome_unknown",
    ]);
    expect(String(errors[1])).toContain("within 1000 ms");
    await Promise.all(proxies.map((proxy) => proxy.pass()));
    await until(async () => (await store.get("a").catch(() => undefined)) !== undefined);
  });

  test("from the beginning keeps no call longer than its time", async () => {
    const { store, proxies } = await openFaulty("url", { timeoutMs: 1_000, isCold: true });
    proxies[0]?.blackhole();
    for (const call of [() => store.set("a", TEXT), () => store.get("a"), () => store.listKeys()]) {
      expect(["timeout", "unavailable"]).toContain(await codeOf(call()));
    }
    await proxies[0]?.pass();
    await until(async () => (await store.get("a").catch(() => null)) === undefined);
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
    const store = new RedisStateStore(
      { url: `redis://127.0.0.1:${port}` },
      { keyPrefix: freshPrefix(), timeoutMs: 1_000 },
    );
    onTestFinished(() => store.close());
    await store.set("a", TEXT);
    mute();
    expect(await codeOf(store.get("a"))).toBe("timeout");
    expect((await store.get("a"))?.text).toBe(TEXT);
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
    await store.set("a", TEXT);
    proxies[0]?.blackhole();
    const controller = new AbortController();
    const { signal } = controller;
    const calls = [
      rejection(store.get("a", { signal })),
      rejection(store.listKeys({ signal })),
      rejection(store.set("a", TEXT, { signal })),
      rejection(store.create("b", TEXT, { signal })),
      rejection(store.delete("a", { signal })),
    ];
    const reason = new DOMException("gone", "AbortError");
    controller.abort(reason);
    const [get, list, ...writes] = await Promise.all(calls);
    expect([get, list]).toEqual([reason, reason]);
    for (const error of writes) {
      expect(error).toMatchObject({ code: "outcome_unknown", retryable: true, cause: reason });
    }
  });

  test("that aborts while the connection is down ends a write with its reason, and it is never sent", async () => {
    const { store, direct, proxies } = await openFaulty("url", { timeoutMs: 20_000 });
    await store.set("a", TEXT);
    await proxies[0]?.refuse();
    await pause(50);
    const controller = new AbortController();
    const call = rejection(store.set("a", '{"a":2}', { signal: controller.signal }));
    await pause(50);
    controller.abort();
    expect(await call).toBe(controller.signal.reason);
    await proxies[0]?.pass();
    await store.get("a");
    expect((await direct.get("a"))?.text).toBe(TEXT);
  });
});

describe("close", () => {
  test("ends the store's own connection after the calls under way, and can be repeated", async () => {
    const { store, proxies } = await openFaulty("url");
    await store.set("a", TEXT);
    const calls = Array.from({ length: 20 }, () => store.get("a"));
    await store.close();
    await store.close();
    for (const item of await Promise.all(calls)) {
      expect(item?.text).toBe(TEXT);
    }
    await until(() => proxies[0]?.connections === 0);
    expect(await rejection(store.get("a"))).toMatchObject({ code: "configuration" });
    expect(await codeOf(store.set("a", TEXT))).toBe("configuration");
  });

  test("of a store that was never used does nothing", async () => {
    const store = new RedisStateStore({ url: "redis://127.0.0.1:1" });
    await store.close();
  });

  test("does not wait for a server that does not answer", async () => {
    const { store, proxies } = await openFaulty("url", { timeoutMs: 1_000 });
    await store.get("a");
    proxies[0]?.blackhole();
    await store.close();
  });

  test("leaves a client that was passed in alone; one that its owner closed is unavailable", async () => {
    const client = openClient();
    const keyPrefix = freshPrefix();
    const first = new RedisStateStore({ client }, { keyPrefix });
    await first.set("a", TEXT);
    await first.close();
    expect(await codeOf(first.get("a"))).toBe("configuration");
    const store = new RedisStateStore({ client }, { keyPrefix });
    expect((await store.get("a"))?.text).toBe(TEXT);
    await client.quit();
    await until(() => client.status === "end");
    expect(await codeOf(store.get("a"))).toBe("unavailable");
    expect(await codeOf(store.set("a", TEXT))).toBe("unavailable");
  });

  test("many stores on one client add no listeners of their own", async () => {
    const client = openClient();
    for (let index = 0; index < 50; index += 1) {
      const store = new RedisStateStore({ client }, { keyPrefix: freshPrefix() });
      await store.get("a");
    }
    expect(client.listenerCount("close")).toBeLessThan(5);
    expect(client.listenerCount("ready")).toBeLessThan(5);
  });
});

describe("connections that are killed while sessions are updated", () => {
  test.each(EVERYWHERE)("lose no update and make none twice (%s)", { timeout: 60_000 }, async (connected) => {
    const { store, direct, proxies } = await openFaulty(connected, { timeoutMs: 20_000 });
    const scope = { owner: "alice", attempts: 1_000 };
    await new SessionStore(direct).save(new AgentSession({ sessionId: "s", owner: "alice", state: { count: 0 } }));
    // Until the first connection was made, an address that does not answer is taken for a wrong one.
    await store.get("s");
    let isOver = false;
    let [done, unknown, refused] = [0, 0, 0];
    const update = async (sessions: SessionStore) => {
      for (let turn = 0; turn < 60; turn += 1) {
        try {
          await sessions.update("s", scope, (session) => {
            session.state["count"] = Number(session.state["count"]) + 1;
          });
          done += 1;
        } catch (error) {
          // A cluster's driver that has lost all nodes at once may refuse: then the update was not made.
          expect(error).toMatchObject({ code: expect.stringMatching(/^(?:outcome_unknown|unavailable)$/) });
          [unknown, refused] = isAgentFrameworkError(error, "unavailable")
            ? [unknown, refused + 1]
            : [unknown + 1, refused];
        }
      }
    };
    const kill = async () => {
      for (let kills = 0; !isOver || kills < 20; kills += 1) {
        await pause(Math.random() * 40);
        for (const proxy of proxies) {
          proxy.killConnections();
        }
      }
    };
    const killing = kill();
    await Promise.all([new SessionStore(store), new SessionStore(store), new SessionStore(direct)].map(update));
    isOver = true;
    await killing;
    const count = Number((await new SessionStore(direct).load("s", scope))?.state["count"]);
    expect(done + unknown + refused).toBe(180);
    expect(refused).toBeLessThanOrEqual(connected === "cluster" ? 60 : 0);
    expect(count).toBeGreaterThanOrEqual(done);
    expect(count).toBeLessThanOrEqual(done + unknown);
    expect(done).toBeGreaterThan(100);
  });

  test("by the server itself do no harm either", async () => {
    // Other tests' connections must not be among those that it kills.
    const { store, client } = await ownServer();
    const seen = new Set<string>();
    for (let turn = 0; turn < 100; turn += 1) {
      const id = /id=(\d+) .*cmd=evalsha/.exec(String(await client.client("LIST")))?.[1];
      const call = store.get("a");
      if (id !== undefined) {
        seen.add(id);
        await client.client("KILL", "ID", id).catch(() => undefined);
      }
      expect(await call).toBeUndefined();
    }
    expect(seen.size).toBeGreaterThan(10);
  });
});

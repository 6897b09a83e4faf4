import { connect, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { type FaultProxy, faultHooks, startFaultProxy } from "../src/faults.ts";

/** A proxy in front of a server that answers with what it is sent: whole lines where they are listened to. */
async function openProxy(onLine?: (line: string) => void): Promise<FaultProxy> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    let line = "";
    socket.on("data", (piece) => {
      line += piece.toString();
      if (onLine === undefined || line.endsWith("\n")) {
        onLine?.(line);
        socket.write(line);
        line = "";
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const proxy = await startFaultProxy({ port });
  onTestFinished(async () => {
    await proxy.close();
    for (const socket of sockets) {
      socket.destroy();
    }
    server.close();
  });
  return proxy;
}

/** A connection that collects what it receives. */
class Caller {
  readonly socket: Socket;
  received = "";
  readonly ended: Promise<string>;

  constructor(port: number) {
    this.socket = connect(port, "127.0.0.1");
    this.socket.setEncoding("utf8").on("data", (text: string) => {
      this.received += text;
    });
    this.ended = new Promise((resolve) => {
      let reason = "ended";
      this.socket.once("error", (error) => {
        reason = "code" in error ? String(error.code) : error.message;
      });
      this.socket.once("close", () => resolve(reason));
    });
    onTestFinished(() => {
      this.socket.destroy();
    });
  }

  async says(text: string): Promise<void> {
    const length = this.received.length + text.length;
    this.socket.write(text);
    while (this.received.length < length) {
      await new Promise((resolve) => this.socket.once("data", resolve));
    }
  }
}

test("everything passes until a fault is asked for", async () => {
  const proxy = await openProxy();
  const caller = new Caller(proxy.port);
  await caller.says("hello\n");
  await caller.says("x".repeat(1_000_000));
  expect(caller.received).toBe(`hello\n${"x".repeat(1_000_000)}`);
  expect(proxy.connections).toBe(1);
});

test("latency delays each way, keeps the order, and delays pieces side by side", async () => {
  const proxy = await openProxy();
  const caller = new Caller(proxy.port);
  await caller.says("warm\n");
  proxy.setLatency(40);
  const start = performance.now();
  const pieces = Array.from({ length: 20 }, (_, index) => `piece ${index}\n`);
  for (const piece of pieces.slice(0, -1)) {
    caller.socket.write(piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
  caller.received = "";
  caller.socket.write(pieces.at(-1) ?? "");
  while (!caller.received.endsWith("piece 19\n")) {
    await new Promise((resolve) => caller.socket.once("data", resolve));
  }
  expect(caller.received).toBe(pieces.join(""));
  const elapsed = performance.now() - start;
  expect(elapsed).toBeGreaterThan(78);
  // One after the other they would take twenty times as long.
  expect(elapsed).toBeLessThan(1_500);
});

test("a refusing proxy ends its connections and takes new ones again, on the same port, when it passes", async () => {
  const proxy = await openProxy();
  const caller = new Caller(proxy.port);
  await caller.says("before\n");
  await proxy.refuse();
  await caller.ended;
  expect(await new Caller(proxy.port).ended).toBe("ECONNREFUSED");
  expect(proxy.connections).toBe(0);
  await proxy.pass();
  await new Caller(proxy.port).says("after\n");
});

test("a blackhole accepts connections, passes nothing, and lets through what it held when it ends", async () => {
  const proxy = await openProxy();
  const early = new Caller(proxy.port);
  await early.says("before\n");
  proxy.blackhole();
  const late = new Caller(proxy.port);
  await new Promise((resolve) => late.socket.once("connect", resolve));
  early.socket.write("early\n");
  late.socket.write("late\n");
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(early.received).toBe("before\n");
  expect(late.received).toBe("");
  await proxy.pass();
  await Promise.all([early, late].map((caller) => new Promise((resolve) => caller.socket.once("data", resolve))));
  expect(early.received).toBe("before\nearly\n");
  expect(late.received).toBe("late\n");
});

test("a cut answer ends its connection after so many bytes, once", async () => {
  const proxy = await openProxy();
  for (const bytes of [0, 3]) {
    const caller = new Caller(proxy.port);
    await caller.says("whole\n");
    proxy.cutNextReply(bytes);
    caller.socket.write("answer\n");
    await caller.ended;
    expect(caller.received).toBe(`whole\n${"answer\n".slice(0, bytes)}`);
  }
  await new Caller(proxy.port).says("whole again\n");
});

test("killed connections end, and new ones are taken", async () => {
  const proxy = await openProxy();
  const callers = [new Caller(proxy.port), new Caller(proxy.port)];
  await Promise.all(callers.map((caller) => caller.says("hello\n")));
  proxy.killConnections();
  await Promise.all(callers.map(({ ended }) => ended));
  await new Caller(proxy.port).says("hello\n");
});

test("a lost reply ends the connection after the request got through, and only for the request that was chosen", async () => {
  const seen: string[] = [];
  const proxy = await openProxy((line) => seen.push(line));
  const caller = new Caller(proxy.port);
  proxy.loseNextReply({ containing: "COMMIT" });
  await caller.says("BEGIN\n");
  caller.socket.write("COM");
  await new Promise((resolve) => setTimeout(resolve, 20));
  caller.socket.write("MIT\n");
  await caller.ended;
  expect(seen.join("")).toBe("BEGIN\nCOMMIT\n");
  expect(caller.received).not.toContain("MIT");
  proxy.loseNextReply();
  const next = new Caller(proxy.port);
  next.socket.write("next\n");
  await next.ended;
  expect(next.received).toBe("");
  expect(seen.join("")).toContain("next\n");
  await new Caller(proxy.port).says("whole again\n");
});

test("a lost request does not reach the target", async () => {
  const seen: string[] = [];
  const proxy = await openProxy((line) => seen.push(line));
  const caller = new Caller(proxy.port);
  await caller.says("one\n");
  proxy.loseNextRequest({ containing: "two" });
  await caller.says("between\n");
  caller.socket.write("two\n");
  await caller.ended;
  await new Caller(proxy.port).says("three\n");
  expect(seen.join("")).toBe("one\nbetween\nthree\n");
});

test("a duplicated request reaches the target twice, and is answered once", async () => {
  const seen: string[] = [];
  const proxy = await openProxy((line) => seen.push(line));
  const caller = new Caller(proxy.port);
  await caller.says("one\n");
  proxy.duplicateNextRequest();
  await caller.says("two\n");
  expect(seen).toEqual(["one\n", "two\n", "two\n"]);
  await caller.says("three\n");
  expect(caller.received).toBe("one\ntwo\nthree\n");
  expect(seen).toHaveLength(4);
});

test.each([
  ["no target", () => startFaultProxy(JSON.parse("null"))],
  ["no port", () => startFaultProxy(JSON.parse("{}"))],
  ["a port that is none", () => startFaultProxy({ port: 70_000 })],
  ["no host", () => startFaultProxy({ host: "", port: 1 })],
])("%s is refused", async (_, start) => {
  await expect(start()).rejects.toMatchObject({ code: "configuration" });
});

test("faults that cannot be are refused", async () => {
  const proxy = await openProxy();
  for (const ask of [
    () => proxy.setLatency(-1),
    () => proxy.cutNextReply(0.5),
    () => proxy.loseNextReply({ containing: "" }),
    () => proxy.duplicateNextRequest(JSON.parse("5")),
  ]) {
    expect(ask).toThrow(expect.objectContaining({ code: "configuration" }));
  }
});

test("the hooks of several proxies break and heal them all, and repeat requests where they stand by themselves", async () => {
  const proxies = [await openProxy(), await openProxy()];
  const hooks = faultHooks(proxies);
  expect(hooks.duplicateNextRequest).toBeUndefined();
  expect(faultHooks(proxies, { protocol: "http" }).duplicateNextRequest).toBeTypeOf("function");
  await hooks.breakBackend();
  for (const { port } of proxies) {
    expect(await new Caller(port).ended).toBe("ECONNREFUSED");
  }
  await hooks.healBackend();
  await hooks.loseNextReply();
  for (const { port } of proxies) {
    const caller = new Caller(port);
    caller.socket.write("one\n");
    await caller.ended;
    expect(caller.received).toBe("");
    await new Caller(port).says("two\n");
  }
  expect(() => faultHooks(proxies, JSON.parse('{"protocol":"udp"}'))).toThrow(/protocol/);
});

import { createServer, request as httpRequest, type Server } from "node:http";
import { networkInterfaces } from "node:os";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { startEmulator } from "../src/emulator.ts";
import { FoundryStateStore } from "../src/index.ts";
import { openEmulator } from "./support/emulator.ts";
import { failure } from "./support/scripted.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

/** A forward proxy that counts what goes through it. */
async function openProxy(): Promise<{ port: number; seen: string[] }> {
  const seen: string[] = [];
  const server = createServer((incoming, outgoing) => {
    seen.push(`${incoming.method} ${new URL(incoming.url ?? "", "http://none").hostname}`);
    const { method, headers } = incoming;
    const onward = httpRequest(incoming.url ?? "", { method: method ?? "GET", headers }, (reply) => {
      outgoing.writeHead(reply.statusCode ?? 500, reply.headers);
      reply.pipe(outgoing);
    });
    incoming.pipe(onward);
  });
  return { port: await listen(server), seen };
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

test("a proxy that is asked for is used, for every request", async () => {
  const { endpoint } = await openEmulator();
  const { port, seen } = await openProxy();
  const pipelineOptions = { proxyOptions: { host: "http://127.0.0.1", port } };
  const store = await FoundryStateStore.getOrCreate("notes", { endpoint, pipelineOptions });
  await store.setItem("k", { a: 1 });
  expect((await store.getItem("k"))?.value).toEqual({ a: 1 });
  expect(seen).toEqual(["GET 127.0.0.1", "POST 127.0.0.1", "PUT 127.0.0.1", "GET 127.0.0.1"]);
});

test("a proxy of the environment does not stand between this program and an emulator", async () => {
  const { endpoint } = await openEmulator();
  const { port, seen } = await openProxy();
  vi.stubEnv("HTTP_PROXY", `http://127.0.0.1:${port}`);
  vi.stubEnv("HTTPS_PROXY", `http://127.0.0.1:${port}`);
  vi.stubEnv("ALL_PROXY", `http://127.0.0.1:${port}`);
  const store = await FoundryStateStore.getOrCreate("notes", { endpoint });
  await store.setItem("k", { a: 1 });
  expect(seen).toEqual([]);
});

test("a proxy of the environment is used for the service", async () => {
  const asked: string[] = [];
  const proxy = createServer();
  proxy.on("connect", (incoming, socket) => {
    asked.push(incoming.url ?? "");
    socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
  });
  vi.stubEnv("HTTPS_PROXY", `http://127.0.0.1:${await listen(proxy)}`);
  const credential = { getToken: async () => ({ token: "t", expiresOnTimestamp: 9e15 }) };
  const pipelineOptions = { retryOptions: { maxRetries: 0 } };
  const options = { endpoint: "https://foundry.example/api/projects/p", credential, pipelineOptions };
  await expect(FoundryStateStore.getOrCreate("notes", options)).rejects.toThrow();
  expect(asked).toEqual(["foundry.example:443"]);
});

test("connections are used again, by all stores of the process", async () => {
  const ports = new Set<number | undefined>();
  const server = createServer((incoming, outgoing) => {
    ports.add(incoming.socket.remotePort);
    const answer = JSON.stringify({ name: "n", item_ttl_seconds: -1, key: "k", etag: "e" });
    incoming.resume().on("end", () => outgoing.end(answer));
  });
  const port = await listen(server);
  for (const name of ["a", "b", "c"]) {
    const store = await FoundryStateStore.getOrCreate(name, { endpoint: `http://127.0.0.1:${port}/p` });
    await store.setItem("k", {});
  }
  expect(ports.size).toBe(1);
});

test("an emulator may listen on the IPv6 address of this machine", async () => {
  if (!Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ address }) => address === "::1"))) {
    // A machine without IPv6: that is told, too.
    expect(await failure(startEmulator({ host: "::1" }))).toMatchObject({ code: "unavailable" });
    return;
  }
  const { endpoint } = await openEmulator({ host: "::1" });
  expect(endpoint).toContain("[::1]");
  const store = await FoundryStateStore.getOrCreate("notes", { endpoint });
  await store.setItem("k", { a: 1 });
  expect((await store.getItem("k"))?.value).toEqual({ a: 1 });
});

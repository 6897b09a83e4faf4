import { ContainerClient } from "@azure/storage-blob";
import { describe, expect, test } from "vitest";
import { BlobHistoryStore } from "../src/index.ts";
import { conversation, idsOf, records, rejection } from "./support/conversation.ts";
import { failing } from "./support/service-proxy.ts";
import { openProxied, openStore } from "./support/storage.ts";

const KEY = conversation();

describe("an append whose answer is lost", () => {
  test.each([
    ["before the service hears of it", { kind: "drop" }],
    ["after the service did it", { kind: "lose" }],
    ["with an error after the service did it", { kind: "answer", status: 500, isDone: true }],
    ["with an error before the service did it", { kind: "answer", status: 500 }],
  ] as const)("%s is stored once", async (_, fault) => {
    const { proxy, store } = await openProxied();
    for (const turn of ["a", "b", "c"]) {
      proxy.onRequest = failing("append", fault);
      expect(await store.append(KEY, records(turn, 2))).toMatchObject({ appended: 2 });
      expect(await store.append(KEY, records(turn, 2))).toMatchObject({ appended: 0 });
    }
    const page = await store.read(KEY);
    expect(idsOf(page.records)).toEqual(["a-0", "a-1", "b-0", "b-1", "c-0", "c-1"]);
    const { version } = await store.append(KEY, records("c", 2));
    expect(version).toBe(page.version);
  });

  test("again and again is found at the end of the conversation", async () => {
    const { proxy, store } = await openProxied();
    await store.append(KEY, records("a", 2));
    proxy.onRequest = failing("append", { kind: "lose" }, 4);
    expect(await store.append(KEY, records("b", 2))).toMatchObject({ appended: 2 });
    expect(idsOf((await store.read(KEY)).records)).toEqual(["a-0", "a-1", "b-0", "b-1"]);
  });

  test("under a version is no conflict with itself", async () => {
    const { proxy, store } = await openProxied();
    const { version } = await store.append(KEY, records("a", 2));
    proxy.onRequest = failing("append", { kind: "lose" });
    const next = await store.append(KEY, records("b", 2), { ifVersion: version });
    expect(next.appended).toBe(2);
    proxy.onRequest = failing("append", { kind: "lose" });
    const third = await store.append(KEY, records("c", 2), { ifVersion: next.version });
    expect(third).toMatchObject({ appended: 2, version: (await store.read(KEY)).version });
  });

  test("and that another writer follows is found behind which it stands", async () => {
    const { container, proxy, store } = await openProxied();
    await store.append(KEY, records("a", 1));
    const other = openStore(container);
    const isFirst = failing("append", { kind: "lose" });
    let follow: Promise<unknown> | undefined;
    proxy.onRequest = (asked) => {
      // The second try waits until someone else has come in between.
      if (asked.kind === "append" && follow === undefined) {
        follow = Promise.resolve();
        return isFirst(asked);
      }
      if (asked.kind === "append") {
        follow = other.append(KEY, records("other", 1));
        return { kind: "wait", until: follow.then(() => {}) };
      }
      return undefined;
    };
    expect(await store.append(KEY, records("b", 2))).toMatchObject({ appended: 2 });
    expect(idsOf((await store.read(KEY)).records)).toEqual(["a-0", "b-0", "b-1", "other-0"]);
  });

  test("and that cannot be looked for is of unknown outcome, and its retry stores it once", async () => {
    const { proxy, store } = await openProxied({ timeoutMs: 1_500 });
    await store.append(KEY, records("a", 1));
    let isOut = false;
    proxy.onRequest = (asked) => {
      isOut ||= asked.kind === "append";
      return isOut ? { kind: asked.kind === "append" ? "lose" : "drop" } : undefined;
    };
    const error = await rejection(store.append(KEY, records("b", 2)));
    expect(error).toMatchObject({ code: "outcome_unknown", retryable: true });
    proxy.onRequest = () => undefined;
    await store.append(KEY, records("b", 2));
    expect(idsOf((await store.read(KEY)).records)).toEqual(["a-0", "b-0", "b-1"]);
  });

  test("because it was aborted is of unknown outcome, and the next turn does not take its place for its own", async () => {
    const { proxy, store } = await openProxied();
    await store.append(KEY, records("a", 1));
    const controller = new AbortController();
    proxy.onRequest = (asked) => {
      if (asked.kind !== "append") {
        return undefined;
      }
      proxy.onRequest = () => undefined;
      setTimeout(() => controller.abort(new Error("the user went away")), 200);
      return { kind: "stall", isDone: true };
    };
    const aborted = store.append(KEY, records("b", 2), { signal: controller.signal });
    const error = await rejection(aborted);
    expect(error.code).toBe("outcome_unknown");
    expect(error.cause).toMatchObject({ message: "the user went away" });
    expect(await store.append(KEY, records("c", 2))).toMatchObject({ appended: 2 });
    expect(await store.append(KEY, records("b", 2))).toMatchObject({ appended: 0 });
    expect(idsOf((await store.read(KEY)).records)).toEqual(["a-0", "b-0", "b-1", "c-0", "c-1"]);
  });
});

test("the driver's own blind retry does not double a turn, and does not take it for another writer's", async () => {
  const { container, proxy } = await openProxied();
  const retryOptions = { maxTries: 4, retryDelayInMs: 5, maxRetryDelayInMs: 20 };
  const retrying = new ContainerClient(proxy.connectionString, container.containerName, { retryOptions });
  const store = new BlobHistoryStore({ container: retrying }, { timeoutMs: 20_000 });
  let version = "";
  for (const kind of ["append", "create"] as const) {
    for (const fault of [{ kind: "lose" }, { kind: "answer", status: 503, isDone: true }] as const) {
      const name = `${kind}-${fault.kind}`;
      proxy.reset();
      proxy.onRequest = failing(kind, fault);
      const key = kind === "create" ? conversation(name) : KEY;
      const ifVersion = kind === "create" ? "" : version;
      const appended = await store.append(key, records(name, 2), { ifVersion });
      expect(appended.appended).toBe(2);
      // The store itself asks once only after it has looked; the driver did so before.
      expect(proxy.requests.filter((asked) => asked.kind === kind).length).toBeGreaterThan(1);
      expect(idsOf((await store.read(key)).records).filter((id) => id.startsWith(name))).toHaveLength(2);
      version = kind === "append" ? appended.version : version;
    }
  }
  expect((await store.read(KEY)).records).toHaveLength(4);
});

test("answers lost all the time lose nothing and store nothing twice, over segments that are closed meanwhile", async () => {
  const { container, proxy, store, open } = await openProxied({ segmentBlocks: 6 });
  let seed = 7;
  proxy.onRequest = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    const chance = seed % 100;
    if (chance < 12) {
      return { kind: "lose" };
    }
    return chance < 20 ? { kind: "drop" } : chance < 24 ? { kind: "answer", status: 503 } : undefined;
  };
  const stores = [store, open(), open()];
  const acknowledged: string[] = [];
  await Promise.all(
    stores.map(async (one, writer) => {
      for (let turn = 0; turn < 12; turn += 1) {
        const name = `w${writer}-${turn}`;
        await one.append(KEY, records(name, 2)).then(
          () => acknowledged.push(name),
          (error) => expect(["outcome_unknown", "unavailable"]).toContain(error.code),
        );
      }
    }),
  );
  const ids = idsOf((await openStore(container).read(KEY)).records);
  expect(new Set(ids).size).toBe(ids.length);
  expect(acknowledged.length).toBeGreaterThan(20);
  for (const name of acknowledged) {
    const at = ids.indexOf(`${name}-0`);
    expect(ids.slice(at, at + 2)).toEqual([`${name}-0`, `${name}-1`]);
  }
  expect(ids.length % 2).toBe(0);
});

test("a clear, a read and a list whose answers are lost are asked for again", async () => {
  const { proxy, store } = await openProxied();
  await store.append(KEY, records("a", 3));
  proxy.onRequest = failing("read", { kind: "lose" });
  expect((await store.read(KEY)).records).toHaveLength(3);
  proxy.onRequest = failing("read", { kind: "cut" });
  expect((await store.read(KEY)).records).toHaveLength(3);
  proxy.onRequest = failing("list", { kind: "lose" });
  expect((await store.list({ owner: "owner-1" })).items).toHaveLength(1);
  for (const kind of ["append", "delete", "list"] as const) {
    await store.append(KEY, records("b", 1));
    proxy.onRequest = failing(kind, { kind: "lose" });
    await store.clear(KEY);
    expect((await store.read(KEY)).version).toBe("");
  }
});

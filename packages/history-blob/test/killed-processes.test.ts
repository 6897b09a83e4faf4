import { describe, expect, test } from "vitest";
import { conversation, idsOf, records } from "./support/conversation.ts";
import { runOne } from "./support/processes.ts";
import type { ProxiedRequest } from "./support/service-proxy.ts";
import { blobNames, openProxied, openStore, type Proxied } from "./support/storage.ts";

const KEY = conversation("shared");

/** Runs a task in a process, and kills that when a request is on its way that the test names. */
async function killedAt(
  { container, proxy }: Proxied,
  task: { turns: number; recordBytes?: number; clears?: boolean },
  isTheOne: (asked: ProxiedRequest) => boolean,
): Promise<void> {
  let reached = () => {};
  const arrival = new Promise<void>((resolve) => {
    reached = resolve;
  });
  let isOver = false;
  proxy.onRequest = (asked) => {
    isOver ||= isTheOne(asked);
    if (!isOver) {
      return undefined;
    }
    reached();
    return { kind: "drop" };
  };
  const process = await runOne({
    connectionString: proxy.connectionString,
    containerName: container.containerName,
    options: { timeoutMs: 60_000, segmentBlocks: 6 },
    name: "killed",
    ...task,
  });
  await arrival;
  await process.kill();
  proxy.onRequest = () => undefined;
}

/** Holds from the given request of a kind on. */
function nth(kind: ProxiedRequest["kind"], count: number): (asked: ProxiedRequest) => boolean {
  let seen = 0;
  return (asked) => {
    seen += asked.kind === kind ? 1 : 0;
    return seen >= count;
  };
}

describe("a process that is killed", { timeout: 120_000 }, () => {
  test("between two blocks of a large turn leaves nothing of it, and nothing in the way", async () => {
    const proxied = await openProxied({ segmentBlocks: 6 });
    await proxied.store.append(KEY, records("a", 2));
    // The first block of three is there.
    await killedAt(proxied, { turns: 1, recordBytes: 9_000_000 }, nth("append", 2));
    const other = openStore(proxied.container);
    for (const one of [proxied.store, other]) {
      expect(idsOf((await one.read(KEY)).records)).toEqual(["a-0", "a-1"]);
    }
    expect((await other.append(KEY, records("b", 1))).appended).toBe(1);
    expect((await proxied.store.append(KEY, records("c", 1))).appended).toBe(1);
    expect(idsOf((await openStore(proxied.container).read(KEY)).records)).toEqual(["a-0", "a-1", "b-0", "c-0"]);
  });

  test("between closing a segment and making the next one leaves the next writer to make it", async () => {
    const proxied = await openProxied({ segmentBlocks: 6 });
    // The first segment is made by the first create, the second one is not.
    await killedAt(proxied, { turns: 9 }, nth("create", 2));
    expect((await proxied.store.read(KEY)).records).toHaveLength(15);
    expect((await proxied.store.append(KEY, records("b", 1))).appended).toBe(1);
    expect(await blobNames(proxied.container)).toHaveLength(2);
    expect((await openStore(proxied.container).read(KEY)).records).toHaveLength(16);
  });

  test.each([1, 2, 3])(
    "at the deletion of segment %i of a clear leaves nothing that is read, and the rest goes with the next write",
    async (count) => {
      const proxied = await openProxied({ segmentBlocks: 6 });
      await killedAt(proxied, { turns: 12, clears: true }, nth("delete", count));
      expect(await blobNames(proxied.container)).toHaveLength(4 - count);
      expect(await proxied.store.read(KEY)).toEqual({ records: [], version: "" });
      expect((await proxied.store.append(KEY, records("b", 1))).appended).toBe(1);
      expect(await blobNames(proxied.container)).toHaveLength(1);
      expect(idsOf((await openStore(proxied.container).read(KEY)).records)).toEqual(["b-0"]);
    },
  );
});

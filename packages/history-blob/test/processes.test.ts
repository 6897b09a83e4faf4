import type { ContainerClient } from "@azure/storage-blob";
import { expect, inject, test } from "vitest";
import type { BlobHistoryStoreOptions } from "../src/index.ts";
import { conversation, idsOf } from "./support/conversation.ts";
import { runTogether } from "./support/processes.ts";
import { blobNames, clientOf, contentOf, freshName, openContainer, openStore } from "./support/storage.ts";

const KEY = conversation("shared");

/** Runs one process for each set of options, and gives the turns in the order in which they are stored. */
async function run(containerName: string, turns: number, options: readonly BlobHistoryStoreOptions[]) {
  const connectionString = inject("storageConnectionString");
  const tasks = options.map((one, index) => ({
    connectionString,
    containerName,
    // Two cores for a server and all processes are far below what the default is made for.
    options: { timeoutMs: 60_000, ...one },
    name: `process-${index}`,
    turns,
  }));
  expect(await runTogether(tasks)).toEqual(tasks.map(() => 0));
}

/** Fails unless all turns are there, each whole and once, each process's in its order. */
async function expectTurns(container: ContainerClient, processes: number, turns: number): Promise<void> {
  const ids = idsOf((await openStore(container).read(KEY)).records);
  expect(ids).toHaveLength(processes * turns * 3);
  const order: string[] = [];
  for (let at = 0; at < ids.length; at += 3) {
    const turn = ids[at]?.slice(0, -2) ?? "";
    expect(ids.slice(at, at + 3)).toEqual([0, 1, 2].map((index) => `${turn}-${index}`));
    order.push(turn);
  }
  expect(new Set(order).size).toBe(processes * turns);
  for (let process = 0; process < processes; process += 1) {
    const own = order.filter((turn) => turn.startsWith(`process-${process}-`));
    expect(own).toEqual(Array.from({ length: turns }, (_, turn) => `process-${process}-${turn}`));
  }
}

/** The lines of each segment, oldest first. */
async function segments(container: ContainerClient): Promise<string[][]> {
  const names = (await blobNames(container)).reverse();
  const contents = await Promise.all(names.map((name) => contentOf(container, name)));
  return contents.map((content) => content.toString("utf8").trimEnd().split("\n"));
}

test("8 processes that append 25 turns each to one conversation store 200 turns", { timeout: 120_000 }, async () => {
  const container = await openContainer();
  await run(container.containerName, 25, Array<BlobHistoryStoreOptions>(8).fill({}));
  await expectTurns(container, 8, 25);
  const [lines, ...more] = await segments(container);
  expect(lines).toHaveLength(200);
  expect(more).toEqual([]);
});

test("they do so too where a segment takes 10 blocks, and each is closed once", { timeout: 120_000 }, async () => {
  const container = await openContainer();
  await run(container.containerName, 25, Array<BlobHistoryStoreOptions>(8).fill({ segmentBlocks: 10 }));
  await expectTurns(container, 8, 25);
  const all = await segments(container);
  // Nine turns and a seal; the last one is open.
  expect(all.map(({ length }) => length)).toEqual([...Array<number>(22).fill(10), 2]);
  for (const lines of all.slice(0, -1)) {
    expect(lines.filter((line) => line.includes('"seal"'))).toEqual([lines.at(-1)]);
  }
});

test("writers with different limits make one new segment after each", { timeout: 120_000 }, async () => {
  const container = await openContainer();
  const limits = [{ segmentBlocks: 4 }, { segmentBlocks: 9 }, { segmentBytes: 65_536 }, { segmentBlocks: 7 }];
  await run(container.containerName, 15, limits);
  await expectTurns(container, 4, 15);
  const all = await segments(container);
  expect(all.length).toBeGreaterThan(6);
  const names = await blobNames(container);
  expect(names.map((name) => Number(/-(\d+)\.jsonl$/.exec(name)?.[1]))).toEqual(
    all.map((_, index) => all.length - 1 - index),
  );
});

test("20 processes that start at once, without a container, make it and lose nothing", {
  timeout: 120_000,
}, async () => {
  const container = clientOf(freshName());
  await run(container.containerName, 1, Array<BlobHistoryStoreOptions>(20).fill({ createContainer: true }));
  await expectTurns(container, 20, 1);
  await container.delete();
});

import type { HistoryStore } from "@agentfw/core";
import type { ContainerClient } from "@azure/storage-blob";
import { describe, expect, test } from "vitest";
import { segmentName } from "../src/names.ts";
import { conversationPlace } from "../src/places.ts";
import { conversation, records, rejection } from "./support/conversation.ts";
import { blobNames, contentOf, openContainer, openStore } from "./support/storage.ts";

const KEY = conversation();
const { directory } = conversationPlace("history", KEY, true);
const NAME = segmentName(directory, 0);
const TEXT = "what someone else put here\n";

const METADATA = { layout: "1", life: "abcdefghijklmnop", first: "0", before: "0", base: "0" };

async function putAppendBlob(container: ContainerClient, name: string, metadata: Record<string, string> = {}) {
  const blob = container.getAppendBlobClient(name);
  await blob.create({ metadata });
  await blob.appendBlock(TEXT, TEXT.length);
}

const calls = (store: HistoryStore): Record<string, () => Promise<unknown>> => ({
  append: () => store.append(KEY, records("a", 1)),
  "append under a version": () => store.append(KEY, records("a", 1), { ifVersion: "" }),
  read: () => store.read(KEY),
  "skipping read": () => store.read(KEY, { last: 3, onCorrupt: "skip" }),
  clear: () => store.clear(KEY),
});

describe("under the name of a segment", () => {
  test.each([
    [
      "a block blob",
      (container: ContainerClient) =>
        container.getBlockBlobClient(NAME).upload(TEXT, TEXT.length, { metadata: METADATA }),
    ],
    ["an empty block blob", (container: ContainerClient) => container.getBlockBlobClient(NAME).upload("", 0)],
    ["a page blob", (container: ContainerClient) => container.getPageBlobClient(NAME).create(512)],
    ["an append blob of someone else", (container: ContainerClient) => putAppendBlob(container, NAME)],
    [
      "an empty append blob of someone else",
      (container: ContainerClient) => container.getAppendBlobClient(NAME).create(),
    ],
    [
      "an append blob with metadata that makes no sense",
      (container: ContainerClient) => putAppendBlob(container, NAME, { ...METADATA, before: "-1" }),
    ],
    [
      "a blob under a name like one",
      (container: ContainerClient) => putAppendBlob(container, `${directory}some.jsonl`, METADATA),
    ],
  ] as const)("%s is corrupt to every call, and stays as it is", async (_, put) => {
    const container = await openContainer();
    await put(container);
    const [name = ""] = await blobNames(container);
    const before = await contentOf(container, name);
    for (const [call, result] of Object.entries(calls(openStore(container)))) {
      const error = await rejection(result());
      expect(error.code, call).toBe("corrupt");
      expect(error.position, call).not.toBe("");
    }
    expect(await blobNames(container)).toEqual([name]);
    expect(await contentOf(container, name)).toEqual(before);
  });

  test("a blob of a later version is unsupported, and stays as it is", async () => {
    const container = await openContainer();
    await putAppendBlob(container, NAME, { ...METADATA, layout: "2" });
    for (const [call, result] of Object.entries(calls(openStore(container)))) {
      expect((await rejection(result())).code, call).toBe("unsupported");
    }
    expect((await contentOf(container, NAME)).toString()).toBe(TEXT);
  });
});

test("a conversation whose blob was exchanged for one of another type is corrupt, and nothing is overwritten", async () => {
  const container = await openContainer();
  const store = openStore(container);
  await store.append(KEY, records("a", 1));
  await container.deleteBlob(NAME);
  await container.getBlockBlobClient(NAME).upload(TEXT, TEXT.length);
  for (const [call, result] of Object.entries(calls(store))) {
    expect((await rejection(result())).code, call).toBe("corrupt");
  }
  expect((await contentOf(container, NAME)).toString()).toBe(TEXT);
});

test("blobs of other names are nobody's business", async () => {
  const container = await openContainer();
  const store = openStore(container);
  const others = [
    "history/readme.txt",
    `${directory}notes.txt`,
    `${directory}a/s-deep.jsonl`,
    "history/a/b/c/d/e.jsonl",
    "history.txt",
  ];
  for (const name of others) {
    await container.getBlockBlobClient(name).upload(TEXT, TEXT.length);
  }
  expect((await store.read(KEY)).version).toBe("");
  expect((await store.list({ allOwners: true })).items).toEqual([]);
  await store.append(KEY, records("a", 2));
  expect((await store.list({ allOwners: true })).items).toHaveLength(1);
  expect((await store.list({ owner: "owner-1" }, { limit: 1 })).items).toHaveLength(1);
  await store.clear(KEY);
  expect(await store.erase({ owner: "owner-1" })).toEqual({ conversations: 0 });
  expect((await blobNames(container)).sort()).toEqual(others.sort());
});

import { StorageSharedKeyCredential } from "@azure/storage-blob";
import { expect, inject, test } from "vitest";
import { BlobHistoryStore } from "../src/index.ts";
import { conversation, idsOf, records, rejection } from "./support/conversation.ts";
import { openContainer, openStore, sasUrl } from "./support/storage.ts";

const KEY = conversation();

test("a container, a URL with a key and a connection string lead to the same conversations", async () => {
  const container = await openContainer();
  const connectionString = inject("storageConnectionString");
  const [, key = ""] = /AccountKey=([^;]+)/.exec(connectionString) ?? [];
  const credential = new StorageSharedKeyCredential(container.accountName, key);
  const stores = [
    new BlobHistoryStore({ container }),
    new BlobHistoryStore({ url: container.url, credential }),
    new BlobHistoryStore({ connectionString, containerName: container.containerName }),
  ];
  for (const [index, store] of stores.entries()) {
    await store.append(KEY, records(`store-${index}`, 1));
    await store.close();
  }
  expect(idsOf((await openStore(container).read(KEY)).records)).toEqual(["store-0-0", "store-1-0", "store-2-0"]);
});

test("a SAS needs the rights to read, list, add, create and write, and to delete only for clear and erase", async () => {
  const container = await openContainer();
  const store = new BlobHistoryStore({ url: await sasUrl(container, "rlacw") });
  await store.append(KEY, records("a", 2));
  expect((await store.read(KEY)).records).toHaveLength(2);
  expect((await store.list({ owner: "owner-1" })).items).toHaveLength(1);
  expect((await rejection(store.clear(KEY))).code).toBe("unauthorized");
  for (const rights of ["r", "rl", "acw", "racw"]) {
    const poor = new BlobHistoryStore({ url: await sasUrl(container, rights) });
    const error = await rejection(poor.append(conversation("other"), records("a", 1)));
    expect(error.code, rights).toBe("unauthorized");
    expect(error.message).not.toContain("sig=");
  }
});

test("a credential that gives no token is unauthorized, and is asked again by the next call", async () => {
  let asked = 0;
  const credential = {
    async getToken() {
      asked += 1;
      throw Object.assign(new Error("no identity here"), { name: "CredentialUnavailableError" });
    },
  };
  const store = new BlobHistoryStore({ url: "https://127.0.0.1:1/agents", credential }, { timeoutMs: 10_000 });
  for (const times of [1, 2]) {
    expect((await rejection(store.append(KEY, records("a", 1)))).code).toBe("unauthorized");
    expect(asked).toBeGreaterThanOrEqual(times);
  }
});

test("a credential that answers without a token is unauthorized", async () => {
  const credential = { getToken: async () => null };
  const store = new BlobHistoryStore({ url: "https://127.0.0.1:1/agents", credential }, { timeoutMs: 10_000 });
  const error = await rejection(store.append(KEY, records("a", 1)));
  expect(error.code).toBe("unauthorized");
  expect(error.message).toContain("credential: ");
});

test("a client that was passed in keeps its own settings, and works after the store was closed", async () => {
  const container = await openContainer();
  const store = openStore(container);
  await store.append(KEY, records("a", 1));
  await store.close();
  await store.close();
  expect(await container.exists()).toBe(true);
  await expect(store.read(KEY)).rejects.toMatchObject({ code: "configuration" });
  expect((await openStore(container).append(KEY, records("a", 1))).appended).toBe(0);
});

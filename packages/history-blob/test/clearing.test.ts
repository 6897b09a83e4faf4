import { describe, expect, test } from "vitest";
import { conversation, idsOf, records, rejection } from "./support/conversation.ts";
import { failing } from "./support/service-proxy.ts";
import { blobNames, openContainer, openProxied, openStore } from "./support/storage.ts";

const KEY = conversation();

describe("clear", () => {
  test("deletes every blob of the conversation and no other", async () => {
    const container = await openContainer();
    const store = openStore(container, { segmentBlocks: 3 });
    for (let turn = 0; turn < 9; turn += 1) {
      await store.append(KEY, records(`turn-${turn}`, 1));
    }
    await store.append(conversation("session-10"), records("a", 1));
    expect(await blobNames(container)).toHaveLength(6);
    await store.clear(KEY);
    expect(await blobNames(container, "history/owner-1/main/session-1/")).toEqual([]);
    expect(await blobNames(container)).toHaveLength(1);
  });

  test("deletes the snapshots that someone made of its blobs, too", async () => {
    const container = await openContainer();
    const store = openStore(container);
    await store.append(KEY, records("a", 1));
    const [name = ""] = await blobNames(container);
    await container.getBlobClient(name).createSnapshot();
    await store.clear(KEY);
    const left: string[] = [];
    for await (const blob of container.listBlobsFlat({ includeSnapshots: true })) {
      left.push(blob.name);
    }
    expect(left).toEqual([]);
  });

  test("that ends half-way reads as cleared to everybody, and the next call deletes the rest", async () => {
    const { container, proxy, store, open } = await openProxied({ segmentBlocks: 3, timeoutMs: 1_500 });
    for (let turn = 0; turn < 5; turn += 1) {
      await store.append(KEY, records(`turn-${turn}`, 1));
    }
    const known = open();
    const { version } = await known.read(KEY);
    proxy.onRequest = failing("delete", { kind: "drop" }, 1_000);
    expect((await rejection(store.clear(KEY))).code).toBe("outcome_unknown");
    proxy.onRequest = () => undefined;
    expect(await blobNames(container)).toHaveLength(3);
    for (const one of [store, known, openStore(container)]) {
      expect(await one.read(KEY)).toEqual({ records: [], version: "" });
    }
    expect((await rejection(known.append(KEY, records("a", 1), { ifVersion: version }))).code).toBe("conflict");

    await known.append(KEY, records("turn-0", 1));
    for (const one of [store, known, openStore(container)]) {
      expect(idsOf((await one.read(KEY)).records)).toEqual(["turn-0-0"]);
    }
    await store.clear(KEY);
    expect(await blobNames(container)).toEqual([]);
  });

  test("with a right to write and none to delete is unauthorized", async () => {
    const { proxy, store } = await openProxied();
    await store.append(KEY, records("a", 1));
    proxy.onRequest = failing("delete", { kind: "answer", status: 403, code: "AuthorizationPermissionMismatch" }, 10);
    expect((await rejection(store.clear(KEY))).code).toBe("unauthorized");
  });

  test("does not touch a conversation that began meanwhile under the same names", async () => {
    const { container, proxy, store } = await openProxied();
    await store.append(KEY, records("a", 1));
    const other = openStore(container);
    proxy.onRequest = ({ kind }) => {
      if (kind !== "delete") {
        return undefined;
      }
      proxy.onRequest = () => undefined;
      // Someone else deletes what was cleared, and begins again in the very blob that is to be deleted here.
      const began = other.clear(KEY).then(() => other.append(KEY, records("new", 1)));
      return { kind: "wait", until: began.then(() => {}) };
    };
    await store.clear(KEY);
    for (const one of [store, other, openStore(container)]) {
      expect(idsOf((await one.read(KEY)).records)).toEqual(["new-0"]);
    }
  });

  test("and appends at the same moment are each wholly before or wholly after it", async () => {
    const container = await openContainer();
    const stores = Array.from({ length: 3 }, () => openStore(container, { segmentBlocks: 4, timeoutMs: 60_000 }));
    for (let round = 0; round < 4; round += 1) {
      await Promise.all(
        stores.map(async (store, writer) => {
          for (let turn = 0; turn < 4; turn += 1) {
            await store.append(KEY, records(`r${round}-w${writer}-${turn}`, 3));
            if (writer === 0 && turn === 2) {
              await store.clear(KEY);
            }
          }
        }),
      );
      const ids = idsOf((await openStore(container).read(KEY)).records);
      expect(ids.length % 3).toBe(0);
      expect(ids).toContain(`r${round}-w0-3-2`);
      expect(ids.some((id) => id.startsWith(`r${round}-w0-2`))).toBe(false);
      for (let at = 0; at < ids.length; at += 3) {
        expect(ids.slice(at, at + 3)).toEqual([0, 1, 2].map((index) => `${ids[at]?.slice(0, -2)}-${index}`));
      }
    }
    await stores[0]!.clear(KEY);
    expect(await blobNames(container)).toEqual([]);
  });

  test("of a version that a slow writer knows leaves it nothing to append to", async () => {
    const container = await openContainer();
    const [slow, other] = [openStore(container), openStore(container)];
    const { version } = await slow.append(KEY, records("a", 1));
    await other.clear(KEY);
    // As long as what the slow writer knows, in a blob of the same name.
    await other.append(KEY, records("b", 1));
    expect((await rejection(slow.append(KEY, records("c", 1), { ifVersion: version }))).code).toBe("conflict");
    expect((await slow.append(KEY, records("a", 1))).appended).toBe(1);
    expect(idsOf((await other.read(KEY)).records)).toEqual(["b-0", "a-0"]);
    expect((await rejection(slow.append(KEY, records("d", 1), { ifVersion: version }))).code).toBe("conflict");
  });
});

describe("erase", () => {
  test("removes all of one owner and nothing of others, and says how much", async () => {
    const container = await openContainer();
    const store = openStore(container, { segmentBlocks: 3 });
    const keys = [
      conversation("a"),
      conversation("b", { source: "audit" }),
      conversation("c".repeat(400)),
      conversation("a", { owner: "owner-10" }),
      conversation("a", { owner: null }),
      conversation("a", { owner: "" }),
    ];
    for (const key of keys) {
      for (let turn = 0; turn < 3; turn += 1) {
        await store.append(key, records(`turn-${turn}`, 1));
      }
    }
    expect(await store.erase({ owner: "owner-1" })).toEqual({ conversations: 3 });
    expect(await store.erase({ owner: "owner-1" })).toEqual({ conversations: 0 });
    expect((await blobNames(container)).some((name) => name.includes("owner-1/"))).toBe(false);
    for (const key of keys.slice(3)) {
      expect((await store.read(key)).records).toHaveLength(3);
    }
    expect(await store.erase({ owner: null })).toEqual({ conversations: 1 });
    expect(await store.erase({ owner: "" })).toEqual({ conversations: 1 });
    expect(await blobNames(container)).toHaveLength(2);
  });

  test("removes what was begun and never written to, and more than a page holds", async () => {
    const { container, proxy, store, open } = await openProxied();
    proxy.onRequest = failing("append", { kind: "answer", status: 403 }, 1);
    await rejection(store.append(KEY, records("a", 1)));
    expect((await store.list({ owner: "owner-1" })).items).toEqual([]);
    await Promise.all(
      Array.from({ length: 105 }, (_, at) => store.append(conversation(`many-${at}`), records("a", 1))),
    );
    expect(await open({ list: false }).erase({ owner: "owner-1" })).toEqual({ conversations: 106 });
    expect(await blobNames(container)).toEqual([]);
  });

  test("leaves nothing behind that a conversation of the same long name would be listed without", async () => {
    const container = await openContainer();
    const store = openStore(container);
    const key = conversation("long ".repeat(100));
    await openStore(container).append(key, records("a", 1));
    await store.erase({ owner: "owner-1" });
    await store.append(key, records("b", 1));
    expect((await store.list({ owner: "owner-1" })).items.map((item) => item.key)).toEqual([key]);
  });

  test("removes all that it can before it tells of a conversation that is not the store's", async () => {
    const container = await openContainer();
    const store = openStore(container);
    for (const session of ["a", "b", "c"]) {
      await store.append(conversation(session), records("a", 1));
    }
    const [first = "", second = ""] = await blobNames(container);
    await container.deleteBlob(first);
    await container.getBlockBlobClient(first).upload("text", 4);
    const later = await container.getAppendBlobClient(second).getProperties();
    await container.getAppendBlobClient(second).setMetadata({ ...later.metadata, layout: "2" });
    expect((await rejection(store.erase({ owner: "owner-1" }))).code).toMatch(/^(?:corrupt|unsupported)$/);
    expect(await blobNames(container)).toEqual([first, second]);
  });

  test.each([[undefined], [{}], [{ owner: 5 }], [{ owner: "owner-1", source: "chat" }], ["owner-1"]])(
    "refuses %o",
    async (filter) => {
      const store = openStore(await openContainer());
      const error = await rejection(Reflect.apply(store.erase, store, [filter]));
      expect(error.code).toBe("configuration");
      expect(error.message).toMatch(/^filter/);
    },
  );
});

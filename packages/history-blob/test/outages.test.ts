import type { ErrorCode, HistoryRecord, HistoryStore } from "@agentfw/core";
import { describe, expect, test } from "vitest";
import { BlobHistoryStore } from "../src/index.ts";
import { conversation, idsOf, records, rejection, until } from "./support/conversation.ts";
import { type Fault, failing } from "./support/service-proxy.ts";
import { clientOf, freshName, openContainer, openProxied, openStore, sasUrl } from "./support/storage.ts";

const KEY = conversation();

/** Every call, by its name. */
function calls(store: HistoryStore): Record<string, () => Promise<unknown>> {
  return {
    append: () => store.append(KEY, records("b", 1)),
    "first append": () => store.append(conversation("new"), records("b", 1)),
    read: () => store.read(KEY),
    "read of the newest": () => store.read(KEY, { last: 2 }),
    "read of an unknown conversation": () => store.read(conversation("unknown"), { onCorrupt: "skip" }),
    clear: () => store.clear(KEY),
    list: async () => store.list?.({ owner: "owner-1" }),
  };
}

/** Fails unless every call rejects with this code. */
async function expectAll(named: Record<string, () => Promise<unknown>>, code: ErrorCode): Promise<void> {
  const codes = Object.entries(named).map(async ([name, call]) => [name, (await rejection(call())).code]);
  expect(await Promise.all(codes)).toEqual(Object.keys(named).map((name) => [name, code]));
}

describe("an answer that is no answer to the question", () => {
  test.each([
    [401, "InvalidAuthenticationInfo", "unauthorized"],
    [403, "AuthorizationFailure", "unauthorized"],
    [403, "AuthorizationPermissionMismatch", "unauthorized"],
    [403, undefined, "unauthorized"],
    [404, "ContainerNotFound", "configuration"],
    [404, "ResourceNotFound", "unavailable"],
    [404, undefined, "unavailable"],
    [409, "ContainerBeingDeleted", "unavailable"],
    [429, undefined, "unavailable"],
    [500, "InternalError", "unavailable"],
    [503, "ServerBusy", "unavailable"],
  ] as const)(
    "%i %s makes every call of a new store reject with its code, and reads as nothing less",
    async (status, code, expected) => {
      const { proxy, store, open } = await openProxied({ timeoutMs: 3_000 });
      await store.append(KEY, records("a", 3));
      proxy.onRequest = () => ({ kind: "answer", status, ...(code === undefined ? {} : { code }) });
      await expectAll(calls(open()), expected);
      proxy.onRequest = () => undefined;
      expect(idsOf((await store.read(KEY)).records)).toEqual(["a-0", "a-1", "a-2"]);
    },
  );

  test.each([
    ["append", 403, "unauthorized"],
    ["append", 500, "outcome_unknown"],
    ["append", 503, "unavailable"],
    ["append", 404, "unavailable"],
    ["read", 403, "unauthorized"],
    ["read", 500, "unavailable"],
    ["read", 404, "unavailable"],
  ] as const)("to the %s of a store that knows the conversation: %i", async (kind, status, expected) => {
    const { proxy, store } = await openProxied({ timeoutMs: 4_000 });
    await store.append(KEY, records("a", 3));
    proxy.onRequest = failing(kind, { kind: "answer", status }, 1_000);
    const call = kind === "append" ? store.append(KEY, records("b", 1)) : store.read(KEY);
    expect((await rejection(call)).code).toBe(expected);
    proxy.onRequest = () => undefined;
    await store.append(KEY, records("b", 1));
    expect(idsOf((await store.read(KEY)).records)).toEqual(["a-0", "a-1", "a-2", "b-0"]);
  });
});

/** Appends with a store that has little time, on a machine that others use too. */
async function appendInTime(store: HistoryStore, turn: HistoryRecord[]): Promise<void> {
  await until(() =>
    store.append(KEY, turn).then(
      () => true,
      () => false,
    ),
  );
}

describe("a service that does not answer", () => {
  test.each([[{ kind: "stall" }], [{ kind: "drop" }], [{ kind: "lose" }]] as const)(
    "in the way of %o makes every call settle within its deadline",
    async (fault: Fault) => {
      const { proxy, store, open } = await openProxied({ timeoutMs: 700 });
      await appendInTime(store, records("a", 3));
      proxy.onRequest = () => fault;
      const settled = Object.entries(calls(store)).map(async ([name, call]) => {
        const error = await rejection(call());
        expect(["timeout", "unavailable", "outcome_unknown"], name).toContain(error.code);
        expect(error.retryable).toBe(true);
      });
      await Promise.all(settled);
      proxy.onRequest = () => undefined;
      await appendInTime(store, records("c", 1));
      expect(idsOf((await open({ timeoutMs: 20_000 }).read(KEY)).records)).toContain("c-0");
    },
  );

  test("to an append that was sent is of unknown outcome; to one that was not, a timeout", async () => {
    const { proxy, store } = await openProxied({ timeoutMs: 500 });
    await appendInTime(store, records("a", 1));
    proxy.onRequest = () => ({ kind: "stall" });
    expect((await rejection(store.append(KEY, records("b", 1)))).code).toBe("outcome_unknown");
    expect((await rejection(store.append(conversation("new"), records("b", 1)))).code).toBe("timeout");
    expect((await rejection(store.read(KEY))).code).toBe("timeout");
  });

  test("in time to an append that others are always quicker than is a timeout, and no conflict", async () => {
    const { proxy, store } = await openProxied({ timeoutMs: 600 });
    await appendInTime(store, records("a", 1));
    proxy.onRequest = failing("append", { kind: "answer", status: 412, code: "ConditionNotMet" }, 1_000);
    expect(["timeout", "outcome_unknown"]).toContain((await rejection(store.append(KEY, records("b", 1)))).code);
  });

  test("in the middle of a download is not taken for its end", async () => {
    const { proxy, store } = await openProxied({ timeoutMs: 2_000 });
    await store.append(KEY, records("a", 300));
    proxy.onRequest = failing("read", { kind: "cut" }, 1_000);
    expect((await rejection(store.read(KEY))).code).toBe("unavailable");
    proxy.onRequest = failing("read", { kind: "cut" }, 2);
    expect((await store.read(KEY)).records).toHaveLength(300);
  });
});

test("a page of a listing that ends behind a segment without a turn is not taken for the whole conversation", async () => {
  const { container, proxy, store } = await openProxied({ segmentBlocks: 3 });
  await store.append(KEY, records("a", 1));
  await store.append(KEY, records("b", 1));
  // A key signs the length of the page, a SAS does not.
  const url = new URL(await sasUrl(container, "racwdl"));
  url.host = new URL(/BlobEndpoint=([^;]+)/.exec(proxy.connectionString)?.[1] ?? "").host;
  const open = () => new BlobHistoryStore({ url: url.href }, { timeoutMs: 20_000 });
  // The next segment is made, and nothing is written to it.
  let isMade = false;
  proxy.onRequest = ({ kind }) => {
    isMade ||= kind === "create";
    return isMade && kind !== "create" ? { kind: "drop" } : undefined;
  };
  await rejection(store.append(KEY, records("c", 1)));
  proxy.onRequest = failing("list", { kind: "shorten" });
  expect(idsOf((await open().read(KEY)).records)).toEqual(["a-0", "b-0"]);
  proxy.onRequest = failing("list", { kind: "shorten" });
  expect((await open().append(KEY, records("c", 1))).appended).toBe(1);
  expect(idsOf((await open().read(KEY)).records)).toEqual(["a-0", "b-0", "c-0"]);
});

test("an empty page of a listing that goes on is not taken for no conversation", async () => {
  const { proxy, store, open } = await openProxied();
  await store.append(KEY, records("a", 2));
  const body =
    '<?xml version="1.0" encoding="utf-8"?><EnumerationResults ServiceEndpoint="http://localhost/" ContainerName="c">' +
    "<Prefix>history</Prefix><MaxResults>5</MaxResults><Blobs /><NextMarker>a</NextMarker></EnumerationResults>";
  const isEmpty = () => {
    proxy.onRequest = failing("list", { kind: "answer", status: 200, body });
  };
  isEmpty();
  expect((await open().read(KEY)).records).toHaveLength(2);
  isEmpty();
  expect((await store.list({ owner: "owner-1" })).items).toHaveLength(1);
  isEmpty();
  expect((await open().append(KEY, records("a", 2))).appended).toBe(0);
  isEmpty();
  await open().clear(KEY);
  expect((await store.read(KEY)).records).toEqual([]);
});

describe("a busy service", () => {
  test.each(["1", new Date(Date.now() + 120_000).toUTCString()])(
    "that wants to be left alone, for %s, is asked again after that or not at all",
    async (retryAfter) => {
      const { proxy, store } = await openProxied({ timeoutMs: 10_000 });
      await store.append(KEY, records("a", 1));
      const events: string[] = [];
      const busy = failing("append", { kind: "answer", status: 503, code: "ServerBusy", retryAfter });
      proxy.onRequest = (asked) => {
        events.push("asked");
        setTimeout(() => events.push("half a second later"), 500);
        return busy(asked);
      };
      const appended = store.append(KEY, records("b", 1));
      if (retryAfter === "1") {
        expect((await appended).appended).toBe(1);
        expect(events.slice(0, 3)).toEqual(["asked", "half a second later", "asked"]);
      } else {
        expect((await rejection(appended)).code).toBe("unavailable");
        expect(events).toEqual(["asked"]);
      }
    },
  );
});

describe("an answer to another question", () => {
  test("a download that does not say which range it is, is not taken for all of the blob nor for its end", async () => {
    const { proxy, store, open } = await openProxied();
    await store.append(KEY, [{ id: "large", data: JSON.stringify("x".repeat(60_000)) }]);
    for (const name of ["a", "b", "c"]) {
      await store.append(KEY, records(name, 1));
    }
    proxy.onRequest = failing("read", { kind: "unranged" }, 1_000);
    for (const one of [store, open()]) {
      expect((await rejection(one.read(KEY, { last: 2 }))).code).toBe("unavailable");
    }
    proxy.onRequest = failing("read", { kind: "unranged" });
    expect((await open().read(KEY, { last: 2 })).records).toHaveLength(2);
  });

  test.each([200, 201, 204])("a bare %i to an append is not taken for a stored turn", async (status) => {
    const { proxy, store } = await openProxied();
    await store.append(KEY, records("a", 1));
    proxy.onRequest = failing("append", { kind: "answer", status });
    expect((await store.append(KEY, records("b", 1))).appended).toBe(1);
    proxy.onRequest = failing("append", { kind: "answer", status }, 1_000);
    expect((await rejection(store.append(KEY, records("c", 1)))).code).toBe("outcome_unknown");
    proxy.onRequest = () => undefined;
    expect(idsOf((await store.read(KEY)).records)).toEqual(["a-0", "b-0"]);
  });
});

test("a call that is aborted on its way to a list or a download gives the reason", async () => {
  const { proxy, store } = await openProxied();
  await store.append(KEY, records("a", 1));
  for (const call of [store.read.bind(store, KEY), store.list.bind(store, { owner: null })]) {
    const controller = new AbortController();
    proxy.onRequest = () => {
      controller.abort(new Error("enough"));
      return { kind: "stall" };
    };
    await expect(call({ signal: controller.signal })).rejects.toThrow("enough");
  }
});

describe("a container", () => {
  test("that is not there is refused by every call, and none is made", async () => {
    const container = clientOf(freshName());
    for (const [name, call] of Object.entries(calls(openStore(container)))) {
      const error = await rejection(call());
      expect(error.code, name).toBe("configuration");
      expect(error.message, name).toContain("container: ");
    }
    expect(await container.exists()).toBe(false);
  });

  test.each(["append", "read", "list", "clear"])(
    "is made by the first call, %s, with createContainer",
    async (name) => {
      const container = clientOf(freshName());
      await calls(openStore(container, { createContainer: true }))[name]?.();
      expect(await container.exists()).toBe(true);
      await container.delete();
    },
  );

  test("is made once by 20 stores that start at the same moment", async () => {
    const container = clientOf(freshName());
    const stores = Array.from({ length: 20 }, () => openStore(container, { createContainer: true }));
    await Promise.all(stores.map((store, index) => store.append(KEY, records(`store-${index}`, 2))));
    expect((await stores[0]!.read(KEY)).records).toHaveLength(40);
    await container.delete();
  });

  test.each([
    ["ContainerBeingDeleted", { kind: "answer", status: 409, code: "ContainerBeingDeleted" }],
    ["ServerBusy", { kind: "answer", status: 503, code: "ServerBusy" }],
    ["a lost answer", { kind: "drop" }],
  ] as const)(
    "that cannot be made now, because of %s, is unavailable, and is made by a later call",
    async (_, fault) => {
      const { proxy } = await openProxied();
      const where = { connectionString: proxy.connectionString, containerName: freshName() };
      const store = new BlobHistoryStore(where, { createContainer: true });
      proxy.onRequest = failing("create container", fault, 1_000);
      await expectAll(calls(store), "unavailable");
      proxy.onRequest = failing("create container", fault);
      expect((await store.append(KEY, records("a", 1))).appended).toBe(1);
      await clientOf(where.containerName).delete();
    },
  );

  test("that another call makes while an answer is on its way is no missing one", async () => {
    const { proxy } = await openProxied();
    const containerName = freshName();
    const { connectionString } = proxy;
    const store = new BlobHistoryStore({ connectionString, containerName }, { createContainer: true });
    let isFirst = true;
    proxy.onRequest = (asked) => {
      if (asked.kind !== "list" || !isFirst) {
        return undefined;
      }
      isFirst = false;
      // Its answer comes when the container is there already.
      const made = store.append(conversation("other"), records("a", 1)).then(() => {});
      return { kind: "wait", until: made, code: "ContainerNotFound" };
    };
    expect((await store.append(KEY, records("a", 1))).appended).toBe(1);
    await clientOf(containerName).delete();
  });

  test("that was there and was deleted is an error, also with createContainer, and works again when it is back", async () => {
    const container = await openContainer();
    const store = openStore(container, { createContainer: true });
    await store.append(KEY, records("a", 1));
    await container.delete();
    await expectAll(calls(store), "configuration");
    await container.create();
    expect((await store.append(KEY, records("b", 1))).appended).toBe(1);
    expect(idsOf((await store.read(KEY)).records)).toEqual(["b-0"]);
  });
});

test("a wrong key is unauthorized, and no message holds it", async () => {
  const { container, proxy } = await openProxied();
  const key = Buffer.from("not the key").toString("base64");
  const connectionString = proxy.connectionString.replace(/AccountKey=[^;]+/, `AccountKey=${key}`);
  const store = new BlobHistoryStore({ connectionString, containerName: container.containerName });
  for (const [name, call] of Object.entries(calls(store))) {
    const error = await rejection(call());
    expect(error.code, name).toBe("unauthorized");
    expect(error.message).not.toContain(key);
    expect(error.message).not.toContain("127.0.0.1");
  }
});

test("an address where nobody listens is unavailable", async () => {
  const store = new BlobHistoryStore({ url: "http://127.0.0.1:1/account/container" }, { timeoutMs: 3_000 });
  await expectAll(calls(store), "unavailable");
});

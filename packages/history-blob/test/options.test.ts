import { isAgentFrameworkError } from "@agentfw/core";
import { ContainerClient, StorageSharedKeyCredential } from "@azure/storage-blob";
import { describe, expect, test } from "vitest";
import { BlobHistoryStore } from "../src/index.ts";
import { conversation, rejection } from "./support/conversation.ts";

const CONNECTION_STRING = "AccountName=account;AccountKey=c2VjcmV0;EndpointSuffix=core.windows.net";
const CONNECTION = { connectionString: CONNECTION_STRING, containerName: "agents" };
const container = new ContainerClient("https://account.blob.core.windows.net/agents");

function refusal(...given: unknown[]): string {
  try {
    Reflect.construct(BlobHistoryStore, given);
  } catch (error) {
    if (isAgentFrameworkError(error, "configuration")) {
      return error.message;
    }
    throw error;
  }
  throw new Error("it was accepted");
}

describe("where the container is", () => {
  test.each([
    [undefined, "connection"],
    [null, "connection"],
    ["https://account.blob.core.windows.net/agents", "connection"],
    [{}, "connection"],
    [{ ...CONNECTION, container }, "connection"],
    [{ ...CONNECTION, url: "https://account.blob.core.windows.net/agents" }, "connection"],
    [{ container, credential: { getToken: () => {} } }, "credential"],
    [{ container, containerName: "agents" }, "containerName"],
    [{ ...CONNECTION, credential: { getToken: () => {} } }, "credential"],
    [{ container: {} }, "container"],
    [{ container: "agents" }, "container"],
    [{ container: null }, "container"],
    [{ url: "" }, "url"],
    [{ url: 5 }, "url"],
    [{ url: "https://account.blob.core.windows.net/" }, "url"],
    [{ url: "ftp://account.blob.core.windows.net/agents" }, "url"],
    [{ url: "https://account.blob.core.windows.net/agents?sig=c2VjcmV0", credential: "c2VjcmV0" }, "credential"],
    [{ url: "https://account.blob.core.windows.net/agents", credential: {} }, "credential"],
    [{ connectionString: CONNECTION_STRING }, "containerName"],
    [{ ...CONNECTION, containerName: "No" }, "containerName"],
    [{ ...CONNECTION, containerName: "a--b" }, "containerName"],
    [{ ...CONNECTION, containerName: "a/b" }, "containerName"],
    [{ ...CONNECTION, containerName: "x".repeat(64) }, "containerName"],
    [{ ...CONNECTION, connectionString: "" }, "connectionString"],
    [{ ...CONNECTION, connectionString: "c2VjcmV0" }, "connectionString"],
    [{ ...CONNECTION, connectionString: 5 }, "connectionString"],
    [container, "connection"],
    [{ url: "https://account.blob.core.windows.net/agents", credentials: {} }, "credentials"],
    [{ ...CONNECTION, createContainer: true }, "createContainer"],
    [{ url: "http://127.0.0.1:10000/account/agents", credential: { getToken: async () => null } }, "url"],
  ])("%o is refused by the name of what is wrong", (connection, field) => {
    const message = refusal(connection);
    expect(message.startsWith(`${field}: `)).toBe(true);
    expect(message).not.toContain("c2VjcmV0");
  });

  test.each([
    CONNECTION,
    { connectionString: "UseDevelopmentStorage=true", containerName: "agents" },
    { connectionString: "BlobEndpoint=https://a.example;SharedAccessSignature=sig", containerName: "agents" },
    { container },
    { url: "https://account.blob.core.windows.net/agents?sv=1&sig=x" },
    {
      url: "https://account.blob.core.windows.net/agents",
      credential: { getToken: async () => ({ token: "t", expiresOnTimestamp: 0 }) },
    },
    {
      url: "https://account.blob.core.windows.net/agents",
      credential: new StorageSharedKeyCredential("account", "c2VjcmV0"),
    },
  ])("%o is taken, and nothing is asked of it yet", (connection) => {
    expect(new BlobHistoryStore(connection).contractVersion).toBe(1);
  });
});

test.each([
  "AccountName=account",
  "DefaultEndpointsProtocol=https;AccountName=account;AccountKey=c2VjcmV0",
  "BlobEndpoint=http://127.0.0.1:1/account",
  "BlobEndpoint=c2VjcmV0",
  "UseDevelopmentStorage=perhaps",
])(
  "the connection string %s, of which the driver makes nothing, is told by the first call",
  async (connectionString) => {
    const error = await rejection(new BlobHistoryStore({ ...CONNECTION, connectionString }).read(conversation()));
    expect(error.code).toBe("configuration");
    expect(error.message).toContain("connectionString: ");
    expect(error.message).not.toContain("c2VjcmV0");
  },
);

describe("options", () => {
  test.each([
    [null, "options"],
    [[], "options"],
    ["history", "options"],
    [{ container: "x" }, "container"],
    [{ maxRecords: 5 }, "maxRecords"],
    [{ ttlSeconds: 60 }, "ttlSeconds"],
    [{ prefix: "" }, "prefix"],
    [{ prefix: 5 }, "prefix"],
    [{ prefix: "/a" }, "prefix"],
    [{ prefix: "a/" }, "prefix"],
    [{ prefix: "a//b" }, "prefix"],
    [{ prefix: "a/../b" }, "prefix"],
    [{ prefix: "a." }, "prefix"],
    [{ prefix: "a b" }, "prefix"],
    [{ prefix: "x".repeat(201) }, "prefix"],
    [{ createContainer: "yes" }, "createContainer"],
    [{ list: 1 }, "list"],
    [{ conditionalAppend: null }, "conditionalAppend"],
    [{ segmentBytes: 65_535 }, "segmentBytes"],
    [{ segmentBytes: 2 ** 41 }, "segmentBytes"],
    [{ segmentBlocks: 1 }, "segmentBlocks"],
    [{ segmentBlocks: 49_001 }, "segmentBlocks"],
    [{ segmentBlocks: "10" }, "segmentBlocks"],
    [{ segmentBlocks: 2.5 }, "segmentBlocks"],
    [{ maxRecordBytes: 0 }, "maxRecordBytes"],
    [{ maxRecordBytes: 67_108_865 }, "maxRecordBytes"],
    [{ timeoutMs: 0 }, "timeoutMs"],
    [{ timeoutMs: Number.POSITIVE_INFINITY }, "timeoutMs"],
  ])("%o are refused by the name of what is wrong", (options, field) => {
    expect(refusal(CONNECTION, options).startsWith(`${field}: `)).toBe(true);
  });

  test("that are undefined are the defaults", () => {
    const names = ["prefix", "createContainer", "segmentBytes", "segmentBlocks", "list", "conditionalAppend"];
    const options = Object.fromEntries([...names, "maxRecordBytes", "timeoutMs"].map((name) => [name, undefined]));
    expect(new BlobHistoryStore(CONNECTION, options).capabilities).toEqual({
      dedupe: 1000,
      processes: "many",
      conditionalAppend: true,
      replace: false,
      list: true,
      ttl: false,
      maxRecords: false,
      maxRecordBytes: 16_777_216,
    });
  });

  test("that switch something off are told by the capabilities, and calls that need it are refused", async () => {
    const store = new BlobHistoryStore(CONNECTION, { list: false, conditionalAppend: false });
    expect(store.capabilities).toMatchObject({ list: false, conditionalAppend: false });
    const records = [{ id: "a", data: "1" }];
    expect((await rejection(store.list({ owner: "a" }))).code).toBe("unsupported");
    expect((await rejection(store.append(conversation(), records, { ifVersion: "" }))).code).toBe("unsupported");
    expect((await rejection(store.replace())).code).toBe("unsupported");
  });
});

describe("arguments of single calls", () => {
  const store = new BlobHistoryStore(CONNECTION);
  test.each([
    ["append", [conversation(), [], { ifVersion: 5 }], "ifVersion"],
    ["append", [conversation(), [{ id: "a", data: "{" }]], "records[0].data"],
    ["read", [conversation(), { before: "5" }], "before"],
    ["read", [conversation(), { before: 5 }], "before"],
    ["read", [conversation(), { before: "abcdefghijklmnop.0.0.0" }], "before"],
    ["list", [{ owner: "a" }, { cursor: "!" }], "cursor"],
    ["list", [{ owner: "a" }, { cursor: "YWJj" }], "cursor"],
    ["list", [{ owner: "a" }, { cursor: 5 }], "cursor"],
    ["list", [{ owner: "a" }, { limit: 0 }], "limit"],
    ["erase", [{ owner: "a" }, 5], "options"],
  ] as const)("%s refuses %o before anything is sent", async (method, given, field) => {
    const error = await rejection(Reflect.apply(store[method], store, given));
    expect(error.code).toBe("configuration");
    expect(error.message.startsWith(`${field}: `), error.message).toBe(true);
  });

  test("records, ids and calls above the limits are too large", async () => {
    const small = new BlobHistoryStore(CONNECTION, { maxRecordBytes: 100 });
    const large = small.append(conversation(), [{ id: "a", data: JSON.stringify("é".repeat(50)) }]);
    expect(await rejection(large)).toMatchObject({ code: "too_large" });
    const long = store.append(conversation(), [{ id: "é".repeat(513), data: "1" }]);
    expect(await rejection(long)).toMatchObject({ code: "too_large" });
    const many = Array.from({ length: 100_001 }, (_, index) => ({ id: String(index), data: "1" }));
    expect(await rejection(store.append(conversation(), many))).toMatchObject({ code: "too_large" });
    const data = JSON.stringify("x".repeat(16_000_000));
    const heavy = Array.from({ length: 17 }, (_, index) => ({ id: String(index), data }));
    expect(await rejection(store.append(conversation(), heavy))).toMatchObject({ code: "too_large" });
  });

  test("names that no metadata can hold are too large, unless nothing has to be listed", async () => {
    const key = conversation("x".repeat(5_000));
    expect((await rejection(store.read(key))).code).toBe("too_large");
    const unlisted = new BlobHistoryStore({ url: "http://127.0.0.1:1/a/b" }, { list: false, timeoutMs: 2_000 });
    expect((await rejection(unlisted.read(key))).code).toBe("unavailable");
  });
});

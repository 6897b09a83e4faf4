import { Agent } from "@agentfw/agent";
import { HistoryProvider, type HistoryRecord, isAgentFrameworkError } from "@agentfw/core";
import { createDefaultHttpClient, type HttpClient, RestError } from "@azure/core-rest-pipeline";
import { describe, expect, test } from "vitest";
import { placeOf, turnKey } from "../src/history/names.ts";
import { FoundryHistoryStore, FoundryStateStore, LocalStateStore, runWithCallId } from "../src/index.ts";
import { type Emulator, openEmulator } from "./support/emulator.ts";
import { temporaryFolder } from "./support/folder.ts";
import { failure } from "./support/scripted.ts";

const KEY = { owner: "ann", source: "history", session: "s-1" };

const PATIENT = { timeoutMs: 60_000 };

function record(id: string, text = id): HistoryRecord {
  return { id, data: JSON.stringify({ text }) };
}

function records(prefix: string, count: number): HistoryRecord[] {
  return Array.from({ length: count }, (_, index) => record(`${prefix}-${index}`));
}

interface Opened {
  readonly emulator: Emulator;
  readonly state: FoundryStateStore;
  readonly store: FoundryHistoryStore;
  /** The requests since the last look, in a few words. */
  requests(): string[];
  another(): Promise<FoundryHistoryStore>;
}

async function open(options: object = {}): Promise<Opened> {
  const emulator = await openEmulator({ users: { "call-a": "ann", "call-b": "bob" } });
  const connect = () =>
    FoundryStateStore.getOrCreate("conversations", {
      ...{ endpoint: emulator.endpoint, itemTtlSeconds: -1, ...PATIENT },
      ...options,
    });
  const state = await connect();
  const requests = () => {
    const lines = emulator.log.splice(0).filter(({ level }) => level !== "debug");
    return lines.map(({ text }) => text.replace(/ \*{3}\/storage\/state_stores\/\*|\?api-version=v1| [\d.]+ ms$/g, ""));
  };
  requests();
  const another = async () => new FoundryHistoryStore(await connect(), PATIENT);
  return { emulator, state, store: new FoundryHistoryStore(state, PATIENT), requests, another };
}

async function keysOf(state: FoundryStateStore, prefix: string): Promise<string[]> {
  const keys = [];
  for await (const { key } of state.iterateItemKeys()) {
    keys.push(key);
  }
  return keys.filter((key) => key.startsWith(prefix)).sort();
}

describe("what a call costs", () => {
  test("a first append four requests and a look at what is there, each later one two", async () => {
    const { store, requests } = await open();
    await store.append(KEY, records("a", 4));
    expect(requests().sort()).toEqual(
      ["GET/items/* 404", "GET/items:keys 200", "POST/items 201", "POST/items 201", "GET/items/* 200"].sort(),
    );
    await store.append(KEY, records("b", 4));
    expect(requests()).toEqual(["POST/items 201", "GET/items/* 200"]);
    await store.append(KEY, records("b", 4));
    expect(requests().sort()).toEqual(["GET/items/* 200", "GET/items/* 404"]);
  });

  test("a read three requests and one for each turn of the page", async () => {
    const { store, requests } = await open();
    for (let turn = 0; turn < 30; turn += 1) {
      await store.append(KEY, records(`turn-${turn}`, 2));
    }
    requests();
    const page = await store.read(KEY, { last: 6 });
    expect(page.records.map(({ id }) => id)).toEqual(
      [27, 28, 29].flatMap((turn) => [`turn-${turn}-0`, `turn-${turn}-1`]),
    );
    expect(requests().sort()).toEqual(
      [
        "GET/items/* 200",
        "GET/items/* 200",
        "GET/items/* 200",
        "GET/items/* 200",
        "GET/items/* 404",
        "GET/items:keys 200",
      ].sort(),
    );
  });

  test("another process reads back no further than to the turn that carries the ids", async () => {
    const { store, requests, another } = await open();
    for (let turn = 0; turn < 40; turn += 1) {
      await store.append(KEY, [record(`turn-${turn}`)]);
    }
    requests();
    const other = await another();
    requests();
    // The oldest and the newest are known to it.
    expect((await other.append(KEY, [record("turn-0"), record("turn-39")])).appended).toBe(0);
    expect(requests().length).toBeLessThanOrEqual(2 + 16 + 1);
    expect((await other.append(KEY, [record("turn-1"), record("new")])).appended).toBe(1);
  });
});

describe("an answer that was lost", () => {
  test("is found out by asking again, and the append is stored once", async () => {
    const usual = createDefaultHttpClient();
    const losing = { posts: 0 };
    const httpClient: HttpClient = {
      async sendRequest(request) {
        const response = await usual.sendRequest(request);
        if (request.method === "POST" && losing.posts > 0) {
          losing.posts -= 1;
          throw new RestError("socket hang up", { code: "ECONNRESET", request });
        }
        return response;
      },
    };
    const { store, another } = await open({ httpClient });
    // The head of the conversation, and then its first turn.
    losing.posts = 2;
    expect((await store.append(KEY, records("a", 2))).appended).toBe(2);
    losing.posts = 1;
    expect((await store.append(KEY, records("b", 2))).appended).toBe(2);
    expect((await store.append(KEY, records("c", 2))).appended).toBe(2);
    expect(losing.posts).toBe(0);
    const page = await (await another()).read(KEY);
    expect(page.records.map(({ id }) => id)).toEqual(["a-0", "a-1", "b-0", "b-1", "c-0", "c-1"]);
    expect(page.version).toMatch(/\.3$/);
  });
});

test("turns that come while the end is looked for are no gap in the conversation", async () => {
  const usual = createDefaultHttpClient();
  const turnOf = (url: string) =>
    Buffer.from(/items\/([\w-]+)/.exec(url)?.[1] ?? "", "base64url")
      .toString()
      .split("/")[3];
  let third = async () => {};
  let isThirdAsked = () => {};
  const asked = new Promise<void>((resolve) => {
    isThirdAsked = resolve;
  });
  const httpClient: HttpClient = {
    async sendRequest(request) {
      const turn = request.method === "GET" ? turnOf(request.url) : undefined;
      if (turn === "4") {
        // The third was not there when it was asked for, and is when the fourth is.
        await asked;
        await third();
      }
      const response = await usual.sendRequest(request);
      if (turn === "3") {
        isThirdAsked();
      }
      return response;
    },
  };
  const { store, emulator } = await open({ httpClient });
  const { endpoint } = emulator;
  const other = new FoundryHistoryStore(
    await FoundryStateStore.getOrCreate("conversations", { endpoint, itemTtlSeconds: -1, ...PATIENT }),
    PATIENT,
  );
  await store.append(KEY, records("a", 1));
  await other.append(KEY, records("b", 1));
  third = async () => {
    third = async () => {};
    await other.append(KEY, records("c", 1));
    await other.append(KEY, records("d", 1));
  };
  expect((await store.append(KEY, records("e", 1))).appended).toBe(1);
  expect((await store.read(KEY)).records.map(({ id }) => id)).toEqual(["a-0", "b-0", "c-0", "d-0", "e-0"]);
});

describe("clear", () => {
  test("leaves nothing of the conversation in the store", async () => {
    const { store, state } = await open();
    for (let turn = 0; turn < 130; turn += 1) {
      await store.append(KEY, [record(`turn-${turn}`)]);
    }
    await store.append({ ...KEY, session: "other" }, records("other", 2));
    await store.clear(KEY);
    expect(await keysOf(state, "h1/")).toHaveLength(1);
    expect(await keysOf(state, "t1/")).toHaveLength(1);
  });

  test("deletes the head first and the newest turn last, so that a reader never takes a part for the whole", async () => {
    const deleted: string[] = [];
    const usual = createDefaultHttpClient();
    const httpClient: HttpClient = {
      sendRequest(request) {
        if (request.method === "DELETE") {
          const [, segment = ""] = /items\/([\w-]+)/.exec(request.url) ?? [];
          deleted.push(Buffer.from(segment, "base64url").toString());
        }
        return usual.sendRequest(request);
      },
    };
    const { store } = await open({ httpClient });
    for (let turn = 0; turn < 40; turn += 1) {
      await store.append(KEY, [record(`turn-${turn}`)]);
    }
    await store.clear(KEY);
    expect(deleted).toHaveLength(41);
    expect(deleted[0]).toMatch(/^h1\//);
    expect(deleted.at(-1)).toMatch(/\/40$/);
    // At most sixteen at once, so none is far ahead of an older one.
    const turns = deleted.slice(1).map((key) => Number(key.split("/").at(-1)));
    expect(turns.every((turn, index) => Math.abs(turn - 1 - index) < 16)).toBe(true);
  });

  test("is noticed by a store that remembers the conversation as it was", async () => {
    const { store, another, state } = await open();
    await store.append(KEY, records("a", 2));
    await store.append(KEY, records("b", 2));
    const other = await another();
    await other.clear(KEY);
    await other.append(KEY, records("new", 1));
    expect((await store.append(KEY, [...records("a", 2), ...records("c", 1)])).appended).toBe(3);
    const page = await other.read(KEY);
    expect(page.records.map(({ id }) => id)).toEqual(["new-0", "a-0", "a-1", "c-0"]);
    // Nothing hangs under the life that is over.
    expect(await keysOf(state, "t1/")).toHaveLength(2);
  });

  test("that broke off is over for a store that remembers the conversation, whatever it left", async () => {
    const { store, another, state } = await open();
    const other = await another();
    await store.append(KEY, records("a", 1));
    for (const name of ["b", "c", "d"]) {
      await other.append(KEY, records(name, 1));
    }
    const place = placeOf(KEY);
    const life = (await store.read(KEY)).version.split(".")[0] ?? "";
    await state.deleteItem(place.headKey);
    await state.deleteItem(turnKey(place, life, 3));
    expect((await store.append(KEY, records("new", 1), { ifVersion: "" })).appended).toBe(1);
    expect((await other.read(KEY)).records.map(({ id }) => id)).toEqual(["new-0"]);
  });

  test("deletes what a clear that broke off, or a writer that died, has left", async () => {
    const { store, state } = await open();
    await store.append(KEY, records("a", 2));
    const place = placeOf(KEY);
    const [head] = await keysOf(state, "h1/");
    await state.deleteItem(head ?? "");
    expect((await store.read(KEY)).version).toBe("");
    expect(await keysOf(state, "t1/")).toHaveLength(1);
    await store.append(KEY, records("b", 1));
    const life = (await store.read(KEY)).version.split(".")[0] ?? "";
    await store.clear(KEY);
    expect(await keysOf(state, "t1/")).toEqual([]);
    expect(turnKey(place, life, 1)).toContain(place.hash);
  });
});

describe("what is damaged", () => {
  test("a turn that was taken away is corrupt, with its place, and not a shorter conversation", async () => {
    const { store, state, another } = await open();
    for (let turn = 0; turn < 5; turn += 1) {
      await store.append(KEY, [record(`turn-${turn}`)]);
    }
    const [, second = ""] = await keysOf(state, "t1/");
    await state.deleteItem(second);
    for (const onCorrupt of ["error", "skip"] as const) {
      expect(await failure(store.read(KEY, { onCorrupt }))).toMatchObject({ code: "corrupt", position: "turn 2" });
    }
    expect((await store.read(KEY, { last: 2 })).records.map(({ id }) => id)).toEqual(["turn-3", "turn-4"]);
    expect((await (await another()).append(KEY, [record("next")])).appended).toBe(1);
  });

  test("a head that cannot be read is corrupt, for every call, and stays as it is", async () => {
    const { store, state } = await open();
    await store.append(KEY, records("a", 1));
    const [head = ""] = await keysOf(state, "h1/");
    await state.setItem(head, { v: 1, life: 7 }, { tags: (await state.getItem(head))?.tags });
    for (const call of [() => store.read(KEY), () => store.clear(KEY), () => store.list({ owner: "ann" })]) {
      expect(await failure(call())).toMatchObject({ code: "corrupt" });
    }
    expect((await state.getItem(head))?.value).toEqual({ v: 1, life: 7 });
  });

  test("a head that is another conversation's is corrupt, with its place, for every call", async () => {
    const { store, state } = await open();
    await store.append(KEY, records("a", 1));
    const { headKey } = placeOf(KEY);
    const head = await state.getItem(headKey);
    await state.setItem(headKey, { ...head?.value, key: ["ann", KEY.source, "other"] }, { tags: head?.tags });
    for (const call of [() => store.read(KEY), () => store.clear(KEY), () => store.list({ owner: "ann" })]) {
      expect(await failure(call())).toMatchObject({ code: "corrupt", position: headKey });
    }
  });

  test("a head whose first turn never came is no conversation: not read, not listed, and taken up by the next", async () => {
    const { store, state } = await open();
    await store.append(KEY, records("a", 1));
    const [turn = ""] = await keysOf(state, "t1/");
    await state.deleteItem(turn);
    const fresh = new FoundryHistoryStore(state, PATIENT);
    expect(await fresh.read(KEY)).toEqual({ records: [], version: "" });
    expect((await fresh.list({ owner: "ann" })).items).toEqual([]);
    await fresh.append(KEY, records("b", 1), { ifVersion: "" });
    expect((await fresh.list({ owner: "ann" })).items).toMatchObject([
      { key: KEY, updatedAt: expect.stringMatching(/^2\d{3}-/) },
    ]);
  });
});

test("a filter that inherits its owner lists that owner's conversations, and nobody else's", async () => {
  const { store } = await open();
  await store.append(KEY, records("a", 1));
  await store.append({ ...KEY, owner: "bob" }, records("b", 1));
  const { items } = await store.list(Object.create({ owner: "bob" }));
  expect(items.map(({ key }) => key.owner)).toEqual(["bob"]);
});

describe("size", () => {
  test("a record of the largest size is stored whatever is in it, also nothing but quotes and backslashes", async () => {
    const { store } = await open();
    const { maxRecordBytes } = store.capabilities;
    const filled = (unit: string) => {
      const inside = unit.repeat(Math.floor((maxRecordBytes - 2) / unit.length));
      return `"${inside}${"x".repeat(maxRecordBytes - 2 - inside.length)}"`;
    };
    const texts = [
      filled('\\"'),
      filled("\\\\"),
      filled("\\u0000"),
      filled("x"),
      `[${"\t".repeat(maxRecordBytes - 2)}]`,
    ];
    for (const [index, data] of texts.entries()) {
      const key = { ...KEY, session: `large-${index}` };
      await store.append(key, [{ id: "a", data }]);
      const page = await store.read(key);
      expect(page.records[0]?.data === data).toBe(true);
    }
  });

  test("an append above what an item holds is too_large, and nothing is written, not even a beginning", async () => {
    const { store, state } = await open();
    const data = JSON.stringify("x".repeat(600_000));
    const error = await failure(
      store.append(KEY, [
        { id: "a", data },
        { id: "b", data },
      ]),
    );
    expect(error).toMatchObject({ code: "too_large", message: expect.stringContaining("records") });
    expect(await keysOf(state, "")).toEqual([]);
  });
});

describe("which store", () => {
  test("one whose items expire is refused", async () => {
    const state = await LocalStateStore.getOrCreate("conversations", { directory: await temporaryFolder() });
    expect(() => new FoundryHistoryStore(state)).toThrow(/itemTtlSeconds: -1/);
  });

  test("an unknown option, and a store that is none, are refused", async () => {
    const state = await LocalStateStore.getOrCreate("c", { directory: await temporaryFolder(), itemTtlSeconds: -1 });
    for (const given of [[state, { maxRecords: 5 }], [state, { timeoutMs: 0 }], [{}], [undefined]]) {
      expect(() => Reflect.construct(FoundryHistoryStore, given)).toThrow(/\w+: /);
    }
  });

  test("one that keeps users apart has a conversation of one name for each", async () => {
    const { store, requests } = await open({ userIsolation: true });
    await Promise.all(
      ["a", "b"].map((user) =>
        runWithCallId(`call-${user}`, async () => {
          for (let turn = 0; turn < 20; turn += 1) {
            await store.append(KEY, [record(`turn-${turn}`, `${user} ${turn}`)]);
          }
        }),
      ),
    );
    // Nothing of one user's conversation was tried on the other's.
    expect(requests().filter((request) => request.startsWith("DELETE"))).toEqual([]);
    for (const user of ["a", "b"]) {
      const page = await runWithCallId(`call-${user}`, () => store.read(KEY));
      expect(page.records).toEqual(Array.from({ length: 20 }, (_, turn) => record(`turn-${turn}`, `${user} ${turn}`)));
      const listed = await runWithCallId(`call-${user}`, () => store.list({ allOwners: true }));
      expect(listed.items).toHaveLength(1);
    }
    await runWithCallId("call-a", () => store.clear(KEY));
    expect((await runWithCallId("call-b", () => store.read(KEY))).records).toHaveLength(20);
    expect(await failure(store.read(KEY))).toMatchObject({ code: "configuration" });
  });
});

test("an agent remembers across processes", async () => {
  const { another } = await open();
  const said: number[] = [];
  const client = {
    contractVersion: 1 as const,
    storesByDefault: false,
    async *stream(messages: readonly unknown[]) {
      said.push(messages.length);
      yield { contents: [{ type: "text" as const, text: "yes" }] };
    },
  };
  for (let turn = 0; turn < 3; turn += 1) {
    const agent = new Agent({ client, contextProviders: [new HistoryProvider(await another())] });
    await agent.run(`turn ${turn}`, { session: agent.getSession({ sessionId: "s", owner: "ann" }) });
  }
  expect(said).toEqual([1, 3, 5]);
});

test("versions go on, and a condition on an old one is a conflict with the current one", async () => {
  const { store, another } = await open();
  const { version } = await store.append(KEY, records("a", 1));
  await (await another()).append(KEY, records("b", 1));
  const error = await store.append(KEY, records("c", 1), { ifVersion: version }).catch((reason: unknown) => reason);
  expect(isAgentFrameworkError(error, "conflict") && error.currentVersion).toMatch(/\.2$/);
});

import {
  type AppendOptions,
  type HistoryKey,
  HistoryProvider,
  type HistoryRecord,
  type HistoryStore,
  InMemoryFileStore,
  InMemoryHistoryStore,
  InMemoryStateStore,
  type ReadOptions,
} from "@agentfw/core";
import { SpanStatusCode } from "@opentelemetry/api";
import { describe, expect, it } from "vitest";
import { agentOf, failureOf, model, SpanKind, useAsyncContext, Watch } from "./support.ts";

useAsyncContext();

const key: HistoryKey = { owner: "ann", source: "main", session: "s-1" };
const record = (id: string): HistoryRecord => ({ id, data: `{"text":"ü ${id}"}` });

describe("the span of a store call", () => {
  it("tells of history: how many records, how many bytes, how many were new", async () => {
    const watch = new Watch();
    const store = watch.telemetry.historyStore(new InMemoryHistoryStore());
    await store.append(key, [record("1"), record("2")]);
    await store.append(key, [record("2"), record("3")]);
    await store.read(key, { last: 2 });
    await store.replace?.(key, { fromId: "1", throughId: "2" }, [record("4")]);
    await store.list?.({ owner: "ann" });
    await store.clear(key);
    const seen = watch.spans.map(({ name, kind, attributes }) => {
      const {
        "agentfw.store.port": port,
        "agentfw.store.operation": operation,
        "agentfw.store.name": own,
        ...rest
      } = attributes;
      expect([kind, port, own, `history_store.${operation}`]).toEqual([
        SpanKind.INTERNAL,
        "history",
        "InMemoryHistoryStore",
        name,
      ]);
      return [operation, rest];
    });
    expect(seen).toEqual([
      ["append", { "agentfw.store.items": 2, "agentfw.store.bytes": 30, "agentfw.store.appended": 2 }],
      ["append", { "agentfw.store.items": 2, "agentfw.store.bytes": 30, "agentfw.store.appended": 1 }],
      ["read", { "agentfw.store.items": 2, "agentfw.store.bytes": 30 }],
      ["replace", { "agentfw.store.items": 1, "agentfw.store.bytes": 15 }],
      ["list", { "agentfw.store.items": 1 }],
      ["clear", {}],
    ]);
  });

  it("tells of records that were skipped because they are corrupt", async () => {
    const watch = new Watch();
    class Torn extends InMemoryHistoryStore {
      override async read(_key: HistoryKey, _options?: ReadOptions) {
        return { records: [], version: "1", corrupt: ["0", "1"] };
      }
    }
    await watch.telemetry.historyStore(new Torn()).read(key, { onCorrupt: "skip" });
    expect(watch.span("history_store.read").attributes["agentfw.store.corrupt"]).toBe(2);
  });

  it("tells of state: bytes, and whether something was there", async () => {
    const watch = new Watch();
    const store = watch.telemetry.stateStore(new InMemoryStateStore(), { name: "sessions" });
    await store.create("k", '{"a":1}');
    await store.set("k", '{"a":12}');
    await store.get("k");
    await store.get("missing");
    await store.listKeys();
    await store.delete("k");
    const rest = watch.spans.map(({ name, attributes: { "agentfw.store.name": own, ...all } }) => [
      name.replace("state_store.", ""),
      own,
      all["agentfw.store.items"],
      all["agentfw.store.bytes"],
      all["agentfw.store.found"],
    ]);
    expect(rest).toEqual([
      ["create", "sessions", 1, 7, undefined],
      ["set", "sessions", 1, 8, undefined],
      ["get", "sessions", 1, 8, true],
      ["get", "sessions", undefined, undefined, false],
      ["listKeys", "sessions", 1, undefined, undefined],
      ["delete", "sessions", undefined, undefined, true],
    ]);
  });

  it("tells of files: bytes, lines, paths in number only", async () => {
    const watch = new Watch();
    const store = watch.telemetry.fileStore(new InMemoryFileStore());
    await store.write("a.md", "one\ntwö\n");
    await store.read("a.md");
    await store.exists("b.md");
    await store.list("");
    await store.search("tw");
    await store.delete("a.md");
    const rest = watch.spans.map(({ name, attributes }) => [
      name.replace("file_store.", ""),
      attributes["agentfw.store.items"],
      attributes["agentfw.store.bytes"],
      attributes["agentfw.store.found"],
    ]);
    expect(rest).toEqual([
      ["write", 1, 9, undefined],
      ["read", 1, 9, true],
      ["exists", undefined, undefined, false],
      ["list", 1, undefined, undefined],
      ["search", 1, 4, undefined],
      ["delete", undefined, undefined, true],
    ]);
  });

  it("says by its code why a call failed, and what it was to write", async () => {
    const watch = new Watch();
    const store = watch.telemetry.historyStore(new InMemoryHistoryStore());
    await store.append(key, [record("1")]);
    await failureOf(store.append(key, [record("2")], { ifVersion: "stale" }));
    const [, failed] = watch.spans;
    expect(failed?.attributes).toMatchObject({ "error.type": "conflict", "agentfw.store.items": 1 });
    expect(failed?.status).toEqual({ code: SpanStatusCode.ERROR });
  });

  it("tells of an abort before the call", async () => {
    const watch = new Watch();
    const store = watch.telemetry.historyStore(new InMemoryHistoryStore());
    await failureOf(store.read(key, { signal: AbortSignal.abort() }));
    expect(watch.span("history_store.read").attributes["error.type"]).toBe("AbortError");
  });
});

/** A store of somebody else's, with more than the port asks for. */
class OwnStore extends InMemoryHistoryStore {
  readonly #secret = "kept";
  label = "first";
  failsAt: string | undefined;

  get secret(): string {
    return this.#secret;
  }

  set secret(value: string) {
    this.label = `${this.#secret} ${value}`;
  }

  /** Uses the port itself. */
  async appendTwice(owned: HistoryKey): Promise<string> {
    await this.append(owned, [record("x")]);
    await this.append(owned, [record("y")]);
    return this.#secret;
  }

  override append(owned: HistoryKey, records: readonly HistoryRecord[], options?: AppendOptions) {
    if (this.failsAt === records[0]?.id) {
      throw new TypeError("thrown, not rejected");
    }
    return super.append(owned, records, options);
  }
}

describe("a watched store", () => {
  it("is the store in everything else: class, members, private parts, methods of its own", async () => {
    const watch = new Watch();
    const own = new OwnStore();
    const store = watch.telemetry.historyStore(own);
    expect(store).toBeInstanceOf(OwnStore);
    expect(store.capabilities).toBe(own.capabilities);
    expect(store.contractVersion).toBe(1);
    expect(store.secret).toBe("kept");
    store.secret = "safe";
    expect(own.label).toBe("kept safe");
    store.label = "second";
    expect(own.label).toBe("second");
    expect(await store.appendTwice(key)).toBe("kept");
    expect(store.constructor).toBe(OwnStore);
    // Only what comes through the port is watched, not what the store does inside.
    expect(watch.spans).toEqual([]);
    expect((await own.read(key)).records).toHaveLength(2);
  });

  it("closes what it wraps, and has no method that the store has not", async () => {
    const watch = new Watch();
    let closed = 0;
    const inner = new InMemoryHistoryStore();
    const bare: HistoryStore = {
      contractVersion: 1,
      capabilities: { ...inner.capabilities, replace: false, list: false },
      append: (...given) => inner.append(...given),
      read: (...given) => inner.read(...given),
      clear: (...given) => inner.clear(...given),
      close: async () => {
        closed += 1;
      },
    };
    const store = watch.telemetry.historyStore(bare);
    expect("replace" in store).toBe(false);
    expect(store.list).toBeUndefined();
    await store.close?.();
    expect(closed).toBe(1);
    await store.clear(key);
    expect(watch.span("history_store.clear").attributes["agentfw.store.name"]).toBe("history");
  });

  it("has the same methods whenever they are asked for, until the store gets other ones", async () => {
    const watch = new Watch();
    const own = new OwnStore();
    const store = watch.telemetry.historyStore(own);
    expect(store.read).toBe(store.read);
    expect(store.appendTwice).toBe(store.appendTwice);
    own.read = async () => ({ records: [record("new")], version: "1" });
    expect((await store.read(key)).records).toEqual([record("new")]);
    expect(watch.span("history_store.read").attributes["agentfw.store.items"]).toBe(1);
  });

  it("is one object for one store, so that its conversations have one queue, and is not watched twice", async () => {
    const watch = new Watch();
    const own = new OwnStore();
    const store = watch.telemetry.historyStore(own);
    expect(watch.telemetry.historyStore(own)).toBe(store);
    expect(watch.telemetry.historyStore(store)).toBe(store);
    await store.read(key);
    expect(watch.spans).toHaveLength(1);
  });

  it("has below its span what the store's driver begins", async () => {
    const watch = new Watch();
    const driver = watch.tracerProvider.getTracer("driver");
    class Remote extends InMemoryHistoryStore {
      override async clear(owned: HistoryKey) {
        driver.startSpan("DELETE").end();
        return super.clear(owned);
      }
    }
    await watch.telemetry.historyStore(new Remote()).clear(key);
    expect(watch.tree()).toEqual(["history_store.clear", "  DELETE"]);
  });

  it("rejects where the store throws", async () => {
    const watch = new Watch();
    const own = new OwnStore();
    own.failsAt = "1";
    const store = watch.telemetry.historyStore(own);
    expect(await failureOf(store.append(key, [record("1")]))).toBeInstanceOf(TypeError);
    expect(watch.span("history_store.append").attributes["error.type"]).toBe("TypeError");
  });

  it("serves runs: each turn is one read and one append below the run", async () => {
    const watch = new Watch();
    const provider = new HistoryProvider(watch.telemetry.historyStore(new OwnStore()));
    const agent = agentOf(watch, model("one", "two"), { contextProviders: [provider] });
    const session = agent.createSession();
    await agent.run("go", { session });
    await agent.run("on", { session });
    const turn = ["invoke_agent", "  history_store.read", "  chat", "  history_store.append"];
    expect(watch.tree()).toEqual([...turn, ...turn]);
    expect(await provider.getMessages(session)).toHaveLength(4);
  });

  it("is refused for what is no such store, and for a frozen one", () => {
    const { telemetry } = new Watch();
    const refused = [
      () => telemetry.historyStore(undefined as never),
      () => telemetry.historyStore(new InMemoryStateStore() as never),
      () => telemetry.stateStore(new InMemoryFileStore() as never),
      () => telemetry.fileStore({} as never),
      () => telemetry.historyStore(Object.freeze({ ...new InMemoryHistoryStore(), append: 1 }) as never),
      () => telemetry.historyStore(Object.freeze(new InMemoryHistoryStore())),
      () => telemetry.historyStore(new InMemoryHistoryStore(), { name: "" }),
    ];
    for (const refuse of refused) {
      expect(refuse).toThrow(expect.objectContaining({ code: "configuration" }));
    }
  });
});

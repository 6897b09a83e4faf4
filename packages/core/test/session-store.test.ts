import { describe, expect, test } from "vitest";
import {
  AgentFrameworkError,
  AgentSession,
  InMemoryStateStore,
  type Scope,
  type SessionScope,
  SessionStore,
  type StateStore,
} from "../src/index.ts";

const ann = { owner: "ann" };
const nobody = { owner: null };

function counting(sessionId = "s", owner: string | null = "ann"): AgentSession {
  return new AgentSession({ sessionId, owner, state: { n: 0 } });
}

function increment(session: AgentSession): void {
  session.state["n"] = Number(session.state["n"]) + 1;
}

describe("a session store", () => {
  test("gives back what was saved, bound to its owner, and again after a change", async () => {
    const store = new SessionStore(new InMemoryStateStore());
    await store.save(new AgentSession({ sessionId: "s", owner: "ann", serviceSessionId: "conv", state: { a: [1] } }));
    const loaded = await store.load("s", ann);
    expect(loaded).toBeInstanceOf(AgentSession);
    expect(loaded?.owner).toBe("ann");
    expect(loaded?.toJSON()).toMatchObject({ sessionId: "s", serviceSessionId: "conv", state: { a: [1] } });
    loaded!.state["a"] = [2];
    await store.save(loaded!);
    expect((await store.load("s", ann))?.state).toEqual({ a: [2] });
  });

  test("hands out independent copies and keeps one of its own", async () => {
    const store = new SessionStore(new InMemoryStateStore());
    const session = new AgentSession({ sessionId: "s", owner: "ann", state: { list: [1] } });
    await store.save(session);
    (session.state["list"] as number[]).push(2);
    const one = await store.load("s", ann);
    const two = await store.load("s", ann);
    (one!.state["list"] as number[]).push(3);
    expect(two!.state).toEqual({ list: [1] });
    expect((await store.load("s", ann))?.state).toEqual({ list: [1] });
  });

  test("has nothing under an unknown id, and deletes nothing there", async () => {
    const store = new SessionStore(new InMemoryStateStore());
    expect(await store.load("unknown", ann)).toBeUndefined();
    expect(await store.delete("unknown", ann)).toBe(false);
    expect(await store.list(ann)).toEqual({ sessionIds: [], cursor: undefined });
  });

  test("deletes exactly the session that is named", async () => {
    const store = new SessionStore(new InMemoryStateStore());
    for (const id of ["a", "b"]) {
      await store.save(counting(id));
    }
    expect(await store.delete("a", ann)).toBe(true);
    expect(await store.delete("a", ann)).toBe(false);
    expect(await store.load("a", ann)).toBeUndefined();
    expect((await store.load("b", ann))?.sessionId).toBe("b");
  });

  test("writes no owner, in whatever form, into what it stores", async () => {
    const backend = new InMemoryStateStore();
    await new SessionStore(backend).save(counting("s", "ann@example.com"));
    const [item] = (await backend.listKeys(ann)).keys;
    expect(item).toBeUndefined();
    const { keys } = await backend.listKeys({ owner: "ann@example.com" });
    const stored = await backend.get(keys[0]!.key, { owner: "ann@example.com" });
    expect(stored?.text).not.toContain("ann");
  });

  test("refuses a store of a later contract and what is no store", () => {
    const later = { contractVersion: 2 } as unknown as StateStore;
    expect(() => new SessionStore(later)).toThrow(expect.objectContaining({ code: "unsupported" }));
    for (const none of [undefined, null, {}, "store"]) {
      expect(() => new SessionStore(none as unknown as StateStore)).toThrow(
        expect.objectContaining({ code: "configuration" }),
      );
    }
  });
});

describe("of several writers", () => {
  test("one wins, and the others get a conflict with the etag that is current", async () => {
    const backend = new InMemoryStateStore();
    const store = new SessionStore(backend);
    await store.save(counting());
    const copies = await Promise.all(Array.from({ length: 5 }, () => store.load("s", ann)));
    const outcomes = await Promise.allSettled(copies.map((copy) => store.save(copy!)));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const { keys } = await backend.listKeys(ann);
    for (const outcome of outcomes.filter(({ status }) => status === "rejected")) {
      expect(outcome).toMatchObject({ reason: { code: "conflict", currentVersion: keys[0]!.etag, retryable: true } });
    }
  });

  test("one creates, and the others get a conflict", async () => {
    const store = new SessionStore(new InMemoryStateStore());
    const outcomes = await Promise.allSettled(
      [counting(), counting(), counting()].map((session) => store.save(session)),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(outcomes.filter(({ status }) => status === "rejected")).toHaveLength(2);
  });

  test("the loser's session stays as it is, and can be saved over on purpose", async () => {
    const store = new SessionStore(new InMemoryStateStore());
    await store.save(counting());
    const [winner, loser] = [await store.load("s", ann), await store.load("s", ann)];
    winner!.state["who"] = "winner";
    await store.save(winner!);
    loser!.state["who"] = "loser";
    await expect(store.save(loser!)).rejects.toMatchObject({ code: "conflict" });
    expect((await store.load("s", ann))?.state["who"]).toBe("winner");
    await store.save(loser!, { overwrite: true });
    expect((await store.load("s", ann))?.state["who"]).toBe("loser");
    increment(loser!);
    await store.save(loser!);
  });

  test("one that saves what another deleted gets a conflict, and nothing comes back to life", async () => {
    const store = new SessionStore(new InMemoryStateStore());
    await store.save(counting());
    const loaded = await store.load("s", ann);
    await store.delete("s", ann);
    await expect(store.save(loaded!)).rejects.toMatchObject({ code: "conflict", currentVersion: undefined });
    expect(await store.load("s", ann)).toBeUndefined();
  });

  test("one may save the same session again and again", async () => {
    const store = new SessionStore(new InMemoryStateStore());
    const session = counting();
    for (let times = 1; times <= 3; times += 1) {
      increment(session);
      await store.save(session);
    }
    expect((await store.load("s", ann))?.state).toEqual({ n: 3 });
  });
});

describe("update", () => {
  test.each([5, 50])("loses nothing when %i of them run at once", async (count) => {
    const store = new SessionStore(new InMemoryStateStore());
    await store.save(counting());
    await Promise.all(Array.from({ length: count }, () => store.update("s", ann, increment)));
    expect((await store.load("s", ann))?.state).toEqual({ n: count });
  });

  test("loses nothing when 30 of them work on it for a while, over a store that takes its time", async () => {
    const store = new SessionStore(new SlowStateStore());
    await store.save(counting());
    const slowly = async (session: AgentSession) => {
      const seen = Number(session.state["n"]);
      await new Promise((resolve) => setTimeout(resolve, 1));
      session.state["n"] = seen + 1;
    };
    await Promise.all(Array.from({ length: 30 }, () => store.update("s", { ...ann, attempts: 200 }, slowly)));
    expect((await store.load("s", ann))?.state).toEqual({ n: 30 });
  });

  test("gives the session as it was saved, which can be saved again", async () => {
    const store = new SessionStore(new InMemoryStateStore());
    await store.save(counting());
    const session = await store.update("s", ann, increment);
    expect(session.state).toEqual({ n: 1 });
    increment(session);
    await store.save(session);
    expect((await store.load("s", ann))?.state).toEqual({ n: 2 });
  });

  test("is not found for a session that is not there or someone else's", async () => {
    const store = new SessionStore(new InMemoryStateStore());
    await store.save(counting());
    for (const [id, owner] of [
      ["t", "ann"],
      ["s", "bob"],
      ["s", null],
    ] as const) {
      await expect(store.update(id, { owner }, increment)).rejects.toMatchObject({ code: "not_found" });
    }
    expect((await store.load("s", ann))?.state).toEqual({ n: 0 });
  });

  test("gives up with a conflict after as many attempts as it was given", async () => {
    const store = new SessionStore(new InMemoryStateStore());
    await store.save(counting());
    let calls = 0;
    const overtaken = async () => {
      calls += 1;
      await store.update("s", ann, increment);
    };
    await expect(store.update("s", { ...ann, attempts: 3 }, overtaken)).rejects.toMatchObject({ code: "conflict" });
    expect(calls).toBe(3);
    for (const attempts of [0, -1, 1.5, Number.NaN]) {
      await expect(store.update("s", { ...ann, attempts }, increment)).rejects.toMatchObject({ code: "configuration" });
    }
  });

  test("passes on what the change throws, and saves nothing", async () => {
    const store = new SessionStore(new InMemoryStateStore());
    await store.save(counting());
    const failure = new Error("no");
    const failing = (session: AgentSession) => {
      increment(session);
      throw failure;
    };
    await expect(store.update("s", ann, failing)).rejects.toBe(failure);
    expect((await store.load("s", ann))?.state).toEqual({ n: 0 });
  });

  test("passes on a failure of the store at once", async () => {
    const backend = new InMemoryStateStore();
    const store = new SessionStore(backend);
    await store.save(counting());
    let attempts = 0;
    backend.set = async () => {
      attempts += 1;
      throw new AgentFrameworkError("unavailable", "down");
    };
    await expect(store.update("s", ann, increment)).rejects.toMatchObject({ code: "unavailable" });
    expect(attempts).toBe(1);
  });

  test("ends when it is aborted between two attempts", async () => {
    const store = new SessionStore(new InMemoryStateStore());
    await store.save(counting());
    const controller = new AbortController();
    const overtakenOnce = async () => {
      await store.update("s", ann, increment);
      controller.abort();
    };
    await expect(store.update("s", { ...ann, signal: controller.signal }, overtakenOnce)).rejects.toMatchObject({
      name: "AbortError",
    });
    expect((await store.load("s", ann))?.state).toEqual({ n: 1 });
  });
});

describe("whose sessions are whose", () => {
  test("a session of someone else reads as absent, cannot be deleted, and is not listed", async () => {
    const store = new SessionStore(new InMemoryStateStore());
    await store.save(counting("s", "ann"));
    for (const owner of ["bob", "", null, "ANN", "ann ", "ann."]) {
      expect(await store.load("s", { owner })).toBeUndefined();
      expect(await store.delete("s", { owner })).toBe(false);
      expect((await store.list({ owner })).sessionIds).toEqual([]);
    }
    expect((await store.load("s", ann))?.sessionId).toBe("s");
  });

  test.each([
    ["owners and ids with the delimiter in them", ["a:b", "c"], ["a", "b:c"]],
    ["nobody and the empty owner", [null, "s"], ["", "s"]],
    ["an owner and the text of nobody", ["null", "s"], [null, "s"]],
    ["ids that differ in case", ["a", "ABC"], ["a", "abc"]],
    ["owners that differ in case", ["Ann", "s"], ["ann", "s"]],
    ["what is escaped and what looks escaped", ["a", "é"], ["a", "~00e9"]],
    ["a character and its composed form", ["a", "e\u0301"], ["a", "\u00e9"]],
    ["two lone surrogates", ["a", "\ud83d"], ["a", "\ud83e"]],
    ["an emoji and its halves", ["a", "😀"], ["a", "\ud83d"]],
    ["an id that ends where another goes on", ["a", "s"], ["a", "s:"]],
    ["an owner of dots", [".", "s"], ["", "s"]],
    ["an empty owner and one of the closing mark", ["", ".:s"], [".:", "s"]],
  ] as const)("%s have sessions of their own", async (_, left, right) => {
    const store = new SessionStore(new SharedStateStore());
    for (const [owner, id] of [left, right]) {
      await store.save(new AgentSession({ sessionId: id, owner, state: { of: [owner, id] } }));
    }
    for (const [owner, id] of [left, right]) {
      expect((await store.load(id, { owner }))?.state).toEqual({ of: [owner, id] });
      expect((await store.list({ owner })).sessionIds).toContain(id);
    }
    await store.delete(left[1], { owner: left[0] });
    expect((await store.load(right[1], { owner: right[0] }))?.state).toEqual({ of: [...right] });
  });

  test.each([
    "../x",
    "CON",
    "a/b",
    ".hidden",
    "trailing.",
    "😀".repeat(128),
    "a\u0000b",
    "\ud83d",
    "%2e",
    "~0041",
    "*",
  ])("the id %j comes back as it was given, from load and from list", async (id) => {
    const store = new SessionStore(new SharedStateStore());
    await store.save(new AgentSession({ sessionId: id, owner: id }));
    expect((await store.load(id, { owner: id }))?.sessionId).toBe(id);
    expect(await store.list({ owner: id })).toEqual({ sessionIds: [id], cursor: undefined });
  });

  test("forgetting whose it is, or naming no id, is refused at every call", async () => {
    const store = new SessionStore(new InMemoryStateStore());
    await store.save(counting("s", null));
    for (const scope of [undefined, {}, { owner: undefined }, { owner: 7 }] as unknown as SessionScope[]) {
      const calls = [
        () => store.load("s", scope),
        () => store.delete("s", scope),
        () => store.list(scope),
        () => store.update("s", scope, increment),
      ];
      for (const call of calls) {
        await expect(call()).rejects.toMatchObject({
          code: "configuration",
          message: expect.stringContaining("owner"),
        });
      }
    }
    for (const id of ["", undefined, 7] as unknown as string[]) {
      const calls = [
        () => store.load(id, nobody),
        () => store.delete(id, nobody),
        () => store.update(id, nobody, increment),
      ];
      for (const call of calls) {
        await expect(call()).rejects.toMatchObject({ code: "configuration", message: /sessionId/ });
      }
    }
    expect((await store.load("s", nobody))?.state).toEqual({ n: 0 });
  });
});

describe("a listing", () => {
  test("pages over each session of one owner once, oldest first", async () => {
    const store = new SessionStore(new SharedStateStore());
    const ids = Array.from({ length: 25 }, (_, index) => `s${index}`);
    for (const id of ids) {
      await store.save(counting(id, "ann"));
      await store.save(counting(id, null));
      await store.save(counting(`other ${id}`, "bob"));
    }
    const seen: string[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const page = await store.list({ ...ann, limit: 7, cursor });
      expect(page.sessionIds.length).toBeLessThanOrEqual(7);
      seen.push(...page.sessionIds);
      cursor = page.cursor;
      pages += 1;
    } while (cursor !== undefined);
    expect(seen).toEqual(ids);
    expect(pages).toBe(4);
    expect((await store.list({ ...nobody, limit: 100 })).sessionIds).toEqual(ids);
  });

  test("leaves out what others keep in the same store", async () => {
    const backend = new SharedStateStore();
    const store = new SessionStore(backend);
    await backend.create("settings", "{}", ann);
    await backend.create("session:x", "{}", { ...ann, tags: { agentfw: "session:ann" } });
    await store.save(counting("s"));
    expect((await store.list(ann)).sessionIds).toEqual(["s"]);
  });
});

describe("a snapshot that cannot be read", () => {
  async function damaged(text: string): Promise<{ backend: InMemoryStateStore; store: SessionStore; key: string }> {
    const backend = new InMemoryStateStore();
    const store = new SessionStore(backend);
    await store.save(counting());
    const key = (await backend.listKeys(ann)).keys[0]!.key;
    await backend.set(key, text, ann);
    return { backend, store, key };
  }

  test.each([
    ["of another type", '{"type":"other"}'],
    ["of an object with nothing in it", "{}"],
    ["of a session with another id", JSON.stringify(counting("t"))],
    ["of a session that nobody owns", JSON.stringify(counting("s", null))],
    ["with broken state", '{"type":"agentfw.session","version":1,"sessionId":"s","owned":true,"state":[]}'],
  ])("%s is corrupt and left as it is", async (_, text) => {
    const { backend, store, key } = await damaged(text);
    await expect(store.load("s", ann)).rejects.toMatchObject({ code: "corrupt" });
    await expect(store.update("s", ann, increment)).rejects.toMatchObject({ code: "corrupt" });
    await expect(store.save(counting())).rejects.toMatchObject({ code: "conflict" });
    expect((await backend.get(key, ann))?.text).toBe(text);
  });

  test("of a newer version is unsupported and left as it is", async () => {
    const text = JSON.stringify({ ...counting().toJSON(), version: 2, state: { future: true } });
    const { backend, store, key } = await damaged(text);
    await expect(store.load("s", ann)).rejects.toMatchObject({ code: "unsupported" });
    await expect(store.update("s", ann, increment)).rejects.toMatchObject({ code: "unsupported" });
    expect((await backend.get(key, ann))?.text).toBe(text);
  });
});

describe("a session that JSON cannot hold", () => {
  test("is refused with its path before anything is written", async () => {
    const backend = new InMemoryStateStore();
    const store = new SessionStore(backend);
    const session = counting();
    await store.save(session);
    session.state["bad"] = { total: 10n };
    await expect(store.save(session)).rejects.toMatchObject({
      code: "configuration",
      message: expect.stringContaining("state.bad.total"),
    });
    expect((await store.load("s", ann))?.state).toEqual({ n: 0 });
  });
});

/** A store whose every call takes a moment, so that calls overlap. */
class SlowStateStore extends InMemoryStateStore {
  override async get(key: string, options: Scope = {}): ReturnType<InMemoryStateStore["get"]> {
    await new Promise((resolve) => setTimeout(resolve, 1));
    return super.get(key, options);
  }
}

/** A store that does not tell owners apart, as one that derives the identity itself: the key alone must do it. */
class SharedStateStore extends InMemoryStateStore {
  override create(...[key, text, options]: Parameters<InMemoryStateStore["create"]>): Promise<{ etag: string }> {
    return super.create(key, text, { ...options, owner: undefined });
  }

  override set(...[key, text, options]: Parameters<InMemoryStateStore["set"]>): Promise<{ etag: string }> {
    return super.set(key, text, { ...options, owner: undefined });
  }

  override get(key: string, options?: Scope): ReturnType<InMemoryStateStore["get"]> {
    return super.get(key, { ...options, owner: undefined });
  }

  override delete(...[key, options]: Parameters<InMemoryStateStore["delete"]>): Promise<boolean> {
    return super.delete(key, { ...options, owner: undefined });
  }

  override listKeys(
    ...[options]: Parameters<InMemoryStateStore["listKeys"]>
  ): ReturnType<InMemoryStateStore["listKeys"]> {
    return super.listKeys({ ...options, owner: undefined });
  }
}

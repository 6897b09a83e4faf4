import { describe, expect, test } from "vitest";
import { AgentSession, ProviderSessionState } from "../src/index.ts";

interface Counter {
  count: number;
  readonly seen: string[];
}

function counter(key = "counter"): ProviderSessionState<Counter> {
  return new ProviderSessionState<Counter>({ key, initialize: () => ({ count: 0, seen: [] }) });
}

/** A set of words, which JSON cannot hold as it stands. */
function words(key = "words"): ProviderSessionState<Set<string>> {
  return new ProviderSessionState<Set<string>>({
    key,
    initialize: (session) => new Set([session.sessionId]),
    codec: {
      encode: (value) => [...value],
      decode: (json) => {
        if (!Array.isArray(json) || !json.every((item) => typeof item === "string")) {
          throw new TypeError("not a list of words");
        }
        return new Set<string>(json);
      },
    },
  });
}

describe("a provider's slice of the session state", () => {
  test("is initialized once for each session and kept there", () => {
    let made = 0;
    const state = new ProviderSessionState({ key: "n", initialize: () => ({ made: ++made }) });
    const [one, two] = [new AgentSession(), new AgentSession()];
    expect([state.get(one), state.get(one), state.get(two), state.get(one)]).toEqual([
      { made: 1 },
      { made: 1 },
      { made: 2 },
      { made: 1 },
    ]);
    expect(one.state).toEqual({ n: { made: 1 } });
  });

  test("is copied out: what a caller does to a value changes nothing until it is set", () => {
    const session = new AgentSession();
    const state = counter();
    const first = state.get(session);
    first.count = 5;
    first.seen.push("x");
    expect(state.get(session)).toEqual({ count: 0, seen: [] });
    const later = state.get(session);
    later.count = 7;
    expect(state.get(session)).toEqual({ count: 0, seen: [] });
  });

  test("is copied in: what a caller does to a value after setting it changes nothing", () => {
    const session = new AgentSession();
    const value: Counter = { count: 1, seen: ["a"] };
    counter().set(session, value);
    value.count = 2;
    value.seen.push("b");
    expect(counter().get(session)).toEqual({ count: 1, seen: ["a"] });
  });

  test("does not leak from one session to the next through a shared initial value", () => {
    const initial: Counter = { count: 0, seen: [] };
    const state = new ProviderSessionState<Counter>({ key: "n", initialize: () => initial });
    const first = state.get(new AgentSession());
    first.count += 1;
    first.seen.push("secret of the first session");
    expect(state.get(new AgentSession())).toEqual({ count: 0, seen: [] });
  });

  test("is the same at the first read as at every later one", () => {
    const session = new AgentSession();
    const state = new ProviderSessionState<unknown>({
      key: "n",
      initialize: () => ({ at: new Date(0), none: undefined }),
    });
    const first = state.get(session);
    expect(first).toStrictEqual({ at: "1970-01-01T00:00:00.000Z" });
    expect(state.get(session)).toStrictEqual(first);
  });

  test("goes with the session through its JSON, with and without a codec", () => {
    const session = new AgentSession({ sessionId: "s", owner: null });
    counter().set(session, { count: 3, seen: ["😀"] });
    words().set(session, new Set(["a", "b"]));
    const back = AgentSession.fromJSON(JSON.stringify(session));
    expect(counter().get(back)).toEqual({ count: 3, seen: ["😀"] });
    expect(words().get(back)).toEqual(new Set(["a", "b"]));
  });

  test("is initialized with the session at hand", () => {
    expect(words().get(new AgentSession({ sessionId: "mine", owner: null }))).toEqual(new Set(["mine"]));
  });

  test.each(["__proto__", "constructor", "toString", "a.b", " "])("may have the key %j", (key) => {
    const session = new AgentSession();
    expect(counter(key).get(session)).toEqual({ count: 0, seen: [] });
    counter(key).set(session, { count: 1, seen: [] });
    expect(counter(key).get(AgentSession.fromJSON(JSON.stringify(session)))).toEqual({ count: 1, seen: [] });
    expect(Object.getPrototypeOf(session.state)).toBe(Object.prototype);
  });

  test("needs a key", () => {
    expect(() => counter("")).toThrow(expect.objectContaining({ code: "configuration" }));
  });

  test("holds null as a value like any other", () => {
    const session = new AgentSession();
    const state = new ProviderSessionState<string | null>({ key: "n", initialize: () => "none yet" });
    state.set(session, null);
    expect(state.get(session)).toBeNull();
  });
});

describe("a value that cannot be kept", () => {
  test("is refused with its path, and the old one stays", () => {
    const session = new AgentSession();
    const state = counter();
    state.set(session, { count: 1, seen: [] });
    expect(() => state.set(session, { count: Number.NaN, seen: [] })).toThrow("state.counter.count: NaN");
    expect(() => state.set(session, new Map() as unknown as Counter)).toThrow(
      expect.objectContaining({ code: "configuration" }),
    );
    expect(state.get(session)).toEqual({ count: 1, seen: [] });
  });

  test("is refused when it is the initial one, and nothing is kept", () => {
    const session = new AgentSession();
    const state = new ProviderSessionState<unknown>({ key: "n", initialize: () => new Set() });
    expect(() => state.get(session)).toThrow("state.n: an instance of Set");
    expect(session.state).toEqual({});
  });

  test("leaves the old one when the codec cannot write it", () => {
    const session = new AgentSession();
    words().set(session, new Set(["a"]));
    expect(() => words().set(session, 5 as unknown as Set<string>)).toThrow();
    expect(words().get(session)).toEqual(new Set(["a"]));
  });
});

describe("a slice that the codec cannot read", () => {
  test("is corrupt, named, and left as it is", () => {
    for (const damaged of ["text", 5, null, { a: 1 }, ["a", 1]]) {
      const session = new AgentSession({ state: { words: damaged, other: 1 } });
      const before = JSON.stringify(session);
      expect(() => words().get(session)).toThrow(
        expect.objectContaining({ code: "corrupt", message: expect.stringContaining("state.words") }),
      );
      expect(JSON.stringify(session)).toBe(before);
    }
  });

  test("carries the codec's own error", () => {
    const session = new AgentSession({ state: { words: 5 } });
    expect(() => words().get(session)).toThrow(expect.objectContaining({ cause: expect.any(TypeError) }));
  });
});

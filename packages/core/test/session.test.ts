import { describe, expect, test } from "vitest";
import { AgentSession, type AgentSessionJson, type AgentSessionOptions } from "../src/index.ts";

function make(options: unknown): AgentSession {
  return new AgentSession(options as AgentSessionOptions);
}

/** Through JSON text, as sessions travel. */
function restored(session: AgentSession): AgentSession {
  return AgentSession.fromJSON(JSON.stringify(session), { owner: session.owner });
}

describe("a new session", () => {
  test("has an id of its own, no state and no owner", () => {
    const ids = new Set(Array.from({ length: 100 }, () => new AgentSession().sessionId));
    expect(ids.size).toBe(100);
    const session = new AgentSession();
    expect(session.sessionId.length).toBeGreaterThan(20);
    expect(session.state).toEqual({});
    expect(session.owner).toBeNull();
    expect(session.serviceSessionId).toBeUndefined();
  });

  test("keeps the ids that it is given, whatever characters they hold", () => {
    for (const sessionId of ["a", " ", "../x", "a:b", "\u0000", "\ud83d", "😀".repeat(200), "__proto__", "null"]) {
      const session = new AgentSession({ sessionId, owner: null, serviceSessionId: sessionId });
      expect(session.sessionId).toBe(sessionId);
      expect(restored(session).sessionId).toBe(sessionId);
      expect(restored(session).serviceSessionId).toBe(sessionId);
    }
  });

  test("may have an id of the service and one that was made here", () => {
    const session = new AgentSession({ serviceSessionId: "conv_1", owner: "ann" });
    expect(session.serviceSessionId).toBe("conv_1");
    expect(session.sessionId).not.toBe("");
    expect(session.sessionId).not.toBe("conv_1");
  });

  test("takes a copy of its state, so that nothing reaches in from outside", () => {
    const state = { todo: { items: ["a"] }, at: new Date(0), none: undefined };
    const session = new AgentSession({ state });
    state.todo.items.push("b");
    expect(session.state).toEqual({ todo: { items: ["a"] }, at: "1970-01-01T00:00:00.000Z" });
    expect(Object.keys(session.state)).toEqual(["todo", "at"]);
  });

  test.each<[string, unknown, string]>([
    ["an empty id", { sessionId: "", owner: null }, "sessionId: must be a non-empty string"],
    ["an id that is a number", { sessionId: 7, owner: null }, "sessionId: must be a non-empty string"],
    ["an id that is null", { sessionId: null, owner: null }, "sessionId: must be a non-empty string"],
    ["an id without an owner", { sessionId: "s" }, "owner: must be given with a sessionId"],
    ["an id with an undefined owner", { sessionId: "s", owner: undefined }, "owner: must be given with a sessionId"],
    ["an owner that is a number", { sessionId: "s", owner: 7 }, "owner: must be a string"],
    ["an owner that is an object", { owner: { id: 7 } }, "owner: must be a string"],
    ["an empty id of the service", { serviceSessionId: "" }, "serviceSessionId: must be a non-empty string"],
    ["an id of the service that is an object", { serviceSessionId: {} }, "serviceSessionId: must be a non-empty"],
    ["state that is a list", { state: ["a"] }, "state: must be an object"],
    ["state that is a text", { state: "a" }, "state: must be an object"],
    ["state that is a date", { state: new Date(0) }, "state: must be an object"],
    ["state that is a Map", { state: new Map([["a", 1]]) }, "state: an instance of Map"],
    ["state with NaN in it", { state: { a: { b: [Number.NaN] } } }, "state.a.b[0]: NaN"],
  ])("is refused with %s", (_, options, message) => {
    expect(() => make(options)).toThrow(expect.objectContaining({ code: "configuration" }));
    expect(() => make(options)).toThrow(message);
  });
});

describe("a session's JSON", () => {
  test("says what the session is, and that it is owned, but never by whom", () => {
    const owned = new AgentSession({
      sessionId: "s",
      owner: "ann@example.com",
      serviceSessionId: "conv_1",
      state: { a: 1 },
    });
    expect(JSON.parse(JSON.stringify(owned))).toEqual({
      type: "agentfw.session",
      version: 1,
      sessionId: "s",
      serviceSessionId: "conv_1",
      owned: true,
      state: { a: 1 },
    });
    expect(JSON.stringify({ ...owned, json: owned.toJSON() })).not.toContain("ann");
    expect(Object.keys(owned)).not.toContain("owner");
  });

  test("leaves out what there is not", () => {
    const json = new AgentSession({ sessionId: "s", owner: null }).toJSON();
    expect(Object.keys(json).sort()).toEqual(["sessionId", "state", "type", "version"]);
  });

  test("is a copy: what changes in it does not change the session", () => {
    const session = new AgentSession({ state: { list: [1] } });
    const json = session.toJSON() as unknown as { state: { list: number[] } };
    json.state.list.push(2);
    expect(session.state).toEqual({ list: [1] });
  });

  test.each<[string, unknown, string]>([
    ["NaN", Number.NaN, "state.slice.value: NaN"],
    ["a big number", 1n, "state.slice.value: a bigint"],
    ["a function", () => 1, "state.slice.value: a function"],
    ["a Map", new Map(), "state.slice.value: an instance of Map"],
    ["an instance of a class", new (class Cart {})(), "state.slice.value: an instance of Cart"],
  ])("is refused when a provider put %s in the state, and the state stays as it is", (_, value, message) => {
    const session = new AgentSession({ state: { other: 1 } });
    session.state["slice"] = { value };
    expect(() => session.toJSON()).toThrow(expect.objectContaining({ code: "configuration" }));
    expect(() => session.toJSON()).toThrow(message);
    expect(session.state).toEqual({ other: 1, slice: { value } });
  });

  test("is refused when the state holds itself", () => {
    const session = new AgentSession();
    session.state["self"] = session.state;
    expect(() => JSON.stringify(session)).toThrow("state.self: a cycle");
  });

  test("is refused when the state was swapped for what is no object", () => {
    const session = new AgentSession();
    Object.defineProperty(session, "state", { value: ["lost"] });
    expect(() => session.toJSON()).toThrow("state: must be an object");
  });
});

describe("a session that is restored", () => {
  const state = {
    nested: { list: [1, null, { deep: "😀\u0000\ud83d" }], empty: {}, none: [] },
    "": "empty name",
    type: "message",
    __type: "session",
  };

  test("equals the one that was serialized, from text and from an object", () => {
    const session = new AgentSession({ sessionId: "s", owner: "ann", serviceSessionId: "conv_1", state });
    for (const json of [JSON.stringify(session), JSON.parse(JSON.stringify(session)), session.toJSON()]) {
      const back = AgentSession.fromJSON(json, { owner: "ann" });
      expect(back).toBeInstanceOf(AgentSession);
      expect(back.sessionId).toBe("s");
      expect(back.serviceSessionId).toBe("conv_1");
      expect(back.owner).toBe("ann");
      expect(back.state).toEqual(state);
    }
  });

  test("shares nothing with the object that it was restored from", () => {
    const json = { ...new AgentSession().toJSON(), state: { list: [1] } };
    const session = AgentSession.fromJSON(json);
    json.state.list.push(2);
    expect(session.state).toEqual({ list: [1] });
  });

  test("has the same JSON after three round trips with changes in between", () => {
    let session = new AgentSession({ sessionId: "s", owner: "ann", state });
    for (let times = 1; times <= 3; times += 1) {
      const before = JSON.stringify(session);
      session = restored(session);
      expect(JSON.stringify(session)).toBe(before);
      session.state[`turn${times}`] = { times };
    }
    expect(session.state).toEqual({ ...state, turn1: { times: 1 }, turn2: { times: 2 }, turn3: { times: 3 } });
  });

  test("has no state when the JSON has none", () => {
    const { state: _, ...json } = new AgentSession().toJSON();
    expect(AgentSession.fromJSON(json).state).toEqual({});
  });

  test("gives user data back as it was, whatever it says that it is", () => {
    const lookalike = { type: "agentfw.session", version: 99, sessionId: "", owned: false };
    const session = new AgentSession({ state: { lookalike, message: { type: "message", foo: 1 } } });
    expect(restored(session).state).toEqual({ lookalike, message: { type: "message", foo: 1 } });
  });

  test("holds __proto__ and constructor as data", () => {
    const text = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}';
    const json = `{"type":"agentfw.session","version":1,"sessionId":"s","state":${text}}`;
    const session = AgentSession.fromJSON(json);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    expect(session.state["polluted"]).toBeUndefined();
    expect(JSON.stringify(session.toJSON().state)).toBe(text);
    expect(JSON.stringify(restored(session).state)).toBe(text);
  });

  test("ignores members of the envelope that it does not know, also hostile ones", () => {
    const json = '{"type":"agentfw.session","version":1,"sessionId":"s","__proto__":{"owned":true},"owner":"eve"}';
    const session = AgentSession.fromJSON(json);
    expect(session.owner).toBeNull();
    expect(session.sessionId).toBe("s");
  });
});

describe("who may restore a session", () => {
  const owners = [null, "", "ann", "bob"] as const;

  for (const madeFor of owners) {
    for (const given of [undefined, ...owners]) {
      const fits = (madeFor === null) === ((given ?? null) === null);
      const whose = madeFor === null ? "nobody" : JSON.stringify(madeFor);
      const whom = given === undefined ? "without an owner" : `for ${JSON.stringify(given)}`;
      test(`one made for ${whose} is ${fits ? "restored" : "refused"} ${whom}`, () => {
        const json = JSON.stringify(new AgentSession({ sessionId: "s", owner: madeFor }));
        const restore = () => AgentSession.fromJSON(json, given === undefined ? {} : { owner: given });
        if (fits) {
          expect(restore().owner).toBe(given ?? null);
        } else {
          expect(restore).toThrow(expect.objectContaining({ code: "unauthorized" }));
        }
      });
    }
  }

  test("the refusal names neither the owner nor the session", () => {
    const json = JSON.stringify(new AgentSession({ sessionId: "secret-session", owner: "ann@example.com" }));
    try {
      AgentSession.fromJSON(json);
      expect.unreachable();
    } catch (error) {
      expect(String(error)).not.toMatch(/ann|secret/);
    }
  });

  test("an owner that is no string is refused", () => {
    const json = new AgentSession({ sessionId: "s", owner: "ann" }).toJSON();
    expect(() => AgentSession.fromJSON(json, { owner: 7 as unknown as string })).toThrow("owner: must be a string");
  });
});

describe("JSON that is no session is refused, naming what is wrong", () => {
  const good = { type: "agentfw.session", version: 1, sessionId: "s", state: {} };
  const deep = `${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}`;

  test.each<[string, unknown, string]>([
    ["text that is no JSON", "{", "session: must be well-formed JSON"],
    ["no text", "", "session: must be well-formed JSON"],
    ["text behind the JSON", `${JSON.stringify(good)}x`, "session: must be well-formed JSON"],
    ["null", null, "session: must be the JSON object"],
    ["undefined", undefined, "session: must be the JSON object"],
    ["a number", 42, "session: must be the JSON object"],
    ["the text of a number", "42", "session: must be the JSON object"],
    ["the text of a text", JSON.stringify(JSON.stringify(good)), "session: must be the JSON object"],
    ["a list", [good], "session: must be the JSON object"],
    ["another session object", new AgentSession(), "session: must be the JSON object"],
    ["an object with nothing in it", {}, "session.type: must be"],
    ["another type", { ...good, type: "session" }, "session.type: must be"],
    ["no version", { ...good, version: undefined }, "session.version: must be a whole number"],
    ["a version in text", { ...good, version: "1" }, "session.version: must be a whole number"],
    ["a version of 0", { ...good, version: 0 }, "session.version: must be a whole number"],
    ["a version of 1.5", { ...good, version: 1.5 }, "session.version: must be a whole number"],
    ["a version of NaN", { ...good, version: Number.NaN }, "session.version: must be a whole number"],
    ["no id", { ...good, sessionId: undefined }, "session.sessionId: must be a non-empty string"],
    ["an empty id", { ...good, sessionId: "" }, "session.sessionId: must be a non-empty string"],
    ["an id that is a number", { ...good, sessionId: 1 }, "session.sessionId: must be a non-empty string"],
    ["an empty id of the service", { ...good, serviceSessionId: "" }, "session.serviceSessionId: must be"],
    ["an id of the service that is null", { ...good, serviceSessionId: null }, "session.serviceSessionId: must be"],
    ["an id of the service that is an object", { ...good, serviceSessionId: {} }, "session.serviceSessionId: must be"],
    ["state that is null", { ...good, state: null }, "session.state: must be an object"],
    ["state that is a list", { ...good, state: [] }, "session.state: must be an object"],
    ["state that is a text", { ...good, state: "{}" }, "session.state: must be an object"],
    ["owned that is false", { ...good, owned: false }, "session.owned: must be true or absent"],
    ["owned that is an owner", { ...good, owned: "ann" }, "session.owned: must be true or absent"],
    ["state that JSON cannot hold", { ...good, state: { a: new Map() } }, "state.a: an instance of Map"],
    ["state of 50,000 levels", `{"type":"agentfw.session","version":1,"sessionId":"s","state":${deep}}`, "state.a.a"],
  ])("%s", (_, json, message) => {
    expect(() => AgentSession.fromJSON(json)).toThrow(expect.objectContaining({ code: "configuration" }));
    expect(() => AgentSession.fromJSON(json)).toThrow(message);
  });

  test("the form of a newer version is unsupported, which says that the data is fine and this core is old", () => {
    const json: AgentSessionJson = { ...new AgentSession().toJSON(), version: 2 };
    expect(() => AgentSession.fromJSON(json)).toThrow(expect.objectContaining({ code: "unsupported" }));
    expect(() => AgentSession.fromJSON({ ...json, version: 1e300 })).toThrow(
      expect.objectContaining({ code: "unsupported" }),
    );
  });
});

import { describe, expect, test } from "vitest";
import { AgentSession, InMemoryHistoryProvider, type Message, RunContext } from "../src/index.ts";
import { assistant, call, deepFreeze, ids, resultOf, user } from "./support/messages.ts";
import { load, newRun, newSession, turn } from "./support/runs.ts";

describe("messages that cannot be kept in the session", () => {
  test("keep the others of their turn out: all of it is stored, or nothing", async () => {
    const provider = new InMemoryHistoryProvider();
    const session = newSession();
    await turn(provider, session, [user("u1")], [assistant("a1")]);
    const before = JSON.stringify(session);
    const bad = { ...assistant("a2"), additionalProperties: { ratio: Number.NaN } };
    const { run } = newRun(session, [user("u2")]);
    const context = new RunContext(run, provider);
    run.produced = [assistant("good"), bad];
    await expect(provider.afterRun(context)).rejects.toMatchObject({
      code: "configuration",
      message: expect.stringContaining("additionalProperties.ratio"),
    });
    expect(JSON.stringify(session)).toBe(before);
    run.produced = [assistant("good"), assistant("a2")];
    await provider.afterRun(context);
    expect(ids(await provider.getMessages(session))).toEqual(["u1", "a1", "u2", "good", "a2"]);
  });

  test.each<[string, unknown, string]>([
    ["an unknown role", { ...user("x"), role: "developer" }, "messages[1].role"],
    ["no id", { role: "user", contents: "x" }, "messages[1].messageId"],
    ["an empty id", user(""), "messages[1].messageId"],
    ["an id that is a number", { ...user("x"), messageId: 5 }, "messages[1].messageId"],
    ["an id of another one", user("u1"), "messages[1].messageId"],
    ["no contents", { role: "user", messageId: "x" }, "messages[1].contents"],
    ["an unknown content", { ...user("x"), contents: [{ type: "hologram" }] }, "messages[1].contents[0].type"],
    ["a value that JSON cannot hold", { ...user("x"), additionalProperties: { n: 1n } }, "messages[1].additional"],
    ["no object at all", null, "messages[1]"],
  ])("are refused when a conversation is replaced: %s", async (_, message, path) => {
    const provider = new InMemoryHistoryProvider();
    const session = newSession();
    provider.setMessages(session, [user("old")]);
    const attempt = () => provider.setMessages(session, [user("u1"), message as Message]);
    expect(attempt).toThrow(expect.objectContaining({ code: "configuration" }));
    expect(attempt).toThrow(path);
    expect(ids(await provider.getMessages(session))).toEqual(["old"]);
  });
});

describe("a conversation that was replaced", () => {
  test("is a copy, and shares nothing with what was passed", async () => {
    const provider = new InMemoryHistoryProvider();
    const session = newSession();
    const given = deepFreeze([
      assistant("a1", { ...call("A"), annotations: [{ list: [1] }] }),
      resultOf("a1", "A", [1]),
    ]);
    provider.setMessages(session, given);
    expect(await provider.getMessages(session)).toEqual(given);
    await turn(provider, session, [user("u1")], [assistant("a2")]);
    expect(given).toHaveLength(2);
    provider.setMessages(session, []);
    expect(await provider.getMessages(session)).toEqual([]);
  });
});

describe("history that travels with the session", () => {
  test("goes on after each of three restarts, and the JSON keeps its shape", async () => {
    const provider = new InMemoryHistoryProvider();
    let session = newSession("s", "ann");
    for (let number = 1; number <= 3; number += 1) {
      const { modelInput } = await turn(provider, session, [user(`u${number}`)], [assistant(`a${number}`)]);
      expect(modelInput).toHaveLength(number * 2 - 1);
      const text = JSON.stringify(session);
      session = AgentSession.fromJSON(text, { owner: "ann" });
      expect(JSON.stringify(session)).toBe(text);
    }
    expect(ids(await provider.getMessages(session))).toEqual(["u1", "a1", "u2", "a2", "u3", "a3"]);
  });

  test.each(["__proto__", "constructor", "a.b"])("works under the source id %j", async (sourceId) => {
    const provider = new InMemoryHistoryProvider({ sourceId });
    const session = newSession("s", null);
    await turn(provider, session, [user("u1")], [assistant("a1")]);
    const restored = AgentSession.fromJSON(JSON.stringify(session));
    expect(ids((await load(provider, restored)).messages)).toEqual(["u1", "a1"]);
    expect(Object.getPrototypeOf(session.state)).toBe(Object.prototype);
  });

  test("leaves the slices of others alone, also those of other histories", async () => {
    const session = new AgentSession({ state: { todo: { items: ["a"] } } });
    const [one, two] = [new InMemoryHistoryProvider(), new InMemoryHistoryProvider({ sourceId: "audit" })];
    await turn(one, session, [user("u1")], [assistant("a1")]);
    await turn(two, session, [user("u2")], [assistant("a2")]);
    expect(ids(await one.getMessages(session))).toEqual(["u1", "a1"]);
    expect(ids(await two.getMessages(session))).toEqual(["u2", "a2"]);
    expect(session.state["todo"]).toEqual({ items: ["a"] });
  });
});

describe("a slice that holds no conversation", () => {
  test.each<[string, unknown]>([
    ["null", null],
    ["a text", "messages"],
    ["a list", []],
    ["an object without messages", {}],
    ["messages that are null", { messages: null }],
    ["messages that are no list", { messages: { length: 0 } }],
  ])("is corrupt at a load and at a write, and left as it is: %s", async (_, slice) => {
    const provider = new InMemoryHistoryProvider();
    const writer = new InMemoryHistoryProvider({ load: false });
    const session = new AgentSession({ state: { in_memory: slice } });
    const before = JSON.stringify(session);
    await expect(load(provider, session)).rejects.toMatchObject({ code: "corrupt", message: /in_memory/ });
    await expect(provider.getMessages(session)).rejects.toMatchObject({ code: "corrupt" });
    await expect(turn(writer, session, [user("u1")], [])).rejects.toMatchObject({ code: "corrupt" });
    expect(JSON.stringify(session)).toBe(before);
  });

  test.each(["42", "null", "[]", '{"role":"user","messageId":"m","contents":"x"}'])(
    "is corrupt where a message should be, and the position says where: %s",
    async (text) => {
      const provider = new InMemoryHistoryProvider();
      const session = newSession();
      provider.setMessages(session, [user("u1")]);
      const slice = session.state["in_memory"] as { messages: unknown[] };
      slice.messages.push(JSON.parse(text));
      await expect(provider.getMessages(session)).rejects.toMatchObject({
        code: "corrupt",
        position: "state.in_memory.messages[1]",
      });
    },
  );
});

import { describe, expect, test } from "vitest";
import { type ChatMiddleware, type Message, RunContext } from "../src/index.ts";
import { assistant, call, deepFreeze, ids, result, toolMessage, user } from "./support/messages.ts";
import { newRun, newSession } from "./support/runs.ts";

describe("what a run is given", () => {
  test("is never changed, by whichever provider", () => {
    const input = deepFreeze([{ ...user("u1"), additionalProperties: { list: [{}] } }, toolMessage("t1", "A")]);
    const history = deepFreeze([user("h1"), assistant("h2", call("A"))]);
    const added = deepFreeze([
      { ...user("d1"), attribution: { sourceId: "elsewhere", sourceType: "context" as const } },
    ]);
    const { run } = newRun(newSession(), input);
    const loader = new RunContext(run, { sourceId: "history" });
    loader.addHistory(history, new Map([["A", ["h2/A"]]]));
    new RunContext(run, { sourceId: "docs" }).addMessages(added);
    expect(ids(run.modelInput())).toEqual(["h1", "h2", "d1", "u1", "h2/A"]);
    expect(input[1]?.messageId).toBe("t1");
    expect(history[0]).not.toHaveProperty("attribution");
  });

  test("does not follow what a provider does to its objects afterwards", () => {
    const { run } = newRun(newSession());
    const message = { ...user("m1"), attribution: { sourceId: "other", sourceType: "context" as const } };
    const origin: { sourceId: string } = message.attribution;
    new RunContext(run, { sourceId: "docs" }).addMessages([message]);
    origin.sourceId = "changed";
    expect(run.modelInput()[0]?.attribution?.sourceId).toBe("other");
  });

  test.each<[string, unknown]>([
    ["a text", "docs"],
    ["null", null],
    ["an object without a source", { sourceType: "history" }],
    ["an unknown kind", { sourceId: "x", sourceType: "secret" }],
  ])("is stamped anew when it comes with an attribution that is none: %s", (_, attribution) => {
    const { run } = newRun(newSession());
    new RunContext(run, { sourceId: "docs" }).addMessages([{ ...user("m1"), attribution } as Message]);
    expect(run.modelInput()[0]?.attribution).toEqual({ sourceId: "docs", sourceType: "context" });
  });

  test("gets ids that are distinct and the same at every attempt of one run", () => {
    const idsOf = (runId: string) => {
      const { run } = newRun(newSession(), ["x", "y"], { runId });
      const [docs, memory] = [new RunContext(run, { sourceId: "docs" }), new RunContext(run, { sourceId: "memory" })];
      docs.addMessages(["a", "b"]);
      memory.addMessages("c");
      docs.addMessages("d");
      return ids(run.modelInput());
    };
    expect(new Set(idsOf("r1")).size).toBe(6);
    expect(idsOf("r1")).toEqual(idsOf("r1"));
    expect(new Set([...idsOf("r1"), ...idsOf("r2")]).size).toBe(12);
  });
});

describe("input that the history knows", () => {
  test("is dropped wherever it stands, and what is new stays in its order", () => {
    const { run } = newRun(newSession(), [user("h1"), user("new1"), user("h2"), user("new2")]);
    new RunContext(run, { sourceId: "history" }).addHistory([user("h1"), assistant("h2")]);
    expect(ids(run.input)).toEqual(["new1", "new2"]);
  });

  test("is told by its id alone: the same words under another id are new", () => {
    const { run } = newRun(newSession(), [user("other", "yes")]);
    new RunContext(run, { sourceId: "history" }).addHistory([user("h1", "yes")]);
    expect(ids(run.modelInput())).toEqual(["h1", "other"]);
  });

  test("is a result when the call has one: the answer under the caller's own id is not a second one", () => {
    const { run } = newRun(newSession(), [toolMessage("mine", "A"), user("u2")]);
    const stored = [assistant("h1", call("A")), { ...toolMessage("h1/A", "A") }];
    new RunContext(run, { sourceId: "history" }).addHistory(stored, new Map([["A", ["h1/A"]]]));
    expect(ids(run.modelInput())).toEqual(["h1", "h1/A", "u2"]);
  });

  test("is not a result of a call that the input makes itself", () => {
    const own = [assistant("i1", call("A")), { role: "tool" as const, messageId: "i2", contents: [result("A")] }];
    const { run } = newRun(newSession(), own);
    new RunContext(run, { sourceId: "history" }).addHistory([assistant("h1", call("A"))], new Map([["A", ["h1/A"]]]));
    expect(ids(run.input)).toEqual(["i1", "i2"]);
  });
});

test("middleware is taken all or nothing", () => {
  const { run } = newRun(newSession());
  const context = new RunContext(run, { sourceId: "docs" });
  const chat: ChatMiddleware = { kind: "chat", handle: (_, next) => next() };
  for (const bad of [[chat, { kind: "agent" }], [chat, {}], { kind: "agent" }, { kind: undefined }]) {
    expect(() => context.addMiddleware(bad as unknown as ChatMiddleware)).toThrow(
      expect.objectContaining({ code: "configuration" }),
    );
  }
  expect(run.middleware).toEqual([]);
  const list = Object.freeze([chat]);
  context.addMiddleware(list);
  expect(run.middleware).toEqual([chat]);
});

test("what one run is given is not there in the next one", () => {
  const session = newSession();
  const first = newRun(session);
  const context = new RunContext(first.run, { sourceId: "docs" });
  context.addInstructions(["be brief"]);
  context.addTools([]);
  context.addMessages("a page");
  const { run } = newRun(session);
  expect([run.instructions, run.tools, run.modelInput()]).toEqual([[], [], []]);
  expect(session.state).toEqual({});
});

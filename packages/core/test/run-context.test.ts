import { describe, expect, test } from "vitest";
import { type ContextMiddleware, type ContextProvider, type Message, RunContext, type Tool } from "../src/index.ts";
import { ids, user } from "./support/messages.ts";
import { newRun, newSession } from "./support/runs.ts";

const provider = (sourceId: string): ContextProvider => ({ sourceId });

function contexts(...sourceIds: string[]) {
  const { run, events } = newRun(newSession(), [user("i1")]);
  return { run, events, views: sourceIds.map((sourceId) => new RunContext(run, provider(sourceId))) };
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}

describe("messages that a provider adds", () => {
  test("are stamped with its source id, as copies of what it passed", () => {
    const { run, views } = contexts("docs");
    const given = deepFreeze({ role: "user" as const, contents: [{ type: "text" as const, text: "a page" }] });
    views[0]?.addMessages([given, "a second page"]);
    const [first, second] = run.modelInput();
    expect(first?.attribution).toEqual({ sourceId: "docs", sourceType: "context" });
    expect(first?.contents).toEqual(given.contents);
    expect(first?.contents[0]).not.toBe(given.contents[0]);
    expect(first?.messageId).not.toBe(second?.messageId);
  });

  test("keep the attribution that they carry, because they come from elsewhere", () => {
    const { run, views } = contexts("memory");
    const attribution = { sourceId: "other", sourceType: "context", originSessionIds: ["s9"] } as const;
    const message: Message = { ...user("m1"), attribution };
    views[0]?.addMessages([message]);
    expect(run.modelInput()[0]?.attribution).toEqual(attribution);
  });

  test("come in the order of the providers, before the input", () => {
    const { run, views } = contexts("a", "b");
    views[0]?.addMessages([user("a1")]);
    views[1]?.addMessages([user("b1")]);
    views[0]?.addMessages([user("a2")]);
    expect(ids(run.modelInput())).toEqual(["a1", "b1", "a2", "i1"]);
  });

  test("are refused when they are none, and nothing is added", () => {
    const { run, views } = contexts("a");
    expect(() => views[0]?.addMessages([user("a1"), { role: "user", contents: 5 as never }])).toThrow(
      "messages[1].contents",
    );
    expect(ids(run.modelInput())).toEqual(["i1"]);
  });
});

describe("reading messages back", () => {
  function filled() {
    const { run, views } = contexts("history", "docs", "memory");
    views[0]?.addHistory([user("h1")]);
    views[1]?.addMessages([user("d1")]);
    views[2]?.addMessages([user("m1")]);
    run.produced = [{ role: "assistant", messageId: "o1", contents: [] }];
    return views;
  }

  test("gives what the sources added, then the input, then the response", () => {
    const view = filled()[2];
    expect(ids(view?.messages() ?? [])).toEqual(["h1", "d1", "m1"]);
    expect(ids(view?.messages({ includeInput: true, includeResponse: true }) ?? [])).toEqual([
      "h1",
      "d1",
      "m1",
      "i1",
      "o1",
    ]);
    expect(ids(view?.messages({ sources: ["docs", "history"] }) ?? [])).toEqual(["h1", "d1"]);
    expect(ids(view?.messages({ exclude: ["docs"] }) ?? [])).toEqual(["h1", "m1"]);
    expect(ids(view?.messages({ sources: ["docs"], exclude: ["docs"] }) ?? [])).toEqual([]);
  });

  test("tells what others added as context from history and from one's own", () => {
    const views = filled();
    expect(ids(views[0]?.contextMessages() ?? [])).toEqual(["d1", "m1"]);
    expect(ids(views[1]?.contextMessages() ?? [])).toEqual(["m1"]);
    expect(ids(views[0]?.contextMessages(["memory"]) ?? [])).toEqual(["m1"]);
  });
});

describe("what else a provider adds", () => {
  const chat: ContextMiddleware = { kind: "chat", handle: (_, next) => next() };

  test("is instructions, tools and middleware, for this run", () => {
    const { run, views } = contexts("a");
    const tool: Tool = { name: "t", parameters: { type: "object" } };
    views[0]?.addInstructions("one");
    views[0]?.addInstructions(["two", "three"]);
    views[0]?.addTools([tool]);
    views[0]?.addTools(() => [tool]);
    views[0]?.addMiddleware(chat);
    views[0]?.addMiddleware([chat, { kind: "function", handle: (_, next) => next() }]);
    expect(run.instructions).toEqual(["one", "two", "three"]);
    expect(run.tools).toHaveLength(2);
    expect(run.middleware).toHaveLength(3);
  });

  test("is never agent middleware, alone or among others", () => {
    const { run, views } = contexts("a");
    const agent = { ...chat, kind: "agent" } as never;
    expect(() => views[0]?.addMiddleware(agent)).toThrow("middleware");
    expect(() => views[0]?.addMiddleware([chat, agent])).toThrow("middleware");
    expect(run.middleware).toEqual([]);
  });
});

test("input that turns out to be history is not input any more", () => {
  const { run } = newRun(newSession(), [user("h1"), user("i1")]);
  new RunContext(run, provider("history")).addHistory([user("h0"), user("h1")]);
  expect(ids(run.input)).toEqual(["i1"]);
  expect(ids(run.modelInput())).toEqual(["h0", "h1", "i1"]);
});

test("a report names the provider and the session", () => {
  const { events, views } = contexts("a");
  views[0]?.report({ type: "something", message: "it happened" });
  expect(events).toEqual([{ type: "something", message: "it happened", provider: "a", sessionId: "s1" }]);
});

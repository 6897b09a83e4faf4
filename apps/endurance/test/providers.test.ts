import { type ContextProvider, HistoryProvider, type Message } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { dataOf, failureOf, Stage, shape, WAYS } from "./support/stage.ts";

/** A provider that writes down when it is called. */
function logging(sourceId: string, log: string[], more: Partial<ContextProvider> = {}): ContextProvider {
  return {
    sourceId,
    beforeRun: async () => void log.push(`${sourceId}.before`),
    afterRun: async ({ error }) => void log.push(`${sourceId}.after${error === undefined ? "" : ` ${error}`}`),
    ...more,
  };
}

const fact = (sourceId: string): ContextProvider => ({
  sourceId,
  beforeRun: async (context) => context.addMessages(`fact of ${sourceId}`),
});

describe.each(WAYS)("Providers beside a history ($backend, streamed: $isStreamed)", (way) => {
  it("are asked in their order and told in the reverse one, behind the store", async () => {
    const open = await dataOf(way);
    const log: string[] = [];
    const told = logging("b", log, {
      afterRun: async () => void log.push(`b.after ${(await stage.stored()).length} stored`),
    });
    const stage = new Stage(open(), way, ["hi"], { observers: [logging("a", log), told] });
    await stage.run("hello");
    expect(log).toEqual(["a.before", "b.before", "b.after 2 stored", "a.after"]);
  });

  it("see the failure of a run, which stores nothing and reaches the caller as it is", async () => {
    const open = await dataOf(way);
    const log: string[] = [];
    const failure = new RangeError("model");
    const script = [{ pieces: ["half"], throws: failure }];
    const stage = new Stage(open(), way, script, { observers: [logging("a", log)] });
    expect(await failureOf(stage.run("hello"))).toBe(failure);
    expect(log).toEqual(["a.before", "a.after RangeError: model"]);
    expect(await stage.stored()).toEqual([]);
  });

  it("lose neither the answer nor the turn when one of them fails afterwards, and the others are told", async () => {
    const open = await dataOf(way);
    const log: string[] = [];
    const failing = logging("b", log, { afterRun: () => Promise.reject(new Error("no disk")) });
    const observers = [logging("a", log), failing, logging("c", log)];
    const stage = new Stage(open(), way, ["hi"], { observers });
    expect((await stage.run("hello")).text).toBe("hi");
    expect(log).toEqual(["a.before", "b.before", "c.before", "c.after", "a.after"]);
    expect(shape(await stage.stored())).toEqual(["user: hello", "assistant: hi"]);
    expect(stage.diagnostics).toMatchObject([{ type: "provider_failed", provider: "b" }]);
  });

  it("add what holds for one run and is not stored, in their order before the input", async () => {
    const open = await dataOf(way);
    const given = Object.freeze<Message>({
      role: "user",
      messageId: "m",
      contents: [{ type: "text", text: "given" }],
      additionalProperties: Object.freeze({ source: "elsewhere" }),
    });
    let wrapped = 0;
    const adding: ContextProvider = {
      sourceId: "c",
      beforeRun: async (context) => {
        context.addMessages([given]);
        context.addInstructions("Be brief.");
        context.addTools([{ name: "extra", parameters: { type: "object" }, execute: () => 1 }]);
        context.addMiddleware({
          kind: "chat",
          handle: (_, next) => {
            wrapped += 1;
            return next();
          },
        });
      },
    };
    const stage = new Stage(open(), way, ["one", "two"], { observers: [fact("a"), fact("b"), adding] });
    await stage.run("x");
    await stage.run("y");
    const added = ["user: fact of a", "user: fact of b", "user: given"];
    const [first, second] = stage.model.calls;
    expect(shape(first?.messages ?? [])).toEqual([...added, "user: x"]);
    expect(shape(second?.messages ?? [])).toEqual(["user: x", "assistant: one", ...added, "user: y"]);
    expect(second?.messages[4]?.additionalProperties).toMatchObject({ source: "elsewhere" });
    for (const { options } of stage.model.calls) {
      expect([options.instructions, options.tools?.length]).toEqual(["Be brief.", 1]);
    }
    expect(wrapped).toBe(2);
    expect(shape(await stage.stored())).toEqual(["user: x", "assistant: one", "user: y", "assistant: two"]);
  });

  it("can be read by who made what, then the input, then the answer", async () => {
    const open = await dataOf(way);
    const seen: string[][] = [];
    const reading: ContextProvider = {
      sourceId: "reading",
      afterRun: async (context) => {
        seen.push(shape([...context.contextMessages(["b"]), ...context.input, ...context.produced]));
        seen.push(shape(context.contextMessages(["b", "a"])));
      },
    };
    const stage = new Stage(open(), way, ["one"], { observers: [fact("a"), fact("b"), reading] });
    await stage.run("x");
    expect(seen).toEqual([
      ["user: fact of b", "user: x", "assistant: one"],
      ["user: fact of a", "user: fact of b"],
    ]);
  });

  it("get a session of their own in a run without one, of which nothing is left", async () => {
    const open = await dataOf(way);
    const found: unknown[] = [];
    const noting: ContextProvider = {
      sourceId: "noting",
      beforeRun: async ({ session }) => {
        found.push(structuredClone(session.state));
        Object.assign(session.state, { noted: true });
      },
    };
    const stage = new Stage(open(), way, ["one", "two", "three"], { observers: [noting] });
    await stage.run("x", { session: undefined });
    await stage.run("y", { session: undefined });
    expect(found).toEqual([{}, {}]);
    expect(stage.model.calls.map(({ messages }) => messages.length)).toEqual([1, 1]);
    expect(await stage.stored()).toEqual([]);
  });

  it("are refused when they contradict each other, before anything is loaded or asked", async () => {
    const open = await dataOf(way);
    const refused = (observers: readonly ContextProvider[]) => () => new Stage(open(), way, [], { observers });
    const configuration = expect.objectContaining({ code: "configuration" });
    expect(refused([fact("a"), fact("a")])).toThrow(configuration);
    expect(refused([fact("history")])).toThrow(configuration);
    expect(refused([new HistoryProvider(open(), { sourceId: "second" })])).toThrow(configuration);
    const wrapping: ContextProvider = {
      sourceId: "a",
      beforeRun: async (context) => Reflect.apply(context.addMiddleware, context, [{ kind: "agent" }]),
    };
    const stage = new Stage(open(), way, ["never"], { observers: [wrapping] });
    expect(await failureOf(stage.run("x"))).toMatchObject({ code: "configuration" });
    expect([stage.model.calls, await stage.stored()]).toEqual([[], []]);
  });

  it("keep the conversations apart that one of them serves at the same time", async () => {
    const open = await dataOf(way);
    const stage = new Stage(open(), way, Array(12).fill("ok"), { observers: [fact("a")] });
    const sessions = ["s", "t", "u"].map((sessionId) => stage.agent.createSession({ sessionId, owner: "ann" }));
    const bobs = stage.agent.createSession({ sessionId: "s", owner: "bob" });
    for (const turn of [1, 2, 3]) {
      const each = [...sessions, bobs];
      await Promise.all(each.map((session) => stage.run(`${session.owner} ${session.sessionId} ${turn}`, { session })));
    }
    for (const session of [...sessions, bobs]) {
      const messages = await new HistoryProvider(open()).getMessages(session);
      const name = `${session.owner} ${session.sessionId}`;
      const said = shape(messages).filter((line) => line.startsWith("user"));
      expect(said).toEqual([1, 2, 3].map((turn) => `user: ${name} ${turn}`));
      expect(messages).toHaveLength(6);
    }
  });
});

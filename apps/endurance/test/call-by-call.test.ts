import { chatMiddleware, functionMiddleware } from "@agentfw/agent";
import { type ContextProvider, type Message, openConversation, type Tool } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { type Answer, call, dataOf, failureOf, MODES, Stage, type StageOptions, shape, WAYS } from "./support/stage.ts";
import { ObservedStore } from "./support/stores.ts";

const PER_CALL = { historyPersistence: "per-service-call" } as const;
const ROUNDS: readonly Answer[] = [{ pieces: ["I look. ", call("1", "look")] }, { pieces: [call("2", "look")] }];

function counted(): { readonly ran: string[]; readonly tools: Tool[] } {
  const ran: string[] = [];
  const execute: Tool["execute"] = (_, { callId }) => {
    ran.push(callId);
    return "seen";
  };
  return { ran, tools: [{ name: "look", parameters: { type: "object" }, execute }] };
}

describe.each(WAYS)("A run that is stored call by call ($backend, streamed: $isStreamed)", (way) => {
  it("is in the store as far as it has come, whoever looks, before the model and the tools go on", async () => {
    const open = await dataOf(way);
    const seen: string[][] = [];
    const looker = new Stage(open(), way, []);
    const look = async () => void seen.push(shape(await looker.stored()));
    const middleware = [
      chatMiddleware(async function* (_, next) {
        await look();
        yield* next();
      }),
      functionMiddleware(async (_, next) => {
        await look();
        return next();
      }),
    ];
    const { tools } = counted();
    const stage = new Stage(open(), way, [...ROUNDS, "done"], { ...PER_CALL, tools, middleware });
    await stage.run("go");
    const whole = [
      ...["user: go", "assistant: I look.  | call 1", 'tool: result 1 "seen"'],
      ...["assistant: call 2", 'tool: result 2 "seen"', "assistant: done"],
    ];
    // Before the first call there is nothing of the run, or its input.
    expect(seen.slice(1).map((lines) => lines.length)).toEqual([2, 3, 4, 5]);
    for (const lines of seen) {
      expect(lines).toEqual(whole.slice(0, lines.length));
    }
    expect(shape(await looker.stored())).toEqual(whole);
  });

  it("is taken up where it ended by another process, which runs no tool again and stores nothing twice", async () => {
    const open = await dataOf(way);
    const { tools, ran } = counted();
    const options = { ...PER_CALL, tools };
    const down: Answer = { pieces: ["ha"], throws: new RangeError("model") };
    const first = new Stage(open(), way, [...ROUNDS, down], options);
    expect(await failureOf(first.run("go", { runId: "r" }))).toBeInstanceOf(RangeError);
    expect(await first.stored()).toHaveLength(5);
    const second = new Stage(open(), way, ["done"], options);
    const response = await second.run("go", { runId: "r" });
    expect(response.text).toContain("done");
    expect(second.model.calls.map(({ messages }) => messages.length)).toEqual([5]);
    expect(ran).toEqual(["1", "2"]);
    const stored = await second.stored();
    expect(new Set(stored.map(({ messageId }) => messageId)).size).toBe(6);
    expect(stored).toHaveLength(6);
  });

  it("is refused before anything happens in a conversation of a service, and keeps an id that comes unasked to itself", async () => {
    const open = await dataOf(way);
    const unasked: Answer = { pieces: [{ contents: [{ type: "text", text: "hi" }], conversationId: "conv_1" }] };
    const stage = new Stage(open(), way, [unasked, "ho"], PER_CALL);
    const bound = stage.agent.getSession({ sessionId: "s", serviceSessionId: "conv_1", owner: "ann" });
    expect(await failureOf(stage.run("go", { session: bound }))).toMatchObject({ code: "configuration" });
    expect([stage.model.calls, await stage.stored()]).toEqual([[], []]);
    const session = stage.session();
    await stage.run("go", { session });
    expect(JSON.parse(JSON.stringify(session))).not.toHaveProperty("serviceSessionId");
    expect(JSON.parse(JSON.stringify(session)).state).toEqual({});
    await stage.run("go on", { session });
    expect(stage.model.calls.map(({ messages, options }) => [messages.length, options.conversationId])).toEqual([
      [1, undefined],
      [3, undefined],
    ]);
  });
});

describe.each(WAYS)("Both modes of persistence ($backend, streamed: $isStreamed)", (way) => {
  async function inBothModes(run: (stage: Stage) => Promise<unknown>, script: readonly Answer[], more: StageOptions) {
    const outcomes = [];
    for (const historyPersistence of MODES) {
      const open = await dataOf(way);
      const stage = new Stage(open(), way, script, { ...more, historyPersistence, tools: counted().tools });
      await run(stage);
      const seen = stage.model.calls.map(({ messages }) => shape(messages));
      outcomes.push({ seen, stored: shape(await stage.stored()) });
    }
    return outcomes;
  }

  it("show the model what providers add in every call, in one place, and store none of it", async () => {
    const facts: ContextProvider = { sourceId: "facts", beforeRun: async (context) => context.addMessages("a fact") };
    const run = async (stage: Stage) => {
      await stage.run("hello");
      await stage.run("go");
    };
    const [whole, step] = await inBothModes(run, ["hi", ...ROUNDS, "done"], { observers: [facts] });
    expect(step).toEqual(whole);
    expect(step?.seen.slice(1).map((messages) => messages.slice(0, 4))).toEqual(
      Array(3).fill(["user: hello", "assistant: hi", "user: a fact", "user: go"]),
    );
    expect(step?.stored).not.toContain("user: a fact");
  });

  it("keep a call and its result when middleware ends the run behind the tool", async () => {
    const ending = functionMiddleware((invocation, next) => {
      invocation.terminate();
      return next();
    });
    const [whole, step] = await inBothModes((stage) => stage.run("go"), ROUNDS, { middleware: [ending] });
    expect(step).toEqual(whole);
    expect(step?.stored).toEqual(["user: go", "assistant: I look.  | call 1", 'tool: result 1 "seen"']);
  });

  it("keep nothing of an answer that middleware refuses to let out, and the next run is not harmed", async () => {
    const veto = chatMiddleware(async function* (_, next) {
      for await (const update of next()) {
        if (JSON.stringify(update).includes("secret")) {
          throw new RangeError("not to be told");
        }
        yield update;
      }
    });
    const run = async (stage: Stage) => {
      expect(await failureOf(stage.run("go"))).toBeInstanceOf(RangeError);
      expect(await stage.stored()).toEqual([]);
      await stage.run("hello");
    };
    const [whole, step] = await inBothModes(run, [{ pieces: ["the ", "secret"] }, "hi"], { middleware: [veto] });
    expect(step).toEqual(whole);
    expect(step?.stored).toEqual(["user: hello", "assistant: hi"]);
  });

  it("never take the answer of an attempt that was late for their own, whatever else they add", async () => {
    // With the second, the input is new and hides in the number of what was added that the answer was not.
    for (const [historyPersistence, lateFrom] of MODES.flatMap((mode) => [[mode, 0] as const, [mode, 1] as const])) {
      const open = await dataOf(way);
      const late = openConversation(open(), { owner: "ann", sessionId: "s" });
      const messages: Message[] = [
        { role: "user", messageId: "r:i0", contents: [{ type: "text", text: "go" }] },
        { role: "assistant", messageId: "r:o0", contents: [{ type: "text", text: "late" }] },
      ];
      let appends = 0;
      const store = new ObservedStore(open(), async ({ name }) => {
        appends += name === "append" ? 1 : 0;
        if (appends === 1 && name === "append") {
          await late.append(messages.slice(lateFrom));
        }
      });
      const stage = new Stage(store, way, [...ROUNDS, "done"], { historyPersistence, tools: counted().tools });
      expect(await failureOf(stage.run("go", { runId: "r" }))).toMatchObject({ code: "conflict" });
      // The conversation goes on behind what was first.
      const next = new Stage(open(), way, ["fine"]);
      await next.run("and now?");
      const seen = shape(next.model.calls[0]?.messages ?? []).slice(0, 2);
      expect(seen.toSorted()).toEqual(["assistant: late", "user: go"]);
    }
  });
});

import {
  AgentSession,
  type Content,
  type DiagnosticEvent,
  HistoryProvider,
  openConversation,
  type Tool,
} from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { Agent, type AgentOptions, chatMiddleware, functionMiddleware } from "../src/index.ts";
import { failureOf, TestStore } from "./fixture.ts";
import { KeepingService, type KeptAnswer, restored } from "./keeping-service.ts";
import { call } from "./scripted-client.ts";

const INTERRUPTED = '"The call was interrupted. Whether it took effect is unknown."';

interface World {
  readonly service: KeepingService;
  readonly ran: string[];
  readonly diagnostics: DiagnosticEvent[];
  readonly session: AgentSession;
  agent(options?: Partial<AgentOptions>): Agent;
}

/** A service and the tools `look`, which answers, and `stick`, which does not until its run is given up. */
function world(script: readonly KeptAnswer[], isOne: boolean): World {
  const service = new KeepingService(script, isOne);
  const ran: string[] = [];
  const diagnostics: DiagnosticEvent[] = [];
  const make = (name: string, execute: () => unknown): Tool => ({
    name,
    parameters: { type: "object" },
    execute: () => {
      ran.push(name);
      return execute();
    },
  });
  const tools = [make("look", () => "seen"), make("stick", () => new Promise(() => undefined))];
  return {
    service,
    ran,
    diagnostics,
    session: new AgentSession({ owner: "ann" }),
    agent: (options = {}) =>
      new Agent({ client: service, tools, onDiagnostic: (event) => diagnostics.push(event), ...options }),
  };
}

/** Starts a run and gives it up when both tools have begun and `look` is done. */
async function givenUp({ agent, ran, session, service }: World, runId?: string): Promise<void> {
  const controller = new AbortController();
  const run = failureOf(agent().run("go", { session, signal: controller.signal, ...(runId ? { runId } : {}) }));
  await expect.poll(() => ran.length).toBe(2);
  await expect.poll(() => JSON.stringify(session.state)).toContain("seen");
  controller.abort();
  await run;
  expect(service.requests).toHaveLength(1);
}

const BOTH: readonly Content[] = [call("1", "look"), call("2", "stick")];

describe.each([
  ["one conversation", true],
  ["a chain of answers", false],
])("A run on a conversation that the service keeps as %s", (_, isOne) => {
  it("that was given up while a tool ran leaves results for the next one, and no tool runs again", async () => {
    const made = world([BOTH, "on with it", "fine"], isOne);
    await givenUp(made);
    const next = restored(made.session);
    await made.agent().run("what now?", { session: next });
    expect(made.service.lines[1]).toEqual([
      'tool: result 1 "seen"',
      `tool: result 2 ${INTERRUPTED}`,
      "user: what now?",
    ]);
    expect(made.ran).toEqual(["look", "stick"]);
    expect(made.diagnostics).toContainEqual(expect.objectContaining({ type: "open_call_closed", callId: "2" }));
    expect(next.state).toEqual({});
    await made.agent().run("and?", { session: restored(next) });
    expect(made.service.lines[2]).toEqual(["user: and?"]);
  });

  it("is taken up under its name: what it was told is not said again", async () => {
    const made = world([BOTH, "on with it"], isOne);
    await givenUp(made, "r1");
    const next = restored(made.session);
    const response = await made.agent().run("go", { session: next, runId: "r1" });
    expect(response.text).toBe("on with it");
    expect(made.service.lines[1]).toEqual(['tool: result 1 "seen"', `tool: result 2 ${INTERRUPTED}`]);
    expect(made.ran).toEqual(["look", "stick"]);
  });

  it("is taken up under its name also when it fails a second time", async () => {
    const made = world([[call("1", "look")], new Error("down"), new Error("down"), "at last"], isOne);
    let { session } = made;
    for (const _ of [1, 2]) {
      await failureOf(made.agent().run("go", { session, runId: "r1" }));
      session = restored(session);
    }
    expect((await made.agent().run("go", { session, runId: "r1" })).text).toBe("at last");
    expect(made.service.lines.slice(1)).toEqual(Array(3).fill(['tool: result 1 "seen"']));
    expect(made.ran).toEqual(["look"]);
  });

  it("is taken up under its name also when it fails further on", async () => {
    const script = [[call("1", "look")], new Error("down"), [call("2", "look")], new Error("down"), "at last"];
    const made = world(script, isOne);
    let { session } = made;
    for (const _ of [1, 2]) {
      await failureOf(made.agent().run("go", { session, runId: "r1" }));
      session = restored(session);
    }
    expect((await made.agent().run("go", { session, runId: "r1" })).text).toBe("at last");
    expect(made.service.lines.flat().filter((line) => line === "user: go")).toHaveLength(1);
    expect(made.ran).toEqual(["look", "look"]);
  });

  it("whose reader left leaves its calls to be closed", async () => {
    const made = world([[call("1", "look"), { type: "text", text: "…" }], "fine"], isOne);
    for await (const _ of made.agent().runStream("go", { session: made.session })) {
      break;
    }
    const isKnown = made.session.serviceSessionId !== undefined;
    await made.agent().run("what now?", { session: restored(made.session) });
    expect(made.service.lines[1]?.at(-1)).toBe("user: what now?");
    expect(isKnown).toBe(false);
    expect(made.ran).toEqual([]);
  });

  it("that was given up between the answer's end and its tools has the calls closed", async () => {
    const made = world([[call("1", "look")], "fine"], isOne);
    const controller = new AbortController();
    const reading = (async () => {
      for await (const update of made.agent().runStream("go", { session: made.session, signal: controller.signal })) {
        if (update.finishReason !== undefined) {
          controller.abort();
        }
      }
    })();
    await failureOf(reading);
    expect(made.session.serviceSessionId).toBeDefined();
    await made.agent().run("what now?", { session: restored(made.session) });
    expect(made.service.lines[1]).toEqual([`tool: result 1 ${INTERRUPTED}`, "user: what now?"]);
  });

  it("that middleware ended tells the service the results with the next turn", async () => {
    const made = world([[call("1", "look")], "fine"], isOne);
    const ending = functionMiddleware(async (invocation, next) => {
      const result = await next();
      invocation.terminate();
      return result;
    });
    await made.agent({ middleware: [ending] }).run("go", { session: made.session });
    expect(made.service.requests).toHaveLength(1);
    await made.agent().run("what now?", { session: restored(made.session) });
    expect(made.service.lines[1]).toEqual(['tool: result 1 "seen"', "user: what now?"]);
  });

  it("that middleware answers in place of the service leaves what the service waits for open", async () => {
    const made = world([[call("1", "look")], new Error("down"), "fine"], isOne);
    await failureOf(made.agent().run("go", { session: made.session }));
    const canned = chatMiddleware(async function* () {
      yield { contents: [{ type: "text", text: "Try later." }], finishReason: "stop" };
    });
    const session = restored(made.session);
    await made.agent({ middleware: [canned] }).run("hello?", { session });
    await made.agent().run("what now?", { session: restored(session) });
    expect(made.service.lines[2]).toEqual(['tool: result 1 "seen"', "user: what now?"]);
  });

  it("whose first answer middleware gave tells the service of it with the next call", async () => {
    const made = world(["hello", "fine"], isOne);
    await made.agent().run("hi", { session: made.session });
    let isFirst = true;
    const planned = chatMiddleware(async function* (_, next) {
      if (isFirst) {
        isFirst = false;
        yield { contents: [{ type: "text", text: "I look." }, call("1", "look")] };
      } else {
        yield* next();
      }
    });
    const session = restored(made.session);
    await made.agent({ middleware: [planned] }).run("go", { session });
    expect(made.service.lines[1]).toEqual(["user: go", "assistant: I look. | call 1 look {}", 'tool: result 1 "seen"']);
    expect(session.state).toEqual({});
  });

  it("whose tools were switched off tells the service so with the next turn", async () => {
    const made = world([[call("1", "look")], [call("2", "look")], "fine"], isOne);
    await made.agent({ maxModelCalls: 1 }).run("go", { session: made.session });
    await made.agent().run("what now?", { session: restored(made.session) });
    expect(made.service.lines[2]).toEqual([
      'tool: result 2 "Error: tools are switched off for the rest of this run."',
      "user: what now?",
    ]);
  });

  it("waits for the caller's results, whoever the next process is", async () => {
    const own: Tool = { name: "own", parameters: { type: "object" } };
    const made = world([[call("1", "own"), call("2", "look")], "fine", [call("3", "own")], "closed"], isOne);
    const options = { tools: [own] };
    const first = await made.agent().run("go", { session: made.session, ...options });
    expect(first.openCalls.map(({ callId }) => callId)).toEqual(["1"]);
    let session = restored(made.session);
    const result = {
      role: "tool" as const,
      contents: [{ type: "function_result" as const, callId: "1", result: "mine" }],
    };
    await made.agent().run(result, { session, ...options });
    expect(made.service.lines[1]).toEqual(['tool: result 1 "mine"', 'tool: result 2 "seen"']);
    await made.agent().run("again", { session, ...options });
    session = restored(session);
    await made.agent().run("never mind", { session, ...options });
    expect(made.service.lines[3]).toEqual([`tool: result 3 ${INTERRUPTED}`, "user: never mind"]);
    expect(session.state).toEqual({});
  });

  it("hands on a result for a call that was made elsewhere", async () => {
    const made = world([[call("1", "own")], "fine"], isOne);
    const own: Tool = { name: "own", parameters: { type: "object" } };
    await made.agent().run("go", { session: made.session, tools: [own] });
    const elsewhere = made.agent().getSession({ serviceSessionId: made.session.serviceSessionId ?? "", owner: "ann" });
    const contents: Content[] = [{ type: "function_result", callId: "1", result: "mine" }];
    await made.agent().run({ role: "tool", contents }, { session: elsewhere });
    expect(made.service.lines[1]).toEqual(['tool: result 1 "mine"']);
  });

  it("that is not to be kept hears all of itself in each call, and changes nothing", async () => {
    const made = world(["hello", [call("1", "look")], "done", "fine"], isOne);
    await made.agent().run("a", { session: made.session });
    const before = JSON.stringify(made.session);
    await made.agent().run("b", { session: made.session, chatOptions: { store: false } });
    expect(made.service.lines.slice(1)).toEqual([
      ["user: b"],
      ["user: b", "assistant: call 1 look {}", 'tool: result 1 "seen"'],
    ]);
    expect(JSON.stringify(made.session)).toBe(before);
    await made.agent().run("c", { session: made.session });
    expect(made.service.lines[3]).toEqual(["user: c"]);
  });

  it("writes down what was said in a history provider that only writes, each message once", async () => {
    const made = world([BOTH, "on with it", "fine"], isOne);
    const store = new TestStore();
    const contextProviders = [new HistoryProvider(store, { load: false })];
    const { session } = made;
    const controller = new AbortController();
    const agent = () => made.agent({ contextProviders, historyPersistence: "per-service-call" });
    const run = failureOf(agent().run("go", { session, signal: controller.signal }));
    await expect.poll(() => JSON.stringify(session.state)).toContain("seen");
    controller.abort();
    await run;
    await agent().run("what now?", { session: restored(session) });
    const page = await openConversation(store.data, { owner: "ann", sessionId: session.sessionId }).messages();
    const ids = page.messages.map(({ messageId }) => messageId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(page.messages.at(-1)).toMatchObject({ role: "assistant" });
    expect(store.calls.some(({ name }) => name === "read")).toBe(false);
  });
});

describe("What a session keeps of a conversation at a service", () => {
  const open: KeptAnswer = [{ type: "text", text: "secret answer" }, call("1", "stick")];

  async function interrupted(): Promise<World> {
    const made = world([open, "fine"], true);
    const controller = new AbortController();
    const run = failureOf(made.agent().run("secret words", { session: made.session, signal: controller.signal }));
    await expect.poll(() => made.ran.length).toBe(1);
    controller.abort();
    await run;
    return made;
  }

  it("is its id, and as long as calls are open, these calls: no text, no key, no owner", async () => {
    const { session } = await interrupted();
    expect(JSON.parse(JSON.stringify(session))).toEqual({
      type: "agentfw.session",
      version: 1,
      sessionId: session.sessionId,
      serviceSessionId: "conv_1",
      owned: true,
      state: {
        "agentfw.service_calls": {
          conversation: "conv_1",
          messages: [
            expect.objectContaining({ role: "assistant", contents: [expect.objectContaining({ callId: "1" })] }),
          ],
          deferred: [],
          input: [expect.any(String)],
        },
      },
    });
    expect(JSON.stringify(session)).not.toContain("secret");
  });

  it("is not taken for that of another conversation", async () => {
    const made = await interrupted();
    made.session.serviceSessionId = "conv_other";
    const failure = await failureOf(made.agent().run("x", { session: made.session }));
    expect(String(failure)).toContain("there is no such conversation");
    expect(made.service.lines[1]).toEqual(["user: x"]);
  });

  it.each([7, { conversation: "conv_1" }, { conversation: "conv_1", messages: [7], deferred: [], input: [] }])(
    "is corrupt when it cannot be read, and nothing is sent: %j",
    async (kept) => {
      const made = await interrupted();
      made.session.state["agentfw.service_calls"] = kept;
      const failure = await failureOf(made.agent().run("x", { session: made.session }));
      expect(failure).toMatchObject({ code: "corrupt" });
      expect(made.service.requests).toHaveLength(1);
      expect(made.session.state["agentfw.service_calls"]).toBe(kept);
    },
  );
});

import {
  AgentFrameworkError,
  type ContextProvider,
  HistoryProvider,
  isAgentFrameworkError,
  type RunContext,
} from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { Agent, AgentResponse } from "../src/index.ts";
import { failureOf, open, TestStore } from "./fixture.ts";
import { call, ScriptedClient, shape } from "./scripted-client.ts";

/** A provider that writes down when it is called. */
function logging(sourceId: string, log: string[], more: Partial<ContextProvider> = {}): ContextProvider {
  return {
    sourceId,
    beforeRun: async () => {
      log.push(`${sourceId}.before`);
    },
    afterRun: async ({ error }) => {
      log.push(`${sourceId}.after${error === undefined ? "" : " failed"}`);
    },
    ...more,
  };
}

function modelThatLogs(log: string[], script: ConstructorParameters<typeof ScriptedClient>[0]): ScriptedClient {
  const client = new ScriptedClient(script);
  const stream = client.stream.bind(client);
  client.stream = (messages, options) => {
    log.push("model");
    return stream(messages, options);
  };
  return client;
}

describe("The order of provider hooks", () => {
  it("runs before hooks in list order and after hooks in reverse order, around the model", async () => {
    const log: string[] = [];
    const agent = new Agent({
      client: modelThatLogs(log, ["hi"]),
      contextProviders: [logging("a", log), logging("b", log)],
    });
    await agent.run("hello");
    expect(log).toEqual(["a.before", "b.before", "model", "b.after", "a.after"]);
  });

  it("lets the provider that loads history store first, wherever it stands in the list", async () => {
    const log: string[] = [];
    const store = new TestStore();
    store.before = ({ name }) => log.push(`store.${name}`);
    const agent = new Agent({
      client: modelThatLogs(log, ["hi"]),
      contextProviders: [new HistoryProvider(store), logging("a", log), logging("b", log)],
    });
    await agent.run("hello", { session: agent.createSession() });
    expect(log).toEqual(["store.read", "a.before", "b.before", "model", "store.append", "b.after", "a.after"]);
  });

  it("puts what providers add before the input, in provider order, and stores none of it", async () => {
    const adding = (sourceId: string): ContextProvider => ({
      sourceId,
      beforeRun: async (context) => context.addMessages(`fact of ${sourceId}`),
    });
    const { agent, client, session, stored } = open(["one", "two"], { contextProviders: [adding("a"), adding("b")] });
    await agent.run("x", { session: session() });
    await agent.run("y", { session: session() });
    expect(shape(client.calls[1]?.messages ?? [])).toEqual([
      "user: x",
      "assistant: one",
      "user: fact of a",
      "user: fact of b",
      "user: y",
    ]);
    expect(await stored()).toHaveLength(4);
  });

  it("forgets instructions, tools and middleware of a provider after the run", async () => {
    const tool = { name: "extra", parameters: { type: "object" }, execute: () => 1 };
    let wrapped = 0;
    const provider: ContextProvider = {
      sourceId: "a",
      beforeRun: async (context) => {
        context.addInstructions("Be brief.");
        context.addTools([tool]);
        context.addMiddleware({
          kind: "chat",
          handle: (_, next) => {
            wrapped += 1;
            return next();
          },
        });
      },
    };
    const { agent, client, session } = open(["one", "two", "three"], {
      instructions: "Help.",
      contextProviders: [provider],
    });
    for (const input of ["x", "y", "z"]) {
      await agent.run(input, { session: session() });
    }
    expect(client.calls.map(({ options }) => options.instructions)).toEqual(Array(3).fill("Help.\nBe brief."));
    expect(client.calls.map(({ options }) => options.tools?.length)).toEqual([1, 1, 1]);
    expect(wrapped).toBe(3);
  });

  it("refuses agent middleware from a provider", async () => {
    const provider: ContextProvider = {
      sourceId: "a",
      beforeRun: async (context) =>
        context.addMiddleware(JSON.parse('{"kind":"agent"}') as Parameters<RunContext["addMiddleware"]>[0]),
    };
    const { agent, client } = open(["one"], { contextProviders: [provider] });
    await expect(agent.run("x")).rejects.toMatchObject({ code: "configuration" });
    expect(client.calls).toHaveLength(0);
  });

  it("stores an audit of context and turns that grows by the turn, never by the history", async () => {
    const audit = new TestStore();
    const facts: ContextProvider = { sourceId: "facts", beforeRun: async (context) => context.addMessages("fact") };
    const { agent, session, stored } = open(
      Array.from({ length: 10 }, (_, index) => `answer ${index}`),
      {
        contextProviders: [facts, new HistoryProvider(audit, { sourceId: "audit", load: false, storeContext: true })],
      },
    );
    for (let turn = 0; turn < 10; turn += 1) {
      await agent.run(`question ${turn}`, { session: session() });
    }
    const written = audit.calls.filter(({ name }) => name === "append").map(({ records }) => records.length);
    expect(written).toEqual(Array(10).fill(3));
    expect(await stored()).toHaveLength(20);
  });
});

describe("Providers that fail", () => {
  it("ends the run with a before hook's own error, tells those that began, and calls no model", async () => {
    const log: string[] = [];
    const failing = logging("b", log, {
      beforeRun: async () => {
        throw new RangeError("no index");
      },
    });
    const { agent, client, session, stored } = open(["hi"], {
      contextProviders: [logging("a", log), failing, logging("c", log)],
    });
    await expect(agent.run("hello", { session: session() })).rejects.toThrow(RangeError);
    expect(client.calls).toHaveLength(0);
    expect(log).toEqual(["a.before", "b.after failed", "a.after failed"]);
    expect(await stored()).toEqual([]);
  });

  it("keeps the response and the other providers' turn when an after hook fails, and reports it", async () => {
    const log: string[] = [];
    const failing = logging("b", log, {
      afterRun: async () => {
        throw new Error("no disk");
      },
    });
    const { agent, session, stored, diagnostics } = open(["hi"], {
      contextProviders: [logging("a", log), failing, logging("c", log)],
    });
    const response = await agent.run("hello", { session: session() });
    expect(response.text).toBe("hi");
    expect(log).toEqual(["a.before", "b.before", "c.before", "c.after", "a.after"]);
    expect(await stored()).toHaveLength(2);
    expect(diagnostics).toMatchObject([{ type: "provider_failed", provider: "b", sessionId: "s" }]);
  });

  it("keeps the response when an after hook throws before it gives a promise", async () => {
    const failing = {
      sourceId: "b",
      afterRun: () => {
        throw new Error("at once");
      },
    };
    const { agent, diagnostics } = open(["hi"], { contextProviders: [failing] });
    expect((await agent.run("hello")).text).toBe("hi");
    expect(diagnostics).toMatchObject([{ type: "provider_failed" }]);
  });

  it("rejects with the response on the error when the history cannot be stored, and lets the others store", async () => {
    const log: string[] = [];
    const { agent, session, store } = open(["hi"], { contextProviders: [logging("a", log)] });
    store.before = ({ name }) => {
      if (name === "append") {
        throw new AgentFrameworkError("unavailable", "no connection", { provider: "test" });
      }
    };
    const error = await failureOf(agent.run("hello", { session: session() }));
    expect(isAgentFrameworkError(error, "unavailable")).toBe(true);
    const { response, retryable } = error as AgentFrameworkError;
    expect(retryable).toBe(true);
    expect(response).toBeInstanceOf(AgentResponse);
    expect((response as AgentResponse).text).toBe("hi");
    expect(log).toEqual(["a.before", "a.after"]);
  });

  it("carries the response on an error that is no error of ours, too", async () => {
    const { agent, session, store } = open(["hi"]);
    const cause = new TypeError("driver bug");
    store.before = ({ name }) => {
      if (name === "append") {
        throw cause;
      }
    };
    const error = await failureOf(agent.run("hello", { session: session() }));
    expect(error).toMatchObject({ code: "outcome_unknown", cause: { cause }, response: { text: "hi" } });
  });

  it("never runs on without history: a store that cannot be read ends the run before the model is called", async () => {
    const { agent, client, session, store } = open(["hi"]);
    store.before = () => {
      throw new AgentFrameworkError("unavailable", "no connection");
    };
    await expect(agent.run("hello", { session: session() })).rejects.toMatchObject({ code: "unavailable" });
    expect(client.calls).toHaveLength(0);
    expect(store.calls.map(({ name }) => name)).toEqual(["read"]);
  });

  it("writes the rest of a run to a secondary store that failed in between", async () => {
    const audit = new TestStore();
    let failures = 0;
    audit.before = () => {
      failures += 1;
      if (failures === 1) {
        throw new AgentFrameworkError("unavailable", "for a moment");
      }
    };
    const look = { name: "look", parameters: { type: "object" }, execute: () => 1 };
    const { agent, session } = open([[call("c", "look")], "done"], {
      historyPersistence: "per-service-call",
      tools: [look],
      contextProviders: [new HistoryProvider(audit, { sourceId: "audit", load: false })],
    });
    await agent.run("go", { session: session() });
    const page = await audit.data.read({ owner: "ann", source: "audit", session: "s" });
    expect(page.records).toHaveLength(4);
  });
});

describe.each(
  (["per-run", "per-service-call"] as const).flatMap((historyPersistence) =>
    [false, true].map((isStreamed) => ({ historyPersistence, isStreamed })),
  ),
)("A provider beside the history that fails ($historyPersistence, streamed: $isStreamed)", (way) => {
  const failures: readonly { readonly name: string; fail(): Promise<void> }[] = [
    { name: "rejects", fail: () => Promise.reject(new Error("no disk")) },
    { name: "rejects with nothing", fail: () => Promise.reject() },
    {
      name: "throws at once",
      fail: () => {
        throw new TypeError("bug");
      },
    },
    {
      name: "rejects with a conflict of its own store",
      fail: () => Promise.reject(new AgentFrameworkError("conflict", "elsewhere", { currentVersion: "7" })),
    },
  ];

  it.each(failures)("loses neither the response nor the turn when it $name, and is reported", async ({ fail }) => {
    const log: string[] = [];
    const failing = [
      logging("first", log, { persist: fail, afterRun: fail }),
      logging("second", log),
      logging("third", log, { persist: fail, afterRun: fail }),
    ];
    const look = { name: "look", parameters: { type: "object" }, execute: () => 1 };
    const { agent, session, stored, diagnostics, client } = open([[call("c", "look")], "done"], {
      historyPersistence: way.historyPersistence,
      onConflict: "retry",
      tools: [look],
      contextProviders: failing,
    });
    const stream = agent.runStream("go", { session: session() });
    if (way.isStreamed) {
      for await (const _ of stream) {
        // Reads all of it.
      }
    }
    expect((await stream.finalResponse()).text).toBe("done");
    expect(client.calls).toHaveLength(2);
    expect(log).toEqual(["first.before", "second.before", "third.before", "second.after"]);
    expect(await stored()).toHaveLength(4);
    const reported = diagnostics.filter(({ type }) => type === "provider_failed").map(({ provider }) => provider);
    expect(new Set(reported)).toEqual(new Set(["first", "third"]));
  });

  it("lets the others store when the history itself cannot be stored, and the error carries the answer", async () => {
    const log: string[] = [];
    const { agent, session, store } = open([[call("c", "look")], "done"], {
      historyPersistence: way.historyPersistence,
      tools: [{ name: "look", parameters: { type: "object" }, execute: () => 1 }],
      contextProviders: [logging("a", log), logging("b", log)],
    });
    let appends = 0;
    store.before = ({ name }) => {
      appends += name === "append" ? 1 : 0;
      if (name === "append" && (way.historyPersistence === "per-run" || appends === 3)) {
        throw new AgentFrameworkError("unavailable", "away");
      }
    };
    const stream = agent.runStream("go", { session: session() });
    if (way.isStreamed) {
      await failureOf(
        (async () => {
          for await (const _ of stream) {
            // Reads all of it.
          }
        })(),
      );
    }
    expect(await failureOf(stream.finalResponse())).toMatchObject({ code: "unavailable", response: { text: "done" } });
    expect(log).toEqual(["a.before", "b.before", "b.after", "a.after"]);
  });
});

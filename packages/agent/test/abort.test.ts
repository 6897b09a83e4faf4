import { isAbortError } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { failureOf, gate, open, settled } from "./fixture.ts";
import { type Answer, call } from "./scripted-client.ts";
import { deaf, expectNoUnheardRejections, read } from "./streaming.ts";

expectNoUnheardRejections();

describe("An abort", () => {
  it("ends a run at once whose model never answers, with the signal's reason", async () => {
    const { agent } = open([deaf]);
    const reason = new Error("user pressed stop");
    const controller = new AbortController();
    setTimeout(() => controller.abort(reason), 20);
    expect(await failureOf(agent.run("x", { signal: controller.signal }))).toBe(reason);
  });

  it("ends a run at once whose tool ignores the signal", async () => {
    const started = gate();
    const stuck = {
      name: "stuck",
      parameters: { type: "object" },
      execute: () => {
        started.open();
        return new Promise(() => undefined);
      },
    };
    const { agent, stored, session } = open([[call("c", "stuck")]], { tools: [stuck] });
    const controller = new AbortController();
    const run = failureOf(agent.run("x", { session: session(), signal: controller.signal }));
    await started.passed;
    controller.abort();
    expect(isAbortError(await run)).toBe(true);
    expect(await stored()).toEqual([]);
  });

  it("reaches the tools", async () => {
    const heard = gate();
    const listening = {
      name: "listening",
      parameters: { type: "object" },
      execute: (_: unknown, { signal }: { signal: AbortSignal }) => {
        signal.addEventListener("abort", () => heard.open());
        controller.abort();
        return new Promise(() => undefined);
      },
    };
    const controller = new AbortController();
    const { agent } = open([[call("c", "listening")]], { tools: [listening] });
    await failureOf(agent.run("x", { signal: controller.signal }));
    await heard.passed;
  });

  it("starts no further tool of a batch whose first one aborted the run", async () => {
    const controller = new AbortController();
    const ran: string[] = [];
    const tools = ["first", "second"].map((name) => ({
      name,
      parameters: { type: "object" },
      execute: () => {
        ran.push(name);
        controller.abort();
        throw new Error("failed too");
      },
    }));
    const { agent } = open([[call("1", "first"), call("2", "second")]], { tools });
    expect(isAbortError(await failureOf(agent.run("x", { signal: controller.signal })))).toBe(true);
    expect(ran).toEqual(["first"]);
  });

  it("while the answer is being stored leaves the turn stored and the run complete", async () => {
    const { agent, session, store, stored } = open(["hi"]);
    const controller = new AbortController();
    store.before = async ({ name }) => {
      if (name === "append") {
        controller.abort();
        await settled();
      }
    };
    const response = await agent.run("x", { session: session(), signal: controller.signal });
    expect(response.text).toBe("hi");
    expect(await stored()).toHaveLength(2);
    expect(store.calls.find(({ name }) => name === "append")?.signal?.aborted ?? false).toBe(false);
  });

  it("while history is loaded ends the run at once and calls no model", async () => {
    const { agent, session, client, store } = open(["hi"]);
    const controller = new AbortController();
    store.before = () => {
      controller.abort();
      return new Promise(() => undefined);
    };
    expect(isAbortError(await failureOf(agent.run("x", { session: session(), signal: controller.signal })))).toBe(true);
    expect(client.calls).toHaveLength(0);
  });

  it("between two pieces leaves no rejection of the model unheard", async () => {
    const controller = new AbortController();
    const failsWhenAborted: Answer = async function* (_, { signal }) {
      yield { contents: [{ type: "text", text: "Hel" }] };
      signal?.throwIfAborted();
    };
    const { agent } = open([failsWhenAborted]);
    const error = await failureOf(
      read(agent.runStream("x", { signal: controller.signal }), () => {
        controller.abort();
      }),
    );
    expect(isAbortError(error)).toBe(true);
  });

  it("tells the model's client to finish, and so does a reader who leaves", async () => {
    const finished: string[] = [];
    const closing = (name: string): Answer =>
      async function* () {
        try {
          yield { contents: [{ type: "text", text: "Hel" }] };
          yield { contents: [{ type: "text", text: "lo" }] };
        } finally {
          finished.push(name);
        }
      };
    const controller = new AbortController();
    const { agent } = open([closing("aborted"), closing("left")]);
    await failureOf(read(agent.runStream("x", { signal: controller.signal }), () => controller.abort()));
    await settled();
    await read(agent.runStream("x"), () => "stop");
    expect(finished).toEqual(["aborted", "left"]);
  });

  it("ends a stream whose reader never comes back, lets the next run in, and is heard by a reader who does", async () => {
    const endings: unknown[] = [];
    const { agent, session, stored } = open([{ pieces: ["a", "b"] }, "next"], {
      contextProviders: [
        {
          sourceId: "p",
          afterRun: async ({ error }) => {
            endings.push(error);
          },
        },
      ],
    });
    const controller = new AbortController();
    const stream = agent.runStream("1", { session: session(), signal: controller.signal });
    const iterator = stream[Symbol.asyncIterator]();
    await iterator.next();
    controller.abort();
    expect((await agent.run("2", { session: session() })).text).toBe("next");
    expect(endings).toMatchObject([{ name: "AbortError" }, undefined]);
    expect(isAbortError(await failureOf(iterator.next()))).toBe(true);
    expect(await iterator.next()).toEqual({ value: undefined, done: true });
    expect(isAbortError(await failureOf(stream.finalResponse()))).toBe(true);
    expect(await stored()).toHaveLength(2);
  });
});

import { type ContextProvider, messageText } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { type Fixture, open, settled } from "./fixture.ts";

describe("The after hook of a run", () => {
  interface Ending {
    readonly name: string;
    readonly isFailure: boolean;
    run(fixture: Fixture, controller: AbortController): Promise<unknown>;
  }

  const endings: readonly Ending[] = [
    {
      name: "success",
      isFailure: false,
      run: ({ agent, session }) => agent.run("x", { session: session() }),
    },
    {
      name: "an error of the model",
      isFailure: true,
      run: ({ agent, session }) => agent.run("fail", { session: session() }),
    },
    {
      name: "an abort",
      isFailure: true,
      run: async ({ agent, session }, controller) => {
        for await (const _ of agent.runStream("x", { session: session(), signal: controller.signal })) {
          controller.abort();
        }
      },
    },
    {
      name: "a loop that is left",
      isFailure: true,
      run: async ({ agent, session }) => {
        for await (const _ of agent.runStream("x", { session: session() })) {
          break;
        }
      },
    },
    {
      name: "a consumer that throws",
      isFailure: true,
      run: async ({ agent, session }) => {
        for await (const _ of agent.runStream("x", { session: session() })) {
          throw new Error("consumer");
        }
      },
    },
    {
      name: "a before hook that fails",
      isFailure: true,
      run: ({ agent, session }) => agent.run("refuse", { session: session() }),
    },
  ];

  it.each(endings)("is called exactly once after $name", async ({ isFailure, run }) => {
    const outcomes: (readonly [error: unknown, response: unknown])[] = [];
    const observer: ContextProvider = {
      sourceId: "observer",
      beforeRun: async ({ input }) => {
        if (input[0] !== undefined && messageText(input[0]) === "refuse") {
          throw new Error("refused");
        }
      },
      afterRun: async ({ error, response }) => {
        outcomes.push([error, response]);
      },
    };
    const fixture = open(
      [
        async function* (messages) {
          yield { contents: [{ type: "text", text: "one" }] };
          if (messages.some((message) => messageText(message) === "fail")) {
            throw new Error("model");
          }
          yield { contents: [{ type: "text", text: "two" }] };
        },
      ],
      { contextProviders: [observer] },
    );
    await run(fixture, new AbortController()).catch(() => undefined);
    await settled();
    expect(outcomes).toHaveLength(1);
    const [error, response] = outcomes[0] ?? [];
    expect(error !== undefined).toBe(isFailure);
    expect(response !== undefined).toBe(!isFailure);
  });

  it("follows a before hook that was still busy when the run was aborted, and no further hook begins", async () => {
    const log: string[] = [];
    const controller = new AbortController();
    const busy: ContextProvider = {
      sourceId: "busy",
      beforeRun: async () => {
        controller.abort();
        await settled();
      },
      afterRun: async () => {
        log.push("busy.after");
      },
    };
    const late: ContextProvider = {
      sourceId: "late",
      beforeRun: async () => {
        log.push("late.before");
      },
    };
    const { agent } = open(["hi"], { contextProviders: [busy, late] });
    await expect(agent.run("x", { signal: controller.signal })).rejects.toThrow(/abort/i);
    await settled();
    await settled();
    expect(log).toEqual(["busy.after"]);
  });

  it("sees a failure even when the model rejects with nothing", async () => {
    const { agent, session, stored } = open([{ pieces: ["half"], throws: undefined }]);
    await agent.run("x", { session: session() }).catch(() => undefined);
    expect(await stored()).toEqual([]);
  });
});

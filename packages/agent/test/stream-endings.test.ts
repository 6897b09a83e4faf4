import { type ContextProvider, isAbortError } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { type Fixture, failureOf } from "./fixture.ts";
import { type Answer, call, shape } from "./scripted-client.ts";
import { begun, deaf, expectNoUnheardRejections, PIECES, read } from "./streaming.ts";

expectNoUnheardRejections();

const halfCall: Answer = {
  pieces: [
    "Let me see. ",
    { contents: [{ type: "function_call", callId: "c", name: "look", arguments: '{"wh' }] },
    { contents: [{ type: "function_call", callId: "c", name: "", arguments: 'at": 1}' }] },
  ],
};

interface Ending {
  readonly name: string;
  readonly answer: Answer;
  /** What is stored of the turn when partial answers are kept. */
  readonly kept: readonly string[];
  end(fixture: Fixture, controller: AbortController): Promise<unknown>;
  readonly fails: "abort" | "model" | "not";
}

const input = "u1";
const endings: readonly Ending[] = [
  {
    name: "the loop is left after the second piece",
    answer: { pieces: PIECES },
    kept: ["user: u1", "assistant: Hello"],
    fails: "not",
    end: ({ agent, session }) =>
      read(agent.runStream(input, { session: session() }), (count) => (count === 2 ? "stop" : undefined)),
  },
  {
    name: "it is aborted after the second piece",
    answer: { pieces: PIECES },
    kept: ["user: u1", "assistant: Hello"],
    fails: "abort",
    end: ({ agent, session }, controller) =>
      read(agent.runStream(input, { session: session(), signal: controller.signal }), (count) => {
        if (count === 2) {
          controller.abort();
        }
      }),
  },
  {
    name: "it is aborted while a model that does not listen is silent",
    answer: deaf,
    kept: ["user: u1", "assistant: Hel"],
    fails: "abort",
    end: ({ agent, session }, controller) => {
      setTimeout(() => controller.abort(), 200);
      return agent.run(input, { session: session(), signal: controller.signal });
    },
  },
  {
    name: "the model fails after the second piece",
    answer: { pieces: PIECES.slice(0, 2), throws: new RangeError("model") },
    kept: [],
    fails: "model",
    end: ({ agent, session }) => agent.run(input, { session: session() }),
  },
  {
    name: "it is aborted before the first piece",
    answer: { pieces: PIECES },
    kept: [],
    fails: "abort",
    end: ({ agent, session }, controller) => {
      setTimeout(() => controller.abort(), 20);
      return agent.run(input, { session: session(), signal: controller.signal });
    },
  },
  {
    name: "it was aborted before it began",
    answer: { pieces: PIECES },
    kept: [],
    fails: "abort",
    end: ({ agent, session }, controller) => {
      controller.abort();
      return agent.run(input, { session: session(), signal: controller.signal });
    },
  },
  {
    name: "it is aborted in the middle of a call's arguments",
    answer: halfCall,
    kept: ["user: u1", "assistant: Let me see. "],
    fails: "abort",
    end: ({ agent, session }, controller) =>
      read(agent.runStream(input, { session: session(), signal: controller.signal }), (count) => {
        if (count === 2) {
          controller.abort();
        }
      }),
  },
];

describe.concurrent("A stream that ends early", () => {
  for (const keepPartial of [false, true]) {
    describe(keepPartial ? "keeping partial answers" : "keeping nothing", () => {
      it.each(endings)("stores what it should when $name", async ({ answer, kept, end, fails }) => {
        let after = 0;
        const observer: ContextProvider = {
          sourceId: "observer",
          afterRun: async () => {
            after += 1;
          },
        };
        const fixture = await begun([answer, "a2"], { history: { keepPartial }, contextProviders: [observer] });
        after = 0;
        const controller = new AbortController();
        const outcome = await end(fixture, controller).then(
          () => undefined,
          (error: unknown) => error,
        );
        expect(fails).toBe(outcome === undefined ? "not" : isAbortError(outcome) ? "abort" : "model");
        const before = ["user: u0", "assistant: a0"];
        const expected = [...before, ...(keepPartial ? kept : [])];
        expect(shape(await fixture.stored())).toEqual(expected);
        expect(after).toBeLessThanOrEqual(1);
        for (const { name, signal } of fixture.store.calls.filter((entry) => entry.name === "append")) {
          expect([name, signal?.aborted ?? false]).toEqual(["append", false]);
        }
        await fixture.agent.run("u2", { session: fixture.session() }).catch(async () => {
          // The scripted answer of the turn may not have been asked for.
          await fixture.agent.run("u2", { session: fixture.session() });
        });
        expect(shape(await fixture.stored()).slice(0, expected.length)).toEqual(expected);
        expect((await fixture.stored()).length).toBe(expected.length + 2);
      });
    });
  }

  it("marks the partial answer as incomplete and gives it to the model in the next turn", async () => {
    const fixture = await begun([{ pieces: PIECES }, "a2"], { history: { keepPartial: true } });
    await read(fixture.agent.runStream("u1", { session: fixture.session() }), (count) =>
      count === 2 ? "stop" : undefined,
    );
    const last = (await fixture.stored()).at(-1);
    expect(last?.additionalProperties).toMatchObject({ incomplete: true });
    await fixture.agent.run("u2", { session: fixture.session() });
    expect(shape(fixture.client.calls.at(-1)?.messages ?? [])).toEqual([
      "user: u0",
      "assistant: a0",
      "user: u1",
      "assistant: Hello",
      "user: u2",
    ]);
  });

  it("keeps no half call and no open call when it is given up while tools run", async () => {
    const controller = new AbortController();
    const tools = [
      { name: "quick", parameters: { type: "object" }, execute: () => "done" },
      { name: "slow", parameters: { type: "object" }, execute: () => new Promise(() => undefined) },
    ];
    const fixture = await begun([[call("1", "quick"), call("2", "slow")], "a2"], {
      tools,
      history: { keepPartial: true },
    });
    setTimeout(() => controller.abort(), 250);
    const error = await failureOf(fixture.agent.run("u1", { session: fixture.session(), signal: controller.signal }));
    expect(isAbortError(error)).toBe(true);
    expect(shape(await fixture.stored()).slice(2)).toEqual([
      "user: u1",
      "assistant: call 1 quick {} | call 2 slow {}",
      'tool: result 1 "done"',
      'tool: result 2 "The call was interrupted. Whether it took effect is unknown."',
    ]);
    await fixture.agent.run("u2", { session: fixture.session() });
    expect(fixture.client.calls.at(-1)?.messages).toHaveLength(7);
  });
});

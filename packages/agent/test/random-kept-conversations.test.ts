import type { AgentSession, Content, MessageInput, Tool } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { Agent, type AgentResponse } from "../src/index.ts";
import { KeepingService, type KeptAnswer, restored } from "./keeping-service.ts";
import { chance } from "./random-world.ts";
import { call } from "./scripted-client.ts";
import { expectNoUnheardRejections } from "./streaming.ts";

expectNoUnheardRejections();

/** Chance decides what happens; the seed in a failing title repeats it. */
const SEEDS: readonly number[] = Array.from({ length: 100 }, (_, index) => index + 1);
const TURNS = 14;
const TOOLS = ["look", "pay", "own", "stick"];

/** A user, a service that keeps the conversation, and tools that do what chance says. Every turn is another process. */
class KeptWorld {
  readonly random: (below: number) => number;
  readonly service: KeepingService;
  /** How often the tool of each call ran. */
  readonly runs = new Map<string, number>();
  /** What the service refused; what it failed at is no fault. */
  readonly faults: string[] = [];
  session: AgentSession;
  /** Ids of requests that nobody has answered, as far as the user knows. */
  requests: readonly string[] = [];
  /** Ids of calls that the last run left to the user; what a failed run did about them nobody knows. */
  calls: readonly string[] = [];
  #calls = 0;
  #controller: AbortController | undefined;
  #isCalm = false;

  constructor(seed: number) {
    this.random = chance(seed);
    this.service = new KeepingService(() => this.#answer(), seed % 2 === 0, true);
    this.session = this.#agent().createSession({ owner: "ann" });
  }

  /** From here on nothing goes wrong and nobody is asked for anything. */
  calm(): void {
    this.#isCalm = true;
  }

  async run(input: MessageInput[], runId: string): Promise<AgentResponse | undefined> {
    this.#controller = new AbortController();
    const { signal } = this.#controller;
    try {
      const stream = this.#agent().runStream(input, { session: this.session, runId, signal });
      for await (const _ of stream) {
        if (this.#goesWrong(25)) {
          this.#controller.abort();
        }
      }
      return await stream.finalResponse();
    } catch (error) {
      if (String(error).includes("400")) {
        this.faults.push(String(error));
      }
      return undefined;
    } finally {
      this.session = restored(this.session);
    }
  }

  #goesWrong(oneIn: number): boolean {
    return !this.#isCalm && this.random(oneIn) === 0;
  }

  #answer(): KeptAnswer {
    if (this.#goesWrong(5)) {
      return new Error("down");
    }
    if (this.#isCalm || this.random(3) === 0) {
      return "text";
    }
    const calls = Array.from({ length: 1 + this.random(3) }, () => {
      this.#calls += 1;
      return call(`c${this.#calls}`, TOOLS[this.random(TOOLS.length)] ?? "look");
    });
    return [...(this.random(2) === 0 ? [{ type: "text", text: "so" } as const] : []), ...calls];
  }

  #agent(): Agent {
    return new Agent({ client: this.service, tools: TOOLS.map((name) => this.#tool(name)), maxModelCalls: 4 });
  }

  #tool(name: string): Tool {
    const base = { name, parameters: { type: "object" } };
    if (name === "own") {
      return base;
    }
    const approval = name === "pay" ? ("required" as const) : undefined;
    return { ...base, approval, execute: (_, { callId }) => this.#execute(name, callId) };
  }

  #execute(name: string, callId: string): unknown {
    this.runs.set(callId, (this.runs.get(callId) ?? 0) + 1);
    if (name === "stick" && !this.#isCalm) {
      this.#controller?.abort();
      return new Promise(() => undefined);
    }
    if (this.random(6) === 0) {
      throw new Error("the tool fails");
    }
    return `${callId} done`;
  }
}

/** What the user does next: talks, or answers what was left open, all of it or a part. */
function nextInput({ requests, calls, random }: KeptWorld): MessageInput[] {
  const answers: Content[] = requests
    .filter(() => random(3) > 0)
    .map((id) => ({
      type: "function_approval_response",
      id,
      approved: random(3) > 0,
    }));
  const results = calls.filter(() => random(3) > 0);
  const input: MessageInput[] = [
    ...(answers.length === 0 ? [] : [{ role: "user" as const, contents: answers }]),
    ...results.map(
      (callId): MessageInput => ({
        role: "tool",
        contents: [{ type: "function_result", callId, result: "from the caller" }],
      }),
    ),
  ];
  return input.length === 0 || random(3) === 0 ? [...input, { role: "user", contents: "go on" }] : input;
}

describe("A conversation that a service keeps, whatever happens on the way", () => {
  it.each(SEEDS)("is one that the service takes, and no tool runs twice: seed %i", async (seed) => {
    const world = new KeptWorld(seed);
    for (let turn = 1; turn <= TURNS; turn += 1) {
      const input = nextInput(world);
      let response: AgentResponse | undefined;
      for (let attempt = 1; attempt <= 2 && response === undefined; attempt += 1) {
        response = await world.run(input, `r${turn}`);
      }
      const asked = response?.approvalRequests.map(({ id }) => id) ?? [];
      world.requests = [...new Set([...world.requests, ...asked])];
      world.calls = response?.openCalls.map(({ callId }) => callId) ?? [];
    }
    world.calm();
    expect((await world.run([{ role: "user", contents: "the end" }], "end"))?.text).toBe("text");
    expect((await world.run([{ role: "user", contents: "really" }], "last"))?.text).toBe("text");
    expect(world.service.lines.at(-1)).toEqual(["user: really"]);
    expect(world.faults).toEqual([]);
    expect([...world.runs.values()].every((count) => count === 1)).toBe(true);
  });
});

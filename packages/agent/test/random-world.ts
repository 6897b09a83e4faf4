import {
  type ChatUpdate,
  type Content,
  HistoryProvider,
  type Message,
  type MessageInput,
  type Tool,
} from "@agentfw/core";
import { Agent, type AgentResponse } from "../src/index.ts";
import { TestStore } from "./fixture.ts";
import { call, ScriptedClient } from "./scripted-client.ts";
import { requestFault } from "./valid-request.ts";

/** A source of chance that gives the same numbers for the same seed. */
export function chance(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** What goes wrong in a run, and at which of the points that it passes. */
export interface Mishap {
  readonly kind: "none" | "abort" | "crash" | "store" | "break";
  readonly at: number;
}

const freeze = (): Promise<never> => new Promise(() => undefined);

/** A user, a model and tools that do what chance says, over data that outlives every process. */
export class World {
  readonly random: (below: number) => number;
  readonly perCall: boolean;
  /** Requests that a strict service would have refused. */
  readonly faults: string[] = [];
  /** How often the tool of each call ran, by idempotency key. */
  readonly runs: Map<string, number> = new Map();
  /** Ids of messages that a successful run was given or gave. */
  readonly acknowledged: Set<string> = new Set();
  readonly keepPartial: boolean;
  readonly maxMessages: number | undefined;
  store: TestStore = new TestStore();
  agent: Agent;
  pending: AgentResponse | undefined;
  #mishap: Mishap = { kind: "none", at: 0 };
  #passed = 0;
  #isDead = false;
  #controller = new AbortController();
  #calls = 0;
  #names = 0;

  constructor(seed: number) {
    this.random = chance(seed);
    this.perCall = this.random(2) === 0;
    this.keepPartial = this.random(2) === 0;
    this.maxMessages = this.random(3) === 0 ? 1 + this.random(6) : undefined;
    this.agent = this.#start();
  }

  /** Ends the process and starts another one on the same data. */
  restart(): void {
    this.store = new TestStore(this.store.data);
    this.#isDead = false;
    this.agent = this.#start();
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  newName(): string {
    this.#names += 1;
    return `run${this.#names}`;
  }

  /** One run. Gives its response, or `undefined` when it did not come to one. */
  async run(input: readonly MessageInput[], runId: string, mishap: Mishap): Promise<AgentResponse | undefined> {
    this.#mishap = mishap;
    this.#passed = 0;
    this.#controller = new AbortController();
    const session = this.agent.createSession({ sessionId: "s", owner: "ann" });
    const stream = this.agent.runStream([...input], { session, runId, signal: this.#controller.signal });
    const crashed = new Promise<"crashed">((resolve) => {
      this.#onCrash = () => resolve("crashed");
    });
    const outcome = await Promise.race([this.#read(stream, mishap).catch(() => undefined), crashed]);
    this.#mishap = { kind: "none", at: 0 };
    return outcome === "crashed" ? undefined : outcome;
  }

  #onCrash = (): void => undefined;

  async #read(stream: ReturnType<Agent["runStream"]>, mishap: Mishap): Promise<AgentResponse | undefined> {
    let pieces = 0;
    for await (const _ of stream) {
      pieces += 1;
      if (mishap.kind === "break" && pieces > mishap.at) {
        return undefined;
      }
    }
    return stream.finalResponse();
  }

  /** A point at which things can go wrong. */
  async #pass(isStore: boolean): Promise<void> {
    if (this.#isDead) {
      return freeze();
    }
    this.#passed += 1;
    const { kind, at } = this.#mishap;
    if (this.#passed < at || (kind === "store" && !isStore)) {
      return;
    }
    if (kind === "crash") {
      this.#isDead = true;
      this.#onCrash();
      return freeze();
    }
    this.#mishap = { kind: "none", at: 0 };
    if (kind === "abort") {
      this.#controller.abort();
    } else if (kind === "store") {
      throw new Error("the store is away");
    }
  }

  #start(): Agent {
    const client = new ScriptedClient([], { isStrict: false });
    client.stream = (messages) => this.#answer(messages);
    this.store.before = () => this.#pass(true);
    const { keepPartial, maxMessages } = this;
    return new Agent({
      client,
      tools: this.#tools(),
      historyPersistence: this.perCall ? "per-service-call" : "per-run",
      contextProviders: [new HistoryProvider(this.store, { keepPartial, maxMessages, timeoutMs: 500 })],
      maxModelCalls: 4,
    });
  }

  #tools(): Tool[] {
    const make = (name: string, work: () => unknown, more: Partial<Tool> = {}): Tool => ({
      name,
      parameters: { type: "object" },
      execute: async (_, { idempotencyKey }) => {
        await this.#pass(false);
        this.runs.set(idempotencyKey, (this.runs.get(idempotencyKey) ?? 0) + 1);
        await this.#pass(false);
        return work();
      },
      ...more,
    });
    return [
      make("fine", () => "ok"),
      make("odd", () => ({ big: 1n })),
      make("failing", () => {
        throw new Error("no");
      }),
      make("careful", () => "done", { approval: "required" }),
      { name: "caller", parameters: { type: "object" } },
    ];
  }

  async *#answer(messages: readonly Message[]): AsyncGenerator<ChatUpdate> {
    const fault = requestFault(messages);
    if (fault !== undefined) {
      this.faults.push(fault);
    }
    await this.#pass(false);
    for (const contents of this.#pieces()) {
      yield { contents };
      await this.#pass(false);
    }
  }

  #pieces(): Content[][] {
    const pieces: Content[][] = [];
    if (this.random(3) === 0) {
      pieces.push([{ type: "text_reasoning", text: "hm" }]);
    }
    if (this.random(2) === 0) {
      pieces.push([{ type: "text", text: "" }], [{ type: "text", text: "let me " }], [{ type: "text", text: "see" }]);
    }
    const count = this.random(2) === 0 ? 0 : 1 + this.random(3);
    for (let index = 0; index < count; index += 1) {
      this.#calls += 1;
      const names = ["fine", "fine", "odd", "failing", "careful", "caller", "unknown"];
      const callId = this.random(4) === 0 ? "same" : `c${this.#calls}`;
      pieces.push([call(callId, names[this.random(names.length)] ?? "fine")]);
    }
    return count === 0 ? [...pieces, [{ type: "text", text: "that is all" }]] : pieces;
  }
}

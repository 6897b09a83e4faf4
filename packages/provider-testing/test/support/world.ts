import { AgentFrameworkError, assertCallOptions, type CallOptions, withDeadline } from "@agentfw/core";
import type { Opened } from "../../src/index.ts";

/** The backend behind reference stores: what several of them share, and what can be done to it. */
export class World {
  /** Milliseconds since the epoch. */
  now = 1_700_000_000_000;
  broken = false;
  stalled = false;
  timeoutMs = 5_000;
  /** What happens to the next call on its way. */
  fault: "lost reply" | "lost request" | "duplicate" | undefined;

  readonly hooks: Required<
    Pick<
      Opened,
      | "breakBackend"
      | "stallBackend"
      | "healBackend"
      | "advanceTime"
      | "loseNextReply"
      | "loseNextRequest"
      | "duplicateNextRequest"
    >
  > = {
    breakBackend: async (): Promise<void> => {
      this.broken = true;
    },
    stallBackend: async (): Promise<void> => {
      this.stalled = true;
    },
    healBackend: async (): Promise<void> => {
      this.broken = false;
      this.stalled = false;
    },
    advanceTime: (milliseconds: number): void => {
      this.now += milliseconds;
    },
    loseNextReply: (): void => {
      this.fault = "lost reply";
    },
    loseNextRequest: (): void => {
      this.fault = "lost request";
    },
    duplicateNextRequest: (): void => {
      this.fault = "duplicate";
    },
  };

  /** Does what a call does on its way to a server and back. */
  async call<T>(kind: "read" | "write", options: CallOptions | undefined, work: () => Promise<T>): Promise<T> {
    const given = options === undefined ? {} : options;
    assertCallOptions(given);
    const { signal } = given;
    return withDeadline("call", { timeoutMs: this.timeoutMs, signal, kind, provider: "reference" }, async () => {
      await turn();
      if (this.broken) {
        throw new AgentFrameworkError("unavailable", "connection refused", { provider: "reference" });
      }
      if (this.stalled) {
        await new Promise(() => {});
      }
      return this.#carryOut(work);
    });
  }

  async #carryOut<T>(work: () => Promise<T>): Promise<T> {
    const { fault } = this;
    this.fault = undefined;
    if (fault === "lost request") {
      throw new AgentFrameworkError("unavailable", "the connection ended", { provider: "reference" });
    }
    const result = await work();
    if (fault === "duplicate") {
      await work().catch(() => {});
    }
    if (fault === "lost reply") {
      throw new AgentFrameworkError("outcome_unknown", "the connection ended", { provider: "reference" });
    }
    return result;
  }
}

/** One turn of the event loop: what any network needs at least. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

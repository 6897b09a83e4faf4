import { functionResults, type Message } from "@agentfw/core";
import type { RunScope } from "./run-scope.ts";

/** Keeps the results of the calls of a run as they come, until the run ends. */
export class ResultKeeper {
  readonly #scope: RunScope;
  readonly #produced: Message[];
  readonly #keeping = new Set<Promise<void>>();
  #isOver = false;

  constructor(scope: RunScope, produced: Message[]) {
    this.#scope = scope;
    this.#produced = produced;
  }

  /** Keeps a result before its fellows are there. Of a run that has failed it keeps nothing, and says so. */
  keep(message: Message): Promise<void> {
    if (this.#isOver) {
      const [result] = functionResults(message);
      this.#scope.report({
        type: "tool_result_dropped",
        message: "a tool came to its result after the run had failed",
        callId: result?.callId,
      });
      return Promise.resolve();
    }
    this.#produced.push(message);
    const kept = this.#scope.persist();
    const seen = kept.catch(() => undefined).finally(() => this.#keeping.delete(seen));
    this.#keeping.add(seen);
    return kept;
  }

  /**
   * After a failure nothing begins any more: what was stored later would be stored behind the run's back. Writes that
   * have begun are waited for, unless the caller gave the run up.
   */
  async giveUp(): Promise<void> {
    this.#isOver = true;
    if (!this.#scope.interruption.isAborted) {
      await Promise.all(this.#keeping);
    }
  }
}

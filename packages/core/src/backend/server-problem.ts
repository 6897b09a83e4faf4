import type { ErrorCode } from "../errors.ts";
import type { ServerFailure } from "./server-engine.ts";

/**
 * What a backend itself notices about a connection or an answer, and throws where `ServerCalls` hears it: callers get an error with this
 * code and reason, the provider and the name of their call, and this as its cause. Its own message may say more.
 */
export class ServerProblem extends Error {
  override readonly name: string = "ServerProblem";
  readonly failure: ServerFailure;

  /** @param details The `position` of what is corrupt, or the `currentVersion` that a condition did not meet. */
  constructor(code: ErrorCode, reason: string, details: Pick<ServerFailure, "currentVersion" | "position"> = {}) {
    super(reason);
    this.failure = { code, reason, ...details };
  }
}

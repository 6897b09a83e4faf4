import { AgentFrameworkError } from "../errors.ts";

/** The errors that most backends make themselves, each signed with the backend's name. */
export class ProviderErrors {
  readonly #provider: string;

  /** @param provider The backend's name, for example `history-file`. */
  constructor(provider: string) {
    this.#provider = provider;
  }

  /** Someone else came first, or what a condition was about is not there. @param currentVersion What is there now, if anything. */
  conflict(message: string, currentVersion?: string): AgentFrameworkError {
    return new AgentFrameworkError("conflict", message, { provider: this.#provider, currentVersion });
  }

  /** Stored data that cannot be read, and was left as it is. The data itself goes nowhere. @param position Where, in the backend's terms. */
  corrupt(message: string, position: string): AgentFrameworkError {
    return new AgentFrameworkError("corrupt", message, { provider: this.#provider, position });
  }

  /** A write that may have been carried out, or not. */
  outcomeUnknown(operation: string, reason: string): AgentFrameworkError {
    return new AgentFrameworkError("outcome_unknown", `${operation}: ${reason}`, { provider: this.#provider });
  }

  /** An answer that nothing gives which this version knows: most likely it is a later version's. */
  unexpectedAnswer(operation: string): AgentFrameworkError {
    const message = `${operation}: the server answered something that this version does not know`;
    return new AgentFrameworkError("unsupported", message, { provider: this.#provider });
  }
}

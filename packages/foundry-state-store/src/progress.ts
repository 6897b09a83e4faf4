import { stateError } from "./errors.ts";

/** How far a write is, and whether its caller still waits for it. */
export class Progress {
  /** True when something may have been written. */
  hasChanged = false;
  isGivenUp = false;

  /** Stops a call whose caller was answered already. What is thrown reaches nobody. */
  assertWanted(): void {
    if (this.isGivenUp) {
      throw stateError("timeout", "the call was given up");
    }
  }
}

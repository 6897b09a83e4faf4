import { createInterface, type Interface } from "node:readline/promises";

/**
 * Lines from a terminal or from a pipe. Lines that come while nobody asks are kept, so a pipe that delivers them all at
 * once loses none.
 */
export class LineInput {
  readonly isTerminal: boolean;
  readonly #interface: Interface;
  readonly #lines: string[] = [];
  readonly #onSignal: () => void;
  #isClosed = false;
  #wake: (() => void) | undefined;

  /** `onInterrupt` is called for every Ctrl-C, and for every interrupt signal from elsewhere. */
  constructor(onInterrupt: () => void) {
    const { stdin: input, stdout: output } = process;
    this.isTerminal = input.isTTY === true && output.isTTY === true;
    // Without a terminal nothing is echoed: the output is for a file or another program.
    this.#interface = createInterface(this.isTerminal ? { input, output, terminal: true } : { input });
    this.#onSignal = onInterrupt;
    this.#interface.on("line", (line) => {
      this.#lines.push(line);
      this.#wake?.();
    });
    this.#interface.on("close", () => {
      this.#isClosed = true;
      this.#wake?.();
    });
    this.#interface.on("SIGINT", onInterrupt);
    process.on("SIGINT", this.#onSignal);
  }

  /** Shows the prompt again, after something else was written. */
  promptAgain(): void {
    if (this.isTerminal) {
      this.#interface.prompt(true);
    }
  }

  /** The next line; `undefined` at the end of the input. */
  async next(prompt: string): Promise<string | undefined> {
    if (this.isTerminal && !this.#isClosed && this.#lines.length === 0) {
      this.#interface.setPrompt(prompt);
      this.#interface.prompt();
    }
    while (this.#lines.length === 0 && !this.#isClosed) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
    return this.#lines.shift();
  }

  /** Drops what was not asked for yet and ends the input. */
  close(): void {
    this.#lines.length = 0;
    this.#interface.close();
    process.off("SIGINT", this.#onSignal);
    // A pipe that stays open would keep the process alive.
    process.stdin.destroy();
  }
}

import { clearLine, cursorTo } from "node:readline";

/** A terminal, as far as a line that is written over and over needs one. */
export interface Terminal extends NodeJS.WritableStream {
  readonly columns?: number;
}

const QUIET_MS = 3_000;

/** Tells on a terminal what is being done, once nothing was printed for some seconds. Without a terminal it is silent. */
export class Progress {
  readonly #terminal: Terminal | undefined;
  readonly #timer: ReturnType<typeof setInterval> | undefined;
  #doing = "";
  #since = Date.now();
  #isShown = false;

  constructor(terminal: Terminal | undefined) {
    this.#terminal = terminal;
    this.#timer = terminal && setInterval(() => this.#show(), 1_000);
  }

  /** Something else is being done now. */
  begin(doing: string): void {
    this.clear();
    this.#doing = doing;
    this.#since = Date.now();
  }

  /** Takes the line away: something is about to be printed. */
  clear(): void {
    if (this.#isShown && this.#terminal !== undefined) {
      cursorTo(this.#terminal, 0);
      clearLine(this.#terminal, 0);
      this.#isShown = false;
    }
  }

  end(): void {
    this.clear();
    clearInterval(this.#timer);
  }

  #show(): void {
    const passedMs = Date.now() - this.#since;
    if (this.#terminal === undefined || passedMs < QUIET_MS) {
      return;
    }
    const text = `  ${Math.floor(passedMs / 1_000)} s: ${this.#doing}`;
    this.clear();
    this.#terminal.write(text.slice(0, (this.#terminal.columns ?? 80) - 1));
    this.#isShown = true;
  }
}

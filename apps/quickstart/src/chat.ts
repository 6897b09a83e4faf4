import { isAbortError, isAgentFrameworkError } from "@agentfw/core";
import { explain } from "./errors.ts";
import { historyLines } from "./history-lines.ts";
import { LineInput } from "./line-input.ts";
import { command, type Options, optionsFor } from "./options.ts";
import { keepSession } from "./session-file.ts";
import { complain, count, print, printable } from "./terminal.ts";
import { takeTurn } from "./turn.ts";
import { howToKeep, openWorkplace, type Workplace } from "./workplace.ts";

const COMMANDS = `  /history   show what is stored
  /clear     remove what is stored, and begin anew
  /exit      leave; so do the end of the input and Ctrl-C twice
  /help      show this
  Ctrl-C stops an answer; nothing of a turn that was stopped is stored.`;

/** A conversation, line by line, until the input ends. */
export async function chat(options: Options): Promise<number> {
  const place = await openWorkplace(options);
  const talk = new Chat(place, options);
  try {
    return await talk.run();
  } finally {
    await place.backend.close();
  }
}

class Chat {
  readonly #place: Workplace;
  readonly #options: Options;
  readonly #input: LineInput;
  #underWay: AbortController | undefined;
  /** Since the last line. */
  #interrupts = 0;
  #failures = 0;

  constructor(place: Workplace, options: Options) {
    this.#place = place;
    this.#options = options;
    this.#input = new LineInput(() => this.#interrupt());
  }

  async run(): Promise<number> {
    try {
      await this.#greet();
      for (let line = await this.#nextLine(); line !== undefined; line = await this.#nextLine()) {
        this.#interrupts = 0;
        await this.#handle(line.trim()).catch((error: unknown) => this.#tell(error));
      }
    } finally {
      // An input that stays open would keep the process.
      this.#input.close();
    }
    this.#sayGoodbye();
    return this.#failures > 0 && !this.#input.isTerminal ? 1 : 0;
  }

  async #nextLine(): Promise<string | undefined> {
    const line = await this.#input.next("  you: ");
    if (line !== undefined && line.trim() !== "" && !this.#input.isTerminal) {
      print(`  you: ${printable(line)}`);
    }
    return line;
  }

  async #greet(): Promise<void> {
    const { model, backend, session, history } = this.#place;
    print(`  Model     ${model.description}`);
    print(`  History   ${await backend.where(session)}`);
    print(`  Session   ${session.sessionId}, of the owner ${this.#options.owner}, in process ${process.pid}`);
    const keep = howToKeep(this.#place, this.#options);
    if (keep !== undefined) {
      print(`            It is forgotten when you leave; ${keep}.`);
    }
    const stored = await history.getMessages(session);
    print(`  Stored    ${count(stored.length, "message")}. /help shows the commands.\n`);
  }

  async #handle(line: string): Promise<void> {
    if (line === "") {
      return;
    }
    if (!line.startsWith("/")) {
      await this.#turn(line);
      return;
    }
    const { backend, session, history } = this.#place;
    switch (line) {
      case "/exit":
        this.#input.close();
        return;
      case "/help":
        print(COMMANDS);
        return;
      case "/history":
        for (const text of historyLines(await history.getMessages(session))) {
          print(`  ${text}`);
        }
        return;
      case "/clear":
        await backend.clear(session);
        await keepSession(session, this.#options);
        print("  Removed. The next turn begins a conversation.");
        return;
      default:
        print(`  There is no command ${printable(line)}. /help shows those that there are.`);
    }
  }

  async #turn(text: string): Promise<void> {
    const abort = new AbortController();
    this.#underWay = abort;
    try {
      await takeTurn(this.#place, text, { signal: abort.signal });
      await keepSession(this.#place.session, this.#options);
    } finally {
      this.#underWay = undefined;
    }
  }

  #interrupt(): void {
    this.#interrupts += 1;
    if (this.#interrupts > 1) {
      this.#underWay?.abort();
      this.#input.close();
    } else if (this.#underWay !== undefined) {
      this.#underWay.abort();
    } else {
      print("\n  Ctrl-C again leaves.");
      this.#input.promptAgain();
    }
  }

  #tell(error: unknown): void {
    if (isAbortError(error)) {
      print("  Stopped; nothing of this turn is stored. Ctrl-C again leaves.");
      return;
    }
    this.#failures += 1;
    complain(`  error: ${explain(error)}`);
    if (isAgentFrameworkError(error) && error.response !== undefined) {
      complain("  The answer above came, and could not be stored.");
    }
  }

  #sayGoodbye(): void {
    const { session } = this.#place;
    const isKept = howToKeep(this.#place, this.#options) === undefined;
    const files = this.#options.sessionFile === undefined ? [] : [`--session-file=${this.#options.sessionFile}`];
    const again = command("--chat", ...optionsFor({ ...this.#options, session: session.sessionId }), ...files);
    print(isKept ? `\n  To go on later: ${again}` : "\n  Forgotten.");
  }
}

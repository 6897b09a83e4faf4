import type { RunEvent, SuiteHead } from "./cli-events.ts";
import type { Progress } from "./cli-progress.ts";
import { type ClauseReport, type ContractReport, clauseLine, reportOf } from "./report.ts";

/** What a process said of its own end. */
interface LastWords {
  /** What was thrown that nobody caught. */
  readonly uncaught: string | undefined;
  /** Who asked it to end. */
  readonly asked: string | undefined;
  /** Where it called `process.exit()`. */
  readonly exitAt: string | undefined;
}

/** Keeps what happened in a run, and prints it while it happens. */
export class RunRecord {
  readonly #write: (text: string) => void;
  readonly #progress: Progress;
  readonly #file: string;
  #suites: readonly { readonly head: SuiteHead; readonly clauses: ClauseReport[] }[] = [];
  #current = 0;
  #doing: string;
  #uncaught: string | undefined;
  #askedBy: string | undefined;
  #exitAt: string | undefined;
  #refusal: string | undefined;
  #strays: readonly string[] | undefined;
  #hasRun = false;
  #isClosing = false;

  constructor(file: string, write: (text: string) => void, progress: Progress) {
    this.#file = file;
    this.#write = write;
    this.#progress = progress;
    this.#doing = `before ${file} was loaded`;
  }

  /** Rejections that nobody waited for, once every clause has ended. */
  get strays(): readonly string[] | undefined {
    return this.#strays;
  }

  /** Why nothing could be run. */
  get refusal(): string | undefined {
    return this.#refusal;
  }

  /** True when clauses have begun to run. */
  get hasRun(): boolean {
    return this.#hasRun;
  }

  /** Where the run is: `in the middle of H06`. */
  get where(): string {
    return this.#doing;
  }

  /** What the process said of its own end before it ended. */
  get lastWords(): LastWords {
    return { uncaught: this.#uncaught, asked: this.#askedBy, exitAt: this.#exitAt };
  }

  take(event: RunEvent): void {
    if (this.#isClosing && event.type !== "exit") {
      // A clause whose store is taken away from under it finds nothing out.
      return;
    }
    switch (event.type) {
      case "loading":
        this.#begin(`while ${this.#file} was loaded`, `loading ${this.#file}`);
        break;
      case "opening":
        this.#suites = event.suites.map((head) => ({ head, clauses: [] }));
        this.#begin("in open() before any clause was run", "open()");
        break;
      case "suite":
        this.#beginSuite(event.index);
        break;
      case "clause":
        this.#begin(`in the middle of ${event.id}`, `${event.id} ${event.title}`);
        break;
      case "result":
        this.#end(event.clause);
        break;
      case "alive":
        break;
      default:
        this.#takeEnd(event);
    }
  }

  /** Prints, with the progress out of the way. */
  print(text: string): void {
    this.#progress.clear();
    this.#write(text);
  }

  /** The reports on what has ended until now. */
  reports(unfinished?: string): ContractReport[] {
    const mark = unfinished === undefined ? {} : { unfinished };
    return this.#suites.map(({ head, clauses }) => ({ ...reportOf(head.port, head.name, clauses), ...mark }));
  }

  #takeEnd(event: Extract<RunEvent, { type: "refused" | "uncaught" | "closing" | "exit" | "done" }>): void {
    switch (event.type) {
      case "refused":
        this.#refusal = event.message;
        break;
      case "uncaught":
        this.#uncaught ??= event.text;
        break;
      case "closing":
        this.#isClosing = true;
        this.#askedBy = event.askedBy;
        this.#progress.begin("closing what is open; Ctrl-C once more ends it at once");
        break;
      case "exit":
        this.#exitAt = event.at;
        break;
      case "done":
        this.#strays = event.strays;
        break;
    }
  }

  #begin(where: string, doing: string): void {
    this.#doing = where;
    this.#progress.begin(doing);
  }

  #beginSuite(index: number): void {
    this.#hasRun = true;
    this.#current = index;
    const head = this.#suites[index]?.head;
    this.#begin("between two clauses", "between two clauses");
    this.print(`${head?.name}: the contract of ${head?.port}\n`);
  }

  #end(clause: ClauseReport): void {
    this.#suites[this.#current]?.clauses.push(clause);
    this.#begin(`after ${clause.id}`, "between two clauses");
    this.print(`  ${clauseLine(clause)}\n`);
  }
}

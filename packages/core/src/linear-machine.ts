/** What the characters around a position must be; `undefined` is the end of the line. */
export type Assertion = (before: number | undefined, after: number | undefined) => boolean;

const isWord = (codePoint: number | undefined): boolean =>
  codePoint !== undefined && /^\w$/iu.test(String.fromCodePoint(codePoint));

/** What holds at a position, by how a pattern says it. */
export const ASSERTIONS: Readonly<Record<string, Assertion>> = {
  "^": (before) => before === undefined,
  $: (_, after) => after === undefined,
  "\\b": (before, after) => isWord(before) !== isWord(after),
  "\\B": (before, after) => isWord(before) === isWord(after),
};

/** One step of a compiled pattern. */
export interface Instruction {
  /** Consumes a character that passes. */
  readonly test?: (codePoint: number) => boolean;
  /** Goes on only where this holds. */
  readonly holds?: Assertion | undefined;
  /** Also goes on there. */
  fork?: number;
  /** Where to go on; the next instruction unless set. */
  next?: number;
}

/** A line that matches. */
export interface FoundLine {
  /** Counted from 1. */
  readonly line: number;
  /** Without its line break. */
  readonly text: string;
}

/** A search through a text, done in slices: the next line that matches, `null` at the end, `undefined` when `work` was not enough. */
export type TextSearch = (work: number) => FoundLine | null | undefined;

/** Where a search is: the instructions that the next character leads to, and what stands before it. */
interface State {
  readonly waiting: readonly number[];
  readonly before: number | undefined;
  /** Where a character leads, as far as it was looked at, by its code; the first place is for the end of the line. */
  readonly next: (State | boolean | undefined)[];
  /** The same for characters beyond the first 128, which would make the list a sparse one. */
  readonly nextOfOthers: Map<number, State | boolean>;
}

const DENSE = 129;

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** States that are remembered at once. A pattern that needs more is followed step by step, which is as linear. */
const MAX_STATES = 1_000;

/** What stands before a character matters to assertions only: nothing, a word character or another. */
const BEFORE_WORD = 0x61;
const BEFORE_OTHER = 0x20;

/**
 * Follows all ways through the instructions at once. Where a character leads from a state is worked out once and then
 * remembered, so most characters cost one look-up.
 */
export class LinearMachine {
  readonly #code: readonly Instruction[];
  readonly #usesWords: boolean;
  /** The step at which an instruction was last reached, so that each is followed once for each step. */
  readonly #reached: Int32Array;
  #step = 0;
  #states = new Map<string, State>();
  readonly #first: State;

  constructor(code: readonly Instruction[]) {
    this.#code = code;
    this.#usesWords = code.some(({ holds }) => holds === ASSERTIONS["\\b"] || holds === ASSERTIONS["\\B"]);
    this.#reached = new Int32Array(code.length).fill(-1);
    this.#first = this.#stateOf([], undefined);
  }

  start(text: string): TextSearch {
    let state = this.#first;
    let position = 0;
    let line = 1;
    let lineStart = 0;
    const leaveLine = (end: number) => {
      line += 1;
      lineStart = end + 1;
      position = lineStart;
      state = this.#first;
    };
    return (work) => {
      for (let left = work; left > 0; left -= 1) {
        if (lineStart > text.length) {
          return null;
        }
        const place = placeAt(text, position);
        const known = place < DENSE ? state.next[place] : state.nextOfOthers.get(place);
        if (known === undefined) {
          left -= this.#code.length;
        }
        const next = known ?? this.#learn(state, place);
        if (next === true) {
          const feed = text.indexOf("\n", position);
          const end = feed < 0 ? text.length : feed;
          const whole = text.slice(lineStart, end);
          const found = { line, text: feed >= 0 && whole.endsWith("\r") ? whole.slice(0, -1) : whole };
          leaveLine(end);
          return found;
        }
        if (next === false) {
          leaveLine(text.charCodeAt(position) === CARRIAGE_RETURN ? position + 1 : position);
        } else {
          state = next;
          position += place > 0x10000 ? 2 : 1;
        }
      }
      return undefined;
    };
  }

  #learn(state: State, place: number): State | boolean {
    const next = this.#follow(state, place === 0 ? undefined : place - 1);
    if (place < DENSE) {
      state.next[place] = next;
    } else {
      state.nextOfOthers.set(place, next);
    }
    return next;
  }

  /** True for a match, false for the end without one, else where the character leads. */
  #follow({ waiting, before }: State, after: number | undefined): State | boolean {
    this.#step = this.#step === 0x7fffffff ? this.#restart() : this.#step + 1;
    // A match may begin anywhere: every position also starts from the top.
    const open = [...waiting, 0];
    const led: number[] = [];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      const instruction = this.#code[at];
      if (instruction === undefined) {
        return true;
      }
      if (this.#reached[at] === this.#step) {
        continue;
      }
      this.#reached[at] = this.#step;
      const next = instruction.next ?? at + 1;
      if (instruction.test !== undefined) {
        if (after !== undefined && instruction.test(after)) {
          led.push(next);
        }
      } else if (instruction.holds?.(before, after) ?? true) {
        open.push(next);
        if (instruction.fork !== undefined) {
          open.push(instruction.fork);
        }
      }
    }
    return after === undefined ? false : this.#stateOf(led, after);
  }

  #restart(): number {
    this.#reached.fill(-1);
    return 0;
  }

  #stateOf(waiting: number[], after: number | undefined): State {
    const before = after === undefined ? undefined : this.#usesWords && isWord(after) ? BEFORE_WORD : BEFORE_OTHER;
    const key = `${before} ${waiting.sort((left, right) => left - right)}`;
    let state = this.#states.get(key);
    if (state === undefined) {
      state = { waiting, before, next: new Array(DENSE).fill(undefined), nextOfOthers: new Map() };
      if (this.#states.size >= MAX_STATES) {
        this.#states = new Map();
      }
      this.#states.set(key, state);
    }
    return state;
  }
}

/** Where what stands here leads is kept: 0 for the end of the line, else the character's code and one. */
function placeAt(text: string, position: number): number {
  const code = text.charCodeAt(position);
  if (code === LINE_FEED || (code === CARRIAGE_RETURN && text.charCodeAt(position + 1) === LINE_FEED)) {
    return 0;
  }
  return code < 128 ? code + 1 : (text.codePointAt(position) ?? -1) + 1;
}

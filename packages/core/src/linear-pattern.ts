/** Instructions a pattern may compile to; what one character costs grows with it. */
const MAX_INSTRUCTIONS = 2_000;

/** Two escaped surrogates are one character, hence one token. */
const ESCAPE = String.raw`\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|[pPu]\{[^}]*\}|u.{4}|x..|c.|k<[^>]*>|.)`;
const CLASS = String.raw`\[(?:\\.|[^\]\\])*\]`;
const GROUP = String.raw`\((?:\?(?:<(?![=!])[^>]*>|<?.))?`;
const REPEAT = String.raw`(?:[*+?]|\{\d+(?:,\d*)?\})\??`;
const TOKEN = new RegExp(`${ESCAPE}|${CLASS}|${GROUP}|${REPEAT}|.`, "gsu");

type Assertion = (before: number | undefined, after: number | undefined) => boolean;

const isWord = (codePoint: number | undefined): boolean =>
  codePoint !== undefined && /^\w$/iu.test(String.fromCodePoint(codePoint));

const ASSERTIONS: Readonly<Record<string, Assertion>> = {
  "^": (before) => before === undefined,
  $: (_, after) => after === undefined,
  "\\b": (before, after) => isWord(before) !== isWord(after),
  "\\B": (before, after) => isWord(before) === isWord(after),
};

interface Instruction {
  /** Consumes a character that passes. */
  readonly test?: (codePoint: number) => boolean;
  /** Goes on only where this holds. */
  readonly holds?: Assertion | undefined;
  /** Also goes on there. */
  fork?: number;
  /** Where to go on; the next instruction unless set. */
  next?: number;
}

/** Appends the instructions of a part of the pattern, at least one. Called again each time the part is repeated. */
type Emit = (code: Instruction[]) => void;

/** A line that matches. */
export interface FoundLine {
  /** Counted from 1. */
  readonly line: number;
  /** Without its line break. */
  readonly text: string;
}

/** A search through a text, done in slices: the next line that matches, `null` at the end, `undefined` when `work` was not enough. */
export type TextSearch = (work: number) => FoundLine | null | undefined;

/**
 * Compiles a regular expression to a matcher whose time grows with pattern length times text length, whatever the
 * pattern: all ways through it are followed at once, character by character, so nothing is tried twice.
 *
 * The syntax is that of `RegExp` with the flags `i` and `u`.
 *
 * @throws SyntaxError for a malformed pattern, for back-references, look-around and group modifiers, which no
 * linear matcher can offer, and for counts that make it larger than 2,000 instructions.
 */
export function compileLinearPattern(pattern: string): (text: string) => TextSearch {
  try {
    new RegExp(pattern, "iu");
  } catch (error) {
    throw new SyntaxError("must be a well-formed regular expression", { cause: error });
  }
  const tokens = pattern.match(TOKEN) ?? [];
  const code: Instruction[] = [];
  parseAlternatives(tokens.reverse())(code);
  const machine = new Machine(code);
  return (text) => machine.start(text);
}

/** Reads up to a closing parenthesis or the end. `tokens` is a stack: the next one is last. */
function parseAlternatives(tokens: string[]): Emit {
  let sequence: Emit[] = [];
  const alternatives = [sequence];
  for (let token = tokens.pop(); token !== undefined && token !== ")"; token = tokens.pop()) {
    if (token === "|") {
      sequence = [];
      alternatives.push(sequence);
    } else {
      sequence.push(parseRepeat(parseAtom(token, tokens), tokens));
    }
  }
  return (code) => {
    const ends = alternatives.map((parts, index) => {
      const fork = push(code, {});
      for (const emit of parts) {
        emit(code);
      }
      const end = push(code, {});
      if (index < alternatives.length - 1) {
        fork.fork = code.length;
      }
      return end;
    });
    for (const end of ends) {
      end.next = code.length;
    }
  };
}

function parseAtom(token: string, tokens: string[]): Emit {
  if (token[0] === "(") {
    if (token.length > 1 && token !== "(?:" && !token.endsWith(">")) {
      const what = /[=!]$/.test(token) ? "look-around" : "a group modifier";
      throw new SyntaxError(`${what} is not supported`);
    }
    return parseAlternatives(tokens);
  }
  if (/^\\[1-9k]/.test(token)) {
    throw new SyntaxError("back-references are not supported");
  }
  const instruction = token in ASSERTIONS ? { holds: ASSERTIONS[token] } : { test: characterTest(token) };
  return (code) => push(code, { ...instruction });
}

function parseRepeat(emit: Emit, tokens: string[]): Emit {
  const [, mark, least, comma, most] = /^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??$/.exec(tokens.at(-1) ?? "") ?? [];
  if (mark === undefined && least === undefined) {
    return emit;
  }
  tokens.pop();
  const minimum = least === undefined ? Number(mark === "+") : Number(least);
  const unbounded = mark === undefined ? comma === "," && most === "" : mark !== "?";
  const maximum = least === undefined ? 1 : Number(most || least);
  return (code) => {
    for (let count = 0; count < minimum; count += 1) {
      emit(code);
    }
    // What may repeat without end is a loop; up to a maximum it is written out.
    for (let count = minimum; unbounded ? count === minimum : count < maximum; count += 1) {
      const start = code.length;
      const fork = push(code, {});
      emit(code);
      if (unbounded) {
        push(code, { next: start });
      }
      fork.fork = code.length;
    }
  };
}

function push(code: Instruction[], instruction: Instruction): Instruction {
  if (code.push(instruction) > MAX_INSTRUCTIONS) {
    throw new SyntaxError("repeats too much: its counts multiply to more than 2,000 steps");
  }
  return instruction;
}

/** The platform's own engine judges single characters, so that classes, escapes and case mean what they always mean. */
function characterTest(token: string): (codePoint: number) => boolean {
  const expression = new RegExp(`^${token}$`, "iu");
  const remembered = new Map<number, boolean>();
  return (codePoint) => {
    let passes = remembered.get(codePoint);
    if (passes === undefined) {
      passes = expression.test(String.fromCodePoint(codePoint));
      remembered.set(codePoint, passes);
    }
    return passes;
  };
}

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
class Machine {
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

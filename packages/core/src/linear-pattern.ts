import { ASSERTIONS, type Instruction, LinearMachine, type TextSearch } from "./linear-machine.ts";

/** Instructions a pattern may compile to; what one character costs grows with it. */
const MAX_INSTRUCTIONS = 2_000;

/** Two escaped surrogates are one character, hence one token. */
const ESCAPE = String.raw`\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|[pPu]\{[^}]*\}|u.{4}|x..|c.|k<[^>]*>|.)`;
const CLASS = String.raw`\[(?:\\.|[^\]\\])*\]`;
const GROUP = String.raw`\((?:\?(?:<(?![=!])[^>]*>|<?.))?`;
const REPEAT = String.raw`(?:[*+?]|\{\d+(?:,\d*)?\})\??`;
const TOKEN = new RegExp(`${ESCAPE}|${CLASS}|${GROUP}|${REPEAT}|.`, "gsu");

/** Appends the instructions of a part of the pattern, at least one. Called again each time the part is repeated. */
type Emit = (code: Instruction[]) => void;

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
  const machine = new LinearMachine(code);
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

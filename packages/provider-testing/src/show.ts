import { isAgentFrameworkError } from "@agentfw/core";

/** The most that a message shows of one value: it may be somebody's conversation, and what failed is lost behind it. */
const LONGEST = 100;

/** The most of a text that is one member among others. */
const LONGEST_MEMBER = 40;

/** A value in a message: short, on one line. */
export function show(value: unknown): string {
  return shortened(describe(value), LONGEST);
}

/** A text on one line, cut where it is longer than this. */
export function shortened(text: string, longest: number): string {
  const line = text.trim().replace(/\s*[\r\n\u2028\u2029]\s*/g, " ");
  if (line.length <= longest) {
    return line;
  }
  // Not in the middle of a character: half of one is printed as something else.
  const end = /[\ud800-\udbff]/.test(line.charAt(longest - 1)) ? longest - 1 : longest;
  return `${line.slice(0, end)}… (${line.length} characters)`;
}

/** True for what is shown whole. */
export function isShort(value: unknown): boolean {
  return typeof value !== "string" || value.length <= LONGEST;
}

/** What was expected and what was seen; of long texts, the part where they part. */
export function difference(expected: unknown, actual: unknown): string {
  if (typeof expected !== "string" || typeof actual !== "string" || (isShort(expected) && isShort(actual))) {
    return `expected ${show(expected)}, got ${show(actual)}`;
  }
  let at = 0;
  while (at < expected.length && expected[at] === actual[at]) {
    at += 1;
  }
  const from = Math.max(0, at - 10);
  const part = (text: string) => JSON.stringify(text.slice(from, from + LONGEST_MEMBER));
  return (
    `expected a text of ${expected.length} characters, got one of ${actual.length}; they differ from character ${at} ` +
    `on: expected …${part(expected)}…, got …${part(actual)}…`
  );
}

function describe(value: unknown): string {
  if (isAgentFrameworkError(value)) {
    return `${value.code} (${value.message})`;
  }
  if (value instanceof Error) {
    const code: unknown = Reflect.get(value, "code");
    return `${value.name}${typeof code === "string" ? ` ${code}` : ""}: ${value.message}`;
  }
  try {
    return JSON.stringify(value, brief) ?? String(value);
  } catch {
    return String(value);
  }
}

/** A page of records is told by its size: which they are helps nobody in a message. */
function brief(name: string, member: unknown): unknown {
  if (name !== "" && Array.isArray(member) && member.length > 3) {
    return `${member.length} items`;
  }
  return typeof member === "string" && member.length > LONGEST ? shortened(member, LONGEST_MEMBER) : member;
}

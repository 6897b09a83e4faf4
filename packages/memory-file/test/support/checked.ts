import { createHash } from "node:crypto";

/** A text of some thousand characters that says itself whether it is whole. */
export function checked(number: number): string {
  const body = `number ${number}\n${"a line of the file\n".repeat(50 + (number % 5) * 60)}`;
  return `${body}${createHash("sha256").update(body).digest("hex")}`;
}

/** The number of a text that {@link checked} gave; throws when the text is not whole. */
export function numberIn(text: string): number {
  const number = Number(/^number (\d+)\n/.exec(text)?.[1]);
  if (text !== checked(number)) {
    throw new Error(`a text of ${text.length} characters is not whole`);
  }
  return number;
}

import { AssertionError } from "node:assert";
import type { ClauseResult } from "../../src/index.ts";
import type { Mutant } from "./mutant.ts";

/** What a message says when the store threw: `rejected with` an error, or an error in the place of a result. */
const SHOWS_ERROR = /rejected with |; got "?[a-z_]+ \(|\b[A-Za-z]*Error\b: /;

/** What a message says when nothing was found out but that time passed. */
const SHOWS_LIMIT = /^the clause did not end within|close\(\) did not end within/;

/**
 * How a clause ended on a mutant: `H06 failed`, or what it says instead. A failure counts when it is an assertion of the
 * clause on what the store did, and not the one that it fails with when every call throws. An error of the store proves nothing, as a mutant that only throws would do as well,
 * unless the mutant says which one it throws.
 */
export function verdict(
  { rejects }: Pick<Mutant, "rejects">,
  { clause: { id }, outcome, error }: Pick<ClauseResult, "clause" | "outcome" | "error">,
  textWhenAllThrows: string,
): string {
  if (outcome !== "failed" && outcome !== "upcoming") {
    return `${id} ${outcome}`;
  }
  const text = textOf(error);
  if (SHOWS_LIMIT.test(text)) {
    return `${id} did not come to its assertion: ${text}`;
  }
  if (!isErrorOfStore(error) && text === textWhenAllThrows) {
    return `${id} failed as it does on a store that only throws: ${text}`;
  }
  if (isErrorOfStore(error) && (rejects === undefined || !text.includes(rejects))) {
    return `${id} failed on an error of the store that the mutant does not announce: ${text}`;
  }
  return `${id} failed`;
}

/** True for a failure that is, or shows, an error of the store. */
export function isErrorOfStore(error: unknown): boolean {
  return !(error instanceof AssertionError) || SHOWS_ERROR.test(error.message);
}

/** What a clause failed with. */
export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

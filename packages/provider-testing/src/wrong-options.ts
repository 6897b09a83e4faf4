import type { ErrorCode } from "@agentfw/core";
import { ensure, expectCode } from "./expect.ts";
import { show } from "./show.ts";

/** What callers without a compiler pass where options belong. */
const WRONG_OPTIONS: readonly unknown[] = [null, 5, "options", [], { signal: 5 }];

/** What is no text, where an etag, a version, a cursor or a path belongs. */
export const NO_TEXTS: readonly unknown[] = [null, 5, true, {}, []];

/** What is no number, where a count or a time belongs. */
export const NO_NUMBERS: readonly unknown[] = [null, "5", true, {}, []];

/** What is neither a text nor `null`. */
export const NO_OWNERS: readonly unknown[] = [5, true, {}, []];

/** A method of a store, and what it is called with in front of its options. */
export type CallBeforeOptions = readonly [method: string, ...given: unknown[]];

/** Fails unless every method refuses wrong options as bad input. */
export async function expectOptionsRefused(store: object, calls: readonly CallBeforeOptions[]): Promise<void> {
  for (const [method, ...given] of calls) {
    for (const options of WRONG_OPTIONS) {
      await expectCode(called(store, method, [...given, options]), `${method} with ${show(options)}`, "configuration");
    }
  }
}

/** Fails unless the method refuses each of these values in each of these options, with one of the codes. */
export async function expectMembersRefused(
  store: object,
  [method, ...given]: CallBeforeOptions,
  members: Readonly<Record<string, readonly unknown[]>>,
  ...codes: readonly ErrorCode[]
): Promise<void> {
  for (const [name, values] of Object.entries(members)) {
    for (const value of values) {
      const call = called(store, method, [...given, { [name]: value }]);
      await expectCode(call, `${method} with ${name} ${show(value)}`, "configuration", ...codes);
    }
  }
}

/** A throw counts as a rejection here; that calls reject is for other clauses. */
async function called(store: object, method: string, given: readonly unknown[]): Promise<unknown> {
  const member: unknown = Reflect.get(store, method);
  return typeof member === "function" ? Reflect.apply(member, store, given) : undefined;
}

/** Fails unless each of the makers is refused, at once or by rejection, and what was refused is named. */
export async function expectWrongOptionsRefused(opened: {
  wrongOptions?(): Readonly<Record<string, () => unknown>>;
}): Promise<void> {
  const makers = Object.entries(opened.wrongOptions?.() ?? {});
  ensure(makers.length > 0, "wrongOptions() gives at least one way to be wrong");
  for (const [name, make] of makers) {
    const call = Promise.resolve().then(make);
    const error = await expectCode(call, `options that are wrong (${name})`, "configuration", "unsupported");
    ensure(error.message.length > 0, `options that are wrong (${name}): the error says what the rule is`);
  }
}

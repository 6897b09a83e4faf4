import { ensure, expectCode, show } from "./expect.ts";

/** What callers without a compiler pass where options belong. */
const WRONG_OPTIONS: readonly unknown[] = [null, 5, "options", [], { signal: 5 }];

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

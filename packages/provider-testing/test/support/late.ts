import { isPlainObject } from "@agentfw/core";
import { copied } from "./copied.ts";

/** How late a defective store looks at what it was given. */
const WAITS = {
  "after one await": () => Promise.resolve(),
  "after a timer": () => new Promise<void>((resolve) => setTimeout(resolve, 1)),
};

/** One argument of one method that is looked at too late: all others are copied at once. */
export type LateArgument = readonly [
  method: string,
  position: number,
  argument: string,
  when: "after one await" | "after a timer",
  /** Text of the error that the changed argument leads to, where it leads to one. */
  rejects?: string,
];

/** What the mutant is told beside its defect. */
export function lateOptions([, , , , rejects]: LateArgument): { readonly rejects?: string } {
  return rejects === undefined ? {} : { rejects };
}

/** What such a store does wrong. */
export function lateName([method, , argument, when]: LateArgument): string {
  return `looks at the ${argument} of ${method} only ${when}`;
}

/** The store with that one argument looked at too late. */
export function late<S extends object>(store: S, [method, position, , when]: LateArgument): S {
  const sound: unknown = Reflect.get(store, method);
  if (typeof sound !== "function") {
    throw new Error(`there is no method ${method}`);
  }
  const defective = { ...store };
  Reflect.set(defective, method, async (...given: unknown[]) => {
    const own = given.map((value, index) => (index === position ? value : copied(value)));
    const argument = given[position];
    const signal = isPlainObject(argument) ? Reflect.get(argument, "signal") : undefined;
    await WAITS[when]();
    // The signal is the one that was passed: what else was changed is to be noticed, too.
    own[position] = isPlainObject(argument) && "signal" in argument ? { ...argument, signal } : argument;
    return Reflect.apply(sound, store, own);
  });
  return defective;
}

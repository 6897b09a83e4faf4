import type { OpenedSubject, OpenOptions } from "./opened.ts";

/** The ports that the kit has a contract for. */
export type ContractPort = "HistoryStore" | "StateStore" | "FileStore" | "ContextProvider" | "ChatClient";

/** Every {@link HookName}. */
export const HOOKS = [
  "advanceTime",
  "another",
  "answerNext",
  "asOwner",
  "breakBackend",
  "corrupt",
  "duplicateNextRequest",
  "failNext",
  "healBackend",
  "interruptNext",
  "lastRequest",
  "loseNextReply",
  "loseNextRequest",
  "plantLink",
  "requests",
  "sharedClient",
  "stallBackend",
  "wrongOptions",
] as const;

/** What `open()` may offer beside what it opens, so that a clause can cause what it is about. */
export type HookName = (typeof HOOKS)[number];

/** What a clause needs before it can say anything about a store. */
export interface ClauseRequirements {
  /** A member of the store's `capabilities`. Undeclared, the clause is not covered; another one proves the refusal. */
  readonly capabilities?: readonly string[] | undefined;
  /** What `open()` must offer. */
  readonly hooks?: readonly HookName[] | undefined;
}

/**
 * One line of the contract as something that can be run. Ids are permanent: a clause that is withdrawn leaves a gap, and
 * its id is not given to another one.
 */
export interface ContractClause<O extends OpenedSubject = OpenedSubject> {
  /** `H06`: the port's letter and a number. */
  readonly id: string;
  /** One sentence that states the behavior. */
  readonly title: string;
  /** The line of the contract that the clause proves, for example `HistoryStore 1`. */
  readonly contract: string;
  /** What goes wrong for the users of a store that breaks it. */
  readonly reason: string;
  readonly requires?: ClauseRequirements | undefined;
  /**
   * True for a clause that is new: that it fails is reported and fails nothing. It is required from the kit's next major
   * version on.
   */
  readonly upcoming?: boolean | undefined;
  /** Resolves when the store holds to the clause; rejects with what it did instead. Use {@link runClause} to call it. */
  run(trial: Trial<O>): Promise<void>;
}

/** What a clause works with while it runs. */
export interface Trial<O extends OpenedSubject = OpenedSubject> {
  /** Opens a store that sees nothing another call wrote. It is closed when the clause has ended. */
  open(options?: OpenOptions): Promise<O>;
  /** True when `open()` offers this. */
  offers(hook: HookName): boolean;
  /** True when the store declares this capability. */
  declares(capability: string): boolean;
  /**
   * Ends the clause as not covered. With `lacking`, what the store declares is not proven for want of that hook, and the
   * suite's `cannot` must say why.
   */
  notCovered(reason: string, lacking?: HookName): never;
}

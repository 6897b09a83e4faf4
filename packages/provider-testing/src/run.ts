import { AgentFrameworkError, configurationError } from "@agentfw/core";
import { type ContractClause, type ContractPort, HOOKS, type HookName, type Trial } from "./clause.ts";
import { all, failure } from "./expect.ts";
import type { ContractSuite, OpenedSubject } from "./opened.ts";
import { assertMembers, assertReasons } from "./opened-input.ts";
import { type ClauseResult, type ContractReport, report } from "./report.ts";

/** How long one clause of this suite may take. */
export function clauseTimeoutMs(suite: { readonly clauseTimeoutMs?: number | undefined }): number {
  return suite.clauseTimeoutMs ?? 60_000;
}

/** How long a close may take. */
export const CLOSE_TIMEOUT_MS = 10_000;

const closed = new WeakSet<object>();

/** True when the kit has closed this, or is about to. */
export function isClosed(opened: OpenedSubject): boolean {
  return closed.has(opened);
}

/** The version of the ports that the clauses are about. */
const CONTRACT_VERSION = 1;

/** Options of a run over many clauses. */
export interface RunOptions {
  /** Run only the clauses with these ids. @default all */
  readonly only?: readonly string[] | undefined;
  /** Called before each clause, in order. */
  readonly onClause?: ((clause: ClauseResult["clause"]) => void) | undefined;
  /** Called after each clause, in order. */
  readonly onResult?: ((result: ClauseResult) => void) | undefined;
}

/** Thrown by a clause that cannot say anything about this store. */
class NotCovered {
  readonly reason: string;
  readonly needsReason: boolean;

  constructor(reason: string, needsReason: boolean) {
    this.reason = reason;
    this.needsReason = needsReason;
  }
}

/** What a store declares and what its `open()` offers, found out once for all clauses of a suite. */
interface Probe {
  readonly capabilities: ReadonlyMap<string, unknown>;
  readonly hooks: ReadonlySet<HookName>;
}

const probes = new WeakMap<object, Promise<Probe>>();

function probe<O extends OpenedSubject>(suite: ContractSuite<O>): Promise<Probe> {
  const known = probes.get(suite);
  if (known !== undefined) {
    return known;
  }
  const fresh = openProbe(suite);
  probes.set(suite, fresh);
  // A backend that was not up yet must not fail every later clause.
  fresh.catch(() => probes.delete(suite));
  return fresh;
}

async function openProbe<O extends OpenedSubject>(suite: ContractSuite<O>): Promise<Probe> {
  assertReasons(suite.cannot);
  const opened = await suite.open();
  try {
    assertRunnable(opened);
    const store = storeOf(opened);
    const declared = typeof store === "object" && store !== null && "capabilities" in store ? store.capabilities : {};
    return {
      capabilities: new Map(Object.entries(declared ?? {})),
      hooks: new Set(HOOKS.filter((name) => typeof Reflect.get(opened, name) === "function")),
    };
  } finally {
    await closeOpened(opened);
  }
}

/**
 * Runs one clause against a store and says how it ended; never rejects. What the clause opened is closed afterwards,
 * and a close that fails is a failed clause.
 */
export async function runClause<O extends OpenedSubject>(
  clause: ContractClause<O>,
  suite: ContractSuite<O>,
): Promise<ClauseResult> {
  const opened: O[] = [];
  const failed = clause.upcoming === true ? "upcoming" : "failed";
  let outcome: ClauseResult;
  try {
    await within(runOnce(clause, suite, opened), clauseTimeoutMs(suite), "the clause");
    outcome = { clause, outcome: "passed" };
  } catch (error) {
    outcome =
      error instanceof NotCovered
        ? {
            clause,
            outcome: "not covered",
            reason: error.reason,
            needsReason: error.needsReason && clause.upcoming !== true,
          }
        : { clause, outcome: failed, error };
  }
  try {
    await all(opened.map(closeOpened));
  } catch (error) {
    return outcome.outcome === failed ? outcome : { clause, outcome: failed, error };
  }
  return outcome;
}

/** Runs the clauses one after the other and reports. Rejects only for bad options, and names in `cannot` that are none. */
export async function runContract<O extends OpenedSubject>(
  port: ContractPort,
  clauses: readonly ContractClause<O>[],
  suite: ContractSuite<O>,
  options: RunOptions = {},
): Promise<ContractReport> {
  const { only, onClause, onResult } = options;
  assertReasons(suite.cannot);
  const unknown = only?.filter((id) => clauses.every((clause) => clause.id !== id)) ?? [];
  if (unknown.length > 0) {
    throw configurationError("only", `${port} has no clause ${unknown.join(", ")}`);
  }
  const results: ClauseResult[] = [];
  for (const clause of clauses) {
    if (only === undefined || only.includes(clause.id)) {
      onClause?.(clause);
      const result = await runClause(clause, suite);
      results.push(result);
      onResult?.(result);
    }
  }
  return report(port, suite.name, results);
}

async function runOnce<O extends OpenedSubject>(
  clause: ContractClause<O>,
  suite: ContractSuite<O>,
  opened: O[],
): Promise<void> {
  const { capabilities, hooks } = await probe(suite);
  const declares = (name: string) => capabilities.get(name) === true || capabilities.get(name) === "many";
  const trial: Trial<O> = {
    offers: (hook) => hooks.has(hook),
    declares,
    notCovered: (reason, lacking) => {
      throw lacking === undefined ? new NotCovered(reason, false) : withoutHook(suite, reason, lacking, true);
    },
    open: async (options) => {
      const one = await suite.open(options);
      opened.push(one);
      return one;
    },
  };
  for (const name of clause.requires?.capabilities ?? []) {
    if (!declares(name)) {
      throw new NotCovered(`the store does not declare ${name}`, false);
    }
  }
  const missing = clause.requires?.hooks?.find((hook) => !hooks.has(hook));
  if (missing !== undefined) {
    const isDeclared = (clause.requires?.capabilities?.length ?? 0) > 0;
    throw withoutHook(suite, `open() offers no ${missing}()`, missing, isDeclared);
  }
  await clause.run(trial);
}

/** What is declared must be proven: for want of a hook it is not, and then there must be a reason. */
function withoutHook(
  { cannot }: Pick<ContractSuite<OpenedSubject>, "cannot">,
  what: string,
  hook: HookName,
  isDeclared: boolean,
): NotCovered {
  const because = cannot?.[hook];
  return new NotCovered(because === undefined ? what : `${what}: ${because}`, isDeclared && because === undefined);
}

/** Closes what one call of `open()` gave. */
export async function closeOpened(opened: OpenedSubject): Promise<void> {
  closed.add(opened);
  const store = storeOf(opened);
  if (typeof opened.close === "function") {
    await within(opened.close(), CLOSE_TIMEOUT_MS, "close()");
  } else if (typeof store === "object" && store !== null && "close" in store && typeof store.close === "function") {
    await within(Promise.resolve(store.close()), CLOSE_TIMEOUT_MS, "the store's close()");
  }
}

/**
 * Refuses members that nobody knows, with `configuration`, and what is made for a later contract, with `unsupported`. What this kit knows of it may be wrong by then, and a clause
 * that passes would say nothing.
 */
export function assertRunnable(opened: OpenedSubject): void {
  assertMembers(opened);
  for (const member of ["store", "provider", "client"]) {
    const subject: unknown = Reflect.get(opened, member);
    const version: unknown = typeof subject === "object" && subject !== null && Reflect.get(subject, "contractVersion");
    if (typeof version === "number" && version > CONTRACT_VERSION) {
      const message = `the ${member} has contract version ${version}; this kit runs version ${CONTRACT_VERSION}`;
      throw new AgentFrameworkError("unsupported", message);
    }
  }
}

/** Providers and chat clients declare no capabilities, and have nothing to close. */
function storeOf(opened: OpenedSubject): unknown {
  return "store" in opened ? opened.store : undefined;
}

async function within<T>(call: Promise<T>, timeoutMs: number, what: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(failure(`${what} did not end within ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    return await Promise.race([call, late]);
  } finally {
    clearTimeout(timer);
  }
}

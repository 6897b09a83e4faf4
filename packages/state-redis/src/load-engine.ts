import { AgentFrameworkError } from "@agentfw/core";
import { PROVIDER } from "./provider.ts";

/** What talks to the server. An import of the package does without it. */
export type Engine = typeof import("./engine.ts");

/** Who cannot go on without the engine. */
export interface Waiting {
  /** Named in the error. */
  readonly name: string;
  /** Called when the engine is loaded. */
  start(): void;
  /** Called with what `start` threw, or with `unavailable` when the engine cannot be loaded. */
  fail(error: unknown): void;
}

type Load = () => Promise<Engine>;

const fromPackage: Load = () => import("./engine.ts");

let load = fromPackage;
let isLoading = false;
let engine: Engine | undefined;
let waiting: Waiting[] = [];

/** The engine once it is there, for every store of the process. */
export function loadedEngine(): Engine | undefined {
  return engine;
}

/** Begins to load the engine, unless that was begun before; after a failure it is tried again. */
export function loadEngine(): void {
  if (isLoading || engine !== undefined) {
    return;
  }
  isLoading = true;
  load().then(
    (loaded) => {
      engine = loaded;
      goOn((one) => one.start());
    },
    (cause: unknown) => goOn(({ name, fail }) => fail(notLoaded(name, cause))),
  );
}

/** Waits for the engine. Those who wait go on in their order and in one step, so that nobody who comes later overtakes them. */
export function awaitEngine(one: Waiting): void {
  waiting.push(one);
  loadEngine();
}

function goOn(how: (one: Waiting) => void): void {
  const all = waiting;
  [waiting, isLoading] = [[], false];
  for (const one of all) {
    try {
      how(one);
    } catch (error) {
      one.fail(error);
    }
  }
}

/** Nothing was sent then. */
function notLoaded(name: string, cause: unknown): AgentFrameworkError {
  const message = `${name}: a part of the package could not be loaded`;
  return new AgentFrameworkError("unavailable", message, { provider: PROVIDER, cause });
}

/** For tests: forgets the engine, and loads it another way from now on; the package's own way when none is given. */
export function loadAnotherWay(another: Load = fromPackage): void {
  [load, isLoading, engine] = [another, false, undefined];
}

import { onTestFinished } from "vitest";
import { type Engine, filesEngine, historyEngine, serviceEngine } from "../../src/load-engine.ts";

type Name = "files" | "history" | "service";

const ENGINES: Readonly<Record<Name, Engine<unknown>>> = {
  files: filesEngine,
  history: historyEngine,
  service: serviceEngine,
};

const USUAL: Readonly<Record<Name, () => Promise<unknown>>> = {
  files: filesEngine.load,
  history: historyEngine.load,
  service: serviceEngine.load,
};

/** An engine whose loading ends when the test says so. */
export interface HeldEngine {
  /** What is loaded, or what loading fails with from now on. */
  end(failure?: Error): void;
  /** How often loading has begun. */
  readonly begun: number;
}

/** Holds the loading of an engine for the running test. It is in memory already, so that it is there in the tick that ends it. */
export async function holdEngine(name: Name): Promise<HeldEngine> {
  const engine = await USUAL[name]();
  let end: HeldEngine["end"] = () => {};
  const ended = new Promise<void>((resolve, reject) => {
    end = (failure) => (failure === undefined ? resolve() : reject(failure));
  });
  let begun = 0;
  const load = () => {
    begun += 1;
    return ended.then(() => engine);
  };
  Object.assign(ENGINES[name], { load });
  onTestFinished(() => repair(name));
  return {
    end,
    get begun() {
      return begun;
    },
  };
}

/** Makes the loading of an engine fail, until the test ends or `repair` is called. */
export function breakEngine(name: Name, failure: Error): { repair(): void } {
  Object.assign(ENGINES[name], { load: () => Promise.reject(failure) });
  onTestFinished(() => repair(name));
  return { repair: () => repair(name) };
}

function repair(name: Name): void {
  Object.assign(ENGINES[name], { load: USUAL[name] });
}

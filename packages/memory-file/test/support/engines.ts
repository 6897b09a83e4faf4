import { vi } from "vitest";
import { engineSources } from "../../src/load-engines.ts";

/** Holds back a part that is loaded on demand, for what is made from now on. */
export async function holdEngine(name: keyof typeof engineSources): Promise<{ release(): void }> {
  const engine = await engineSources[name]();
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  vi.spyOn(engineSources, name).mockImplementation((() => gate.then(() => engine)) as never);
  return { release };
}

/** Counts the rejections that nobody has handled while `work` runs and until the ticks of the moment are over. */
export async function unhandledRejections(work: () => unknown): Promise<number> {
  const unhandled = vi.fn();
  process.on("unhandledRejection", unhandled);
  await work();
  await new Promise((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", unhandled);
  return unhandled.mock.calls.length;
}

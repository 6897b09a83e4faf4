import { vi } from "vitest";
import { engineSource } from "../../src/load-engine.ts";

/** Holds back the part that is loaded on demand, for what is made from now on. */
export async function holdEngine(): Promise<{ release(): void }> {
  const engine = await engineSource.load();
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  vi.spyOn(engineSource, "load").mockImplementation(() => gate.then(() => engine));
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

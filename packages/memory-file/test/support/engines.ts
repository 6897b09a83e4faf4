import { vi } from "vitest";

/** Holds back the part that is loaded on demand, for what is made from now on. */
export async function holdEngine<Engine>(source: { load: () => Promise<Engine> }): Promise<{ release(): void }> {
  const engine = await source.load();
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  vi.spyOn(source, "load").mockImplementation(() => gate.then(() => engine));
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

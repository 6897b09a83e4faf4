/** Loads what talks to the service. It is one file: where it is there, nothing else of the package can be missing later. */
export function loadEngine(): Promise<typeof import("./engine.ts")> {
  return import("./engine.ts");
}

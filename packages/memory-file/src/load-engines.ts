/** Where the parts come from that an import of the package leaves out; each has all that it needs. */
export const engineSources = {
  /** Everything that touches the disk. */
  store: (): Promise<typeof import("./store-engine.ts")> => import("./store-engine.ts"),
  /** The tools of a run and the list of files. */
  memory: (): Promise<typeof import("./memory-engine.ts")> => import("./memory-engine.ts"),
};

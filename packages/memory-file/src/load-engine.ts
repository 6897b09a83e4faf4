/** Where the engine comes from: everything that touches the disk, and the tools of a run; an import of the package leaves it out. */
export const engineSource = {
  load: (): Promise<typeof import("./engine.ts")> => import("./engine.ts"),
};

/** Where the engine comes from: everything that touches the disk, one part, which an import of the package leaves out. */
export const engineSource = {
  load: (): Promise<typeof import("./engine.ts")> => import("./engine.ts"),
};

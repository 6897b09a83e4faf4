/** What talks to the server. An import of the package does without it. */
export type Engine = typeof import("./engine.ts");

/** Where the engine comes from. */
export const engineSource = {
  load: (): Promise<Engine> => import("./engine.ts"),
};

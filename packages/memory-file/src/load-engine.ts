/*
 * An engine for each class, so that a program which uses one of them loads, and is bundled with, what that one needs. Each is one
 * part, and a constant of its own: a bundler does not leave members of an object out. As objects, so that a test can put another
 * loader in the place of each.
 */

/** Where a store gets everything that touches the disk. */
export const storeEngine = {
  load: (): Promise<typeof import("./store-engine.ts")> => import("./store-engine.ts"),
};

/** Where a provider gets the memories of a run and the tools that work on them. */
export const memoryEngine = {
  load: (): Promise<typeof import("./memories.ts")> => import("./memories.ts"),
};

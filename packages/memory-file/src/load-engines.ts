import { AgentFrameworkError } from "@agentfw/core";
import { PROVIDER } from "./provider-name.ts";

/** Where the parts come from that an import of the package leaves out; each has all that it needs. */
export const engineSources = {
  /** Everything that touches the disk. */
  store: (): Promise<typeof import("./store-engine.ts")> => import("./store-engine.ts"),
  /** The tools of a run and the list of files. */
  memory: (): Promise<typeof import("./memory-engine.ts")> => import("./memory-engine.ts"),
};

/** A part of the package that is loaded on demand. Loading begins at once, and calls that need the part wait for it. */
export class OnDemand<Part> {
  readonly #loading: Promise<Part>;
  #loaded: Part | undefined;
  #hasFailed = false;

  constructor(load: () => Promise<Part>) {
    this.#loading = load().catch((cause: unknown) => {
      throw new AgentFrameworkError("unavailable", "a part of the package could not be loaded", {
        provider: PROVIDER,
        cause,
      });
    });
    // The first reaction of all: calls that wait start right behind it, before any that finds the part loaded.
    this.#loading.then(
      (part) => {
        this.#loaded = part;
      },
      () => {
        this.#hasFailed = true;
      },
    );
  }

  /** The part, or undefined while it is not loaded. */
  get loaded(): Part | undefined {
    return this.#loaded;
  }

  /** True when the part could not be loaded, so nothing was ever done with it. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /**
   * Runs `work` as soon as the part is loaded, in the order of these calls. Use {@link loaded} when it is there.
   *
   * @throws `unavailable` when it cannot be loaded.
   */
  whenLoaded<T>(work: (part: Part) => Promise<T>): Promise<T> {
    return this.#loading.then(work);
  }
}

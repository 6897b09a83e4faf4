import { assertCount, assertName, type ContextProvider, type FileStore, type RunContext } from "@agentfw/core";
import { assertContractVersion, assertOptions, OnDemand } from "@agentfw/core/backend";
import { memoryEngine } from "./load-engine.ts";
import type { Memories } from "./memories.ts";
import { assertScope, type MemoryScope, placeOfRun } from "./memory-scope.ts";
import { PROVIDER } from "./provider-name.ts";

/** Options of `FileMemoryProvider`. */
export interface FileMemoryProviderOptions {
  /**
   * Who shares the memories. Absent: nobody; they belong to the session. A path such as `users/42`: every run. A
   * function: the runs for which it gives the same path; it gets the run's context with the trusted `owner`. Use
   * `scopeSegment` for parts that someone else chose.
   */
  readonly scope?: MemoryScope | undefined;
  /** Unique among the providers of an agent. @default "file_memory" */
  readonly sourceId?: string | undefined;
  /** Tells the model what the memory is for, in place of our own words. */
  readonly instructions?: string | undefined;
  /** Files that are listed in the context of each run; 0 lists none. @default 50 */
  readonly maxIndexEntries?: number | undefined;
}

/** A run waits for the tools so long, as a call of the store does for the disk. */
const LOADING_TIMEOUT_MS = 5_000;

const KNOWN: readonly string[] = ["scope", "sourceId", "instructions", "maxIndexEntries"];

/**
 * Gives the model a memory of files that it keeps itself, over any {@link FileStore}. Adds to each run the tools
 * `file_memory_write`, `_read`, `_delete`, `_ls`, `_grep`, `_replace` and `_replace_lines`, instructions, and a list of
 * the files with their descriptions, framed as reference data.
 *
 * The list is derived from the files in each run, so nothing can make it wrong. Tools never end a run: what does not work is
 * told to the model. Replacing is compare-and-set, so writers at once lose nothing of each other's. One instance serves
 * all sessions at once.
 */
export class FileMemoryProvider implements ContextProvider {
  readonly sourceId: string;
  readonly #scope: MemoryScope | undefined;
  readonly #engine: OnDemand<Memories>;

  /**
   * Checks the options, and begins to load the tools; asks the store for nothing.
   *
   * @throws `configuration` naming the option and the rule; `unsupported` for a store of a later contract.
   */
  constructor(store: FileStore, options: FileMemoryProviderOptions = {}) {
    assertContractVersion(store, "store");
    assertOptions(options, "options", KNOWN);
    const { scope, sourceId = "file_memory", instructions, maxIndexEntries = 50 } = options;
    if (scope !== undefined) {
      assertScope(scope);
    }
    assertName(sourceId, "sourceId");
    if (instructions !== undefined) {
      assertName(instructions, "instructions");
    }
    assertCount(maxIndexEntries, "maxIndexEntries", 0);
    this.sourceId = sourceId;
    this.#scope = scope;
    this.#engine = new OnDemand(PROVIDER, async () => {
      const { Memories } = await memoryEngine.load();
      return new Memories(store, maxIndexEntries, instructions);
    });
  }

  /**
   * Adds tools, instructions and the list of files. A store that fails now costs the run its list, and the model is told
   * so; it is reported as `memory_index_failed`.
   *
   * @throws `configuration` for a run without a session where memories belong to sessions, and for a scope that is no
   * path; what the scope's function throws; the abort; `unavailable` when the tools cannot be loaded, and `timeout` when
   * that takes longer than 5 s.
   */
  async beforeRun(context: RunContext): Promise<void> {
    const place = await placeOfRun(this.#scope, context);
    const memories = this.#engine.loaded ?? (await this.#whenLoaded(context.signal));
    await memories.begin(place, context);
  }

  #whenLoaded(signal: AbortSignal): Promise<Memories> {
    const limits = { timeoutMs: LOADING_TIMEOUT_MS, signal };
    return this.#engine.runWithin("loading the tools", limits, async (memories) => memories);
  }
}

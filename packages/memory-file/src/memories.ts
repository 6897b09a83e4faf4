import { type FileStore, isAgentFrameworkError, type RunContext, type Tool } from "@agentfw/core";
import { MemoryCatalog } from "./memory-catalog.ts";
import { MemoryFiles } from "./memory-files.ts";
import { indexText, UNREADABLE_INDEX } from "./memory-index.ts";
import type { MemoryPlace } from "./memory-scope.ts";
import { memoryTools } from "./memory-tools.ts";
import { isGivenUp } from "./tool-errors.ts";

/** What a provider gives to runs, over one store. */
export class Memories {
  readonly #store: FileStore;
  readonly #maxIndexEntries: number;
  readonly #catalog: MemoryCatalog;

  constructor(store: FileStore, maxIndexEntries: number) {
    this.#store = store;
    this.#maxIndexEntries = maxIndexEntries;
    this.#catalog = new MemoryCatalog(store);
  }

  /** The tools of one run. */
  tools(place: MemoryPlace, context: RunContext): readonly Tool[] {
    return memoryTools(new MemoryFiles(this.#store, this.#catalog, place), context);
  }

  /** The list of files as the run's model reads it; undefined when there is nothing to list. */
  async index(place: MemoryPlace, context: RunContext): Promise<string | undefined> {
    const { signal } = context;
    try {
      return await indexText(this.#catalog, place, this.#maxIndexEntries, signal);
    } catch (error) {
      if (isGivenUp(error, signal) || isAgentFrameworkError(error, "configuration")) {
        throw error;
      }
      context.report({
        type: "memory_index_failed",
        message: "the list of memory files could not be read",
        cause: error,
      });
      return UNREADABLE_INDEX;
    }
  }
}

import { type ErrorCode, type FileStore, isAgentFrameworkError } from "@agentfw/core";
import { inBatches } from "./batches.ts";
import { compareNames, isMemoryName } from "./memory-names.ts";
import type { MemoryPlace } from "./memory-scope.ts";
import { parseMemory } from "./memory-text.ts";

/** Reads so many files at once. */
const AT_ONCE = 32;

/** Descriptions that are kept, over all scopes. */
const MOST_KEPT = 20_000;

/** Codes for one file that cannot be read, while the others can. */
const UNREADABLE: readonly ErrorCode[] = ["corrupt", "too_large", "unauthorized"];

/** A memory file as listings show it. */
export interface CatalogEntry {
  readonly name: string;
  readonly description: string | undefined;
}

interface Described {
  readonly etag: string;
  readonly description: string | undefined;
}

/**
 * The files of a scope with their descriptions, derived from the files whenever it is asked. What a file says of itself is
 * kept together with the file's etag, so a listing reads what changed since and nothing else. Nothing that is kept is ever
 * believed without its etag.
 */
export class MemoryCatalog {
  readonly #store: FileStore;
  readonly #mostKept: number;
  readonly #kept = new Map<string, Described>();

  constructor(store: FileStore, mostKept: number = MOST_KEPT) {
    this.#store = store;
    this.#mostKept = mostKept;
  }

  /** The names of a scope's files, sorted, without what is not the model's. */
  async names(place: MemoryPlace, signal: AbortSignal): Promise<ReadonlyMap<string, string | undefined>> {
    signal.throwIfAborted();
    const scope = { owner: place.owner };
    const entries: readonly { readonly path: string; readonly etag?: string }[] =
      this.#store.listEntries === undefined
        ? (await this.#store.list(place.directory, scope)).map((path) => ({ path }))
        : await this.#store.listEntries(place.directory, scope);
    const start = place.directory.length + 1;
    return new Map(
      entries
        .map(({ path, etag }) => [path.slice(start), etag] as const)
        .filter(([name]) => isMemoryName(name))
        .sort(([left], [right]) => compareNames(left, right)),
    );
  }

  /** What these files say of themselves. A file that is gone meanwhile is left out; one that cannot be read has no description. */
  async describe(
    place: MemoryPlace,
    files: readonly (readonly [name: string, etag: string | undefined])[],
    signal: AbortSignal,
  ): Promise<CatalogEntry[]> {
    const described = await inBatches(
      files,
      AT_ONCE,
      ([name, etag]) => this.#describe(place, name, etag),
      // Looked at between and not handed on: many calls at once that listen to one signal look like a leak to Node.
      () => signal.throwIfAborted(),
    );
    return described.filter((entry) => entry !== undefined);
  }

  async #describe(place: MemoryPlace, name: string, etag: string | undefined): Promise<CatalogEntry | undefined> {
    const key = JSON.stringify([place.owner, place.directory, name]);
    const kept = this.#kept.get(key);
    if (kept !== undefined && kept.etag === etag) {
      return { name, description: kept.description };
    }
    try {
      const file = await this.#store.read(`${place.directory}/${name}`, { owner: place.owner });
      if (file === undefined) {
        this.#kept.delete(key);
        return undefined;
      }
      const { description } = parseMemory(file.text);
      this.#keep(key, { etag: file.etag, description });
      return { name, description };
    } catch (error) {
      if (isAgentFrameworkError(error) && UNREADABLE.includes(error.code)) {
        return { name, description: undefined };
      }
      throw error;
    }
  }

  #keep(key: string, described: Described): void {
    this.#kept.delete(key);
    this.#kept.set(key, described);
    // The oldest goes first; who needs it again reads it again.
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > this.#mostKept && oldest !== undefined) {
      this.#kept.delete(oldest);
    }
  }
}

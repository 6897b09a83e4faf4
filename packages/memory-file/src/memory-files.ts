import { configurationError, type FileStore, isAgentFrameworkError, withDeadline } from "@agentfw/core";
import { matchingNames } from "./glob.ts";
import type { CatalogEntry, MemoryCatalog } from "./memory-catalog.ts";
import { type LineEdit, replaced, withLines } from "./memory-edits.ts";
import { isMemoryName } from "./memory-names.ts";
import type { MemoryPlace } from "./memory-scope.ts";
import { formatMemory, type Memory, parseMemory } from "./memory-text.ts";

/** How often an edit is made anew because another writer came first. */
const MOST_ATTEMPTS = 10;

/** A search settles within this, and then a little: the store has the same limit. */
const SEARCH_TIMEOUT_MS = 5_000;

/** Lines that a store is asked for: some may belong to files that the glob leaves out. */
const LINES_ASKED_FOR = 2_000;

/** A line that matches, numbered as edits number it. */
export interface MemoryMatch {
  readonly name: string;
  readonly lineNumber: number;
  readonly line: string;
}

interface StoredMemory extends Memory {
  readonly etag: string;
}

/** The memory files of one run: what the tools do, without the words around it. */
export class MemoryFiles {
  readonly #store: FileStore;
  readonly #catalog: MemoryCatalog;
  readonly #place: MemoryPlace;

  constructor(store: FileStore, catalog: MemoryCatalog, place: MemoryPlace) {
    this.#store = store;
    this.#catalog = catalog;
    this.#place = place;
  }

  /** Writes a whole file. True when it is a new one. */
  async write(name: string, content: string, description: string | undefined, signal: AbortSignal): Promise<boolean> {
    const text = formatMemory(content, description);
    const scope = this.#scope(signal);
    try {
      await this.#store.write(this.#pathOf(name), text, { ...scope, ifNoneMatch: "*" });
      return true;
    } catch (error) {
      if (!isAgentFrameworkError(error, "conflict")) {
        throw error;
      }
      // There is a file; or one with a look-alike name, and then this is refused for the same reason.
      await this.#store.write(this.#pathOf(name), text, scope);
      return false;
    }
  }

  async read(name: string, signal: AbortSignal): Promise<StoredMemory | undefined> {
    const file = await this.#store.read(this.#pathOf(name), this.#scope(signal));
    return file && { ...parseMemory(file.text), etag: file.etag };
  }

  async delete(name: string, signal: AbortSignal): Promise<boolean> {
    return this.#store.delete(this.#pathOf(name), this.#scope(signal));
  }

  /** The files that fit, at most `limit` of them, and how many more there are. */
  async list(
    glob: string | undefined,
    limit: number,
    signal: AbortSignal,
  ): Promise<{ entries: CatalogEntry[]; more: number }> {
    const names = await this.#catalog.names(this.#place, signal);
    const chosen = await matchingNames([...names.keys()], glob, SEARCH_TIMEOUT_MS);
    const files = [...names].filter(([name]) => chosen.has(name));
    const entries = await this.#catalog.describe(this.#place, files.slice(0, limit), signal);
    return { entries, more: Math.max(0, files.length - limit) };
  }

  /**
   * Replaces a text in a file, once or everywhere. Made anew when someone else writes the file meanwhile, so neither
   * change is lost. Gives how often it was replaced; undefined when there is no such file.
   */
  async replace(
    name: string,
    change: { readonly oldText: string; readonly newText: string; readonly all: boolean },
    signal: AbortSignal,
  ): Promise<number | undefined> {
    let count: number | undefined;
    await this.#change(name, MOST_ATTEMPTS, signal, (content) => {
      const made = replaced(content, change.oldText, change.newText, change.all);
      count = made.count;
      return made.text;
    });
    return count;
  }

  /** Replaces lines. False when there is no such file. Not made anew: another writer may have moved the lines. */
  async replaceLines(name: string, edits: readonly LineEdit[], signal: AbortSignal): Promise<boolean> {
    return this.#change(name, 1, signal, (content) => withLines(content, edits));
  }

  /** The lines that match, sorted by file, and whether the store had more. */
  async search(
    pattern: string,
    glob: string | undefined,
    signal: AbortSignal,
  ): Promise<{ matches: MemoryMatch[]; isCut: boolean }> {
    const { owner, directory } = this.#place;
    const timeoutMs = SEARCH_TIMEOUT_MS;
    // The model must get its answer also from a store that does not keep to the limit.
    const found = await withDeadline("search", { kind: "read", timeoutMs: 2 * timeoutMs, signal }, () =>
      this.#store.search(pattern, { owner, directory, limit: LINES_ASKED_FOR, timeoutMs, signal }),
    );
    const start = directory.length + 1;
    const inFiles = found
      .map(({ path, line, text }) => ({ name: path.slice(start), lineNumber: line, line: text }))
      .filter(({ name }) => isMemoryName(name));
    const names = new Set(inFiles.map(({ name }) => name));
    const chosen = await matchingNames([...names], glob, timeoutMs);
    const matches = inFiles.filter(({ name }) => chosen.has(name));
    return { matches, isCut: found.length >= LINES_ASKED_FOR };
  }

  /** The first of these lines, counted as edits do, from the content on. A line of a header is none. */
  async numbered(matches: readonly MemoryMatch[], limit: number, signal: AbortSignal): Promise<MemoryMatch[]> {
    const headers = new Map<string, number>();
    const numbered: MemoryMatch[] = [];
    for (const match of matches) {
      const above = headers.get(match.name) ?? (await this.read(match.name, signal))?.headerLines ?? 0;
      headers.set(match.name, above);
      if (match.lineNumber > above && numbered.push({ ...match, lineNumber: match.lineNumber - above }) === limit) {
        break;
      }
    }
    return numbered;
  }

  /** Changes what a file holds, and again, so often in all, what another writer has made of it meanwhile. False when there is no such file. */
  async #change(
    name: string,
    attempts: number,
    signal: AbortSignal,
    change: (content: string) => string,
  ): Promise<boolean> {
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const memory = await this.read(name, signal);
      if (memory === undefined) {
        return false;
      }
      const text = formatMemory(change(memory.content), memory.description);
      try {
        await this.#store.write(this.#pathOf(name), text, { ...this.#scope(signal), ifMatch: memory.etag });
        return true;
      } catch (error) {
        if (!isAgentFrameworkError(error, "conflict")) {
          throw error;
        }
      }
    }
    throw configurationError("file_name", "the file was changed by someone else meanwhile; read it again");
  }

  /**
   * The signal is looked at before each call and not handed on: what was begun is done all the same, and many calls at
   * once that listen to one signal look like a leak to Node. Only a search, which may take long, gets it.
   */
  #scope(signal: AbortSignal): { readonly owner: string | null } {
    signal.throwIfAborted();
    return { owner: this.#place.owner };
  }

  #pathOf(name: string): string {
    return `${this.#place.directory}/${name}`;
  }
}

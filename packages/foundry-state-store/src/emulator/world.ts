import type { StoreData } from "../data/store-data.ts";
import type { Journal } from "./journal.ts";

/** How the emulator behaves where the service is not known. */
export interface EmulatorSettings {
  /** Which user is behind each call id. */
  readonly users: ReadonlyMap<string, string>;
  /** What an item operation on an isolated store gets whose call id names no user. */
  readonly withoutUser: 400 | 401 | 403 | "token";
  readonly unknownCursor: "empty" | "refuse";
  readonly requirePreviewHeader: boolean;
}

/** All that the emulator holds. */
export class World {
  readonly settings: EmulatorSettings;
  readonly journal: Journal;
  readonly #now: () => number;
  readonly #projects: Map<string, Map<string, StoreData>>;
  #ahead = 0;

  constructor(
    settings: EmulatorSettings,
    journal: Journal,
    start: { readonly projects: Map<string, Map<string, StoreData>>; readonly now: () => number },
  ) {
    this.settings = settings;
    this.journal = journal;
    this.#projects = start.projects;
    this.#now = start.now;
  }

  /** The time, in milliseconds since the epoch. */
  now(): number {
    return this.#now() + this.#ahead;
  }

  /** Moves the clock ahead. */
  advance(milliseconds: number): void {
    this.#ahead += milliseconds;
  }

  /** The stores of one project by their names. */
  stores(project: string): Map<string, StoreData> {
    const existing = this.#projects.get(project) ?? new Map<string, StoreData>();
    this.#projects.set(project, existing);
    return existing;
  }
}

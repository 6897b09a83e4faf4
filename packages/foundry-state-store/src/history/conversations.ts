import type { HistoryList, HistoryPage } from "@agentfw/core";
import { KeyedQueue } from "@agentfw/core/backend";
import type { FoundryStateStore } from "../foundry-state-store.ts";
import type { Progress } from "../progress.ts";
import { type Append, type Appended, append } from "./appending.ts";
import { Chain } from "./chain.ts";
import { clear } from "./clearing.ts";
import { type ListPage, list } from "./listing.ts";
import type { Place } from "./names.ts";
import { type ReadPage, read } from "./reading.ts";
import { noMemory, TailCache } from "./tail-cache.ts";

/** The conversations in a state store, with what is remembered of them between calls. What it is given has been checked. */
export class Conversations {
  readonly #store: FoundryStateStore;
  readonly #appends = new KeyedQueue();
  readonly #tails = new TailCache();

  constructor(store: FoundryStateStore) {
    this.#store = store;
  }

  /** Appends to one conversation come one after another, in the order of the calls. */
  append(place: Place, given: Append, signal: AbortSignal): Promise<Appended> {
    // Users that are kept apart have conversations of one name each, and only the service tells them apart.
    const memory = this.#store.properties.userIsolation ? noMemory : this.#tails.of(place.hash);
    return this.#appends.run(place.hash, () => append(this.#chain(place, signal), given, memory));
  }

  read(place: Place, page: ReadPage, signal: AbortSignal): Promise<HistoryPage> {
    return read(this.#chain(place, signal), page);
  }

  clear(place: Place, progress: Progress, signal: AbortSignal): Promise<void> {
    return clear(this.#chain(place, signal), progress);
  }

  list(page: ListPage, signal: AbortSignal): Promise<HistoryList> {
    return list(this.#store, page, signal);
  }

  #chain(place: Place, signal: AbortSignal): Chain {
    return new Chain(this.#store, place, { signal });
  }
}

import { setMaxListeners } from "node:events";
import type { HistoryKey } from "@agentfw/core";
import { type CallLimits, KeyedQueue } from "@agentfw/core/backend";
import { PROVIDER } from "../errors.ts";
import type { FoundryStateStore } from "../foundry-state-store.ts";
import { type Progress, runWithProgress } from "../progress.ts";
import { type Append, type Appended, append } from "./appending.ts";
import { Chain } from "./chain.ts";
import { clear } from "./clearing.ts";
import { type ListedPage, type ListPage, list } from "./listing.ts";
import { type Place, placeOf } from "./names.ts";
import { type ReadPage, type ReadResult, read } from "./reading.ts";
import { TailCache } from "./tail-cache.ts";

/** The conversations in a state store, with what is remembered of them between calls. What it is given has been checked. */
export class Conversations {
  readonly #store: FoundryStateStore;
  readonly #appends = new KeyedQueue();
  readonly #tails = new TailCache();

  constructor(store: FoundryStateStore) {
    this.#store = store;
  }

  /** Appends to one conversation come one after another, in the order of the calls. */
  append({ key, ...given }: Append & { readonly key: HistoryKey }, limits: CallLimits): Promise<Appended> {
    const place = placeOf(key);
    // Users that are kept apart have conversations of one name each, and only the service tells them apart.
    const tails = this.#store.properties.userIsolation ? new TailCache() : this.#tails;
    return run("append", "write", limits, (progress) =>
      this.#appends.run(place.hash, () => append(this.#chain(place, progress), given, tails)),
    );
  }

  read({ key, ...page }: ReadPage & { readonly key: HistoryKey }, limits: CallLimits): Promise<ReadResult> {
    return run("read", "read", limits, (progress) => read(this.#chain(placeOf(key), progress), page));
  }

  clear(key: HistoryKey, limits: CallLimits): Promise<void> {
    return run("clear", "write", limits, (progress) => clear(this.#chain(placeOf(key), progress)));
  }

  list(page: ListPage, limits: CallLimits): Promise<ListedPage> {
    return run("list", "read", limits, (progress) => list(this.#store, page, progress));
  }

  #chain(place: Place, progress: Progress): Chain {
    return new Chain(this.#store, place, progress);
  }
}

function run<T>(
  name: string,
  kind: "read" | "write",
  limits: CallLimits,
  work: (progress: Progress) => Promise<T>,
): Promise<T> {
  return runWithProgress(name, { kind, provider: PROVIDER, ...limits }, (progress) => {
    // Many requests at once listen to it, and each of them stops listening.
    setMaxListeners(0, progress.signal);
    return work(progress);
  });
}

import type { ChannelVersions } from "@langchain/langgraph-checkpoint";
import type { StoredCheckpoint } from "./checkpoint-form.ts";
import { type CheckpointPlace, checkpointKey } from "./names.ts";

/** How many checkpoints are remembered. */
const MOST = 500;

/** What the next checkpoint needs to know of the one before it. */
export interface SeenCheckpoint {
  /** Which checkpoint holds the value of each channel. */
  readonly holders: ReadonlyMap<string, string>;
  readonly versions: ChannelVersions;
}

/** Checkpoints that were written or read lately: a step that follows one need not read it again. */
export class SeenCheckpoints {
  readonly #seen = new Map<string, SeenCheckpoint>();
  readonly #most: number;

  /** @param isShared False where users are kept apart: one must not meet what another's checkpoint held. */
  constructor(isShared: boolean) {
    this.#most = isShared ? MOST : 0;
  }

  get(place: CheckpointPlace): SeenCheckpoint | undefined {
    return this.#seen.get(checkpointKey(place));
  }

  add(stored: StoredCheckpoint, versions: ChannelVersions): SeenCheckpoint {
    const key = checkpointKey(stored);
    const own = [...stored.values.keys()].map((channel) => [channel, stored.id] as const);
    const seen = { holders: new Map([...stored.elsewhere, ...own]), versions: { ...versions } };
    this.#seen.delete(key);
    this.#seen.set(key, seen);
    for (const oldest of this.#seen.keys()) {
      if (this.#seen.size <= this.#most) {
        break;
      }
      this.#seen.delete(oldest);
    }
    return seen;
  }

  forget(): void {
    this.#seen.clear();
  }
}

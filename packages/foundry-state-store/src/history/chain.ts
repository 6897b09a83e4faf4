import type { HistoryKey } from "@agentfw/core";
import { parseHistoryKeyText, parseObject } from "@agentfw/core/backend";
import { stateError } from "../errors.ts";
import type { FoundryStateStore } from "../foundry-state-store.ts";
import { inParallel } from "../in-parallel.ts";
import type { Progress } from "../progress.ts";
import type { JsonObject, StateStoreItemKey } from "../types.ts";
import { conversationTags, headTags, newLife, type Place, parseTurnKey, placeOf, turnKey } from "./names.ts";
import { range } from "./range.ts";
import { decodeTurn, type Turn, turnTags } from "./turn-form.ts";

/** The beginning of a conversation's life; never changed, and deleted by a clear. */
export interface Head {
  readonly key: HistoryKey;
  readonly life: string;
  readonly etag: string;
}

/** A turn in a listing. */
export interface ListedTurn extends Pick<StateStoreItemKey, "tags" | "updatedAt"> {
  readonly life: string;
  readonly turn: number;
}

/** A turn that must be there, or what is the matter with it. */
export type Stored = Turn | "corrupt" | "missing";

/**
 * A conversation as a chain of items. A head names its life; turn 1, 2, 3 and so on hang under it, each created once and
 * never changed. The next turn is whoever creates it: the store decides between writers, and no two appends mix. The end is
 * where the next turn is not there yet.
 */
export class Chain {
  readonly #store: FoundryStateStore;
  readonly place: Place;
  readonly progress: Progress;

  constructor(store: FoundryStateStore, place: Place, progress: Progress) {
    this.#store = store;
    this.place = place;
    this.progress = progress;
  }

  /** The head, or `undefined` for no conversation. @throws `corrupt` */
  head(): Promise<Head | undefined> {
    return readHead(this.#store, this.place.headKey, this.progress);
  }

  /** Begins a life. @throws `conflict` when there is one */
  async begin(): Promise<string> {
    this.progress.assertWanted();
    const life = newLife();
    const { headKey, key } = this.place;
    const value = { v: 1, life, key: [key.owner, key.source, key.session] };
    await this.#store.createItem(headKey, value, { signal: this.progress.signal, tags: headTags(key) });
    return life;
  }

  /** Deletes the head. @throws `conflict` when it is another one */
  async end({ etag }: Head): Promise<void> {
    await this.#store.deleteItem(this.place.headKey, { signal: this.#beforeChange(), ifMatch: etag });
  }

  /** A turn where one is looked for; `undefined` when there is none. */
  async turn(life: string, turn: number): Promise<Turn | "corrupt" | undefined> {
    const item = await this.#store.get(turnKey(this.place, life, turn), { signal: this.progress.signal });
    return item && (decodeTurn(item.text) ?? "corrupt");
  }

  /** A turn that must be there. @throws {@link LifeEnded} when this life is over: what is missing then is not lost. */
  async existing(life: string, turn: number): Promise<Stored> {
    const found = await this.turn(life, turn);
    if (found === undefined && (await this.head())?.life !== life) {
      throw new LifeEnded();
    }
    return found ?? "missing";
  }

  /** Creates a turn. @throws `conflict` when it is there */
  async createTurn(life: string, turn: number, value: JsonObject): Promise<void> {
    const tags = { ...conversationTags(this.place), ...turnTags(value) };
    await this.#store.createItem(turnKey(this.place, life, turn), value, { signal: this.#beforeChange(), tags });
  }

  async deleteTurn(life: string, turn: number): Promise<void> {
    await this.#store.deleteItem(turnKey(this.place, life, turn), { signal: this.#beforeChange() });
  }

  /** The turns of every life that are there. */
  async allTurns(): Promise<ListedTurn[]> {
    const { signal } = this.progress;
    const keys = [];
    for await (const key of this.#store.iterateItemKeys({ tags: conversationTags(this.place), signal })) {
      keys.push(key);
    }
    return this.#listedTurns(keys);
  }

  /** The turns among the newest hundred that a life has, the newest first, without what they hold. */
  async newestTurns(): Promise<(life: string) => ListedTurn[]> {
    const { signal } = this.progress;
    const { keys } = await this.#store.listItemKeys({ tags: conversationTags(this.place), limit: 100, signal });
    const turns = this.#listedTurns(keys).sort((left, right) => right.turn - left.turn);
    return (life) => turns.filter((turn) => turn.life === life);
  }

  /**
   * The turns behind one that is there, in order: what a listing did not show yet, and what others have added. Asks for
   * more of them at once the more there are.
   */
  async behind(life: string, turn: number): Promise<Stored[]> {
    const found: Stored[] = [];
    for (let count = 1; ; count = Math.min(count * 2, 16)) {
      const from = turn + found.length + 1;
      const next = await inParallel(range(from, from + count - 1), (number) => this.turn(life, number));
      const newest = next.findLastIndex((one) => one !== undefined);
      for (const [index, early] of next.slice(0, newest + 1).entries()) {
        // They were asked for at once and are written one after another: one that was not there yet is, before a later one.
        const one = early ?? (await this.existing(life, from + index));
        if (one === "missing") {
          throw missingTurn(from + index);
        }
        found.push(one);
      }
      if (newest + 1 < count) {
        return found;
      }
    }
  }

  #beforeChange(): AbortSignal {
    this.progress.assertWanted();
    this.progress.hasChanged = true;
    return this.progress.signal;
  }

  #listedTurns(keys: readonly StateStoreItemKey[]): ListedTurn[] {
    return keys.flatMap(({ key, tags, updatedAt }) => {
      const parsed = parseTurnKey(this.place, key);
      return parsed === undefined ? [] : [{ ...parsed, tags, updatedAt }];
    });
  }
}

/** Reads the head that is under a key, or `undefined` for none. @throws `corrupt` */
export async function readHead(
  store: FoundryStateStore,
  headKey: string,
  { signal }: Progress,
): Promise<Head | undefined> {
  const item = await store.get(headKey, { signal });
  if (item === undefined) {
    return undefined;
  }
  const { v, life, key } = parseObject(item.text) ?? {};
  const named = parseHistoryKeyText(JSON.stringify(key) ?? "");
  const isLife = v === 1 && typeof life === "string" && /^[\w-]{16}$/.test(life);
  // A head under another conversation's key is none.
  if (named === undefined || !isLife || placeOf(named).headKey !== headKey) {
    throw stateError("corrupt", "the head of a conversation cannot be read", { position: headKey });
  }
  return { key: named, life, etag: item.etag };
}

/** A clear came in between. Whoever meets it starts over. */
export class LifeEnded extends Error {
  constructor() {
    super("the conversation was cleared meanwhile");
    this.name = "LifeEnded";
  }
}

/** A turn that must be there and is not. */
export function missingTurn(turn: number): Error {
  return stateError("corrupt", "a turn of the conversation is missing", { position: `turn ${turn}` });
}

/** Starts over when a clear came in between, and says so: what was known before is over. */
export async function overLives<T>(run: (isAgain: boolean) => Promise<T>): Promise<T> {
  for (let isAgain = false; ; isAgain = true) {
    try {
      return await run(isAgain);
    } catch (error) {
      if (!(error instanceof LifeEnded)) {
        throw error;
      }
    }
  }
}

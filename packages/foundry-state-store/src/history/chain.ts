import type { CallOptions } from "@agentfw/core";
import { stateError } from "../errors.ts";
import type { FoundryStateStore } from "../foundry-state-store.ts";
import { jsonObject } from "../json-object.ts";
import type { JsonObject } from "../types.ts";
import { conversationTags, headTags, newLife, type Place, parseTurnKey, turnKey } from "./names.ts";
import { inParallel, range } from "./parallel.ts";
import { decodeTurn, type Turn, turnTags } from "./turn-form.ts";

/** The beginning of a conversation's life; never changed, and deleted by a clear. */
export interface Head {
  readonly life: string;
  readonly etag: string;
}

/** What a listing says about the newest turns of a life: a hint where its end is, and how many records each has. */
export interface ListedTurns {
  /** The newest turn that was listed; 0 for none. */
  readonly newest: number;
  /** The newest one that carries ids. */
  readonly newestKnown: number | undefined;
  readonly recordCounts: ReadonlyMap<number, number>;
  /** When the newest of them was written. */
  readonly updatedAt: string | undefined;
}

/** A turn as it is stored; `"corrupt"` when it cannot be read. */
export type Stored = Turn | "corrupt";

/** A turn where one was looked for; `undefined` when there is none. */
export type Found = Stored | undefined;

/**
 * A conversation as a chain of items. A head names its life; turn 1, 2, 3 and so on hang under it, each created once and
 * never changed. The next turn is whoever creates it: the store decides between writers, and no two appends mix. The end is
 * where the next turn is not there yet.
 */
export class Chain {
  readonly #store: FoundryStateStore;
  readonly place: Place;
  readonly #options: CallOptions;

  constructor(store: FoundryStateStore, place: Place, options: CallOptions) {
    this.#store = store;
    this.place = place;
    this.#options = options;
  }

  /** The head, or `undefined` for no conversation. @throws `corrupt` */
  async head(): Promise<Head | undefined> {
    const item = await this.#store.get(this.place.headKey, this.#options);
    if (item === undefined) {
      return undefined;
    }
    const life = lifeOf(item.text);
    if (life === undefined) {
      throw stateError("corrupt", "the head of a conversation cannot be read", { position: "head" });
    }
    return { life, etag: item.etag };
  }

  /** Begins a life. @throws `conflict` when there is one */
  async begin(): Promise<string> {
    const life = newLife();
    const { owner, source, session } = this.place.key;
    const tags = headTags(this.place.key);
    await this.#store.createItem(
      this.place.headKey,
      { v: 1, life, key: [owner, source, session] },
      { ...this.#options, tags },
    );
    return life;
  }

  /** Deletes the head. @throws `conflict` when it is another one */
  async end({ etag }: Head): Promise<void> {
    await this.#store.deleteItem(this.place.headKey, { ...this.#options, ifMatch: etag });
  }

  /** One turn. */
  async turn(life: string, turn: number): Promise<Found> {
    const item = await this.#store.get(turnKey(this.place, life, turn), this.#options);
    return item === undefined ? undefined : (decodeTurn(item.text) ?? "corrupt");
  }

  /** Some turns, from one to another. */
  turns(life: string, from: number, through: number): Promise<Found[]> {
    return inParallel(range(from, through), (turn) => this.turn(life, turn));
  }

  /** Creates a turn. @throws `conflict` when it is there */
  async createTurn(life: string, turn: number, value: JsonObject): Promise<void> {
    const tags = { ...conversationTags(this.place), ...turnTags(value) };
    await this.#store.createItem(turnKey(this.place, life, turn), value, { ...this.#options, tags });
  }

  async deleteTurn(life: string, turn: number): Promise<void> {
    await this.#store.deleteItem(turnKey(this.place, life, turn), this.#options);
  }

  /** The turns of every life that are there. */
  async allTurns(): Promise<{ readonly life: string; readonly turn: number }[]> {
    const found = [];
    for await (const { key } of this.#store.iterateItemKeys({ ...this.#options, tags: conversationTags(this.place) })) {
      const parsed = parseTurnKey(this.place, key);
      if (parsed !== undefined) {
        found.push(parsed);
      }
    }
    return found;
  }

  /** The newest hundred turns, without what they hold; for a life that is not known yet, of all lives. */
  async listed(): Promise<(life: string) => ListedTurns> {
    const { keys } = await this.#store.listItemKeys({
      ...this.#options,
      tags: conversationTags(this.place),
      limit: 100,
      order: "desc",
    });
    return (life) => {
      const turns = keys
        .map(({ key, tags, updatedAt }) => ({ parsed: parseTurnKey(this.place, key), tags, updatedAt }))
        .flatMap(({ parsed, ...rest }) => (parsed?.life === life ? [{ turn: parsed.turn, ...rest }] : []))
        .sort((left, right) => right.turn - left.turn);
      return {
        newest: turns[0]?.turn ?? 0,
        newestKnown: turns.find(({ tags }) => tags["known"] === "1")?.turn,
        recordCounts: new Map(turns.map(({ turn, tags }) => [turn, Number(tags["records"] ?? 1)])),
        updatedAt: turns[0]?.updatedAt,
      };
    };
  }

  /**
   * The turns behind one that is there, in order: what a listing did not show yet, and what others have added. Asks for
   * more of them at once the more there are.
   */
  async behind(life: string, turn: number): Promise<Stored[]> {
    const found: Stored[] = [];
    for (let count = 1; ; count = Math.min(count * 2, 16)) {
      const from = turn + found.length + 1;
      const next = await this.turns(life, from, from + count - 1);
      for (const [index, early] of next.entries()) {
        const hasLater = next.slice(index + 1).some((later) => later !== undefined);
        // They were asked for at once and are written one after another: one that was not there yet is, before a later one.
        const one = early ?? (hasLater ? await this.turn(life, from + index) : undefined);
        if (one === undefined) {
          if (hasLater) {
            await this.assertLife(life);
            throw missingTurn(from + index);
          }
          return found;
        }
        found.push(one);
      }
    }
  }

  /** Throws {@link LifeEnded} when this life is over: what is missing then was cleared, and not lost. */
  async assertLife(life: string): Promise<void> {
    if ((await this.head())?.life !== life) {
      throw new LifeEnded();
    }
  }
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

/** Starts over when a clear came in between. */
export async function overLives<T>(run: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof LifeEnded)) {
        throw error;
      }
    }
  }
}

/** The life that the text of a head names. */
function lifeOf(text: string): string | undefined {
  const { v, life } = jsonObject(text) ?? {};
  return v === 1 && typeof life === "string" && /^[\w-]{16}$/.test(life) ? life : undefined;
}

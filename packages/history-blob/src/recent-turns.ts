/** What is known of a turn: at least which records it holds. */
export interface KnownTurn {
  readonly ids: readonly string[];
}

/**
 * The newest turns of a conversation, kept to recognize their ids: for stores that remember a number of ids, as
 * `capabilities.dedupe` says, and read them back from what is stored.
 *
 * Above twice that number, all turns are given up that the newest ids of that number do not need.
 */
export class RecentTurns<Turn extends KnownTurn> {
  readonly #leastIds: number;
  #turns: Turn[];
  #ids: Set<string>;

  /** @param turns What is known at first, the oldest first. */
  constructor(leastIds: number, turns: readonly Turn[] = []) {
    this.#leastIds = leastIds;
    this.#turns = [...turns];
    this.#ids = idsOf(turns);
  }

  /** The oldest first. */
  get turns(): readonly Turn[] {
    return this.#turns;
  }

  get idCount(): number {
    return this.#ids.size;
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** Takes in a new turn. True when older ones were given up for it. */
  push(turn: Turn): boolean {
    this.#turns.push(turn);
    for (const id of turn.ids) {
      this.#ids.add(id);
    }
    const { size } = this.#ids;
    const oldest = this.#turns[0]?.ids.length ?? 0;
    if (size <= 2 * this.#leastIds || size - oldest < this.#leastIds) {
      return false;
    }
    let ids = 0;
    const from = this.#turns.findLastIndex((kept) => {
      ids += kept.ids.length;
      return ids >= this.#leastIds;
    });
    this.#turns = this.#turns.slice(from);
    this.#ids = idsOf(this.#turns);
    return true;
  }

  /** Takes in turns that are older than all that are known, and next to them. */
  prepend(turns: readonly Turn[]): void {
    this.#turns = [...turns, ...this.#turns];
    this.#ids = idsOf(this.#turns);
  }
}

function idsOf(turns: readonly KnownTurn[]): Set<string> {
  return new Set(turns.flatMap(({ ids }) => ids));
}

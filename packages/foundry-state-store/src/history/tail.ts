import type { Chain, Stored } from "./chain.ts";
import { idHash } from "./names.ts";
import type { Turn } from "./turn-form.ts";
import { WINDOW } from "./window.ts";

/** So many turns after the last one that did, a turn carries the ids before it. */
const KNOWN_EVERY = 16;

const BATCH = 16;

/** What a writer knows of the end of a life. */
export class Tail {
  readonly life: string;
  /** The newest turn; 0 when there is none yet. */
  turn = 0;
  /** Hashes of the newest ids, the oldest first. */
  readonly #ids = new Set<string>();
  /** The newest turn that carries ids. */
  #knownAt = 0;

  constructor(life: string) {
    this.life = life;
  }

  /** What a reader calls this end; `""` for no conversation. */
  get version(): string {
    return versionOf(this.life, this.turn);
  }

  isKnown(id: string): boolean {
    return this.#ids.has(idHash(id));
  }

  /** The ids that the next turn is to carry, when it is its turn. */
  get idsToCarry(): readonly string[] | undefined {
    return this.turn + 1 - this.#knownAt >= KNOWN_EVERY ? [...this.#ids] : undefined;
  }

  /** Goes on by one turn. One that cannot be read has ids that nobody can know. */
  add(turn: Stored): void {
    this.turn += 1;
    if (turn !== "corrupt") {
      this.#remember(turn, this.turn);
    }
  }

  #remember(turn: Turn, number: number): void {
    if (turn.known !== undefined) {
      this.#knownAt = number;
      this.#push(turn.known);
    }
    this.#push(turn.records.slice(-WINDOW).map(({ id }) => idHash(id)));
  }

  #push(hashes: readonly string[]): void {
    for (const hash of hashes) {
      this.#ids.delete(hash);
      this.#ids.add(hash);
    }
    for (const oldest of this.#ids) {
      if (this.#ids.size <= WINDOW) {
        break;
      }
      this.#ids.delete(oldest);
    }
  }

  /** Reads the end of a life, and so far back that the newest ids are known. */
  static async load(
    chain: Chain,
    life: string,
    listed: { readonly newest: number; readonly newestKnown?: number | undefined },
  ): Promise<Tail> {
    const newest = listed.newest;
    const start = Math.max(1, listed.newestKnown ?? newest - BATCH + 1);
    const [listedTurns, behind] = await Promise.all([
      readTurns(chain, life, start, newest),
      chain.behind(life, newest),
    ]);
    const earlier = await earlierTurns(chain, life, { from: start, turns: [...listedTurns, ...behind] });
    const turns = [...earlier, ...listedTurns, ...behind];
    const tail = new Tail(life);
    tail.turn = newest + behind.length - turns.length;
    for (const turn of turns) {
      tail.add(turn);
    }
    return tail;
  }
}

/** What a reader calls an end. Lives never come back, so versions do not. */
export function versionOf(life: string, turn: number): string {
  return turn === 0 ? "" : `${life}.${turn}`;
}

/** Turns that must be there. */
async function readTurns(chain: Chain, life: string, from: number, through: number): Promise<Stored[]> {
  const found = await chain.turns(life, from, through);
  const turns = found.filter((turn) => turn !== undefined);
  if (turns.length < found.length) {
    // Cleared meanwhile, or lost: for ids, what is lost counts as what cannot be read.
    await chain.assertLife(life);
    return found.map((turn) => turn ?? "corrupt");
  }
  return turns;
}

/** The turns before some, as far back as it takes to know the newest ids. */
async function earlierTurns(
  chain: Chain,
  life: string,
  start: { readonly from: number; readonly turns: readonly Stored[] },
): Promise<Stored[]> {
  let earlier: Stored[] = [];
  let from = start.from;
  while (from > 1 && !areIdsKnown([...earlier, ...start.turns])) {
    const next = Math.max(1, from - BATCH);
    earlier = [...(await readTurns(chain, life, next, from - 1)), ...earlier];
    from = next;
  }
  return earlier;
}

function areIdsKnown(turns: readonly Stored[]): boolean {
  let ids = 0;
  for (const turn of turns) {
    if (turn !== "corrupt") {
      if (turn.known !== undefined) {
        return true;
      }
      ids += turn.records.length;
    }
  }
  return ids >= WINDOW;
}

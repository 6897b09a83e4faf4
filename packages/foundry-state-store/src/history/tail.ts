import { inParallel } from "../in-parallel.ts";
import { REMEMBERED_IDS } from "../limits.ts";
import type { Chain, ListedTurn, Stored } from "./chain.ts";
import { idHash } from "./names.ts";
import { range } from "./range.ts";

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
    if (typeof turn === "string") {
      return;
    }
    if (turn.known !== undefined) {
      this.#knownAt = this.turn;
    }
    const hashes = turn.records.slice(-REMEMBERED_IDS).map(({ id }) => idHash(id));
    for (const hash of [...(turn.known ?? []), ...hashes]) {
      this.#ids.delete(hash);
      this.#ids.add(hash);
    }
    for (const oldest of this.#ids) {
      if (this.#ids.size <= REMEMBERED_IDS) {
        break;
      }
      this.#ids.delete(oldest);
    }
  }

  /** Reads the end of a life, and so far back that the newest ids are known. */
  static async load(chain: Chain, life: string, listed: readonly ListedTurn[]): Promise<Tail> {
    const newest = listed[0]?.turn ?? 0;
    const newestKnown = listed.find(({ tags }) => tags["known"] === "1")?.turn;
    const read = (from: number, through: number) =>
      inParallel(range(from, through), (turn) => chain.existing(life, turn));
    let from = Math.max(1, newestKnown ?? newest - BATCH + 1);
    const [listedTurns, behind] = await Promise.all([read(from, newest), chain.behind(life, newest)]);
    let turns = [...listedTurns, ...behind];
    while (from > 1 && !areIdsKnown(turns)) {
      const next = Math.max(1, from - BATCH);
      turns = [...(await read(next, from - 1)), ...turns];
      from = next;
    }
    const tail = new Tail(life);
    tail.turn = from - 1;
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

function areIdsKnown(turns: readonly Stored[]): boolean {
  const readable = turns.filter((turn) => typeof turn !== "string");
  const count = readable.reduce((sum, { records }) => sum + records.length, 0);
  return count >= REMEMBERED_IDS || readable.some(({ known }) => known !== undefined);
}

/** How many uses there are between two looks at the weight of everything. */
const USES_BETWEEN_LOOKS = 100;

/** Values by name, of which those that were used last are kept. What is given up is made again when it is asked for. */
export class RecentlyUsed<Value> {
  readonly #most: number;
  readonly #mostWeight: number;
  readonly #weightOf: (value: Value) => number;
  /** In order of use, the newest last. */
  readonly #kept = new Map<string, Value>();
  #uses = 0;

  /**
   * @param most How many are kept.
   * @param mostWeight How much all together may weigh. As weights may change, this is looked at once in 100 uses.
   */
  constructor(
    most: number,
    mostWeight: number = Number.POSITIVE_INFINITY,
    weightOf: (value: Value) => number = () => 0,
  ) {
    this.#most = most;
    this.#mostWeight = mostWeight;
    this.#weightOf = weightOf;
  }

  /** The value of this name, which `make` makes where none is kept. */
  use(name: string, make: () => Value): Value {
    const value = this.#kept.get(name) ?? make();
    this.#kept.delete(name);
    this.#kept.set(name, value);
    this.#uses += 1;
    const isLook = this.#uses % USES_BETWEEN_LOOKS === 0;
    let weight = isLook ? [...this.#kept.values()].reduce((sum, kept) => sum + this.#weightOf(kept), 0) : 0;
    for (const [oldest, kept] of this.#kept) {
      if (this.#kept.size <= this.#most && weight <= this.#mostWeight) {
        break;
      }
      weight -= this.#weightOf(kept);
      this.#kept.delete(oldest);
    }
    return value;
  }

  /** Gives up all of them. */
  clear(): void {
    this.#kept.clear();
  }
}

import { describe, expect, it } from "vitest";
import { seededRandom, shuffled } from "../src/random.ts";

const letters = [..."abcdef"];

describe("seededRandom", () => {
  it("repeats itself for one seed and differs for another", () => {
    const draw = (seed: number) => Array.from({ length: 5 }, seededRandom(seed));
    expect(draw(7)).toEqual(draw(7));
    expect(draw(7)).not.toEqual(draw(8));
  });

  it("stays from 0 up to, not including, 1, also for the seeds at the edges", () => {
    for (const seed of [0, 1, 2 ** 32 - 1, Number.MAX_SAFE_INTEGER]) {
      const random = seededRandom(seed);
      for (const value of Array.from({ length: 1000 }, random)) {
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThan(1);
      }
    }
  });

  it("favors no part of its range", () => {
    const random = seededRandom(3);
    const counts = [0, 0, 0, 0];
    for (let draw = 0; draw < 4000; draw += 1) {
      const quarter = Math.floor(random() * 4);
      counts[quarter] = (counts[quarter] ?? 0) + 1;
    }
    for (const count of counts) {
      expect(Math.abs(count - 1000)).toBeLessThan(150);
    }
  });
});

describe("shuffled", () => {
  it("keeps every item once and leaves the list as it was", () => {
    const list = [...letters];
    expect(shuffled(list, seededRandom(1)).toSorted()).toEqual(letters);
    expect(list).toEqual(letters);
  });

  it("puts every item in every place", () => {
    const random = seededRandom(5);
    const seen = new Set(
      Array.from({ length: 500 }, () => shuffled(letters, random)).flatMap((order) =>
        order.map((letter, place) => `${letter}${place}`),
      ),
    );
    expect(seen.size).toBe(letters.length ** 2);
  });

  it("repeats its orders for one seed", () => {
    const orders = (seed: number) => {
      const random = seededRandom(seed);
      return [shuffled(letters, random), shuffled(letters, random)];
    };
    expect(orders(9)).toEqual(orders(9));
    expect(orders(9)[0]).not.toEqual(orders(9)[1]);
  });
});

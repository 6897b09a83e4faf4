import { describe, expect, it } from "vitest";
import { RecentTurns } from "../src/recent-turns.ts";

const turn = (name: string, records = 1) => ({
  name,
  ids: Array.from({ length: records }, (_, index) => `${name}-${index}`),
});

describe("The newest turns", () => {
  it("know the ids of their records", () => {
    const recent = new RecentTurns(10, [turn("a", 2)]);
    expect(recent.push(turn("b"))).toBe(false);
    recent.prepend([turn("x"), turn("y", 3)]);
    expect(recent.turns.map(({ name }) => name)).toEqual(["x", "y", "a", "b"]);
    expect(["x-0", "y-2", "a-1", "b-0"].every((id) => recent.has(id))).toBe(true);
    expect(recent.has("b-1")).toBe(false);
    expect(recent.idCount).toBe(7);
  });

  it("give up the oldest above twice the number of ids, and never one that is among the newest of them", () => {
    const recent = new RecentTurns<ReturnType<typeof turn>>(10);
    const given: boolean[] = [];
    for (let number = 0; number < 100; number += 1) {
      given.push(recent.push(turn(`${number}`, 1 + (number % 3))));
      const newest = recent.turns.flatMap(({ ids }) => ids);
      expect(newest.length).toBeLessThanOrEqual(20);
      expect(newest.length).toBeGreaterThanOrEqual(Math.min(10, number + 1));
      expect(newest.every((id) => recent.has(id))).toBe(true);
      expect(recent.turns.at(-1)?.name).toBe(`${number}`);
    }
    expect(given).toContain(true);
    expect(recent.has("0-0")).toBe(false);
  });

  it("keep a turn that holds more than all others until it is not needed", () => {
    const recent = new RecentTurns(10, [turn("small"), turn("large", 100)]);
    for (let number = 0; number < 9; number += 1) {
      recent.push(turn(`${number}`));
    }
    expect(recent.has("large-0")).toBe(true);
    expect(recent.has("small-0")).toBe(false);
    expect(recent.push(turn("9"))).toBe(true);
    expect(recent.has("large-0")).toBe(false);
    expect(recent.idCount).toBe(10);
  });

  it("remember an id as long as one of its records is among them", () => {
    const recent = new RecentTurns(10, [{ ids: ["twice"] }]);
    for (let number = 0; number < 12; number += 1) {
      recent.push({ ids: [`${number}`] });
    }
    recent.push({ ids: ["twice"] });
    for (let number = 12; number < 20; number += 1) {
      recent.push({ ids: [`${number}`] });
    }
    expect(recent.has("0")).toBe(false);
    expect(recent.has("twice")).toBe(true);
  });

  it("are a copy where they begin with those of another", () => {
    const one = new RecentTurns(10, [turn("a")]);
    const other = new RecentTurns(10, one.turns);
    other.push(turn("b"));
    expect(one.has("b-0")).toBe(false);
    expect(other.has("a-0")).toBe(true);
  });
});

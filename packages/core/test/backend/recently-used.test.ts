import { describe, expect, it } from "vitest";
import { RecentlyUsed } from "../../src/backend/recently-used.ts";

describe("Values that were used lately", () => {
  it("are made once while they are kept, and those that were not used for longest go first", () => {
    const used = new RecentlyUsed<string[]>(2);
    const made: string[] = [];
    const use = (name: string) =>
      used.use(name, () => {
        made.push(name);
        return [name];
      });
    const first = use("a");
    use("b");
    expect(use("a")).toBe(first);
    use("c");
    expect(use("a")).toBe(first);
    use("b");
    expect(made).toEqual(["a", "b", "c", "b"]);
  });

  it("are all given up when it is asked for", () => {
    const used = new RecentlyUsed<object>(2);
    const first = used.use("a", () => ({}));
    used.clear();
    expect(used.use("a", () => ({}))).not.toBe(first);
  });

  it("weigh no more than they may all together, as far as a hundred uses ago", () => {
    const used = new RecentlyUsed<{ weight: number }>(50, 1_000, ({ weight }) => weight);
    const values = Array.from({ length: 10 }, (_, index) => used.use(`${index}`, () => ({ weight: 10 })));
    for (const value of values) {
      value.weight = 300;
    }
    for (let uses = 0; uses < 100; uses += 1) {
      used.use("9", () => ({ weight: 0 }));
    }
    const made: number[] = [];
    for (let index = 9; index >= 0; index -= 1) {
      used.use(`${index}`, () => {
        made.push(index);
        return { weight: 0 };
      });
    }
    expect(made).toEqual([6, 5, 4, 3, 2, 1, 0]);
  });
});

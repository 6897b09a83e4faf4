import { describe, expect, it } from "vitest";
import { inParallel } from "../src/in-parallel.ts";

describe("Tasks for many items", () => {
  it("run 16 at a time, and give their results in the order of the items", async () => {
    let [running, most] = [0, 0];
    const results = await inParallel(
      Array.from({ length: 50 }, (_, index) => index),
      async (index) => {
        running += 1;
        most = Math.max(most, running);
        // The later ones of those that run end first.
        await new Promise((resolve) => setTimeout(resolve, 20 - (index % 20)));
        running -= 1;
        return index * 2;
      },
    );
    expect(results).toEqual(Array.from({ length: 50 }, (_, index) => index * 2));
    expect(most).toBe(16);
    expect(await inParallel([], async () => 1)).toEqual([]);
  });

  it("end with the first failure, and begin no other one then", async () => {
    const begun: number[] = [];
    let end = () => {};
    const held = new Promise<void>((resolve) => {
      end = resolve;
    });
    const items = Array.from({ length: 40 }, (_, index) => index);
    const call = inParallel(items, async (index) => {
      begun.push(index);
      if (index === 3) {
        throw new Error("broken");
      }
      await held;
    });
    await expect(call).rejects.toThrow("broken");
    end();
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(begun).toEqual(items.slice(0, 16));
  });
});

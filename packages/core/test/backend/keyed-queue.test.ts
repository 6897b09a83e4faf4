import { describe, expect, it } from "vitest";
import { KeyedQueue } from "../../src/backend.ts";

describe("Tasks in a queue", () => {
  it("of one name run one after another in their order, also behind one that fails", async () => {
    const queue = new KeyedQueue();
    const told: string[] = [];
    const task =
      (name: string, fails = false) =>
      async () => {
        told.push(`${name} begins`);
        await new Promise((resolve) => setTimeout(resolve, 1));
        told.push(`${name} ends`);
        if (fails) {
          throw new Error(name);
        }
        return name;
      };
    const results = await Promise.allSettled([
      queue.run("x", task("first", true)),
      queue.run("x", task("second")),
      queue.run("x", task("third")),
    ]);
    expect(told).toEqual(["first", "second", "third"].flatMap((name) => [`${name} begins`, `${name} ends`]));
    expect(results.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled"]);
  });

  it("of another name do not wait, and one that waits for nothing begins at once", async () => {
    const queue = new KeyedQueue();
    let end = () => {};
    const blocked = queue.run("x", () => new Promise<void>((resolve) => (end = resolve)));
    let hasBegun = false;
    const other = queue.run("y", async () => {
      hasBegun = true;
    });
    expect(hasBegun).toBe(true);
    await other;
    end();
    await blocked;
  });

  it("are settled when all that was queued has ended, however it ended", async () => {
    const queue = new KeyedQueue();
    let ended = 0;
    const task = async () => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      ended += 1;
      throw new Error("failed");
    };
    const results = ["x", "x", "y"].map((name) => queue.run(name, task).catch(() => undefined));
    await queue.settled();
    expect(ended).toBe(3);
    await Promise.all(results);
    await queue.settled();
  });
});

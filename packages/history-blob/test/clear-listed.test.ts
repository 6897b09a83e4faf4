import { AgentFrameworkError } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { clearListed } from "../src/clear-listed.ts";

/** Pages of so many items, by the number of the first. */
function pages(most: number, size: number) {
  return async (cursor: number | undefined) => {
    const first = cursor ?? 0;
    const items = Array.from({ length: Math.min(size, most - first) }, (_, index) => first + index);
    return { items, cursor: first + size < most ? first + size : undefined };
  };
}

describe("All that a listing gives", () => {
  it("is cleared, page by page and at most eight at once", async () => {
    const cleared: number[] = [];
    let running = 0;
    let most = 0;
    const count = await clearListed(pages(45, 20), async (item) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      cleared.push(item);
    });
    expect(count).toBe(45);
    expect(cleared.sort((one, other) => one - other)).toEqual(Array.from({ length: 45 }, (_, index) => index));
    expect(most).toBe(8);
    expect(await clearListed(pages(0, 20), () => Promise.reject(new Error("nothing to clear")))).toBe(0);
  });

  it.each(["corrupt", "unsupported"] as const)(
    "is cleared but for what is %s, which is told at the end",
    async (code) => {
      const cleared: number[] = [];
      const clearing = clearListed(pages(30, 10), async (item) => {
        if (item % 10 === 3) {
          throw new AgentFrameworkError(code, `item ${item}`);
        }
        cleared.push(item);
      });
      await expect(clearing).rejects.toMatchObject({ code, message: "item 3" });
      expect(cleared).toHaveLength(27);
    },
  );

  it("is left as it is from another failure on", async () => {
    const cleared: number[] = [];
    const outage = new AgentFrameworkError("unavailable", "the service is busy");
    const clearing = clearListed(pages(30, 10), async (item) => {
      if (item === 3) {
        throw outage;
      }
      cleared.push(item);
    });
    await expect(clearing).rejects.toBe(outage);
    expect(cleared.every((item) => item < 8)).toBe(true);
  });
});

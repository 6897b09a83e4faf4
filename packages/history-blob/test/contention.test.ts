import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Contention } from "../src/contention.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe("A writer among others", () => {
  it("minds for two seconds that another one came first", () => {
    const contention = new Contention();
    expect(contention.isNear).toBe(false);
    contention.met();
    vi.advanceTimersByTime(1_999);
    expect(contention.isNear).toBe(true);
    vi.advanceTimersByTime(2);
    expect(contention.isNear).toBe(false);
  });

  it("waits a random time of some requests' length, longer after more tries, and never above eight of them", () => {
    const random = vi.spyOn(Math, "random").mockReturnValue(1);
    const contention = new Contention();
    for (let request = 0; request < 50; request += 1) {
      contention.took(20);
    }
    expect([0, 1, 5, 6, 100].map((tries) => Math.round(contention.pauseMs(tries)))).toEqual([60, 80, 160, 160, 160]);
    random.mockReturnValue(0.5);
    expect(Math.round(contention.pauseMs(0))).toBe(30);
  });

  it("does not take one slow request for the usual one", () => {
    vi.spyOn(Math, "random").mockReturnValue(1);
    const contention = new Contention();
    contention.took(60_000);
    expect(contention.pauseMs(100)).toBeLessThanOrEqual(800);
  });
});

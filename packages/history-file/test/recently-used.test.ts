import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { RecentlyUsed } from "../src/recently-used.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

function items(count: number): { giveUp: ReturnType<typeof vi.fn<() => void>> }[] {
  return Array.from({ length: count }, () => ({ giveUp: vi.fn<() => void>() }));
}

test("above the number, what was not used for longest is given up", () => {
  const recent = new RecentlyUsed(2, 1000);
  const [a, b, c] = items(3);
  recent.use(a!);
  recent.use(b!);
  recent.use(a!);
  recent.use(c!);
  expect([a, b, c].map((item) => item!.giveUp.mock.calls.length)).toEqual([0, 1, 0]);
});

test("what was not used for a while is given up, and what was used stays", () => {
  const recent = new RecentlyUsed(10, 1000);
  const [a, b] = items(2);
  recent.use(a!);
  recent.use(b!);
  vi.advanceTimersByTime(900);
  recent.use(b!);
  vi.advanceTimersByTime(200);
  expect([a, b].map((item) => item!.giveUp.mock.calls.length)).toEqual([1, 0]);
  vi.advanceTimersByTime(2000);
  expect([a, b].map((item) => item!.giveUp.mock.calls.length)).toEqual([1, 1]);
  expect(vi.getTimerCount()).toBe(0);
});

test("what is removed is not given up", () => {
  const recent = new RecentlyUsed(1, 1000);
  const [a, b] = items(2);
  recent.use(a!);
  recent.remove(a!);
  recent.use(b!);
  vi.advanceTimersByTime(5000);
  expect([a, b].map((item) => item!.giveUp.mock.calls.length)).toEqual([0, 1]);
});

import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Progress } from "../src/cli-progress.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

test("what is being done is shown once nothing was printed for some seconds, and taken away before the next line", () => {
  const terminal = Object.assign(new PassThrough(), { columns: 30 });
  const shown = () => String(terminal.read() ?? "");
  const progress = new Progress(terminal);
  progress.begin("H06 100 appends at once are all kept");
  vi.advanceTimersByTime(2_500);
  expect(shown()).toBe("");
  vi.advanceTimersByTime(1_000);
  expect(shown()).toBe("  3 s: H06 100 appends at onc");
  progress.begin("H07");
  expect(shown()).toBe("\u001b[1G\u001b[2K");
  vi.advanceTimersByTime(2_500);
  expect(shown()).toBe("");
  progress.end();
  vi.advanceTimersByTime(60_000);
  expect(shown()).toBe("");
});

test("nothing is shown where there is no terminal", () => {
  new Progress(undefined).begin("H06");
  expect(vi.getTimerCount()).toBe(0);
});

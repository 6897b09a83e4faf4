import { expect } from "vitest";

/** Each user's message is followed by its answer, and nothing is there twice. */
export function expectWholeTurns(ids: readonly string[]): void {
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.length % 2).toBe(0);
  for (let at = 0; at < ids.length; at += 2) {
    const [turn, role] = ids[at]?.split("/") ?? [];
    expect([role, ids[at + 1]]).toEqual(["user", `${turn}/assistant`]);
  }
}

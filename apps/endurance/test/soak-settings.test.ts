import { describe, expect, it } from "vitest";
import { soakSettings } from "./soak/settings.ts";

describe("The settings of a soak", () => {
  it("are short and on three backends when nothing is said", () => {
    expect(soakSettings({})).toEqual({ backends: ["file", "redis", "postgres"], runs: 60, seed: 1 });
  });

  it("are what the environment says", () => {
    const environment = { AGENTFW_SOAK_BACKEND: "blob", AGENTFW_SOAK_RUNS: "2000", AGENTFW_SOAK_SEED: "0" };
    expect(soakSettings(environment)).toEqual({ backends: ["blob"], runs: 2000, seed: 0 });
  });

  it.each([
    ["AGENTFW_SOAK_BACKEND", ["", "Redis", "memory", "constructor", "redis,file"]],
    ["AGENTFW_SOAK_RUNS", ["", "0", "-1", "1.5", "many", "1e3", " 5"]],
    ["AGENTFW_SOAK_SEED", ["", "-1", "x", "12345678901"]],
  ])("are refused by name: %s", (name, values) => {
    for (const value of values) {
      expect(() => soakSettings({ [name]: value }), value).toThrow(new RegExp(`^${name} must be`));
    }
  });
});

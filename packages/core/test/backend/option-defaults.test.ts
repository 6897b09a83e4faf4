import { describe, expect, it } from "vitest";
import { withDefaults } from "../../src/backend.ts";

interface Settings {
  readonly path: string;
  readonly isOpen: boolean;
  readonly ttlSeconds: number | undefined;
}

const DEFAULTS: Settings = { path: "here", isOpen: true, ttlSeconds: undefined };

describe("Options with defaults", () => {
  it.each([
    [{}, DEFAULTS],
    [{ path: undefined, isOpen: undefined, ttlSeconds: undefined, other: undefined }, DEFAULTS],
    [
      { path: "there", isOpen: false },
      { path: "there", isOpen: false, ttlSeconds: undefined },
    ],
    [{ ttlSeconds: 5 }, { path: "here", isOpen: true, ttlSeconds: 5 }],
    // What is wrong is kept for whoever checks it, and is never taken for absent.
    [
      { path: null, ttlSeconds: 0 },
      { path: null, isOpen: true, ttlSeconds: 0 },
    ],
    [Object.create({ path: "there" }), { path: "there", isOpen: true, ttlSeconds: undefined }],
  ])("%o are %o", (options, settings) => {
    expect(withDefaults<Settings>(options, "options", DEFAULTS)).toEqual(settings);
    expect(DEFAULTS).toEqual({ path: "here", isOpen: true, ttlSeconds: undefined });
  });

  it.each([
    [null, "options: must be an object"],
    [[], "options: must be an object"],
    [{ isOpen: "no" }, "isOpen: must be a boolean"],
    [{ isOpen: null }, "isOpen: must be a boolean"],
    [{ pathh: "there" }, "pathh: is none of path, isOpen, ttlSeconds"],
  ])("%o are refused", (options, message) => {
    expect(() => Reflect.apply(withDefaults, undefined, [options, "options", DEFAULTS])).toThrow(message);
  });
});

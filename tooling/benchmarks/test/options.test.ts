import { describe, expect, it } from "vitest";
import { BACKENDS } from "../src/backends/index.ts";
import { UsageError } from "../src/errors.ts";
import { JOBS } from "../src/measurement.ts";
import { helpText, parseOptions } from "../src/options.ts";

function parse(...args: string[]) {
  return parseOptions(args, BACKENDS, {});
}

function selected(...args: string[]): string[] {
  return parse(...args).selection.map(({ backend, job }) => `${backend.name}/${job}`);
}

describe("parseOptions", () => {
  it("measures everything in full, without peers, unless told otherwise", () => {
    const { selection, ...options } = parse();
    expect(options).toEqual({
      help: false,
      quick: false,
      peers: false,
      jsonFile: undefined,
      seed: expect.any(Number),
    });
    expect(selection.length).toBe(BACKENDS.reduce((sum, { jobs }) => sum + Object.keys(jobs).length, 0));
  });

  it("takes every option", () => {
    expect(parse("--quick", "--peers", "--json", "rows.json", "--seed", "42", "--only", "memory")).toMatchObject({
      quick: true,
      peers: true,
      jsonFile: "rows.json",
      seed: 42,
    });
    expect(parse("--help").help).toBe(true);
    expect(parse("-h").help).toBe(true);
  });

  it("selects a backend, a job, or a job of a backend", () => {
    expect(selected("--only", "run-50-pieces")).toEqual(["run-50-pieces/run-overhead"]);
    expect(selected("--only", "run-overhead")).toEqual([
      "run/run-overhead",
      "run-50-pieces/run-overhead",
      "run-otel/run-overhead",
    ]);
    expect(selected("--only=file/append-turn")).toEqual(["file/append-turn"]);
  });

  it("adds up what is selected, once and in the usual order", () => {
    expect(selected("--only", "file/append-turn", "--only", "append-turn", "--only", "memory/append-turn")).toEqual([
      "memory/append-turn",
      "file/append-turn",
      "file-no-fsync/append-turn",
      "redis/append-turn",
      "redis-store/append-turn",
      "postgres/append-turn",
      "postgres-store/append-turn",
      "blob/append-turn",
      "blob-store/append-turn",
    ]);
  });

  it.each([
    [["--only", "redish"], "--only redish"],
    [["--only", "openai/append-turn"], "--only openai/append-turn"],
    [["--only", ""], "--only"],
    [["--json", ""], "--json"],
    [["--seed", "two"], "--seed"],
    [["--seed", ""], "--seed"],
    [["--seed", "1.5"], "--seed"],
    [["--fast"], "--fast"],
    [["memory"], "memory"],
    [["--quick=yes"], "--quick"],
  ])("refuses %j, naming what is wrong", (args, named) => {
    expect(() => parse(...args)).toThrow(UsageError);
    expect(() => parse(...args)).toThrow(named);
  });

  it("notices that npm kept an option for itself", () => {
    expect(() => parseOptions([], BACKENDS, { npm_config_quick: "true" })).toThrow("npm run bench -- --quick");
    expect(parseOptions(["--quick"], BACKENDS, { npm_config_quick: "true" }).quick).toBe(true);
  });
});

describe("helpText", () => {
  it("names every option, every backend and every job", () => {
    const text = helpText(BACKENDS);
    const options = ["--only", "--quick", "--json", "--peers", "--seed", "--help"];
    for (const name of [...options, ...BACKENDS.map((backend) => backend.name), ...JOBS]) {
      expect(text).toContain(name);
    }
  });
});

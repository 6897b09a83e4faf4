import { hostname, userInfo } from "node:os";
import { describe, expect, it } from "vitest";
import type { ShownRow } from "../src/measurement.ts";
import { jsonReport, tableLines, thisMachine } from "../src/report.ts";

const raw: ShownRow = {
  backend: "memory",
  job: "append-turn",
  contender: "raw",
  medianMicroseconds: 0.123,
  ratioToRaw: 1,
  ratioMin: 1,
  ratioMax: 1,
  roundTrips: null,
  logBytes: null,
  aboveRawMicroseconds: 0,
};
const ours: ShownRow = {
  ...raw,
  contender: "agentfw",
  medianMicroseconds: 12_345.6,
  ratioToRaw: 3.456,
  ratioMin: 2,
  ratioMax: 150.4,
  roundTrips: 1,
  logBytes: 1694,
  aboveRawMicroseconds: 99.94,
};

describe("jsonReport", () => {
  it("holds the rows with the members that they are to have, and the facts", () => {
    const report: unknown = JSON.parse(jsonReport({ quick: true, seed: 7, runs: 3 }, [raw, ours]));
    const { aboveRawMicroseconds: _, logBytes: _bytes, ...row } = ours;
    expect(report).toEqual({
      machine: thisMachine(),
      quick: true,
      seed: 7,
      runs: 3,
      rows: [expect.objectContaining({ contender: "raw" }), row],
      logBytes: { "memory/append-turn/agentfw": 1694 },
    });
  });

  it("says what the machine is, not whose it is", () => {
    expect(Object.keys(thisMachine())).toEqual(["node", "platform", "architecture", "cpuModel", "cpuCount"]);
    const text = jsonReport({ quick: false, seed: 1, runs: 1 }, []);
    expect(text).not.toContain(hostname());
    expect(text).not.toContain(userInfo().homedir);
    expect(text).not.toContain(process.cwd());
  });
});

describe("tableLines", () => {
  it("aligns a line for each row below the titles", () => {
    expect(tableLines([raw, ours])).toEqual([
      "backend  job          contender  median us  above raw us  ratio   min..max  round trips  log bytes",
      "memory   append-turn  raw             0.12                 1.00                       -          -",
      "memory   append-turn  agentfw       12,346          99.9   3.46  2.00..150         1.00      1,694",
    ]);
  });

  it("has titles when there is nothing below them", () => {
    expect(tableLines([]).length).toBe(1);
  });
});

import { cpus } from "node:os";
import type { Row, ShownRow } from "./measurement.ts";

/** What the figures depend on; nothing that tells whose machine it was. */
export interface Machine {
  readonly node: string;
  readonly platform: string;
  readonly architecture: string;
  readonly cpuModel: string;
  readonly cpuCount: number;
}

/** This machine. */
export function thisMachine(): Machine {
  const processors = cpus();
  return {
    node: process.versions.node,
    platform: process.platform,
    architecture: process.arch,
    cpuModel: processors[0]?.model.trim() ?? "unknown",
    cpuCount: processors.length,
  };
}

/** The text of the JSON file. */
export function jsonReport(facts: { quick: boolean; seed: number; runs: number }, rows: readonly ShownRow[]): string {
  const written = rows.map(({ aboveRawMicroseconds: _, logBytes: _bytes, ...row }): Row => row);
  const logged = rows.filter(({ logBytes }) => logBytes !== null);
  const logBytes = Object.fromEntries(
    logged.map(({ backend, job, contender, logBytes: bytes }) => [`${backend}/${job}/${contender}`, bytes]),
  );
  return `${JSON.stringify({ machine: thisMachine(), ...facts, rows: written, logBytes }, undefined, 2)}\n`;
}

const COLUMNS: readonly { readonly title: string; readonly text: (row: ShownRow) => string; readonly right?: true }[] =
  [
    { title: "backend", text: (row) => row.backend },
    { title: "job", text: (row) => row.job },
    { title: "contender", text: (row) => row.contender },
    { title: "median us", text: (row) => figure(row.medianMicroseconds), right: true },
    { title: "above raw us", text: (row) => (isRaw(row) ? "" : figure(row.aboveRawMicroseconds)), right: true },
    { title: "ratio", text: (row) => figure(row.ratioToRaw, 2), right: true },
    { title: "min..max", text: (row) => (isRaw(row) ? "" : range(row)), right: true },
    { title: "round trips", text: (row) => (row.roundTrips === null ? "-" : figure(row.roundTrips, 2)), right: true },
    { title: "log bytes", text: (row) => (row.logBytes === null ? "-" : figure(row.logBytes, 0)), right: true },
  ];

/** The rows as lines of text, the first of them the titles. */
export function tableLines(rows: readonly ShownRow[]): string[] {
  const cells = [COLUMNS.map(({ title }) => title), ...rows.map((row) => COLUMNS.map(({ text }) => text(row)))];
  const widths = COLUMNS.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return COLUMNS[column]?.right ? cell.padStart(width) : cell.padEnd(width);
      })
      .join("  ")
      .trimEnd(),
  );
}

function isRaw({ contender }: ShownRow): boolean {
  return contender === "raw";
}

function range({ ratioMin, ratioMax }: ShownRow): string {
  return `${figure(ratioMin, 2)}..${figure(ratioMax, 2)}`;
}

/** With `decimals` where they say something, and thousands apart from hundreds. */
function figure(value: number, decimals = 1): string {
  const size = Math.abs(value);
  const digits = size >= 100 ? 0 : size >= 1 ? decimals : size >= 0.1 || size === 0 ? 2 : 3;
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

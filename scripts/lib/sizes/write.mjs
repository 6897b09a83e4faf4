import { writeFileSync } from "node:fs";
import { failure } from "../run.mjs";
import { renderSizes } from "./table.mjs";
import { timeProblems } from "./times.mjs";

/** Writes the table, or throws and leaves what stands there where an import costs more than is promised. */
export function writeSizes(file, rows, machine) {
  const broken = rows.flatMap(({ entry, times }) => (times === undefined ? [] : timeProblems(entry, times)));
  if (broken.length > 0) throw failure([...broken, "Nothing was written."].join("\n"));
  writeFileSync(file, renderSizes(rows, machine));
}

/**
 * Whether the times that stand in the table are of what was measured now: the row of an entry says to the byte what the
 * entry weighs, and to the file what it loads.
 */
export function hasTimesOf(row, known) {
  if (known?.times === undefined) return false;
  const counts = ["bytes", "allBytes", "ours", "foreign"];
  return counts.every((name) => row[name] === known[name]) && row.packages.join() === known.packages.join();
}

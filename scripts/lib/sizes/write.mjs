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

/** Gives measured rows the times that stand in the table; throws where there are none to keep. */
export function keepTimes(rows, table) {
  return rows.map((row) => {
    if (!row.isMain) return row;
    const times = table.get(row.entry)?.times;
    if (times === undefined) throw failure(`${row.entry} has no times to keep: npm run sizes -- --write measures them`);
    return { ...row, times };
  });
}

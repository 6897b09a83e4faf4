import { z } from "zod";
import { renderSizes, timeNames } from "./table.mjs";

const whole = cell(/^(0|[1-9]\d*)$/, "a whole number").transform(Number);
const milliseconds = cell(/^\d+\.\d$/, "a number with one decimal").transform(Number);
const difference = cell(/^-?\d+\.\d$/, "a number with one decimal").transform(Number);
const name = /^(@[\w.-]+\/)?[\w.-]+$/;
const cells = {
  entry: cell(/^`@agentfw\/[\w./-]+`$/, "an entry").transform((text) => text.slice(1, -1)),
  bytes: whole,
  limit: z.union([z.literal("").transform(() => undefined), whole]),
  allBytes: whole,
  ours: whole,
  foreign: whole,
  packages: z
    .string()
    .transform((text) => (text === "" ? [] : text.split(", ")))
    .refine((names) => names.every((one) => name.test(one)), "is no list of packages"),
};
const timeCells = Object.fromEntries(timeNames.map((one) => [one, one === "moreMs" ? difference : milliseconds]));
const withoutTimes = z.strictObject(cells);
const withTimes = z.strictObject({ ...cells, ...timeCells });

/**
 * Reads docs/sizes.md back: `{ rows, machine, problems }`, the rows by entry as they were given to be written. `problems`
 * are one text for every cell that holds something else than it must, and for whatever the program would not have
 * written around these figures.
 */
export function readSizes(text) {
  const rows = new Map();
  const problems = [];
  for (const line of text.split("\n").filter((one) => one.startsWith("| `"))) {
    const { row, wrong } = readRow(line);
    problems.push(...wrong);
    if (row === undefined) continue;
    if (rows.has(row.entry)) problems.push(`${row.entry} has two rows`);
    rows.set(row.entry, row);
  }
  const machine = /^.*Measured with (Node \d+\.\d+\.\d+, \w+, \w+)\.$/m.exec(text)?.[1];
  if (machine === undefined) problems.push("docs/sizes.md does not say what was measured with");
  else if (problems.length === 0) problems.push(...textProblems(text, renderSizes([...rows.values()], machine)));
  return { rows, machine, problems };
}

function readRow(line) {
  const names = [...Object.keys(cells), ...timeNames];
  const found = line
    .slice(1, line.lastIndexOf("|"))
    .split("|")
    .map((one) => one.trim());
  if (found.length !== names.length) return { wrong: [`${found[0]} has ${found.length} cells, not ${names.length}`] };
  const isTimed = found.slice(-timeNames.length).some((one) => one !== "");
  const fields = Object.fromEntries(names.map((one, index) => [one, found[index]]));
  if (!isTimed) for (const one of timeNames) delete fields[one];
  const { data, error } = (isTimed ? withTimes : withoutTimes).safeParse(fields);
  if (error !== undefined)
    return {
      wrong: error.issues.map(({ path, message }) => `${found[0]}: ${path[0]} "${fields[path[0]]}" ${message}`),
    };
  if (!isTimed) return { row: data, wrong: [] };
  const times = Object.fromEntries(timeNames.map((one) => [one, data[one]]));
  const row = Object.fromEntries(Object.keys(cells).map((one) => [one, data[one]]));
  return { row: { ...row, times }, wrong: [] };
}

/** Where a text is not what the program writes: prose, the promise in it, headings, exceptions, and how a figure is written. */
function textProblems(text, expected) {
  if (text === expected) return [];
  const [lines, others] = [text.split("\n"), expected.split("\n")];
  const at = others.findIndex((line, index) => line !== lines[index]);
  if (at === -1) return [`docs/sizes.md goes on after line ${others.length}, where the program ends`];
  return [`docs/sizes.md, line ${at + 1}, says "${lines[at] ?? ""}", where the program says "${others[at]}"`];
}

function cell(form, what) {
  return z.string().regex(form, `is not ${what}`);
}

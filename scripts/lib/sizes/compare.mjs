import { timeProblems } from "./times.mjs";

/** How far an entry may be from its row before the row must be written again. */
const bytesTolerance = 0.02;
// Other packages' files differ a little between the Nodes that they are loaded by.
const filesTolerance = 0.1;

/** What is wrong between measured rows, the table's rows by entry, and the accepted exceptions. One text each. */
export function sizeProblems(rows, table, exceptions) {
  const measured = new Set(rows.map(({ entry }) => entry));
  return [
    ...rows.flatMap((row) => [...limitProblems(row, exceptions), ...rowProblems(row, table.get(row.entry))]),
    ...[...table.keys()].filter((entry) => !measured.has(entry)).map((entry) => `${entry} has a row and is not there`),
    ...Object.keys(exceptions)
      .filter((entry) => !measured.has(entry))
      .map((entry) => `${entry} is an exception and is not there`),
  ];
}

function limitProblems({ entry, bytes, limit }, exceptions) {
  const isException = Object.hasOwn(exceptions, entry);
  if (limit !== undefined && bytes > limit)
    return isException ? [] : [`${entry} weighs ${bytes} bytes, minified and gzipped; the limit is ${limit}`];
  return isException ? [`${entry} keeps its limit and needs no exception any more`] : [];
}

function rowProblems(row, known) {
  if (known === undefined) return [`${row.entry} has no row`];
  const problems = writtenTimes(row, known);
  if (row.limit !== known.limit)
    problems.push(`${row.entry} may weigh ${row.limit ?? "anything"}; its row says ${known.limit ?? "nothing"}`);
  if (isApart(row.bytes, known.bytes, bytesTolerance))
    problems.push(`${row.entry} weighs ${row.bytes} bytes; its row says ${known.bytes}`);
  if (isApart(row.allBytes, known.allBytes, bytesTolerance))
    problems.push(`${row.entry} weighs ${row.allBytes} bytes in all; its row says ${known.allBytes}`);
  if (row.ours !== known.ours) problems.push(`${row.entry} loads ${row.ours} of our files; its row says ${known.ours}`);
  if (row.packages.join() !== known.packages.join())
    problems.push(`${row.entry} loads ${list(row.packages)}; its row says ${list(known.packages)}`);
  else if (isApart(row.foreign, known.foreign, filesTolerance))
    problems.push(`${row.entry} loads ${row.foreign} files of other packages; its row says ${known.foreign}`);
  return problems;
}

/** Times are not measured again; what is written of them must be there, add up and keep the promise. */
function writtenTimes({ entry, isMain }, { times }) {
  if (isMain && times === undefined) return [`${entry} has no times`];
  if (!isMain && times !== undefined) return [`${entry} has times, which only main entries have`];
  return times === undefined ? [] : timeProblems(entry, times);
}

/** Also true for what is no number. */
function isApart(value, known, tolerance) {
  return !(Math.abs(value - known) <= known * tolerance);
}

function list(names) {
  return names.length === 0 ? "no other package" : names.join(", ");
}

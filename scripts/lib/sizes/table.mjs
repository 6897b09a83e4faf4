import { exceptions, importLimitMs } from "./limits.mjs";

const heading =
  "| entry | bytes | at most | in all | our files | other files | other packages | import, ms | drivers alone, ms | more, ms |";

/** The text of docs/sizes.md. `machine` says what the times were measured on. */
export function renderSizes(rows, machine) {
  return [
    "# Sizes and import costs",
    "",
    "Written by `npm run sizes -- --write`; `npm run check` fails when what is built is not what stands here.",
    "",
    "*Bytes* is what loading an entry loads of its own package, bundled, minified and gzipped, without other packages. *In",
    "all* adds what is loaded on demand: a backend's engine, which begins to load when a store is made, and which a bundler",
    "that makes one file puts into it. What is checked against *at most* is bytes, not all. *Files* and",
    "*packages* are what an import makes Node load; core's files are among ours. *Import* is milliseconds of processor",
    "time, the median of fresh processes, which take turns with processes that import the package's drivers alone, or an",
    "empty module where there is none. The promise is at most",
    `${importLimitMs} ms more than that. Times are to be read and not tested: ${machine}.`,
    "",
    heading,
    `|---${"|---:".repeat(5)}|---${"|---:".repeat(3)}|`,
    ...rows.map(renderRow),
    "",
    ...renderExceptions(rows),
  ].join("\n");
}

function renderRow({ entry, bytes, allBytes, limit, ours, foreign, packages, times }) {
  const ms = (name) => times?.[name]?.toFixed(1) ?? "";
  const cells = [`\`${entry}\``, bytes, limit ?? "", allBytes, ours, foreign, packages.join(", ")];
  return `| ${[...cells, ms("packageMs"), ms("driverMs"), ms("differenceMs")].join(" | ")} |`;
}

function renderExceptions(rows) {
  const over = rows.filter(({ bytes, limit }) => bytes > limit);
  if (over.length === 0) return [];
  return [
    "## Over their limit",
    "",
    "The limit stands; these entries do not keep it yet. None of them may grow.",
    "",
    ...over.map(({ entry, bytes, limit }) => `- \`${entry}\`, by ${bytes - limit} bytes: ${exceptions[entry] ?? "?"}`),
    "",
  ];
}

/** Reads the rows back: a map from entry to `{ bytes, allBytes, ours, foreign, packages, times? }`. */
export function parseSizes(text) {
  const lines = text.split("\n").filter((line) => line.startsWith("| `"));
  return new Map(lines.map((line) => parseRow(line.split("|").map((cell) => cell.trim()))));
}

function parseRow([, entry, bytes, , allBytes, ours, foreign, packages, packageMs, driverMs, differenceMs]) {
  const row = { bytes: Number(bytes), allBytes: Number(allBytes), ours: Number(ours), foreign: Number(foreign) };
  row.packages = packages === "" ? [] : packages.split(", ");
  if (packageMs !== "")
    row.times = { packageMs: Number(packageMs), driverMs: Number(driverMs), differenceMs: Number(differenceMs) };
  return [entry.slice(1, -1), row];
}

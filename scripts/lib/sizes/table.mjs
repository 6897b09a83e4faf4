import { exceptions, importLimitMs } from "./limits.mjs";
import { measuredRounds } from "./times.mjs";

const headings = [
  "entry",
  "bytes",
  "at most",
  "in all",
  "our files",
  "other files",
  "other packages",
  "import, ms",
  "empty module, ms",
  "with drivers, ms",
  "drivers alone, ms",
  "more, ms",
];

/** The cells of a row's times, in the order of the table. */
export const timeNames = ["importMs", "emptyMs", "withDriversMs", "driversMs", "moreMs"];

/** The text of docs/sizes.md. `machine` says what the times were measured on. */
export function renderSizes(rows, machine) {
  return [
    "# Sizes and import costs",
    "",
    "Written by `npm run sizes -- --write`; `npm run check` fails when what is built is not what stands here.",
    "",
    "*Bytes* is what importing an entry loads of its own package, bundled, minified and gzipped, without other packages. *In",
    "all* adds what is loaded on demand: a backend's engine, which begins to load when a store is made, and which a bundler",
    "that makes one file puts into it. What is checked against *at most* is bytes, not all. *Files* and",
    "*packages* are what an import makes Node load; core's files are among ours.",
    "",
    "The promise is that an import costs at most",
    `${importLimitMs} ms more than its drivers alone. Costs are milliseconds of processor time from the start of an import to its`,
    `end, in fresh processes that take turns, as medians of ${measuredRounds} rounds after one that is not counted. *Import* is the`,
    "import alone, beside an *empty module*: what it costs before a driver is needed, which many packages load on demand.",
    "*With drivers* is the package and then its drivers in one process, beside those *drivers alone*; *more* is the",
    "difference, and what is promised. Where a package has no driver, these two are the first two again.",
    "",
    "`--write` measures these costs and refuses to write a table that breaks the promise. A check does not measure them, because",
    "a busy machine changes them: it refuses figures that break the promise or do not add up, and counts what an import loads,",
    `which is what makes it slow. Measured with ${machine}.`,
    "",
    `| ${headings.join(" | ")} |`,
    `|---${"|---:".repeat(5)}|---${"|---:".repeat(5)}|`,
    ...rows.map(renderRow),
    "",
    ...renderExceptions(rows),
  ].join("\n");
}

function renderRow({ entry, bytes, allBytes, limit, ours, foreign, packages, times }) {
  const cells = [`\`${entry}\``, bytes, limit ?? "", allBytes, ours, foreign, packages.join(", ")];
  return `| ${[...cells, ...timeNames.map((name) => times?.[name].toFixed(1) ?? "")].join(" | ")} |`;
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

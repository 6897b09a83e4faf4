import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { weigh } from "../lib/pack/size.mjs";
import { sizeProblems } from "../lib/sizes/compare.mjs";
import { limitOf } from "../lib/sizes/limits.mjs";
import { loadedBy } from "../lib/sizes/loaded.mjs";
import { readSizes } from "../lib/sizes/read-table.mjs";
import { renderSizes } from "../lib/sizes/table.mjs";
import { importTimes, timeProblems } from "../lib/sizes/times.mjs";
import { hasTimesOf, writeSizes } from "../lib/sizes/write.mjs";
import { randomText, write } from "./workspace-fixture.mjs";

const times = { importMs: 20, emptyMs: 0.6, withDriversMs: 30.5, driversMs: 23, moreMs: 7.5 };
const row = {
  entry: "@agentfw/history-redis",
  isMain: true,
  bytes: 5000,
  allBytes: 11000,
  limit: 8192,
  ours: 4,
  foreign: 40,
  packages: ["ioredis", "@scope/ms.js"],
  times,
};
const other = { ...row, entry: "@agentfw/core/run", isMain: false, limit: undefined, packages: [], times: undefined };
const machine = "Node 20.20.2, linux, x64";
const text = renderSizes([row, other], machine);
const tableOf = (...rows) => readSizes(renderSizes(rows, machine)).rows;

describe("the table", () => {
  it("is read back as it was written", () => {
    const { rows, machine: read, problems } = readSizes(text);
    expect(problems).toEqual([]);
    expect(read).toBe(machine);
    const { isMain: _, ...first } = row;
    const { isMain: __, times: ___, ...second } = other;
    expect([...rows.values()]).toEqual([first, second]);
  });

  it("lists what is over its limit, and by how much", () => {
    expect(renderSizes([{ ...row, bytes: 9000 }], machine)).toContain("- `@agentfw/history-redis`, by 808 bytes: ");
    expect(renderSizes([row], machine)).not.toContain("## Over");
  });

  it.each([
    [
      "words for bytes",
      "| 5000 |",
      "| about 5 kB |",
      '`@agentfw/history-redis`: bytes "about 5 kB" is not a whole number',
    ],
    ["no bytes", "| 5000 |", "|  |", '`@agentfw/history-redis`: bytes "" is not a whole number'],
    ["another base", "| 5000 |", "| 0x1388 |", "bytes"],
    ["zeros before bytes", "| 5000 |", "| 05000 |", "bytes"],
    ["words for a limit", "| 8192 |", "| 8 KB |", "limit"],
    ["words for all bytes", "| 11000 |", "| tiny |", 'allBytes "tiny"'],
    ["words for our files", "| 4 |", "| four |", "ours"],
    ["words for files of others", "| 40 |", "| 40.0 |", "foreign"],
    ["words for packages", "ioredis,", "ioredis and", "packages"],
    ["words for a time", "| 20.0 |", "| fast |", 'importMs "fast" is not a number with one decimal'],
    ["a part of the times", "| 7.5 |", "|  |", "moreMs"],
    ["a column less", "| 7.5 |", "|", "has 11 cells, not 12"],
    ["a name that is none of ours", "`@agentfw/core/run`", "`core`", "entry"],
    ["another promise", "at most\n15 ms", "at most\n1500 ms", 'says "1500 ms more than its drivers alone.'],
    ["other prose", "The promise is", "The hope is", 'says "The hope is'],
    ["another heading", "| more, ms |", "| less, ms |", "less, ms"],
    ["a row that does not look like one", "| `@agentfw/core/run`", "| @agentfw/core/run", "says"],
    ["a line more", /$/, "\nAll is well.\n", "goes on after line"],
    ["an unknown machine", machine, "a fast one", "does not say what was measured with"],
  ])("is refused with %s", (_, from, to, expected) => {
    expect(text.match(from)).not.toBeNull();
    const { problems } = readSizes(text.replace(from, to));
    expect(problems).toEqual([expect.stringContaining(expected)]);
  });

  it("is refused with two rows of one entry", () => {
    expect(readSizes(renderSizes([row, row], machine)).problems[0]).toBe("@agentfw/history-redis has two rows");
  });
});

describe("the promise", () => {
  const dear = { importMs: 320, emptyMs: 0.6, withDriversMs: 342.3, driversMs: 23, moreMs: 319.3 };

  it("is kept up to its limit", () => {
    expect(timeProblems("a", { ...times, withDriversMs: 38, moreMs: 15 })).toEqual([]);
    expect(timeProblems("a", { ...times, withDriversMs: 22.6, moreMs: -0.4 })).toEqual([]);
  });

  it("is broken above it, with the medians and the spread", () => {
    expect(timeProblems("@agentfw/a", { ...dear, spreadMs: [301.5, 320] })).toEqual([
      "@agentfw/a costs 319.3 ms more than its drivers alone, and the promise is at most 15 ms: the medians are 342.3 ms " +
        "with it and 23.0 ms without, and half of the rounds were between 301.5 ms and 320.0 ms more",
    ]);
  });

  it("is not written into the table broken", () => {
    const folder = write({ "sizes.md": "as it was" });
    const file = join(folder, "sizes.md");
    expect(() => writeSizes(file, [other, { ...row, times: dear }], machine)).toThrow(
      /319\.3 ms more.*\nNothing was written/,
    );
    expect(readFileSync(file, "utf8")).toBe("as it was");
    writeSizes(file, [row, other], machine);
    expect(readFileSync(file, "utf8")).toBe(text);
  });

  it("takes times from the table only for what is what it was", () => {
    expect(hasTimesOf(row, row)).toBe(true);
    const counts = { bytes: 5001, allBytes: 11001, ours: 5, foreign: 41, packages: ["ioredis"] };
    for (const [name, value] of Object.entries(counts)) expect(hasTimesOf({ ...row, [name]: value }, row)).toBe(false);
    expect(hasTimesOf(row, { ...row, times: undefined })).toBe(false);
    expect(hasTimesOf(row, undefined)).toBe(false);
  });
});

describe("the check", () => {
  const compare = (change, exceptions = {}) => sizeProblems([{ ...row, ...change }], tableOf(row), exceptions);
  const written = (change) => sizeProblems([row], tableOf({ ...row, ...change }), {});

  it("lets small differences pass", () => {
    expect(compare({})).toEqual([]);
    expect(compare({ bytes: 5090, foreign: 43 })).toEqual([]);
  });

  it.each([
    ["an entry that grew", { bytes: 5200 }, "weighs 5200 bytes; its row says 5000"],
    ["an entry that shrank", { bytes: 4800 }, "weighs 4800 bytes; its row says 5000"],
    ["a part loaded on demand that grew", { allBytes: 12000 }, "weighs 12000 bytes in all; its row says 11000"],
    ["a file more of ours", { ours: 5 }, "loads 5 of our files; its row says 4"],
    [
      "another package",
      { packages: ["ioredis", "lodash"] },
      "loads ioredis, lodash; its row says ioredis, @scope/ms.js",
    ],
    [
      "a driver that is not loaded any more",
      { packages: [] },
      "loads no other package; its row says ioredis, @scope/ms.js",
    ],
    ["many files more of a driver", { foreign: 60 }, "loads 60 files of other packages; its row says 40"],
  ])("tells of %s", (_, change, expected) => {
    expect(compare(change)).toEqual([`@agentfw/history-redis ${expected}`]);
  });

  it.each([
    ["a limit that nobody set", { limit: 99999 }, "@agentfw/history-redis may weigh 8192; its row says 99999"],
    ["no limit", { limit: undefined }, "@agentfw/history-redis may weigh 8192; its row says nothing"],
    ["no times", { times: undefined }, "@agentfw/history-redis has no times"],
    [
      "times that break the promise",
      { times: { ...times, withDriversMs: 918.2, driversMs: 0.6, moreMs: 917.6 } },
      "@agentfw/history-redis costs 917.6 ms more than its drivers alone",
    ],
    [
      "times that do not add up",
      { times: { ...times, withDriversMs: 918.2 } },
      "@agentfw/history-redis: 918.2 ms with and 23.0 ms without it is 895.2 ms more, not 7.5 ms",
    ],
  ])("refuses a row with %s", (_, change, expected) => {
    expect(written(change)).toEqual([expect.stringContaining(expected)]);
  });

  it("refuses times of an entry that has none, and a figure that is no number", () => {
    expect(sizeProblems([other], tableOf({ ...other, times }), {})).toEqual([
      "@agentfw/core/run has times, which only main entries have",
    ]);
    const broken = new Map([[row.entry, { ...row, bytes: Number.NaN }]]);
    expect(sizeProblems([row], broken, {})).toEqual(["@agentfw/history-redis weighs 5000 bytes; its row says NaN"]);
  });

  it("refuses an entry over its limit that is no exception, and an exception that is none", () => {
    const over = { ...row, bytes: 9000 };
    expect(sizeProblems([over], tableOf(over), {})).toEqual([
      "@agentfw/history-redis weighs 9000 bytes, minified and gzipped; the limit is 8192",
    ]);
    expect(sizeProblems([over], tableOf(over), { "@agentfw/history-redis": "a reason" })).toEqual([]);
    expect(compare({}, { "@agentfw/history-redis": "a reason" })).toEqual([
      "@agentfw/history-redis keeps its limit and needs no exception any more",
    ]);
    expect(compare({}, { "@agentfw/gone": "a reason" })).toEqual(["@agentfw/gone is an exception and is not there"]);
  });

  it("wants a row for each entry, and an entry for each row", () => {
    expect(sizeProblems([row], new Map(), {})).toEqual(["@agentfw/history-redis has no row"]);
    expect(sizeProblems([], tableOf(row), {})).toEqual(["@agentfw/history-redis has a row and is not there"]);
  });
});

it("limits the main entries of core and of backends", () => {
  expect(limitOf({ directory: "packages/core", subpath: "." })).toBe(14 * 1024);
  expect(limitOf({ directory: "packages/history-redis", subpath: "." })).toBe(8 * 1024);
  expect(limitOf({ directory: "packages/foundry-state-store", subpath: "./emulator" })).toBeUndefined();
  expect(limitOf({ directory: "packages/agent", subpath: "." })).toBeUndefined();
});

describe("what is measured", () => {
  const long = `"${"abcdefghij".repeat(3)}${Math.PI}"`;
  const files = {
    "node_modules/@agentfw/a/package.json": { name: "@agentfw/a", type: "module", exports: "./index.js" },
    "node_modules/@agentfw/a/index.js":
      'import "driver";\nimport "./more.js";\nexport const lazy = () => import("./lazy.js");\n',
    "node_modules/@agentfw/a/more.js": `globalThis.more = ${long};\n`,
    "node_modules/@agentfw/a/lazy.js": `globalThis.lazy = [${`${long},`.repeat(40)}];\nimport "lazy-driver";\n`,
    "node_modules/driver/package.json": { name: "driver", main: "index.js" },
    "node_modules/driver/index.js": 'require("./part.js");\nrequire("needed");\n',
    "node_modules/driver/part.js": "",
    "node_modules/needed/package.json": { name: "needed", main: "index.js" },
    "node_modules/needed/index.js": "",
  };

  it("counts the files that an import loads, also those that CommonJS requires, and not those loaded on demand", async () => {
    const folder = write(files);
    const { files: paths, ...counted } = await loadedBy(folder, "@agentfw/a");
    expect(counted).toEqual({ ours: 2, foreign: 3, packages: ["driver", "needed"] });
    expect(paths).toContain(join(folder, "node_modules/@agentfw/a/more.js"));
    expect(paths).not.toContain(join(folder, "node_modules/@agentfw/a/lazy.js"));
  });

  it.each([
    ["awaits", 'await import("./lazy.js");\n'],
    ["awaits in a file that it imports", undefined],
    ["sets going", 'void import("./lazy.js");\n'],
  ])("counts and weighs what an import %s as loaded", async (_, line) => {
    const entry = "node_modules/@agentfw/a/index.js";
    const more = "node_modules/@agentfw/a/more.js";
    const path = line === undefined ? more : entry;
    const withDriver = { ...files, "node_modules/lazy-driver/package.json": { name: "lazy-driver", main: "index.js" } };
    withDriver["node_modules/lazy-driver/index.js"] = "";
    withDriver[path] = `${files[path]}${line ?? 'await import("./lazy.js");\n'}`;
    const folder = write(withDriver);
    const { files: paths, ...counted } = await loadedBy(folder, "@agentfw/a");
    expect(counted).toEqual({ ours: 3, foreign: 4, packages: ["driver", "lazy-driver", "needed"] });
    const { bytes, allBytes } = await weigh(join(folder, entry), paths);
    expect(bytes).toBe(allBytes);
  });

  it("weighs an entry with what it imports, without drivers, and apart from what is loaded on demand", async () => {
    const folder = write(files);
    const entry = join(folder, "node_modules/@agentfw/a/index.js");
    const loaded = ["index.js", "more.js"].map((name) => join(folder, "node_modules/@agentfw/a", name));
    const { bytes, allBytes } = await weigh(entry, loaded);
    expect(allBytes).toBeGreaterThan(bytes + 50);
    expect(bytes).toBeGreaterThan(50);
    expect(bytes).toBeLessThan(400);
    writeFileSync(join(folder, "node_modules/driver/index.js"), `module.exports = ${"1 +".repeat(5000)} 1;`);
    writeFileSync(join(folder, "node_modules/@agentfw/a/lazy.js"), `globalThis.lazy = "${randomText(2000)}";`);
    const changed = await weigh(entry, loaded);
    expect(Math.abs(changed.bytes - bytes)).toBeLessThan(40);
    expect(changed.allBytes).toBeGreaterThan(allBytes + 1000);
    const grown = readFileSync(join(folder, "node_modules/@agentfw/a/more.js"), "utf8");
    writeFileSync(join(folder, "node_modules/@agentfw/a/more.js"), `${grown}globalThis.x = "${randomText(2000)}";`);
    expect((await weigh(entry, loaded)).bytes).toBeGreaterThan(bytes + 1000);
  });

  it("times an import beside nothing and after its drivers, and fails for one that cannot be imported", async () => {
    const folder = write(files);
    const { spreadMs, ...measured } = await importTimes(folder, "@agentfw/a", ["driver"], 1);
    expect([...spreadMs, ...Object.values(measured)].every(Number.isFinite)).toBe(true);
    expect(timeProblems("a", { ...measured, spreadMs }).filter((problem) => problem.includes("without it is"))).toEqual(
      [],
    );
    const { withDriversMs, driversMs, importMs, emptyMs } = await importTimes(folder, "@agentfw/a", [], 1);
    expect([withDriversMs, driversMs]).toEqual([importMs, emptyMs]);
    mkdirSync(join(folder, "node_modules/broken"));
    await expect(importTimes(folder, "broken", [], 1)).rejects.toThrow("broken cannot be imported");
  });
});

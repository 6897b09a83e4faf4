import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { weigh } from "../lib/pack/size.mjs";
import { sizeProblems } from "../lib/sizes/compare.mjs";
import { limitOf } from "../lib/sizes/limits.mjs";
import { loadedBy } from "../lib/sizes/loaded.mjs";
import { parseSizes, renderSizes } from "../lib/sizes/table.mjs";
import { importTimes } from "../lib/sizes/times.mjs";
import { write } from "./workspace-fixture.mjs";

const times = { packageMs: 20.04, driverMs: 12.5, differenceMs: 7.5 };
const row = {
  entry: "@agentfw/history-redis",
  bytes: 5000,
  allBytes: 11000,
  limit: 8192,
  ours: 4,
  foreign: 40,
  packages: ["ioredis", "ms"],
};
const tableOf = (...rows) => parseSizes(renderSizes(rows, "a machine"));

describe("the table", () => {
  it("is read back as it was written", () => {
    const core = {
      entry: "@agentfw/core",
      bytes: 900,
      allBytes: 1000,
      limit: undefined,
      ours: 2,
      foreign: 0,
      packages: [],
    };
    const table = tableOf({ ...row, times }, core);
    expect([...table.keys()]).toEqual(["@agentfw/history-redis", "@agentfw/core"]);
    expect(table.get("@agentfw/history-redis")).toEqual({
      bytes: 5000,
      allBytes: 11000,
      ours: 4,
      foreign: 40,
      packages: ["ioredis", "ms"],
      times: { packageMs: 20, driverMs: 12.5, differenceMs: 7.5 },
    });
    expect(table.get("@agentfw/core")).toEqual({ bytes: 900, allBytes: 1000, ours: 2, foreign: 0, packages: [] });
  });

  it("lists what is over its limit, and by how much", () => {
    expect(renderSizes([{ ...row, bytes: 9000 }], "a machine")).toContain("- `@agentfw/history-redis`, by 808 bytes: ");
    expect(renderSizes([row], "a machine")).not.toContain("## Over");
  });
});

describe("the check", () => {
  const compare = (change, exceptions = {}) => sizeProblems([{ ...row, ...change }], tableOf(row), exceptions);

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
      { packages: ["ioredis", "lodash", "ms"] },
      "loads ioredis, lodash, ms; its row says ioredis, ms",
    ],
    ["a driver that is not loaded any more", { packages: [] }, "loads no other package; its row says ioredis, ms"],
    ["many files more of a driver", { foreign: 60 }, "loads 60 files of other packages; its row says 40"],
  ])("tells of %s", (_, change, expected) => {
    expect(compare(change)).toEqual([`@agentfw/history-redis ${expected}`]);
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
    expect(await loadedBy(write(files), "@agentfw/a")).toEqual({ ours: 2, foreign: 3, packages: ["driver", "needed"] });
  });

  it("weighs an entry with what it imports, without drivers, and apart from what is loaded on demand", async () => {
    const folder = write(files);
    const entry = join(folder, "node_modules/@agentfw/a/index.js");
    const { bytes, allBytes } = await weigh(entry);
    expect(allBytes).toBeGreaterThan(bytes + 50);
    expect(bytes).toBeGreaterThan(50);
    expect(bytes).toBeLessThan(400);
    writeFileSync(join(folder, "node_modules/driver/index.js"), `module.exports = ${"1 +".repeat(5000)} 1;`);
    writeFileSync(join(folder, "node_modules/@agentfw/a/lazy.js"), `globalThis.lazy = "${randomText(2000)}";`);
    const other = await weigh(entry);
    expect(Math.abs(other.bytes - bytes)).toBeLessThan(40);
    expect(other.allBytes).toBeGreaterThan(allBytes + 1000);
    const grown = readFileSync(join(folder, "node_modules/@agentfw/a/more.js"), "utf8");
    writeFileSync(join(folder, "node_modules/@agentfw/a/more.js"), `${grown}globalThis.x = "${randomText(2000)}";`);
    expect((await weigh(entry)).bytes).toBeGreaterThan(bytes + 1000);
  });

  it("times an import beside its driver's, and fails for one that cannot be imported", async () => {
    const folder = write(files);
    const measured = await importTimes(folder, "@agentfw/a", ["driver"], 1);
    expect(Object.values(measured).every(Number.isFinite)).toBe(true);
    mkdirSync(join(folder, "node_modules/broken"));
    await expect(importTimes(folder, "broken", [], 1)).rejects.toThrow("broken cannot be imported");
  });
});

/** What no compression makes short, the same each time. */
function randomText(length) {
  let state = 1;
  return Array.from({ length }, () => {
    state = (state * 48271) % 2147483647;
    return String.fromCharCode(97 + (state % 26));
  }).join("");
}

import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BACKENDS } from "../src/backends/index.ts";
import type { Plan } from "../src/blocks.ts";
import { BenchmarkError } from "../src/errors.ts";
import { type MeasureOptions, measure } from "../src/measure.ts";
import { type Backend, JOBS, type Row } from "../src/measurement.ts";
import type { Peer } from "../src/peer.ts";
import { seededRandom } from "../src/random.ts";

const plan: Plan = { runs: 2, blocks: 1, samples: 1, blockMs: 1, warmUpMs: 1 };
const sizes = { messages: 40, manyMessages: 90, conversations: 3, items: 60 };
let scratch = "";

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "agentfw-benchmarks-"));
});

afterAll(() => rm(scratch, { recursive: true, force: true }));

function options(more: Partial<MeasureOptions> = {}): MeasureOptions {
  return { plan, sizes, peers: [], random: seededRandom(1), scratch, ...more };
}

/** A peer that keeps its messages in a list, and notes what it was asked for. */
function listPeer(name: string, kind: Peer["kind"], calls: Set<string>): Peer {
  return {
    name,
    kind,
    open: async ({ directory, sessions, messages, url, prefix = "", others }) => {
      const beside = others === undefined ? "" : ` beside ${others}`;
      const place = url === undefined ? "" : ` at ${new URL(url).protocol}${beside}`;
      calls.add(`open ${sessions.length} with ${messages.length}${place}`);
      expect(prefix).toMatch(url === undefined ? /^$/ : /^agentfw-benchmarks-.*-peer$/);
      expect(await readdir(directory)).toEqual([]);
      const lists = new Map(sessions.map((session) => [session, [...messages]]));
      const listOf = (session: string) => lists.get(session) ?? [];
      return {
        append: async (session, turn) => {
          calls.add(`append ${turn.map(({ role, text }) => `${role} ${text.length}`).join()}`);
          listOf(session).push(...turn);
        },
        load: async (session, last) => {
          calls.add(`load ${last}`);
          return listOf(session).slice(-last).length;
        },
        close: async () => {
          calls.add("close");
        },
      };
    },
  };
}

const KINDS = ["memory", "file", "redis", "postgres"] as const;

const EXPECTED: Readonly<Record<string, readonly string[]>> = {
  "run/run-overhead": [
    "raw",
    "agentfw ephemeral",
    "agentfw",
    "agentfw 80",
    "agentfw 90",
    "agentfw store",
    "agentfw store 80",
    "agentfw store 90",
    "agentfw store, stream",
  ],
  "run/import": ["raw", "agentfw"],
  "run-50-pieces/run-overhead": ["raw", "agentfw ephemeral", "agentfw", "agentfw store", "agentfw store, stream"],
  "memory/append-turn": ["raw", "agentfw", "agentfw session"],
  "memory/load-last-20": ["raw", "agentfw", "agentfw session"],
  "memory/load-last-20-of-100000": ["raw", "agentfw", "agentfw session"],
  "memory/concurrent-64": ["raw", "agentfw"],
  "memory/import": ["raw", "agentfw"],
  "file/append-turn": ["raw", "agentfw"],
  "file/load-last-20": ["raw", "raw tail read", "agentfw"],
  "file/load-last-20-of-100000": ["raw", "raw tail read", "agentfw"],
  "file/concurrent-64": ["raw", "agentfw"],
  "file/import": ["raw", "agentfw"],
  "file-no-fsync/append-turn": ["raw", "agentfw"],
  "file-no-fsync/concurrent-64": ["raw", "agentfw"],
  "redis/append-turn": ["raw", "agentfw"],
  "redis/load-last-20": ["raw", "agentfw"],
  "redis/load-last-20-of-100000": ["raw", "agentfw", "agentfw 100"],
  "redis/concurrent-64": ["raw", "agentfw", "agentfw one by one"],
  "redis/import": ["raw", "agentfw"],
  "redis-store/append-turn": ["raw", "agentfw"],
  "redis-store/load-last-20": ["raw", "agentfw"],
  "redis-store/load-last-20-of-100000": ["raw", "agentfw", "agentfw 100"],
  "redis-1-ms/concurrent-64": ["raw", "agentfw", "agentfw one by one"],
  "postgres/append-turn": ["raw", "raw prepared", "agentfw"],
  "postgres/load-last-20": ["raw", "raw prepared", "agentfw"],
  "postgres/load-last-20-of-100000": ["raw", "raw prepared", "agentfw", "agentfw 100"],
  "postgres/concurrent-64": ["raw", "agentfw", "agentfw one by one"],
  "postgres/import": ["raw", "agentfw"],
  "postgres-store/append-turn": ["raw", "raw prepared", "agentfw"],
  "postgres-store/load-last-20": ["raw", "raw prepared", "agentfw"],
  "postgres-store/load-last-20-of-100000": ["raw", "raw prepared", "agentfw", "agentfw 100"],
  "redis-state/state-set": ["raw", "agentfw"],
  "redis-state/state-get": ["raw", "agentfw"],
  "postgres-state/state-set": ["raw", "raw prepared", "agentfw"],
  "postgres-state/state-get": ["raw", "raw prepared", "agentfw"],
  "blob/append-turn": ["raw", "agentfw"],
  "blob/load-last-20": ["raw", "agentfw"],
  "blob/load-last-20-of-100000": ["raw", "agentfw", "agentfw 100"],
  "blob/concurrent-64": ["raw", "agentfw"],
  "blob/import": ["raw", "agentfw"],
  "blob-store/append-turn": ["raw", "agentfw"],
  "blob-store/load-last-20": ["raw", "agentfw"],
  "blob-store/load-last-20-of-100000": ["raw", "agentfw", "agentfw 100"],
  "memory-file/memory-context": ["raw", "agentfw", "agentfw first run"],
  "memory-file/memory-grep": ["raw", "agentfw"],
  "memory-file/memory-write": ["raw", "agentfw"],
  "memory-file/import": ["raw", "agentfw"],
  "openai/import": ["raw", "agentfw"],
  "run-otel/run-overhead": ["raw", "idle middleware", "agentfw, no SDK", "agentfw, SDK"],
};

const ALL = BACKENDS.flatMap((backend) =>
  JOBS.filter((job) => backend.jobs[job] !== undefined).map((job) => ({
    name: `${backend.name}/${job}`,
    backend,
    job,
  })),
);

function assertRow(row: Row): void {
  for (const value of [row.medianMicroseconds, row.ratioToRaw, row.ratioMin, row.ratioMax]) {
    expect(value).toBeGreaterThanOrEqual(0);
    expect(Number.isFinite(value)).toBe(true);
  }
  expect(row.ratioMin).toBeLessThanOrEqual(row.ratioToRaw);
  expect(row.ratioMax).toBeGreaterThanOrEqual(row.ratioToRaw);
  expect(row.contender === "raw" ? row.ratioToRaw : 1).toBe(1);
  expect(row.roundTrips === null || row.roundTrips > 0).toBe(true);
}

describe("every job of every backend", () => {
  it("is known here", () => {
    expect(ALL.map(({ name }) => name).toSorted()).toEqual(Object.keys(EXPECTED).toSorted());
  });

  it.each(ALL)("$name gives a row for every contender and leaves nothing behind", async ({ name, backend, job }) => {
    const rows = await measure({ backend, job }, options());
    expect(rows.map(({ contender }) => contender)).toEqual(EXPECTED[name]);
    for (const row of rows) {
      expect([row.backend, row.job]).toEqual([backend.name, job]);
      assertRow(row);
      // One round trip for an append, a load, a set and a get is what the stores promise.
      const isCounted = /^(redis|postgres|blob)/.test(backend.name) && /^(append|load|state)-/.test(job);
      expect(row.roundTrips).toBe(isCounted ? 1 : null);
      const isLogged = isCounted && backend.name.startsWith("postgres");
      expect(row.logBytes).toEqual(isLogged ? expect.any(Number) : null);
      // A turn of two messages is that much text.
      expect(row.logBytes ?? Number.POSITIVE_INFINITY).toBeGreaterThan(job === "append-turn" ? 720 : -1);
    }
    expect(await readdir(scratch)).toEqual([]);
  });
});

describe("peers", () => {
  it.each([
    ["memory", "append-turn", ["open 1 with 40", "append user 120,assistant 600", "close"]],
    ["memory", "load-last-20", ["open 1 with 40", "load 20", "close"]],
    ["memory", "load-last-20-of-100000", ["open 1 with 90", "load 20", "close"]],
    ["memory", "concurrent-64", ["open 3 with 0", "append user 120,assistant 600", "close"]],
    ["file", "load-last-20", ["open 1 with 40", "load 20", "close"]],
    ["file-no-fsync", "append-turn", ["open 1 with 40", "append user 120,assistant 600", "close"]],
    ["file-no-fsync", "concurrent-64", ["open 3 with 0", "append user 120,assistant 600", "close"]],
    ["redis", "append-turn", ["open 1 with 40 at redis:", "append user 120,assistant 600", "close"]],
    ["redis", "load-last-20-of-100000", ["open 1 with 90 at redis:", "load 20", "close"]],
    ["redis", "concurrent-64", ["open 3 with 0 at redis:", "append user 120,assistant 600", "close"]],
    ["redis-1-ms", "concurrent-64", ["open 3 with 0 at redis:", "append user 120,assistant 600", "close"]],
    ["postgres", "append-turn", ["open 1 with 40 at postgres: beside 90", "append user 120,assistant 600", "close"]],
    ["postgres", "load-last-20-of-100000", ["open 1 with 90 at postgres: beside 90", "load 20", "close"]],
    ["postgres", "concurrent-64", ["open 3 with 0 at postgres: beside 90", "append user 120,assistant 600", "close"]],
  ] as const)("take part in %s/%s, doing the same work", async (backendName, job, expected) => {
    const calls = new Set<string>();
    const other = new Set<string>();
    const kind = KINDS.find((candidate) => backendName.startsWith(candidate)) ?? "memory";
    const peers = [listPeer("peer", kind, calls), listPeer("other", kind === "memory" ? "file" : "memory", other)];
    const rows = await measure({ backend: backendOf(backendName), job }, options({ peers }));
    expect(rows.map(({ contender }) => contender)).toEqual([...(EXPECTED[`${backendName}/${job}`] ?? []), "peer"]);
    expect([...calls].toSorted()).toEqual([...expected].toSorted());
    expect([...other]).toEqual([]);
  });

  it("are left out where a conversation is longer than they can bear", async () => {
    const peer: Peer = { ...listPeer("peer", "memory", new Set()), mostMessages: 40 };
    const contenders = async (job: "load-last-20" | "load-last-20-of-100000") =>
      (await measure({ backend: backendOf("memory"), job }, options({ peers: [peer] }))).map((row) => row.contender);
    expect(await contenders("load-last-20")).toContain("peer");
    expect(await contenders("load-last-20-of-100000")).not.toContain("peer");
  });

  it("that load too little end the measurement", async () => {
    const peer: Peer = { ...listPeer("peer", "memory", new Set()) };
    const forgetful: Peer = {
      ...peer,
      open: async (given) => ({ ...(await peer.open(given)), load: async () => 19 }),
    };
    await expect(
      measure({ backend: backendOf("memory"), job: "load-last-20" }, options({ peers: [forgetful] })),
    ).rejects.toThrow("19 messages were loaded in place of 20");
  });
});

describe("measure", () => {
  it("closes what it opened and removes its folder, also when a contender fails", async () => {
    let closed = 0;
    const failing: Backend = {
      name: "failing",
      jobs: {
        import: async () => ({
          contenders: [{ name: "raw", sample: () => Promise.reject(new BenchmarkError("no luck")) }],
          close: async () => {
            closed += 1;
          },
        }),
      },
    };
    await expect(measure({ backend: failing, job: "import" }, options())).rejects.toThrow("no luck");
    expect(closed).toBe(1);
    expect(await readdir(scratch)).toEqual([]);
  });

  it("refuses a job that has nothing to compare with", async () => {
    const sample = async () => 1;
    const backend: Backend = {
      name: "odd",
      jobs: { import: async () => ({ contenders: [{ name: "agentfw", sample }] }) },
    };
    await expect(measure({ backend, job: "import" }, options())).rejects.toThrow("no raw contender");
  });

  it("compares with raw of the same runs", async () => {
    const constant = (name: string, value: number) => ({ name, sample: async () => value });
    const contenders = [constant("raw", 4), constant("agentfw", 10)];
    const backend: Backend = { name: "even", jobs: { import: async () => ({ contenders }) } };
    const rows = await measure({ backend, job: "import" }, options());
    expect(rows[1]).toEqual({
      backend: "even",
      job: "import",
      contender: "agentfw",
      medianMicroseconds: 10,
      ratioToRaw: 2.5,
      ratioMin: 2.5,
      ratioMax: 2.5,
      roundTrips: null,
      logBytes: null,
      aboveRawMicroseconds: 6,
    });
  });
});

function backendOf(name: string): Backend {
  const backend = BACKENDS.find((candidate) => candidate.name === name);
  if (backend === undefined) {
    throw new TypeError(`there is no backend ${name}`);
  }
  return backend;
}

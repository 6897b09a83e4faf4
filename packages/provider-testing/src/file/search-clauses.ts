import type { FileMatch, FileStore } from "@agentfw/core";
import { endings, ensure, expectCode, expectError, sameList } from "../expect.ts";
import { show } from "../show.ts";
import type { FileClause } from "./support.ts";

/** The time limit that the clauses on slow patterns set. */
const TIMEOUT_MS = 400;

/** How much later than its limit a search may settle on a busy machine. */
const GRACE_MS = 1_200;

/** How long a search may keep everything else from running. */
const LONGEST_PAUSE_MS = 250;

const ATTEMPTS = 3;

/** Finding lines. */
export const searchClauses: readonly FileClause[] = [
  {
    id: "F23",
    title: "search finds the lines that match, whatever their case, with path, line number and text",
    contract: "FileStore",
    reason: "The line number is what the model edits next.",
    async run(trial) {
      const { store } = await trial.open();
      await store.write("b.md", "Alpha\nbeta\n\ngamma ALPHA\n");
      await store.write("a/x.md", "no match\nan alphabet");
      await store.write("c.md", "12:30 costs $5 (ok) [x] 😀 é");
      const found: readonly (readonly [string, readonly string[]])[] = [
        ["alpha", ["a/x.md:2:an alphabet", "b.md:1:Alpha", "b.md:4:gamma ALPHA"]],
        ["^alpha$", ["b.md:1:Alpha"]],
        ["\\bALPHA\\b", ["b.md:1:Alpha", "b.md:4:gamma ALPHA"]],
        ["^(beta|gamma)", ["b.md:2:beta", "b.md:4:gamma ALPHA"]],
        ["\\d{2}:\\d+", ["c.md:1:12:30 costs $5 (ok) [x] 😀 é"]],
        ["\\$[0-9] \\(ok\\) \\[x\\] .", ["c.md:1:12:30 costs $5 (ok) [x] 😀 é"]],
        ["É$", ["c.md:1:12:30 costs $5 (ok) [x] 😀 é"]],
        ["[^a-z\\s\\d$():[\\]]", ["c.md:1:12:30 costs $5 (ok) [x] 😀 é"]],
        ["a{2}|zzz|b.t?ta", ["b.md:2:beta"]],
        ["nowhere", []],
        ["\\*", []],
      ];
      for (const [pattern, lines] of found) {
        sameList(await linesOf(store.search(pattern)), lines, `search for ${show(pattern)}`);
      }
    },
  },
  {
    id: "F24",
    title: "search keeps to its directory and its limit, which is 100 unless it is set",
    contract: "FileStore",
    reason: "A pattern that matches everything must not fill the model's context.",
    async run(trial) {
      const { store } = await trial.open();
      await store.write("dir/a.md", "line\n".repeat(150));
      await store.write("dir/sub/b.md", "line in sub");
      await store.write("dir2/c.md", "line in dir2");
      const all = Array.from({ length: 150 }, (_, index) => `dir/a.md:${index + 1}:line`);
      sameList(await linesOf(store.search("line")), all.slice(0, 100), "the default limit");
      sameList(await linesOf(store.search("line", { limit: 3 })), all.slice(0, 3), "a limit of 3");
      const within = [...all, "dir/sub/b.md:1:line in sub"];
      sameList(await linesOf(store.search("line", { directory: "dir", limit: 200 })), within, "one directory");
      const everything = [...within, "dir2/c.md:1:line in dir2"];
      sameList(await linesOf(store.search("line", { limit: 1_000 })), everything, "a limit above what there is");
      sameList(await linesOf(store.search("line", { directory: "unknown" })), [], "an unknown directory");
    },
  },
  {
    id: "F25",
    title: "patterns that are empty, malformed or above 256 characters, and malformed options, are refused",
    contract: "FileStore",
    reason: "The model needs to hear what is wrong with its pattern, also when there is nothing to search.",
    async run(trial) {
      const { store } = await trial.open();
      for (let turn = 0; turn < 2; turn += 1) {
        for (const pattern of ["", "(", "[a", "a{2,1}", "*", "\\", "a".repeat(257), undefined, 7]) {
          const call = Reflect.apply(store.search, store, [pattern]);
          await expectCode(call, `the pattern ${show(pattern)}`, "configuration");
        }
        for (const options of [{ limit: 0 }, { limit: 1.5 }, { timeoutMs: 0 }, { timeoutMs: -1 }]) {
          const call = Reflect.apply(store.search, store, ["a", options]);
          await expectCode(call, show(options), "configuration");
        }
        await store.write("a.md", "a".repeat(256));
      }
      sameList(await linesOf(store.search("a".repeat(256))), [`a.md:1:${"a".repeat(256)}`], "256 characters");
    },
  },
  {
    id: "F26",
    title: "back-references and look-around give the right lines or are refused, never wrong lines",
    contract: "FileStore",
    reason: "An engine that cannot do them must say so instead of finding something else.",
    async run(trial) {
      const { store } = await trial.open();
      await store.write("a.md", "abab\nabcd\ndcba");
      for (const [pattern, lines] of [
        ["(ab)\\1", ["a.md:1:abab"]],
        ["ab(?=c)", ["a.md:2:abcd"]],
        ["^ab(?!c)", ["a.md:1:abab"]],
        ["(?<=c)d", ["a.md:2:abcd"]],
      ] as const) {
        const [ended] = await endings([linesOf(store.search(pattern))]);
        if (ended?.error === undefined) {
          sameList(ended?.value ?? [], lines, `search for ${pattern}`);
        } else {
          await expectCode(Promise.reject(ended.error), `the pattern ${pattern}`, "configuration");
        }
      }
    },
  },
  {
    id: "F27",
    title: "patterns that take a backtracking engine exponential time end in time, and other work goes on",
    contract: "FileStore",
    reason: "A model writes such a pattern by accident; the server behind it must not stop for everyone.",
    async run(trial) {
      const { store } = await trial.open();
      await store.write("a.md", `${"a".repeat(30)}b`);
      for (const pattern of ["(a+)+$", "(a|aa)+$", "(a|a)*c", "^(([a-z])+.)+[A-Z]([a-z])+$"]) {
        await expectInTime(store, pattern);
      }
    },
  },
  {
    id: "F28",
    title: "patterns that take a backtracking engine polynomial time end in time, and other work goes on",
    contract: "FileStore",
    reason: "A check for nested repetition lets them through, and long lines do the rest.",
    async run(trial) {
      const { store } = await trial.open();
      await store.write("a.md", "a".repeat(70));
      for (const pattern of ["a*a*a*a*a*a*b", "(.*)(.*)(.*)(.*)(.*)[0-9]"]) {
        await expectInTime(store, pattern);
      }
    },
  },
  {
    id: "F29",
    title: "a search through much text ends within its time limit, and other work goes on",
    contract: "FileStore",
    reason: "The time limit is for the whole search, not for one line of it.",
    async run(trial) {
      const { store } = await trial.open();
      await store.write("long-line.md", "ab".repeat(400_000));
      for (let index = 0; index < 5; index += 1) {
        await store.write(`many-lines-${index}.md`, "a line of no interest\n".repeat(20_000));
      }
      await expectInTime(store, "(a|b|[a-z ]){40}(x|y|z){20}\\d");
      await expectInTime(store, "nowhere to be found");
    },
  },
];

async function linesOf(search: Promise<FileMatch[]>): Promise<string[]> {
  return (await search).map(({ path, line, text }) => `${path}:${line}:${text}`);
}

/** Fails if every attempt is too slow: one that is in time shows that the others met a busy machine. */
async function expectInTime(store: FileStore, pattern: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const { elapsedMs, longestPauseMs, error } = await measure(() => store.search(pattern, { timeoutMs: TIMEOUT_MS }));
    if (error !== undefined) {
      expectError(error, `search for ${pattern}, unless it returns`, "configuration", "timeout");
    }
    if (elapsedMs <= TIMEOUT_MS + GRACE_MS && longestPauseMs <= LONGEST_PAUSE_MS) {
      return;
    }
    const seen = `it took ${Math.round(elapsedMs)} ms and kept other work waiting for ${Math.round(longestPauseMs)} ms`;
    // Far beyond the limits no busy machine is an excuse, and each further attempt costs as much again.
    ensure(
      attempt < ATTEMPTS && longestPauseMs <= 4 * LONGEST_PAUSE_MS,
      `search for ${pattern} must end within ${TIMEOUT_MS} ms and let other work run; ${seen}`,
    );
  }
}

/** Runs a call beside a ticking timer: the longest time between two ticks is how long nothing else could run. */
async function measure(
  call: () => Promise<unknown>,
): Promise<{ elapsedMs: number; longestPauseMs: number; error: unknown }> {
  const start = performance.now();
  let longestPauseMs = 0;
  let last = start;
  const tick = () => {
    const now = performance.now();
    longestPauseMs = Math.max(longestPauseMs, now - last);
    last = now;
  };
  const timer = setInterval(tick, 5);
  try {
    const [ended] = await endings([call()]);
    const elapsedMs = performance.now() - start;
    tick();
    return { elapsedMs, longestPauseMs, error: ended?.error };
  } finally {
    clearInterval(timer);
  }
}

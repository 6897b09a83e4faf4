import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { SqliteHistoryStore } from "../src/index.ts";
import { inFolder } from "./folder.ts";

const APPENDER = fileURLToPath(new URL("appender.mjs", import.meta.url));
const KEY = { owner: "ann", source: "history", session: "shared" };

describe("several processes", () => {
  it("append at once without losing, repeating or cutting a turn", async () => {
    await inFolder(async (path) => {
      const results = await Promise.all(["a", "b", "c", "d"].map((writer) => run([path, writer, "25", "4"])));
      expect(results.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
      const turns = await storedTurns(path, 4);
      expect(turns).toHaveLength(100);
      for (const writer of ["a", "b", "c", "d"]) {
        const own = turns.filter((turn) => turn.startsWith(`${writer}/`));
        expect(own).toEqual(Array.from({ length: 25 }, (_, turn) => `${writer}/${turn}`));
      }
    });
  }, 60_000);

  it("that is killed in the middle of its appends leaves all or nothing of each, and keeps what it acknowledged", async () => {
    await inFolder(async (path) => {
      for (const round of [1, 2, 3]) {
        const { acknowledged } = await run([path, `k${round}`, "100000", "40"], 3 + round);
        const turns = (await storedTurns(path, 40)).filter((turn) => turn.startsWith(`k${round}/`));
        expect(turns.length).toBeGreaterThanOrEqual(acknowledged);
        expect(turns).toEqual(turns.map((_, turn) => `k${round}/${turn}`));
      }
    });
  }, 60_000);
});

/** Runs an appender; with `killAfter`, kills it with SIGKILL after so many acknowledged turns. */
async function run(args: string[], killAfter?: number): Promise<{ code: number | null; acknowledged: number }> {
  const child = spawn(process.execPath, [APPENDER, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  let acknowledged = 0;
  for await (const _line of createInterface(child.stdout)) {
    acknowledged += 1;
    if (acknowledged === killAfter) {
      setTimeout(() => child.kill("SIGKILL"), Math.random() * 10);
    }
  }
  const [code] = await exited;
  return { code, acknowledged };
}

/** The turns of the conversation, in order; fails when one is not whole and in one piece. */
async function storedTurns(path: string, size: number): Promise<string[]> {
  const store = new SqliteHistoryStore({ path });
  const { records } = await store.read(KEY);
  await store.close();
  const turns: string[] = [];
  for (let start = 0; start < records.length; start += size) {
    const run = records.slice(start, start + size).map(({ id }) => id);
    const turn = run[0]?.slice(0, run[0].lastIndexOf("/")) ?? "";
    expect(run).toEqual(Array.from({ length: size }, (_, index) => `${turn}/${index}`));
    turns.push(turn);
  }
  return turns;
}

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { digestOf, openStore, temporaryDirectory } from "./support/store.ts";

const SECRET = "the secret outside";

/** Starts a process that exchanges a directory and a link to another one all the time. */
async function startExchanging(directory: string, outside: string): Promise<void> {
  const program = fileURLToPath(new URL("support/attacker.mjs", import.meta.url));
  const attacker = spawn(process.execPath, [program, directory, outside], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(async () => {
    attacker.kill("SIGKILL");
    await once(attacker, "close");
  });
  await once(attacker.stdout, "data");
}

test.each(["users/42", "users"])(
  "a directory that becomes a link between check and use, %s, leads nowhere",
  async (exchanged) => {
    // Where the system offers no paths through open files this cannot be promised, and is not.
    expect(existsSync("/proc/self/fd")).toBe(true);
    const base = await temporaryDirectory();
    const outside = join(base, "outside");
    await mkdir(join(outside, "42"), { recursive: true });
    await writeFile(join(outside, "o.md"), SECRET);
    await writeFile(join(outside, "42", "o.md"), SECRET);
    const before = await digestOf(outside);
    const { store, root } = await openStore({ root: join(base, "root") });
    await store.write("users/42/o.md", "own text");
    await startExchanging(join(root, exchanged), outside);
    const counts = { done: 0, refused: 0 };
    const seen: string[] = [];
    for (let round = 0; round < 40 || counts.done === 0 || counts.refused === 0; round += 1) {
      const ended = await Promise.allSettled([
        store.read("users/42/o.md"),
        store.write("users/42/o.md", "own text"),
        store.write(`users/42/new-${round}.md`, "own text"),
        store.list("users/42"),
        store.listEntries("users/42"),
        store.search("secret", { directory: "users/42" }),
        store.delete(`users/42/new-${round}.md`),
        store.exists("users/42/o.md"),
      ]);
      for (const one of ended) {
        counts[one.status === "fulfilled" ? "done" : "refused"] += 1;
        seen.push(JSON.stringify(one.status === "fulfilled" ? (one.value ?? null) : String(one.reason)));
      }
    }
    // The attack met the store at work, and the store went on working.
    expect(counts.done).toBeGreaterThan(0);
    expect(counts.refused).toBeGreaterThan(0);
    expect(seen.some((text) => text.includes(SECRET))).toBe(false);
    expect(await digestOf(outside)).toBe(before);
  },
  60_000,
);

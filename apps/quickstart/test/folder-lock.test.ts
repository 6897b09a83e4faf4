import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { lockFolder } from "../src/folder-lock.ts";
import { temporaryFolder } from "./support/app.ts";

test("one of many gets the lock, and the next one when it is let go of", async () => {
  const home = await temporaryFolder();
  const folder = join(home, "folder");
  const attempts = await Promise.allSettled(Array.from({ length: 8 }, () => lockFolder(folder)));
  const unlocks = attempts.flatMap((attempt) => (attempt.status === "fulfilled" ? [attempt.value] : []));
  expect(unlocks).toHaveLength(1);
  await expect(lockFolder(folder)).rejects.toThrow(`process ${process.pid} is using ${folder}`);
  await unlocks[0]?.();
  await (await lockFolder(folder))();
  expect(await readdir(home)).toEqual([]);
});

test("a lock of a process that is gone is taken over, also when its number was given to this one, or was never written", async () => {
  const home = await temporaryFolder();
  const folder = join(home, "folder");
  const gone = spawn(process.execPath, ["--version"], { stdio: "ignore" });
  await once(gone, "exit");
  for (const content of [String(gone.pid), String(process.pid), "", "no number"]) {
    await writeFile(`${folder}.lock`, content);
    await (await lockFolder(folder))();
    expect(await readdir(home)).toEqual([]);
  }
});

test("a lock that cannot be written is a clear error", async () => {
  const folder = join(await temporaryFolder(), "nowhere", "folder");
  await expect(lockFolder(folder)).rejects.toThrow(/folder\.lock cannot be written/);
});

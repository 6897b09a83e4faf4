import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { withFileLock } from "../src/file-lock.ts";
import { findServerBinary } from "../src/server-binary.ts";

const SOURCE = {
  program: "agentfw-no-such-server",
  debianPackage: "agentfw-no-such-package",
  debianPath: "usr/bin/agentfw-no-such-server",
  advice: "install one, or set SOME_URL",
};

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "agentfw-test-servers-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

function withPath(path: string): void {
  vi.stubEnv("PATH", path);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
}

test("a program on PATH is used as it is", async () => {
  const folder = await temporaryFolder();
  const program = join(folder, SOURCE.program);
  await writeFile(program, "#!/bin/sh\n");
  await chmod(program, 0o755);
  withPath(folder);
  expect((await findServerBinary(SOURCE)).path).toBe(program);
});

test("without the program and without apt, the error says what to install and what to set", async () => {
  withPath(await temporaryFolder());
  await expect(findServerBinary(SOURCE)).rejects.toThrow(
    /no agentfw-no-such-server on PATH.*install one, or set SOME_URL/,
  );
});

test("a lock lets one at a time through", async () => {
  const path = join(await temporaryFolder(), "lock");
  let inside = 0;
  let most = 0;
  const work = async () => {
    inside += 1;
    most = Math.max(most, inside);
    await new Promise((resolve) => setTimeout(resolve, 5));
    inside -= 1;
  };
  await Promise.all(Array.from({ length: 4 }, () => withFileLock(path, work)));
  expect(most).toBe(1);
  await expect(readFile(path)).rejects.toThrow("ENOENT");
});

test("the lock of a process that is gone is taken over, and a failure gives the lock back", async () => {
  const path = join(await temporaryFolder(), "lock");
  // Above every system's largest process id.
  await writeFile(path, "99999999");
  const failing = withFileLock(path, () => Promise.reject(new Error("no luck")));
  await expect(failing).rejects.toThrow("no luck");
  expect(await withFileLock(path, async () => "worked")).toBe("worked");
});

import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { startChild } from "./support/child-process.ts";
import { eventually, isListening, isRunning } from "./support/waiting.ts";

test.each(["SIGKILL", "SIGTERM", "SIGINT"] as const)(
  "no server survives a process that ended by %s",
  async (signal) => {
    const { server, ended, kill } = await startChild("wait");
    expect(await isListening(server.port)).toBe(true);
    kill(signal);
    await ended;
    await eventually("the server's process is gone", () => !isRunning(server.pid));
    await eventually("its folder is gone", () => !existsSync(server.directory));
    expect(await isListening(server.port)).toBe(false);
  },
);

test("a process that forgot to stop its server can end, and the server ends with it", async () => {
  const { server, ended } = await startChild("end");
  await ended;
  await eventually("the server's process is gone", () => !isRunning(server.pid));
  await eventually("its folder is gone", () => !existsSync(server.directory));
});

test("a process that stops its server as the last thing it does ends well", async () => {
  const { server, ended } = await startChild("stop");
  expect(await ended).toBe(0);
  expect(isRunning(server.pid)).toBe(false);
});

test("PostgreSQL, which is many processes, does not survive its starter either", async () => {
  const { server, ended, kill } = await startChild("wait", "postgres");
  kill("SIGKILL");
  await ended;
  await eventually("the server's process is gone", () => !isRunning(server.pid));
  await eventually("its folder is gone", () => !existsSync(server.directory));
  expect(await isListening(server.port)).toBe(false);
});

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { FoundryStateStore } from "../src/index.ts";
import { failure } from "./support/scripted.ts";

let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "agentfw-emulator-cli-"));
  await build({
    entryPoints: ["src/cli.ts"],
    outfile: join(folder, "cli.mjs"),
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
    logLevel: "error",
  });
});

afterAll(() => rm(folder, { recursive: true, force: true }));

function start(...args: string[]): ChildProcess {
  const child = spawn(process.execPath, [join(folder, "cli.mjs"), ...args], { stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const child = start(...args);
  const texts = { out: "", err: "" };
  child.stdout?.on("data", (data) => {
    texts.out += data;
  });
  child.stderr?.on("data", (data) => {
    texts.err += data;
  });
  const [code] = await once(child, "close");
  return { code, ...texts };
}

/** The endpoint, which is the first line. */
async function endpointOf(child: ChildProcess): Promise<string> {
  const lines = createInterface({ input: child.stdout! });
  const [line] = await once(lines, "line");
  return line;
}

async function end(child: ChildProcess): Promise<number> {
  child.kill("SIGTERM");
  const [code] = await once(child, "close");
  return code;
}

test("the emulator says where it is, keeps users apart, and ends with a signal", async () => {
  const child = start("emulator", "--port", "0", "--user", "call-a=ann", "--user", "call-b=bob");
  const endpoint = await endpointOf(child);
  const store = await FoundryStateStore.getOrCreate("notes", { endpoint, userIsolation: true });
  await store.setItem("k", { of: "ann" }, { callId: "call-a" });
  expect(await store.getItem("k", { callId: "call-b" })).toBeUndefined();
  expect(await failure(store.getItem("k"))).toMatchObject({ code: "configuration" });
  expect(await end(child)).toBe(0);
});

test("with a folder, the next emulator goes on with what is there, also after a kill", async () => {
  const data = join(folder, "data");
  for (const [round, signal] of [
    [1, "SIGTERM"],
    [2, "SIGKILL"],
    [3, "SIGTERM"],
  ] as const) {
    const child = start("emulator", "--data", data);
    const store = await FoundryStateStore.getOrCreate("notes", { endpoint: await endpointOf(child) });
    expect((await store.getItem("k"))?.value ?? { round: 0 }).toEqual({ round: round - 1 });
    await store.setItem("k", { round });
    child.kill(signal);
    await once(child, "close");
  }
});

test("a disk that was full for a moment spoils nothing that was written before or is written after", async () => {
  if (process.platform === "win32") {
    return;
  }
  const data = join(folder, "full");
  // No file may be larger than 16 blocks of 512 or 1,024 bytes. There is room for the newest value, and not for all.
  const program = [
    "--import",
    'data:text/javascript,process.on("SIGXFSZ",()=>{})',
    join(folder, "cli.mjs"),
    ...["emulator", "--data", data],
  ];
  const child = spawn("sh", ["-c", 'ulimit -f 16; exec "$0" "$@"', process.execPath, ...program]);
  onTestFinished(() => void child.kill("SIGKILL"));
  const store = await FoundryStateStore.getOrCreate("notes", { endpoint: await endpointOf(child) });
  const outcomes: string[] = [];
  for (let round = 0; round < 25; round += 1) {
    const value = { round, filler: "x".repeat(1_000) };
    outcomes.push(
      await store.setItem("k", value).then(
        () => "written",
        ({ code }) => code,
      ),
    );
  }
  expect(new Set(outcomes)).toEqual(new Set(["written", "outcome_unknown"]));
  // One failure each time that the file is full, and not for ever.
  expect(outcomes.filter((outcome) => outcome === "written").length).toBeGreaterThan(15);
  await store.setItem("last", {});
  child.kill("SIGKILL");
  await once(child, "close");
  const next = start("emulator", "--data", data);
  const again = await FoundryStateStore.getOrCreate("notes", { endpoint: await endpointOf(next) });
  expect((await again.getItem("k"))?.value["round"]).toBe(24);
  expect(await again.getItem("last")).toBeDefined();
});

test("--help shows every option, and ends with 0", async () => {
  for (const args of [["--help"], ["emulator", "--help"], ["emulator", "-h"]]) {
    const { code, out, err } = await run(...args);
    expect([code, err]).toEqual([0, ""]);
    for (const option of [
      "--port",
      "--data",
      "--user CALLID=USER",
      "--host",
      "--without-user",
      "--unknown-cursor",
      "--verbose",
    ]) {
      expect(out).toContain(option);
    }
  }
});

test.each([
  [[], /there is no command/],
  [["serve"], /there is one command: emulator/],
  [["emulator", "more"], /there is one command/],
  [["emulator", "--port", "x"], /--port must be/],
  [["emulator", "--port", "70000"], /--port must be/],
  [["emulator", "--user", "ann"], /--user must be CALLID=USER/],
  [["emulator", "--without-user", "418"], /--without-user must be/],
  [["emulator", "--unknown-cursor", "x"], /--unknown-cursor must be/],
  [["emulator", "--nonsense"], /--nonsense/],
])("%j makes no sense, is told so, and ends with 2", async (args, reason) => {
  const { code, out, err } = await run(...args);
  expect([code, out]).toEqual([2, ""]);
  expect(err).toMatch(reason);
  expect(err).toContain("--help");
});

test("a port that is taken is told, and ends with 1", async () => {
  const child = start("emulator");
  const { port } = new URL(await endpointOf(child));
  const { code, err } = await run("emulator", "--port", port);
  expect([code, err]).toEqual([1, expect.stringContaining("port: cannot be listened on")]);
});

test("--verbose logs requests on standard error, without names", async () => {
  const child = start("emulator", "--verbose");
  let err = "";
  child.stderr?.on("data", (data) => {
    err += data;
  });
  const store = await FoundryStateStore.getOrCreate("secret-store", { endpoint: await endpointOf(child) });
  await store.setItem("secret-key", { text: "secret-value" });
  await end(child);
  expect(err).toMatch(/^info PUT \*{3}\/storage\/state_stores\/\*\/items\/\*\?api-version=v1 201 /m);
  expect(err).not.toContain("secret");
});

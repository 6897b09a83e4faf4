import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { serveRelease } from "../lib/registry/serve-release.mjs";
import { root } from "../lib/workspace.mjs";
import { builtCheckout } from "./install-fixture.mjs";
import { write } from "./workspace-fixture.mjs";

// Fetching the registry, the first time on a machine, is a part of what these tests wait for.
const patient = { timeout: 300_000 };
const module = pathToFileURL(join(root, "scripts", "lib", "registry", "serve-release.mjs")).href;
const signals = pathToFileURL(join(root, "scripts", "lib", "registry", "signals.mjs")).href;

function checkout() {
  const backends = { "create-provider": { code: "export const made = 1;\n" } };
  return builtCheckout({ core: "export const one = 1;\n", coreVersion: "1.4.0", backends });
}

/** A program that does what the command does with a checkout, and what it printed and how it ended. */
function startProgram(base, port = 0) {
  const temporary = write({ "program.mjs": programText(base, port) });
  const child = spawn(process.execPath, [join(temporary, "program.mjs")], {
    env: { ...process.env, TMPDIR: temporary },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  const ended = new Promise((resolve) => child.once("close", (code) => resolve({ code, output })));
  onTestFinished(() => child.kill("SIGKILL"));
  return {
    child,
    ended,
    text: () => output,
    left: () => readdirSync(temporary).filter((name) => name !== "program.mjs"),
  };
}

function programText(base, port) {
  return `import { serveRelease } from ${JSON.stringify(module)};
import { untilSignal } from ${JSON.stringify(signals)};
const options = { base: ${JSON.stringify(base)}, port: ${port}, prepared: async () => {} };
await serveRelease({ ...options, stop: untilSignal(), report: (text) => console.log(text) }).catch(({ message }) => {
  console.log(message);
  process.exitCode = 1;
});
`;
}

const isUp = (program) => expect.poll(() => program.text(), { timeout: 240_000 }).toContain("until Ctrl-C");
const urlIn = (text) => /@agentfw:registry=(\S+)/.exec(text)?.[1] ?? "";

describe("a registry that stays up", patient, () => {
  it("serves every package, says the lines to use it, and takes everything away when it is told to stop", async () => {
    const lines = [];
    let stop;
    let isReady;
    const ready = new Promise((resolve) => (isReady = resolve));
    const served = serveRelease({
      base: checkout(),
      port: 0,
      stop: new Promise((resolve) => (stop = resolve)),
      prepared: async () => {},
      report: (text) => {
        lines.push(text);
        isReady();
      },
    });
    await Promise.race([ready, served]);
    expect(lines[0]).toContain("2 packages are served");
    expect(lines[0]).toContain("npm create --yes @agentfw/provider@latest -- history sqlite");
    const url = urlIn(lines[0]);
    const found = await (await fetch(`${url}@agentfw%2fcreate-provider`)).json();
    expect(found["dist-tags"].latest).toBe("1.0.0");
    expect((await fetch(`${url}left-pad`)).status).toBe(404);
    stop();
    await served;
    await expect(fetch(url)).rejects.toThrow();
  });

  it.each(["SIGINT", "SIGTERM"])("ends well on %s and leaves no folder behind", async (signal) => {
    const program = startProgram(checkout());
    await isUp(program);
    expect(program.left()).toHaveLength(1);
    program.child.kill(signal);
    expect(await program.ended).toMatchObject({ code: 0, output: expect.stringContaining("Stopped.") });
    expect(program.left()).toEqual([]);
  });

  it("says that a port is taken, and by which option another one is had", async () => {
    const first = startProgram(checkout());
    await isUp(first);
    const second = startProgram(checkout(), new URL(urlIn(first.text())).port);
    const { code, output } = await second.ended;
    expect(code).toBe(1);
    expect(output).toMatch(/cannot listen on port \d+ \(EADDRINUSE\)\. --port takes another one/);
    expect(second.left()).toEqual([]);
  });
});

describe("the command", () => {
  const command = (...args) => {
    const child = spawn(process.execPath, [join(root, "scripts", "registry.mjs"), ...args]);
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
    return new Promise((resolve) => child.once("close", (code) => resolve({ code, output })));
  };

  it("shows what it does, and does nothing", async () => {
    expect(await command("--help")).toMatchObject({ code: 0, output: expect.stringMatching(/--port PORT.*4873/s) });
  });

  it.each([["--port", "x"], ["--port", "65536"], ["--port"], ["--unknown"], ["more"]])(
    "refuses %j %j with a sentence",
    async (...args) => {
      const { code, output } = await command(...args.filter(Boolean));
      expect(code).toBe(1);
      expect(output).toContain("Try --help.");
      expect(output).not.toContain("    at ");
    },
  );
});

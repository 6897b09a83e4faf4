import { access, readFile, writeFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { bundledCommand } from "./support/bundled-command.ts";

const { cli, fixture, node, path, start, write } = bundledCommand(["sound", "history"]);

/** Writes a file that opens a history store with these members. */
function opens(name: string, members: string, ...before: readonly string[]): Promise<string> {
  return write(
    `${name}.mjs`,
    `import { historyWith } from ${JSON.stringify(fixture("history"))};`,
    ...before,
    `export const openHistoryStore = historyWith({ ${members} });`,
  );
}

async function reportIn(file: string): Promise<unknown> {
  return JSON.parse(await readFile(file, "utf8"));
}

const passed = (...ids: readonly string[]) => ids.map((id) => ({ id, outcome: "passed" }));

describe.concurrent("a run in which the store's process ends", () => {
  test("while the file is loaded ends with 2 and says where", async () => {
    const file = await write("exit-load.mjs", "process.exit(0);");
    const { code, output } = await node(cli(), file);
    expect(output).toMatch(
      /^Not finished: the process ended while .*exit-load\.mjs was loaded, with code 0, by process\.exit at .*exit-load\.mjs:1:9$/m,
    );
    expect(code).toBe(2);
  });

  test("in open() ends with 2, and the report holds no clause", async () => {
    const file = await write("exit-open.mjs", "export async function openStateStore() { process.exit(0); }");
    const json = path("exit-open.json");
    const { code, output } = await node(cli(), file, "--json", json);
    expect(output).toMatch(/^Not finished: the process ended in open\(\) .* by process\.exit at openStateStore /m);
    expect(code).toBe(2);
    expect(await reportIn(json)).toMatchObject([{ port: "StateStore", clauses: [], unfinished: expect.any(String) }]);
  });

  test("in the middle of a clause ends with 1, and the report holds what was found until then", async () => {
    const file = await opens("exit-later", "clear: () => process.exit(0)");
    const json = path("exit-later.json");
    const { code, output } = await node(cli(), file, "--json", json);
    expect(output).toMatch(/^store, HistoryStore: 1 passed, 0 failed, 0 not covered$/m);
    expect(output).toMatch(/^Not finished: the process ended in the middle of H02, with code 0, by process\.exit at /m);
    expect(code).toBe(1);
    const unfinished = expect.stringContaining("in the middle of H02");
    expect(await reportIn(json)).toMatchObject([{ port: "HistoryStore", clauses: passed("H01"), unfinished }]);
  });

  test("by a signal, or in a way that nobody can look into, ends with 1", async () => {
    const killed = await opens("killed", 'clear: () => process.kill(process.pid, "SIGKILL")');
    const byKill = await node(cli(), killed, "--only", "H01,H02");
    expect(byKill.output).toContain("Not finished: the process was ended by SIGKILL in the middle of H02");
    expect(byKill.code).toBe(1);
    const left = await opens("left", "clear: () => process.reallyExit(0)");
    expect(await node(cli(), left, "--only", "H01,H02")).toMatchObject({ code: 1 });
  });

  test("is told under a debugger too, and runs in the process that is debugged", async () => {
    const file = await opens("debugged", "clear: () => process.exit(0)", 'console.log("process", process.pid);');
    const json = path("debugged.json");
    let pid: number | undefined;
    const { code, output } = await start(["--inspect=127.0.0.1:0", cli(), file, "--json", json], (child) => {
      pid = child.pid;
    });
    expect(output).toContain(`process ${pid}\n`);
    expect(output).toContain("Not finished: the process ended in the middle of H02");
    expect(output.match(/Debugger listening/g)).toHaveLength(1);
    expect(code).toBe(1);
    expect(await reportIn(json)).toMatchObject([{ clauses: passed("H01"), unfinished: expect.any(String) }]);
  });
});

describe.concurrent("a run that something holds up", () => {
  const held = [
    [
      "an await at the top level",
      "await new Promise(() => {});",
      /waited while .* was loaded for a promise that nothing/,
    ],
    [
      "an await at the top level with a timer",
      "setInterval(() => {}, 1_000); await new Promise(() => {});",
      /did not load within 2000 ms/,
    ],
    ["a loop at the top level", "for (;;);", /does not react any more while .* was loaded: a loop that never ends/],
    [
      "an open() that never settles",
      "export const openFileStore = () => new Promise(() => {});",
      /waited in open\(\) before any clause was run for a promise that nothing/,
    ],
    [
      "an open() that never settles with a timer",
      "setInterval(() => {}, 1_000); export const openFileStore = () => new Promise(() => {});",
      /open\(\) failed, before any clause was run: it did not settle within 2000 ms/,
    ],
  ] as const;
  test.each(held.map(([name, text, message], index) => [name, { text, message, index }] as const))(
    "by %s ends with 2 and says so",
    async (_, { text, message, index }) => {
      const { code, output } = await node(cli(), await write(`held-${index}.mjs`, text), "--timeout", "2000");
      expect(output).toMatch(message);
      expect(output).not.toContain("cli.mjs");
      expect(code).toBe(2);
    },
  );

  test("by a call that never settles fails that clause, and goes on", async () => {
    const file = await opens("never", "clear: () => new Promise(() => {})");
    const { code, output } = await node(cli(), file, "--only", "H02,H03", "--timeout", "2000");
    expect(output).toMatch(/FAILED {6}H02 .*the clause did not end within 2000 ms/);
    expect(output).toMatch(/ok {10}H03 /);
    expect(output).not.toContain("Not finished");
    expect(code).toBe(1);
  });

  test("by a loop that never ends is ended, and keeps what was found", async () => {
    const file = await opens("loop", "clear: () => { for (;;); }");
    const json = path("loop.json");
    const { code, output } = await node(cli(), file, "--timeout", "2000", "--json", json);
    const why = "the process does not react any more in the middle of H02: a loop that never ends, most likely";
    expect(output).toContain(`Not finished: ${why}\n`);
    expect(code).toBe(1);
    expect(await reportIn(json)).toMatchObject([{ clauses: passed("H01"), unfinished: why }]);
  });
});

describe.concurrent("a run that is broken off", () => {
  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("by %s closes the store, writes what was found and ends with %d", async (signal, expected) => {
    const json = path(`${signal}.json`);
    const file = await opens(`on-${signal}`, 'clear: () => (console.log("begun"), new Promise(() => {}))');
    const { code, output } = await start([cli(), file, "--json", json], (child) => {
      child.stdout?.on("data", (data) => String(data).includes("begun") && child.kill(signal));
    });
    expect(output).toContain(`Not finished: ${signal} in the middle of H02\n`);
    // Once for the first look, once for what is declared, once for H01 and once for H02.
    expect(output.match(/^closed$/gm)).toHaveLength(4);
    expect(output).not.toContain("FAILED");
    expect(code).toBe(expected);
    expect(await reportIn(json)).toMatchObject([
      { tally: { passed: 1, failed: 0 }, clauses: passed("H01"), unfinished: `${signal} in the middle of H02` },
    ]);
  });

  test("by a second signal does not wait for the store", async () => {
    const file = await opens("deaf", 'clear: () => { console.log("begun"); for (;;); }');
    const { code } = await start([cli(), file], (child) => {
      child.stdout?.on("data", (data) => {
        if (String(data).includes("begun")) {
          child.kill("SIGINT");
          child.stdout?.removeAllListeners("data");
          setTimeout(() => child.kill("SIGINT"), 200);
        }
      });
    });
    expect(code).toBe(130);
  });

  test("by a throw that nobody catches closes the store, writes what was found and ends with 1", async () => {
    const json = path("uncaught.json");
    const thrower =
      'clear: () => { setTimeout(() => { throw new Error("thrown late"); }); return new Promise(() => {}); }';
    const { code, output } = await node(cli(), await opens("uncaught", thrower), "--json", json);
    expect(output).toContain(
      "Not finished: something was thrown in the middle of H02 that nobody caught: Error: thrown late\n",
    );
    expect(output.match(/^closed$/gm)).toHaveLength(4);
    expect(code).toBe(1);
    const unfinished = expect.stringContaining("thrown late");
    expect(await reportIn(json)).toMatchObject([{ clauses: passed("H01"), unfinished }]);
  });

  test("because nobody reads what it prints is quiet about it", async () => {
    const { code, output } = await start([cli(), fixture("sound")], (child) => {
      child.stdout?.once("data", () => child.stdout?.destroy());
    });
    expect(output).not.toMatch(/EPIPE|Error| at /);
    expect(code).toBe(141);
  });
});

describe.concurrent("the reports", () => {
  test("are tried to be written before the file is loaded, and are never those of an earlier run", async () => {
    const mark = path("loaded.mark");
    const file = await write(
      "marks.mjs",
      `import { writeFileSync } from "node:fs";`,
      `writeFileSync(${JSON.stringify(mark)}, "");`,
    );
    const { code, output } = await node(cli(), file, "--json", path("nowhere/report.json"));
    expect(output).toMatch(/--json: ENOENT/);
    expect(code).toBe(2);
    await expect(access(mark)).rejects.toThrow("ENOENT");
    const old = path("old.json");
    await writeFile(old, "[]");
    expect(await node(cli(), file, "--json", old)).toMatchObject({ code: 2 });
    expect(await readFile(old, "utf8")).toBe("");
  });

  test("are alone on the standard output, whatever the store prints there", async () => {
    const file = await opens(
      "noisy",
      'clear: async () => { console.log("by console"); writeSync(1, "by number\\n"); execFileSync(process.execPath, ["-p", "1"], { stdio: "inherit" }); }',
      'import { writeSync } from "node:fs";',
      'import { execFileSync } from "node:child_process";',
      'console.log("at load");',
    );
    const { output, stdout } = await node(cli(), file, "--only", "H01,H02", "--json", "-");
    expect(JSON.parse(stdout)).toMatchObject([{ clauses: passed("H01", "H02") }]);
    for (const text of ["at load", "by console", "by number"]) {
      expect(output).toContain(text);
    }
  });

  test("of a run that came to its end are not marked", async () => {
    const { stdout } = await node(cli(), fixture("sound"), "--only", "S01", "--json", "-");
    expect(stdout).not.toContain("unfinished");
  });
});

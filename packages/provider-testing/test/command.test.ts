import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { bundledCommand } from "./support/bundled-command.ts";

const { cli, fixture, node, path } = bundledCommand(["sound", "broken", "sends-again", "node-test"]);

describe("the command", () => {
  test("prints every clause and the tally of each contract, writes the reports, and ends with 0", async () => {
    const json = path("reports.json");
    const { code, output } = await node(cli(), fixture("sound"), "--json", json);
    expect(output).toContain("sound: the contract of HistoryStore\n");
    expect(output).toMatch(/^ {2}ok {10}H06 100 appends/m);
    expect(output).toMatch(/^not covered: open\(\) offers no breakBackend\(\): nothing to break \(H08, .*\)$/m);
    expect(output).toMatch(/^ {2}not covered H08 .*\(open\(\) offers no breakBackend\(\): nothing to break\)$/m);
    expect(output).toContain("sound, HistoryStore: 75 passed, 0 failed, 20 not covered");
    expect(output).toContain("sound, StateStore: 37 passed, 0 failed, 12 not covered");
    expect(output).not.toContain("FileStore");
    expect(code).toBe(0);
    const reports: unknown = JSON.parse(await readFile(json, "utf8"));
    expect(reports).toMatchObject([
      { port: "HistoryStore", name: "sound", tally: { passed: 75 } },
      { port: "StateStore", tally: { failed: 0 } },
    ]);
  });

  test("ends with 1 when a clause fails, and says what the store did instead", async () => {
    const { code, output } = await node(cli(), fixture("broken"), "--kind", "history", "--only", "H03,h06");
    expect(output).toMatch(/FAILED {6}H03 .*expected "z-0", got "m-11"/);
    expect(output).toMatch(/^store, HistoryStore: \d passed, \d failed, 0 not covered$/m);
    expect(output).not.toContain("H04");
    expect(code).toBe(1);
  });

  test("ends with 1 when a declared capability was not covered, or a rejection was left alone", async () => {
    const declared = await node(cli(), fixture("broken"), "--kind", "history", "--only", "H07");
    expect(declared.output).toContain("Declared and not covered: H07");
    expect(declared.code).toBe(1);
    const lost = await node(cli(), fixture("broken"), "--kind", "history", "--only", "H90,H91,H89");
    expect(lost.output).toContain("Declared and not covered: H90, H91. Offer the hook");
    expect(lost.code).toBe(1);
    const stray = await node(cli(), fixture("broken"), "--kind", "history", "--only", "H02");
    expect(stray.output).toContain("A rejection that nobody waited for: left alone");
    expect(stray.code).toBe(1);
  });

  test("explains itself, and ends with 2 when it is called the wrong way", async () => {
    const help = await node(cli(), "--help");
    expect(help).toMatchObject({ code: 0 });
    for (const word of [
      "--kind",
      "--only",
      "--json",
      "--timeout",
      "--list",
      "--version",
      "FILE",
      "openHistoryStore",
      "Exit code 0",
    ]) {
      expect(help.output).toContain(word);
    }
    const wrong: [string[], RegExp][] = [
      [[], /FILE/],
      [["no-such-file.mjs"], /cannot be read/],
      [[fixture("sound"), "--only", "H999"], /No such clause: H999\. HistoryStore has H01 to H\d+; StateStore has S01/],
      [["--list", "--only", "H999"], /No such clause: H999/],
      [[fixture("sound"), "--kind", "queue"], /queue/],
      [[fixture("sound"), "--unknown"], /Not understood: --unknown/],
      [[fixture("sound"), "--timeout", "soon"], /--timeout: must be a whole number of milliseconds, from 1 to/],
      [[fixture("sound"), "--timeout", "0"], /--timeout: must be/],
      [[fixture("sound"), "another.mjs"], /Not understood: another\.mjs/],
      [[fixture("sound"), "--kind", "file"], /must export/],
      [[fixture("broken")], /exports open\.\nIt must export an async function openHistoryStore, .* or openChatClient,/],
      [[fixture("broken"), "--kind", "chat-client"], /the ChatClient as `client`/],
      [[fixture("broken"), "--kind", "state"], /its `store` is no StateStore: it lacks create, set/],
      [[fixture("sound"), "--only", "H02", "--json", path(join("no", "such", "folder"))], /--json/],
    ];
    const ended = await Promise.all(wrong.map(([args]) => node(cli(), ...args)));
    for (const [index, { code, output }] of ended.entries()) {
      expect(output).toMatch(wrong[index]?.[1] ?? /nothing/);
      expect(output).not.toContain("    at ");
      expect(code).toBe(2);
    }
  });

  test("says what is wrong with a file that throws", async () => {
    const throwing = path("throwing.mjs");
    await writeFile(throwing, "throw new Error('no server here')");
    expect(await node(cli(), throwing)).toMatchObject({ code: 2, output: expect.stringContaining("no server here") });
    const refusing = path("refusing.mjs");
    await writeFile(refusing, "export async function openHistoryStore() { throw new Error('no server there'); }");
    expect(await node(cli(), refusing)).toMatchObject({
      code: 2,
      output: expect.stringContaining("open() failed, before any clause was run: no server there"),
    });
  });

  test("refuses reasons and members that are misspelled, and names the known ones", async () => {
    const sound = `export { openStateStore } from "./test/fixtures/sound.mjs";`;
    const reason = path("reason.mjs");
    await writeFile(reason, `${sound}\nexport const cannot = { looseNextReply: "none" };`);
    expect(await node(cli(), reason)).toMatchObject({
      code: 2,
      output: expect.stringMatching(
        /^The export cannot\.looseNextReply: is no hook of open\(\); known are .*loseNextReply/,
      ),
    });
    const member = path("member.mjs");
    await writeFile(
      member,
      `import { openStateStore as open } from "./test/fixtures/sound.mjs";
export const openStateStore = async () => ({ ...(await open()), looseNextReply() {} });`,
    );
    expect(await node(cli(), member)).toMatchObject({
      code: 2,
      output: expect.stringContaining("open().looseNextReply: is nothing that the kit uses; known are store,"),
    });
  });

  test("runs a file in TypeScript, with imports as they are written for the compiler, on every Node", async () => {
    await writeFile(
      path("my-store.ts"),
      "export enum Life { short = 1 }\nexport const lifeOf = (seconds: number): number => Math.max(seconds, Life.short);\n",
    );
    const typed = path("open.ts");
    await writeFile(
      typed,
      [
        `import { openStateStore as open } from "./test/fixtures/sound.mjs";`,
        `import { lifeOf } from "./my-store.js";`,
        `export const name: string = \`typed \${lifeOf(0)}\`;`,
        `export const openStateStore = (options?: { readonly ttlSeconds?: number }): unknown => open(options);`,
      ].join("\n"),
    );
    const { code, output } = await node(cli(), typed, "--only", "S01,S02");
    expect(output).toContain("typed 1, StateStore: 2 passed, 0 failed, 0 not covered");
    expect(code).toBe(0);
    await writeFile(typed, "export const openStateStore: unknown = 7;");
    expect(await node(cli(), typed)).toMatchObject({ code: 2, output: expect.stringContaining("must export") });
    await writeFile(typed, "export const openStateStore: = 7;");
    expect(await node(cli(), typed)).toMatchObject({ code: 2, output: expect.stringContaining("cannot be loaded") });
  });

  test("prints an upcoming clause that fails, and ends with 0", async () => {
    const { code, output } = await node(cli(), fixture("sends-again"), "--only", "H89,H94");
    expect(output).toMatch(/^ {2}upcoming {4}H94 an append whose reply was lost .*expected 3, got 0/m);
    expect(output).toContain("store, HistoryStore: 1 passed, 0 failed, 0 not covered, 1 to be required");
    expect(output).toMatch(/^ {12}Why it matters: A run that is told/m);
    expect(code).toBe(0);
  });

  test("refuses a store of a later contract", async () => {
    const later = path("later.mjs");
    const methods = "append() {}, read() {}, clear() {}";
    await writeFile(
      later,
      `export const openHistoryStore = async () => ({ store: { contractVersion: 2, ${methods} } });`,
    );
    const { code, output } = await node(cli(), later);
    expect(output).toContain("the store has contract version 2; this kit runs version 1");
    expect(code).toBe(2);
  });

  test("lists the clauses with what they need, and tells its version", async () => {
    const all = await node(cli(), "--list");
    expect(all).toMatchObject({ code: 0 });
    expect(all.output).toMatch(/^HistoryStore, --kind history$/m);
    expect(all.output).toMatch(/^ {2}H89 .* \(needs loseNextReply\(\)\)$/m);
    expect(all.output).toMatch(/^ {2}H90 .* \(needs capability conditionalAppend, loseNextReply\(\)\)$/m);
    expect(all.output).toMatch(/^ {2}H07 .* \(needs capability processes, another\(\)\)$/m);
    expect(all.output).toMatch(/^ {2}H94 .* \(to be required; needs loseNextReply\(\)\)$/m);
    expect(all.output).toMatch(/^ {2}M01 /m);
    const some = await node(cli(), "--list", "--kind", "context", "--only", "p01,P02");
    expect(some.output.split("\n").map((line) => line.slice(0, 5))).toEqual(["Conte", "  P01", "  P02", ""]);
    const manifest: unknown = JSON.parse(await readFile("package.json", "utf8"));
    for (const flag of ["--version", "-v"]) {
      const { output } = await node(cli(), flag);
      expect(manifest).toMatchObject({ version: output.trim() });
    }
  });

  test("writes the reports alone to the standard output when asked to", async () => {
    const { output, stdout } = await node(cli(), fixture("sound"), "--only", "S01", "--json", "-");
    expect(JSON.parse(stdout)).toMatchObject([{ port: "StateStore", tally: { passed: 1 } }]);
    expect(output).toContain("ok          S01");
  });
});

describe("node:test", () => {
  test("runs each clause as a test, and tells what was not covered", async () => {
    const { code, output } = await node("--test-reporter=tap", fixture("node-test"));
    expect(output).toMatch(/ok \d+ - S12 of 40 creates at once/);
    expect(output).toMatch(/not ok \d+ - H03 records come back oldest first/);
    expect(output).toMatch(/ok \d+ - S13 of 40 creates .* # SKIP not covered: open\(\) offers no another\(\)$/m);
    expect(output).toMatch(/# skipped \d{2}$/m);
    expect(output).toMatch(/# sound, StateStore: 37 passed, 0 failed, 12 not covered/);
    expect(output).toMatch(/# broken, HistoryStore: \d+ passed, \d+ failed/);
    expect(output).toMatch(/declared, and not covered without a reason in the suite's "cannot": H07/);
    expect(code).not.toBe(0);
  });
});

import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { openEmbeddedPostgres } from "../src/embedded-postgres.ts";
import { runApp, startApp, temporaryFolder } from "./support/app.ts";
import { postgres } from "./support/postgres.ts";
import { linesOf, regular } from "./support/recordings.ts";

// Each process that runs PostgreSQL takes a second of one core.
vi.setConfig({ testTimeout: 120_000 });

let template = "";

// Making a database takes seconds; most tests begin with a copy of an empty one.
beforeAll(async () => {
  template = await mkdtemp(join(tmpdir(), "agentfw-quickstart-"));
  vi.spyOn(process.stderr, "write").mockReturnValue(true);
  await (await openEmbeddedPostgres(join(template, "postgres"))).close();
  vi.restoreAllMocks();
}, 120_000);

afterAll(() => rm(template, { recursive: true, force: true }));

async function copy(): Promise<string> {
  const data = await temporaryFolder();
  await cp(template, data, { recursive: true });
  return data;
}

const pids = (output: string) => [...output.matchAll(/^ {2}process (\d+), session/gm)].map(([, pid]) => pid);

test("without a URL each process runs PostgreSQL on the same folder, one after the other", async () => {
  const data = await temporaryFolder();
  const { code, output, errorOutput } = await runApp(postgres("--data", data));
  expect(code).toBe(0);
  expect(errorOutput).toMatch(/^Making a database in \S+postgres \(some seconds, once\) …\n$/);
  expect(new Set(pids(output)).size).toBe(2);
  expect(output.split("Turn 2.")[1]).toContain('You told me: "Remember that I like Italian food."');
  const table = `${join(data, "postgres")}, in the table agentfw_quickstart.history_record`;
  expect(output).toContain(`The conversation, 4 messages:  ${table}`);
  expect(output).toContain(`rm -r ${join(data, "postgres")}`);
  expect(await readdir(data)).toEqual(["postgres"]);
});

test("what it stored stays in the folder: a chat goes on with it, shows it and clears it", async () => {
  const data = await copy();
  await runApp(postgres("--data", data, "--say", "Remember that I like Italian food."));
  const args = postgres("--data", data, "--chat");
  const outcome = await runApp(args, { input: "What kind of food do I like?\n/history\n/clear\n/history\n" });
  expect(outcome).toMatchObject({ code: 0, errorOutput: "" });
  expect(outcome.output).toContain("Stored    2 messages.");
  expect(outcome.output).toContain('You told me: "Remember that I like Italian food."');
  expect(outcome.output).toContain("Nothing is stored.");
  expect((await runApp(args)).output).toContain("Stored    0 messages.");
});

test("the printed commands show what is stored", async () => {
  const data = await copy();
  const { output } = await runApp(postgres("--data", data, "--owner", "o'brien"));
  const [, statement = ""] = /--sql '(SELECT r\.seq.*)'$/m.exec(output) ?? [];
  const sql = statement.replaceAll(`'\\''`, "'");
  const shown = await runApp(postgres("--data", data, "--sql", sql));
  expect(shown).toMatchObject({ code: 0, errorOutput: "" });
  expect(shown.output.trim().split("\n")).toHaveLength(4);
  expect(shown.output).toContain("Remember that I like Italian food.");
  const numbers = await runApp(postgres("--data", data, "--sql", "SELECT 9007199254740993::bigint AS one"));
  expect(numbers.output).toBe('{"one":"9007199254740993"}\n');
  const wrong = await runApp(postgres("--data", data, "--sql", "SELEC 1"));
  expect(wrong).toMatchObject({ code: 1, output: "" });
  expect(wrong.errorOutput).toMatch(/^quickstart: .*syntax error/);
});

test("recordings load equal in new processes, and can be compared again", async () => {
  const names = ["several calls at once", "many rounds", "no messages"];
  const data = await copy();
  const file = join(data, "recordings.jsonl");
  const some = Object.fromEntries(names.map((name) => [name, regular[name] ?? []]));
  await writeFile(file, `${linesOf(some).join("\n")}\n`);
  const args = postgres("--data", data, "--transcripts", file, "--replay", "r");
  const replayed = await runApp(args);
  expect(replayed.output).toContain("Conversations  3, of which 3 load equal in a new process");
  expect(replayed.code).toBe(0);
  expect(replayed.output).toContain(`--replay r --check --backend=postgres --data=${data}`);
  const dropLast = `DELETE FROM agentfw_quickstart.history_record AS r USING agentfw_quickstart.history_conversation AS c
    WHERE c.k = r.k AND c.session = 'transcript-r-1' AND r.seq = c.seq`;
  expect((await runApp(postgres("--data", data, "--sql", dropLast))).code).toBe(0);
  const changed = await runApp([...args, "--check"]);
  expect(changed.code).toBe(1);
  expect(changed.output).toContain("Differences    1 in 1 conversation, 0 failed");
});

test("a folder is for one process at a time, and is free again when that one is killed", async () => {
  const data = await copy();
  const app = startApp(postgres("--data", data, "--chat"));
  await app.says("/help shows the commands.");
  app.write("My dog is called Rex.\n");
  await app.says("Noted.");
  for (const args of [[], ["--chat"], ["--say", "hello"], ["--sql", "SELECT 1"]]) {
    const { code, errorOutput } = await runApp(postgres("--data", data, ...args));
    expect(errorOutput).toContain(`quickstart: process ${app.process.pid} is using ${join(data, "postgres")}`);
    expect(code).toBe(1);
  }
  app.process.kill("SIGKILL");
  await app.ended;
  const next = await runApp(postgres("--data", data, "--say", "What is my dog called?"));
  expect(next).toMatchObject({ code: 0, errorOutput: "" });
  expect(next.output).toContain('You told me: "My dog is called Rex."');
  expect(await readdir(data)).toEqual(["postgres"]);
});

test("a process that is killed while it makes the database leaves nothing that is in the way", async () => {
  const data = await temporaryFolder();
  await mkdir(join(data, "postgres.new"));
  await writeFile(join(data, "postgres.new", "PG_VERSION"), "18");
  await writeFile(join(data, "postgres.lock"), "");
  const outcome = await runApp(postgres("--data", data, "--say", "hello"));
  expect(outcome.code).toBe(0);
  expect(await readdir(data)).toEqual(["postgres"]);
});

test("a folder with something else in it, or that cannot be made, is a clear error and stays as it is", async () => {
  const data = await temporaryFolder();
  await mkdir(join(data, "postgres"));
  await writeFile(join(data, "postgres", "PG_VERSION"), "mine");
  for (const args of [[], ["--chat"], ["--say", "hello"]]) {
    const { code, errorOutput } = await runApp(postgres("--data", data, ...args));
    expect(errorOutput).toContain(`PostgreSQL cannot be started in ${join(data, "postgres")}; is it a database?`);
    expect(errorOutput).not.toContain("    at ");
    expect(code).toBe(1);
  }
  expect(await readdir(join(data, "postgres"))).toEqual(["PG_VERSION"]);
  const file = join(data, "file");
  await writeFile(file, "");
  const { code, errorOutput } = await runApp(postgres("--data", file, "--say", "hello"));
  expect(errorOutput).toMatch(/^quickstart: .*file cannot be made \(.*\)\n$/);
  expect(code).toBe(1);
});

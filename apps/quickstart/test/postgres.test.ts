import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Outcome, runApp, startApp, temporaryFolder } from "./support/app.ts";
import { asTyped, postgres, server } from "./support/postgres.ts";
import { linesOf, regular } from "./support/recordings.ts";

const SCHEMA = "agentfw_quickstart";

test("with a URL what it stored stays on the server, and later commands go on with it", async () => {
  const { url, pool } = await server();
  const who = ["--owner", "o'b\\ri\nen", "--session", 's "1"'];
  const first = await runApp(postgres("--url", url, ...who));
  expect(first).toMatchObject({ code: 0, errorOutput: "" });
  expect(first.output).toContain(`The conversation, 4 messages:  ${url}, in the table ${SCHEMA}.history_record`);
  const again = await runApp(postgres("--url", url, ...who));
  expect(again.output).toContain("holds 4 messages from earlier");
  expect(again.output).toContain(`--chat --backend=postgres --url=${url} '--session=s "1"'`);
  await runApp(postgres("--url", url, "--say", "hello", "--owner", "o'bri", "--session", 's "1"'));

  const looks =
    again.output
      .split("Look at it\n")[1]
      ?.split("\n\n")[0]
      ?.trim()
      .split(/\n {2}/) ?? [];
  expect(looks).toHaveLength(2);
  expect((await asTyped(looks[0] ?? "")).trim().split("\n")).toHaveLength(2);
  const records = (await asTyped(looks[1] ?? "")).trim().split("\n");
  expect(records).toHaveLength(8);
  expect(records[0]).toContain("Remember that I like Italian food.");

  const { rows } = await pool.query("SELECT DISTINCT schemaname FROM pg_tables WHERE schemaname !~ '^pg_|^inform'");
  expect(rows).toEqual([{ schemaname: SCHEMA }]);
  await asTyped(/delete what was stored +(.*)$/m.exec(again.output)?.[1] ?? "");
  expect((await pool.query("SELECT 1 FROM pg_tables WHERE schemaname = $1", [SCHEMA])).rows).toEqual([]);
});

test("a chat goes on with the conversation, clears it, shows where it is, and keeps the password to itself", async () => {
  const { urlOfMe, pool } = await server();
  const shown = urlOfMe.replace("pass%20word", "***");
  await runApp(postgres("--url", urlOfMe, "--chat"), { input: "My dog is called Rex.\n" });
  const chat = postgres("--url", urlOfMe, "--chat");
  const next = await runApp(chat, { input: "What is my dog called?\n/clear\n/history\n" });
  expect(next).toMatchObject({ code: 0, errorOutput: "" });
  expect(next.output).toContain(`History   ${shown}`);
  expect(next.output).toContain('You told me: "My dog is called Rex."');
  expect(next.output).toContain("Nothing is stored.");
  expect(next.output).toContain(`--chat --backend=postgres '--url=${shown}'`);
  expect(next.output).not.toMatch(/pass(%20|\+| )word/);
  expect((await pool.query(`SELECT * FROM ${SCHEMA}.history_record`)).rows).toEqual([]);
});

async function recordings(): Promise<{ file: string; total: number }> {
  const names = ["plain", "several calls at once", "many rounds", "no messages"];
  const file = join(await temporaryFolder(), "recordings.jsonl");
  const some = Object.fromEntries(names.map((name) => [name, regular[name] ?? []]));
  await writeFile(file, `${linesOf(some).join("\n")}\n`);
  return { file, total: names.length };
}

test("recordings load equal in new processes, and can be compared again", async () => {
  const { file, total } = await recordings();
  const { url, pool } = await server();
  const args = postgres("--transcripts", file, "--url", url, "--replay", "r");
  const replayed = await runApp(args);
  expect(replayed.code).toBe(0);
  expect(replayed.output).toContain(`Conversations  ${total}, of which ${total} load equal in a new process`);
  expect(replayed.output).toContain(`--replay r --check --backend=postgres --url=${url}`);
  expect((await runApp([...args, "--check"])).code).toBe(0);
  await pool.query(
    `DELETE FROM ${SCHEMA}.history_record AS r USING ${SCHEMA}.history_conversation AS c
     WHERE c.k = r.k AND c.session = 'transcript-r-1' AND r.seq = c.seq`,
  );
  const changed = await runApp([...args, "--check"]);
  expect(changed.code).toBe(1);
  expect(changed.output).toContain("Differences    1 in 1 conversation, 0 failed");
});

/** Every way in which the program uses a server. */
async function everyMode(url: string): Promise<Outcome[]> {
  const { file } = await recordings();
  const modes = [[], ["--say", "hello"], ["--chat"], ["--transcripts", file]];
  return Promise.all(modes.map((args) => runApp(postgres("--url", url, ...args))));
}

async function expectFailure(url: string, error: RegExp): Promise<void> {
  for (const { code, output, errorOutput } of await everyMode(url)) {
    expect(errorOutput).toMatch(error);
    expect(output + errorOutput).not.toContain("secret");
    expect(errorOutput).not.toContain("    at ");
    expect(code).toBe(1);
  }
}

test.each([["redis://me:secret@localhost"], ["localhost:5432"], ["me:secret@localhost/db"]])(
  "%s is no address of a server",
  async (url) => {
    await expectFailure(url, /^quickstart: configuration: connectionString: must be a URL that begins with postgres:/);
  },
);

test("a server that is not there is a clear error", async () => {
  await expectFailure("postgres://me:secret@127.0.0.1:1/db", /^quickstart: unavailable: .*connection refused/);
});

test("a server that never answers is an error when the time for it is over", async () => {
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void silent.close());
  const address = silent.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  await expectFailure(`postgres://me:secret@127.0.0.1:${port}/db`, /^quickstart: (timeout|unavailable): /);
});

test("a wrong password, a missing database and missing rights are errors that repeat no password", async () => {
  const { urlOfMe, pool } = await server();
  const wrong = Object.assign(new URL(urlOfMe), { password: "secret" }).href;
  await expectFailure(wrong, /^quickstart: unauthorized: /);
  await expectFailure(Object.assign(new URL(urlOfMe), { pathname: "/none" }).href, /no such database/);
  await pool.query("REVOKE CREATE ON DATABASE postgres FROM me");
  await expectFailure(urlOfMe, /^quickstart: unauthorized: /);
});

test("a chat that cannot begin ends, though its input is open", async () => {
  const app = startApp(postgres("--chat", "--url", "postgres://127.0.0.1:1/db"));
  expect(await app.ended).toMatchObject({ code: 1 });
});

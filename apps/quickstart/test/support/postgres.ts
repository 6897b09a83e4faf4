import { execFile } from "node:child_process";
import { chmod, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { startPostgres } from "@agentfw/test-servers";
import pg from "pg";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "./app.ts";

/** The arguments that choose the backend, and others. */
export function postgres(...args: readonly string[]): string[] {
  return ["--backend", "postgres", ...args];
}

/** A server that is there before the app and after it. Its role `me` has the password "pass word". */
export async function server(): Promise<{ url: string; urlOfMe: string; pool: pg.Pool }> {
  const rules = join(await temporaryFolder(), "pg_hba.conf");
  await writeFile(rules, "host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n");
  // The server may run as another user.
  await chmod(join(rules, ".."), 0o755);
  const { url, stop } = await startPostgres({ settings: { hba_file: rules } });
  const pool = new pg.Pool({ connectionString: url });
  pool.on("error", () => {});
  onTestFinished(async () => {
    await pool.end();
    await stop();
  });
  await pool.query("CREATE ROLE me LOGIN PASSWORD 'pass word'; GRANT CREATE ON DATABASE postgres TO me");
  const urlOfMe = Object.assign(new URL(url), { username: "me", password: "pass word" }).href;
  return { url, urlOfMe, pool };
}

/** Runs a command line that was printed for a person, where `psql -c` is one of our own, and gives its output. */
export async function asTyped(line: string): Promise<string> {
  const folder = await temporaryFolder();
  const driver = pathToFileURL(createRequire(import.meta.url).resolve("pg")).href;
  await writeFile(
    join(folder, "psql"),
    `#!${process.execPath}
const [url, , sql] = process.argv.slice(2);
import("${driver}").then(async ({ default: pg }) => {
  const client = new pg.Client(url);
  await client.connect();
  for (const row of (await client.query({ text: sql, rowMode: "array" })).rows) console.log(row.join("|"));
  await client.end();
});
`,
    { mode: 0o755 },
  );
  const { stdout } = await promisify(execFile)("sh", ["-c", line], {
    env: { ...process.env, PATH: `${folder}:${process.env["PATH"] ?? ""}` },
  });
  return stdout;
}

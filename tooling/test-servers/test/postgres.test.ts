import { existsSync } from "node:fs";
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { startPgBouncer, startPostgres } from "../src/index.ts";
import { isListening, isRunning } from "./support/waiting.ts";

async function client(url: string): Promise<Client> {
  const one = new Client(url);
  one.on("error", () => {});
  await one.connect();
  onTestFinished(() => one.end());
  return one;
}

async function firstValue(one: Client, text: string): Promise<unknown> {
  const { rows } = await one.query({ text, rowMode: "array" });
  return rows[0]?.[0];
}

test("a PostgreSQL server answers as soon as it is started, and nothing of it is left when it is stopped", async () => {
  const server = await startPostgres({ settings: { max_connections: "17" } });
  onTestFinished(() => server.stop());
  const one = new Client(server.url);
  one.on("error", () => {});
  await one.connect();
  expect(await firstValue(one, "SHOW max_connections")).toBe("17");
  expect(await firstValue(one, "SELECT rolsuper FROM pg_roles WHERE rolname = current_user")).toBe(true);
  await one.end();
  await server.stop();
  await server.stop();
  expect(await isListening(server.port)).toBe(false);
  expect(isRunning(server.pid)).toBe(false);
  expect(existsSync(server.directory)).toBe(false);
});

test("a setting that does not exist is an error with what the server said", async () => {
  await expect(startPostgres({ settings: { no_such_setting: "1" } })).rejects.toThrow(/no_such_setting/);
});

test("PgBouncer gives its clients one server connection after the other, for any database and user", async () => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const pooler = await startPgBouncer(server.url, { poolSize: 1 });
  onTestFinished(() => pooler.stop());
  const [first, second] = [await client(pooler.url), await client(pooler.url)];
  await (await client(server.url)).query("CREATE DATABASE other");
  const pids = await Promise.all([first, second].map((one) => firstValue(one, "SELECT pg_backend_pid()")));
  expect(pids[0]).toBe(pids[1]);
  const other = new URL(pooler.url);
  other.pathname = "/other";
  expect(await firstValue(await client(other.href), "SELECT current_database()")).toBe("other");
  await (await client(server.url)).query(`CREATE ROLE "it's one" LOGIN`);
  const named = await startPgBouncer(Object.assign(new URL(server.url), { username: "it's one" }).href);
  onTestFinished(() => named.stop());
  expect(await firstValue(await client(named.url), "SELECT current_user")).toBe("it's one");
  await pooler.stop();
  expect(await isListening(pooler.port)).toBe(false);
  expect(await isListening(server.port)).toBe(true);
});

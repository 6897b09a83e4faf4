import { appendFile, copyFile, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isAgentFrameworkError } from "@agentfw/core";
import { expect, onTestFinished, test } from "vitest";
import { startEmulator } from "../src/emulator.ts";
import { openCheckpoints, openEmulator, segment } from "./support/emulator.ts";

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "agentfw-emulator-"));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

const at = (rest: string) => `/${segment("checkpoints")}${rest}`;
const item = (key: string) => at(`/items/${segment(key)}`);

async function files(dataDirectory: string): Promise<string[]> {
  return (await readdir(dataDirectory)).filter((name) => name.endsWith(".jsonl"));
}

test("what is in the folder is there for the next emulator, numbers, times and users included", async () => {
  const dataDirectory = await folder();
  const users = { call: "ann" };
  const first = await openCheckpoints({ dataDirectory, users }, { user_isolation: true });
  await first.item("PUT", "k", { text: '{"value":{"n":9007199254740993,"f":1.0},"tags":{"a":"1"}}', callId: "call" });
  await first.item("PUT", "gone", { body: { value: {} }, callId: "call" });
  await first.item("DELETE", "gone", { callId: "call" });
  await first.send("PATCH", at(""), { body: { description: "x" } });
  await first.send("POST", "", { body: { name: "second" } });
  await first.send("POST", "", { body: { name: "third" } });
  await first.send("DELETE", `/${segment("third")}`);
  const [before, store] = [await first.item("GET", "k", { callId: "call" }), await first.send("GET", at(""))];
  await first.close();
  const second = await openEmulator({ dataDirectory, users });
  expect((await second.send("GET", item("k"), { callId: "call" })).text).toBe(before.text);
  expect(before.text).toContain('{"n":9007199254740993,"f":1.0}');
  expect((await second.send("GET", item("gone"), { callId: "call" })).status).toBe(404);
  expect((await second.send("GET", at(""))).body).toEqual(store.body);
  expect((await second.send("GET", `/${segment("second")}`)).status).toBe(200);
  expect((await second.send("GET", `/${segment("third")}`)).status).toBe(404);
  expect(await files(dataDirectory)).toHaveLength(2);
});

test("a store that is made again while another deletes it, and many still write, is there for the next emulator", async () => {
  const dataDirectory = await folder();
  const first = await openCheckpoints({ dataDirectory });
  const before = Array.from({ length: 40 }, (_, number) => first.item("PUT", `old-${number}`, { body: { value: {} } }));
  await before[0];
  const [, made] = await Promise.all([
    first.send("DELETE", at("")),
    first.send("POST", "", { body: { name: "checkpoints" } }),
    ...before,
  ]);
  expect(made.status).toBe(201);
  await first.item("PUT", "new", { body: { value: { n: 1 } } });
  const listed = await first.send("GET", at("/items:keys"), { query: "api-version=v1&limit=100" });
  await first.close();
  const second = await openEmulator({ dataDirectory });
  expect((await second.send("GET", item("new"))).body).toMatchObject({ value: { n: 1 } });
  const again = await second.send("GET", at("/items:keys"), { query: "api-version=v1&limit=100" });
  expect(again.body).toEqual(listed.body);
});

test("a line that a crash left unfinished is cut off, and nothing before it is lost", async () => {
  const dataDirectory = await folder();
  const first = await openCheckpoints({ dataDirectory });
  await first.item("PUT", "k", { body: { value: { n: 1 } } });
  await first.close();
  const [name = ""] = await files(dataDirectory);
  await appendFile(join(dataDirectory, name), '{"user":"","put":{"id":"it_');
  const second = await openEmulator({ dataDirectory });
  expect((await second.send("GET", item("k"))).body.value).toEqual({ n: 1 });
  await second.send("PUT", item("l"), { body: { value: { n: 2 } } });
  await second.close();
  const third = await openEmulator({ dataDirectory });
  expect((await third.send("GET", item("l"))).body.value).toEqual({ n: 2 });
});

test("a line that is damaged stops the start, names its place, and stays as it is", async () => {
  const dataDirectory = await folder();
  const first = await openCheckpoints({ dataDirectory });
  await first.item("PUT", "k", { body: { value: { n: 1 } } });
  await first.close();
  const [name = ""] = await files(dataDirectory);
  const path = join(dataDirectory, name);
  const text = (await readFile(path, "utf8")).replace('"put":{', '"put":[');
  await writeFile(path, text);
  const error = await startEmulator({ dataDirectory }).catch((reason: unknown) => reason);
  expect(isAgentFrameworkError(error, "corrupt") && error.position).toBe(`${name}, line 2`);
  expect(await readFile(path, "utf8")).toBe(text);
});

test("a copy of a file stops the start: it would bring back what was deleted since", async () => {
  const dataDirectory = await folder();
  const first = await openCheckpoints({ dataDirectory });
  await first.close();
  const [name = ""] = await files(dataDirectory);
  await copyFile(join(dataDirectory, name), join(dataDirectory, "copy.jsonl"));
  const error = await startEmulator({ dataDirectory }).catch((reason: unknown) => reason);
  expect(isAgentFrameworkError(error, "corrupt") && error.position).toBe("copy.jsonl, line 1");
});

test.each([
  { port: -1 },
  { port: 1.5 },
  { withoutUser: 402 },
  { unknownCursor: "x" },
  { users: { a: 1 } },
  { users: null },
  { dataDirectory: "" },
  { dataDirectory: "a\0b" },
  { host: "" },
  { host: 5 },
  { nonsense: 1 },
])("refuses %j", async (options) => {
  const error = await Reflect.apply(startEmulator, undefined, [options]).catch((reason: unknown) => reason);
  expect(isAgentFrameworkError(error, "configuration")).toBe(true);
});

test("a folder that cannot be is told as such", async () => {
  const path = join(await folder(), "file");
  await writeFile(path, "");
  const error = await startEmulator({ dataDirectory: join(path, "data") }).catch((reason: unknown) => reason);
  expect(isAgentFrameworkError(error, "unavailable")).toBe(true);
});

test.each([Number.NaN, Number.POSITIVE_INFINITY, -1, "5"])("a clock is not moved by %j", async (milliseconds) => {
  const emulator = await openEmulator();
  expect(() => Reflect.apply(emulator.advanceTime, emulator, [milliseconds])).toThrow(/milliseconds: must be/);
});

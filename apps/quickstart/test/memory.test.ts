import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runApp, temporaryFolder } from "./support/app.ts";

test("a second process in another session recalls what the first one wrote as a memory", async () => {
  const data = await temporaryFolder();
  const { code, output, errorOutput } = await runApp(["--memory", "--data", data]);
  expect(errorOutput).toBe("");
  expect(code).toBe(0);
  const [turn1 = "", turn2 = ""] = output.split("Turn 2.");
  expect(turn1).toContain("(calls file_memory_write)");
  expect(turn2).toContain("0 messages from the history and the list of its memories");
  expect(turn2).toContain('(calls file_memory_grep) My memory says: "Remember that I like Italian food."');
  const sessions = [...output.matchAll(/^ {2}process \d+, session (\S+), owner local-user$/gm)].map(([, id]) => id);
  expect(new Set(sessions).size).toBe(2);
  const folder = join(data, "memory", "users", "local-user");
  const [file = "", ...others] = await readdir(folder);
  expect(others).toEqual([]);
  expect(await readFile(join(folder, file), "utf8")).toBe(
    '---\ndescription: "Remember that I like Italian food."\n---\nRemember that I like Italian food.\n',
  );
});

test("memories belong to the owner, and what a person changes in them counts", async () => {
  const data = await temporaryFolder();
  const say = (text: string, ...more: string[]) => runApp(["--say", text, "--memory", "--data", data, ...more]);
  await say("I live in Oslo.", "--owner", "Ada");
  const other = await say("Where do I live?", "--owner", "Bob", "--new");
  expect(other.output).toContain("I find nothing about that");
  const [scope = ""] = await readdir(join(data, "memory", "users"));
  const [file = ""] = await readdir(join(data, "memory", "users", scope));
  await writeFile(join(data, "memory", "users", scope, file), "I live in Rome.\n");
  const again = await say("Where do I live?", "--owner", "Ada", "--new");
  expect(again.output).toContain('My memory says: "I live in Rome."');
});

test("works with a history that is in the session object, and not without its mode", async () => {
  const data = await temporaryFolder();
  const inMemory = await runApp(["--memory", "--backend", "memory", "--data", data]);
  expect(inMemory.output).toContain("It worked");
  expect(inMemory.code).toBe(0);
  const wrong = await runApp(["--transcripts", "x.jsonl", "--memory"]);
  expect(wrong.code).toBe(2);
  expect(wrong.errorOutput).toContain("--memory does not go with --transcripts");
});

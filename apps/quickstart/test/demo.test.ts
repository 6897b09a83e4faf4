import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runApp, temporaryFolder } from "./support/app.ts";
import { startChatServer } from "./support/chat-server.ts";

const pids = (output: string) => [...output.matchAll(/^ {2}process (\d+), session/gm)].map(([, pid]) => pid);

test("a second process answers from what the first one stored", async () => {
  const data = await temporaryFolder();
  const { code, output, errorOutput } = await runApp(["--data", data]);
  expect(errorOutput).toBe("");
  expect(code).toBe(0);
  const [first, second, ...others] = pids(output);
  expect(others).toEqual([]);
  expect(new Set([first, second, String(process.pid)]).size).toBe(3);
  const [turn1 = "", turn2 = ""] = output.split("Turn 2.");
  expect(turn1).toContain("0 messages from the history");
  expect(turn2).toContain("2 messages from the history");
  expect(turn2).toContain('You told me: "Remember that I like Italian food."');
  expect(output).toContain("not a model");
});

test("it says where the conversation is, and it is there", async () => {
  const data = await temporaryFolder();
  const { output } = await runApp(["--data", data, "--session", "Mixed Case/../x", "--owner", "Ada"]);
  const [, file = ""] = /cat '?(\S+\.jsonl)/.exec(output) ?? [];
  expect(file.startsWith(data)).toBe(true);
  const text = await readFile(file, "utf8");
  expect(text).toContain("Remember that I like Italian food.");
  expect(text).toContain("What kind of food do I like?");
  expect(output).toContain(`--chat --data=${data} '--session=Mixed Case/../x' --owner=Ada`);
});

test("run again it goes on with the conversation; with --new it begins another", async () => {
  const data = await temporaryFolder();
  await runApp(["--data", data]);
  const again = await runApp(["--data", data]);
  expect(again.code).toBe(0);
  expect(again.output).toContain("holds 4 messages from earlier");
  expect(again.output).toContain("The conversation, 8 messages");
  const fresh = await runApp(["--data", data, "--new"]);
  expect(fresh.code).toBe(0);
  expect(fresh.output).toMatch(/Session {3}demo-[0-9a-f]{8}, /);
  expect(fresh.output).toContain("The conversation, 4 messages");
});

test("with the memory backend the session's JSON carries the conversation over", async () => {
  const data = await temporaryFolder();
  const { code, output } = await runApp(["--data", data, "--backend", "memory"]);
  expect(code).toBe(0);
  expect(new Set(pids(output)).size).toBe(2);
  expect(output).toContain("forgotten with each process");
  expect(output.split("Turn 2.")[1]).toContain('You told me: "Remember that I like Italian food."');
  const [file = "", ...others] = await readdir(data);
  expect(others).toEqual([]);
  const kept: unknown = JSON.parse(await readFile(join(data, file), "utf8"));
  const session = { type: "agentfw.session", sessionId: "demo", owned: true };
  expect(kept).toMatchObject({ owner: "local-user", session });
});

test("with a key the second process sends the first one's turn to a real model", async () => {
  const data = await temporaryFolder();
  const server = await startChatServer();
  const { code, output, errorOutput } = await runApp(["--data", data], { environment: server.environment });
  expect(errorOutput).toBe("");
  expect(code).toBe(0);
  expect(output).toContain(`test-model at ${new URL(server.environment["OPENAI_BASE_URL"] ?? "").host}`);
  expect(output).not.toContain("not a model");
  expect(server.requests.map((messages) => messages.map(({ role }) => role))).toEqual([
    ["system", "user"],
    ["system", "user", "assistant", "user"],
  ]);
  expect(output.split("Turn 2.")[1]).toContain('Before this: "Remember that I like Italian food."');
});

test("through the Responses API the history is kept here all the same, and the server keeps nothing", async () => {
  const data = await temporaryFolder();
  const server = await startChatServer();
  const { code, output } = await runApp(["--data", data, "--api=responses"], { environment: server.environment });
  expect(code).toBe(0);
  expect(output).toContain(", through the Responses API");
  expect(server.requests.map((messages) => messages.map(({ role }) => role))).toEqual([
    ["user"],
    ["user", "assistant", "user"],
  ]);
  expect(output.split("Turn 2.")[1]).toContain('Before this: "Remember that I like Italian food."');
});

test("a model that refuses is an error that says so, and nothing is stored", async () => {
  const data = await temporaryFolder();
  const server = await startChatServer();
  server.behavior = "refuse";
  const { code, output, errorOutput } = await runApp(["--data", data], { environment: server.environment });
  expect(code).toBe(1);
  expect(errorOutput).toContain("quickstart: configuration:");
  expect(errorOutput).toContain("Turn 1 failed");
  expect(output).not.toContain("It worked");
  expect(await readdir(data, { recursive: true })).not.toContainEqual(expect.stringContaining(".jsonl"));
});

test("an answer that does not know what the first turn said is a failure", async () => {
  const data = await temporaryFolder();
  const session = join(data, "session.json");
  const said = await runApp(["--say", "hello", "--backend=memory", "--session-file", session, "--data", data]);
  expect(said.code).toBe(0);
  const other = await runApp(["--say", "Which food?", "--backend=memory", "--data", data]);
  expect(other.output).toContain("0 messages from the history");
  expect(other.errorOutput).toContain("forgets it now");
});

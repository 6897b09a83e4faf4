import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Message, openConversation } from "@agentfw/core";
import { FileHistoryStore } from "@agentfw/history-file";
import { expect, test } from "vitest";
import { type Outcome, runApp, temporaryFolder } from "./support/app.ts";
import { answer, call, result, user } from "./support/messages.ts";
import { all, linesOf, regular } from "./support/recordings.ts";

const good = JSON.stringify({ id: "good", messages: [user("x"), answer("y")] });

async function replay(lines: string | Buffer | readonly string[], ...args: string[]): Promise<Outcome> {
  const folder = await temporaryFolder();
  const file = join(folder, "recordings.jsonl");
  await writeFile(file, typeof lines === "string" || Buffer.isBuffer(lines) ? lines : `${lines.join("\n")}\n`);
  return runApp(["--transcripts", file, "--data", join(folder, "data"), ...args]);
}

test("every oddity loads equal in a new process", { timeout: 120_000 }, async () => {
  const { code, output } = await replay(linesOf(all));
  const total = Object.keys(all).length;
  expect(output).toContain(`Conversations  ${total}, of which ${total} load equal in a new process`);
  expect(output).toContain("Differences    0 in 0 conversations, 0 failed");
  // A model is given what was recorded, but for what the framework repairs and for the one without messages.
  const [, forModel] = /Compared {7}(\d+) as stored and as a model/.exec(output) ?? [];
  expect(Number(forModel)).toBeGreaterThanOrEqual(Object.keys(regular).length - 1);
  expect(code).toBe(0);
});

test("so it does when the session's JSON carries the conversation", async () => {
  const names = ["several calls at once", "begins with an answer", "no messages"];
  const some = Object.fromEntries(names.map((name) => [name, regular[name] ?? []]));
  const { code, output } = await replay(linesOf(some), "--backend", "memory");
  // The one without messages gives a model nothing.
  expect(output).toContain("Compared       2 as stored and as a model is given them, 1 as stored only");
  expect(code).toBe(0);
});

test("the function loop runs the tools of complete batches", async () => {
  const { output } = await replay(linesOf({ calls: regular["many rounds"] ?? [] }));
  expect(output).toContain("Runs           1\n");
  expect(output).toContain("Tool calls     45, of which the function loop ran 45");
});

test("byte order mark, blank lines, other line ends, ids that repeat or are missing", async () => {
  const noId = JSON.stringify({ messages: [user("z")] });
  const numberId = JSON.stringify({ id: 7, more: 1, messages: [user("z")] });
  const { code, output } = await replay(`\ufeff${good}\r\n\r\n   \n${good}\n${noId}\n${numberId}\n${good}`);
  expect(output).toContain("Conversations  5, of which 5");
  expect(code).toBe(0);
});

test("a line that is no conversation is reported by its number, and the others go on", async () => {
  const bad = [
    ["{not json", "the line is not JSON"],
    ["[]", "the line must be an object with messages"],
    ['{"id":"x"}', "messages must be an array"],
    ['{"messages":[5]}', "messages[0] must be an object"],
    ['{"messages":[{"role":"function","content":"x"}]}', "messages[0].role must be system, developer, user"],
    ['{"messages":[{"role":"user","content":5}]}', "messages[0].content must be a string, an array of parts or null"],
    ['{"messages":[{"role":"assistant","tool_calls":{}}]}', "messages[0].tool_calls must be an array"],
    ['{"messages":[{"role":"tool","content":"x"}]}', "messages[0].tool_call_id must be a string"],
    ['{"messages":[{"role":"user","content":"x","n":1e999}]}', "messages[0].n"],
  ];
  const lines = [good, ...bad.map(([line = ""]) => line), good].join("\n");
  const { code, output } = await replay(Buffer.concat([Buffer.from(`${lines}\n"`), Buffer.from([0xff, 0x22])]));
  expect(code).toBe(1);
  for (const [index, [, reason]] of bad.entries()) {
    expect(output).toContain(`line ${index + 2} failed: `);
    expect(output).toContain(reason);
  }
  expect(output).toContain("line 12 failed: the line is not UTF-8 text");
  expect(output).toContain("Conversations  12, of which 2 load equal");
});

test("what cannot be read, or has nothing in it, is a clear error", async () => {
  const folder = await temporaryFolder();
  const missing = await runApp(["--transcripts", join(folder, "none.jsonl"), "--data", folder]);
  expect(missing).toMatchObject({ code: 2, output: "" });
  expect(missing.errorOutput).toContain("ENOENT");
  const directory = await runApp(["--transcripts", folder, "--data", folder]);
  expect(directory).toMatchObject({ code: 2, output: "" });
  expect(directory.errorOutput).toContain("EISDIR");
  const memory = await runApp(["--transcripts", folder, "--replay=r", "--check", "--backend=memory"]);
  expect(memory).toMatchObject({ code: 2, output: "" });
  expect(memory.errorOutput).toContain("--check finds nothing");
  const empty = await replay("\n \r\n");
  expect(empty).toMatchObject({ code: 1, output: "" });
  expect(empty.errorOutput).toContain("there are no conversations in");
});

const planted = [
  user("u"),
  answer("calls", [call("a", "x", '{"n": 1}')]),
  result("a", "one", { name: "x" }),
  answer("d"),
];

type Change = (stored: readonly Message[]) => readonly Message[];

const withContent =
  (index: number, change: Record<string, unknown>): Change =>
  (stored) =>
    stored.map((message, position) =>
      position === index
        ? { ...message, contents: message.contents.map((content) => Object.assign({ ...content }, change)) }
        : message,
    );

/** What is changed in the store after the replay, and what the comparison must say. */
const changes: readonly (readonly [string, Change, string | undefined])[] = [
  ["nothing", (stored) => stored, undefined],
  [
    "a text",
    withContent(0, { text: "U" }),
    'message 1 (user).content differs at character 1: recorded "u", stored "U"',
  ],
  ["a result", withContent(2, { result: "one " }), "message 3 (tool).content differs at character 4"],
  ["a result's id", withContent(2, { callId: "b" }), 'tool_call_id differs at character 1: recorded "a", stored "b"'],
  ["a space", withContent(1, { arguments: '{"n":1}' }), "tool_calls[0].function.arguments differs at character 6"],
  ["a tool", withContent(1, { name: "y" }), "message 2 (assistant).tool_calls[0].function.name differs"],
  ["an error", withContent(2, { exception: "failed" }), "message 3 (tool).exception: recorded nothing"],
  ["a role", (stored) => stored.with(0, { ...at(stored, 0), role: "system" }), "message 1 (user).role differs"],
  ["one gone", (stored) => stored.slice(0, 3), "message 4 (assistant) is not there"],
  ["one more", (stored) => [...stored, { ...at(stored, 0), messageId: "more" }], "message 5 (user) was not recorded"],
  ["the order", (stored) => stored.toReversed(), "message 1 (user).role differs"],
];

function at(stored: readonly Message[], index: number): Message {
  const message = stored[index];
  if (message === undefined) {
    throw new Error(`there is no message ${index}`);
  }
  return message;
}

test("what was changed in the store is found by other processes, what was not is equal", {
  timeout: 120_000,
}, async () => {
  const data = await temporaryFolder();
  const file = join(data, "recordings.jsonl");
  await writeFile(file, changes.map(([id]) => JSON.stringify({ id, messages: planted })).join("\n"));
  const args = ["--transcripts", file, "--data", data, "--replay", "r"];
  expect(await runApp(args)).toMatchObject({ code: 0 });
  const store = new FileHistoryStore({ directory: join(data, "history") });
  for (const [index, [, change]] of changes.entries()) {
    const sessionId = `transcript-r-${index + 1}`;
    const conversation = openConversation(store, { owner: "local-user", sessionId });
    const stored = (await conversation.messages()).messages;
    await conversation.clear();
    await conversation.append(change(stored));
  }
  await store.close();
  const { code, output } = await runApp([...args, "--check"]);
  expect(code).toBe(1);
  expect(output).toContain(`Conversations  ${changes.length}, of which 1 load equal`);
  const reports = output.split(/^(?=line \d+ )/m);
  for (const [index, [id, , report]] of changes.entries()) {
    const found = reports.find((text) => text.startsWith(`line ${index + 1} (${id})`));
    expect(found, id).toEqual(report === undefined ? undefined : expect.stringContaining(report));
  }
});

test("a replay is not stored twice, and one that is not there is not equal", async () => {
  const data = await temporaryFolder();
  const file = join(data, "recordings.jsonl");
  await writeFile(file, good);
  const args = ["--transcripts", file, "--data", data, "--replay", "r"];
  expect(await runApp(args)).toMatchObject({ code: 0 });
  const again = await runApp(args);
  expect(again.code).toBe(1);
  expect(again.output).toContain("the replay r is there already");
  const other = await runApp([...args.slice(0, -1), "other", "--check"]);
  expect(other.code).toBe(1);
  expect(other.output).toContain("message 1 (user) is not there");
});

test("a store that fails is a failed conversation, not an equal one", async () => {
  const data = await temporaryFolder();
  const folder = join(data, "history", "local-user", "history");
  await mkdir(join(folder, "transcript-r-1.jsonl"), { recursive: true });
  const file = join(data, "recordings.jsonl");
  await writeFile(file, `${good}\n${good}`);
  const { code, output } = await runApp(["--transcripts", file, "--data", data, "--replay", "r"]);
  expect(code).toBe(1);
  expect(output).toContain("line 1 (good) failed: ");
  expect(output).toContain("Conversations  2, of which 1 load equal");
});

test("a store that is away is one error, not one for every line", async () => {
  const data = await temporaryFolder();
  await mkdir(join(data, "history"), { recursive: true });
  await writeFile(join(data, "history", "local-user"), "in the way");
  const file = join(data, "recordings.jsonl");
  await writeFile(file, `${good}\n${good}`);
  const { code, output, errorOutput } = await runApp(["--transcripts", file, "--data", data]);
  expect({ code, output }).toEqual({ code: 1, output: "" });
  expect(errorOutput).toMatch(/^quickstart: [a-z_]+: .*\n$/);
});

// Recordings that are not part of the project: the variable names a file with some.
for (const file of [process.env["AGENTFW_TRANSCRIPTS"]].filter((name) => name !== undefined)) {
  test(`the recordings in ${file} load equal`, { timeout: 120_000 }, async () => {
    const { code, output } = await runApp(["--transcripts", file, "--data", await temporaryFolder()]);
    expect(output).toContain("Differences    0 in 0 conversations, 0 failed");
    expect(code).toBe(0);
  });
}

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runApp, startApp, temporaryFolder } from "./support/app.ts";
import { startChatServer } from "./support/chat-server.ts";

test("every line of a pipe is a turn, and a later process goes on", async () => {
  const data = await temporaryFolder();
  const first = await runApp(["--chat", "--data", data], {
    input: "My dog is called Rex.\r\n\n   \nAnd my cat is Tom",
  });
  expect(first).toMatchObject({ code: 0, errorOutput: "" });
  expect(first.output.match(/ {2}you: .*/g)).toEqual(["  you: My dog is called Rex.", "  you: And my cat is Tom"]);
  expect(first.output).toContain(`npm run quickstart -- --chat --data=${data}`);
  const second = await runApp(["--chat", "--data", data], { input: "What is the name of my dog?\n" });
  expect(second.output).toContain("Stored    4 messages");
  expect(second.output).toContain('You told me: "My dog is called Rex."');
});

test("commands show, clear and leave", async () => {
  const data = await temporaryFolder();
  const input = [
    "/history",
    "I live in Rome",
    "/history",
    "/clear",
    "/history",
    "Where do I live?",
    "/help",
    "/what",
    "/exit",
    "lost",
  ];
  const { code, output } = await runApp(["--chat", "--data", data], { input: input.join("\n") });
  expect(code).toBe(0);
  const shown = output.split(/ {2}you: \S+.*\n/);
  expect(shown[1]).toContain("Nothing is stored.");
  expect(shown[3]).toContain("1. user: I live in Rome\n  2. assistant: Noted.");
  expect(shown[5]).toContain("Nothing is stored.");
  expect(shown[6]).toContain("I find nothing about that");
  expect(shown[7]).toContain("/clear");
  expect(shown[8]).toContain("There is no command /what");
  expect(output).not.toContain("lost");
});

test("owners do not see each other's conversations", async () => {
  const data = await temporaryFolder();
  await runApp(["--say", "My secret is rosebud", "--data", data, "--owner", "ada"]);
  const other = await runApp(["--say", "What is my secret?", "--data", data, "--owner", "bob"]);
  expect(other.output).toContain("0 messages from the history");
  expect(other.output).not.toContain("rosebud");
});

test("memory forgets, unless the session's JSON is kept", async () => {
  const data = await temporaryFolder();
  const base = ["--chat", "--backend", "memory", "--data", data];
  const first = await runApp(base, { input: "I like jazz\n" });
  expect(first.output).toContain("It is forgotten when you leave");
  const second = await runApp(base, { input: "What do I like?\n" });
  expect(second.output).toContain("I find nothing about that");
  const file = join(data, "session.json");
  await runApp([...base, "--session-file", file], { input: "I like jazz\n" });
  const kept = await runApp([...base, "--session-file", file], { input: "What music do I like?\n" });
  expect(kept.output).toContain('You told me: "I like jazz"');
});

test("a session file of another owner, of another session or of another kind is refused and kept", async () => {
  const data = await temporaryFolder();
  const file = join(data, "session.json");
  const base = ["--say", "hello", "--backend", "memory", "--data", data, "--session-file", file];
  await runApp(base);
  const text = await readFile(file, "utf8");
  const otherId = await runApp([...base, "--session", "another"]);
  expect(otherId).toMatchObject({ code: 2 });
  expect(otherId.errorOutput).toContain("holds the session demo, not another");
  const another = await runApp([...base, "--owner", "mallory"]);
  expect(another).toMatchObject({ code: 1 });
  expect(another.errorOutput).toContain("unauthorized: the session file is another owner's");
  expect(await readFile(file, "utf8")).toBe(text);
  await writeFile(file, text.replace('"owned":true,', ""));
  const unowned = await runApp(base);
  expect(unowned).toMatchObject({ code: 1 });
  expect(unowned.errorOutput).toContain("unauthorized:");
  await writeFile(file, "{broken");
  const broken = await runApp(base);
  expect(broken).toMatchObject({ code: 1 });
  expect(broken.errorOutput).toContain("configuration: session file");
  expect(await readFile(file, "utf8")).toBe("{broken");
  const nowhere = await runApp([...base.slice(0, -1), join(data, "none", "session.json")]);
  expect(nowhere).toMatchObject({ code: 1 });
  expect(nowhere.errorOutput).toContain("the session file cannot be written");
});

test("control characters do not reach the terminal", async () => {
  const data = await temporaryFolder();
  const input = "I like \u001b[2Jred\u0007\nWhat do I like?\n/history\n";
  const { output } = await runApp(["--chat", "--data", data], { input });
  expect(output).toContain("I like \uFFFD[2Jred\uFFFD");
  expect(output).not.toContain("\u0007");
  expect(output).not.toContain("\u001b");
});

test("an interrupt stops the answer, and nothing of the turn is stored; the next one leaves", async () => {
  const data = await temporaryFolder();
  const server = await startChatServer();
  server.behavior = "hang";
  const app = startApp(["--chat", "--data", data], server.environment);
  app.write("hello\n");
  await app.says("I was given 2 messages.");
  app.process.kill("SIGINT");
  await app.says("Stopped; nothing of this turn is stored.");
  server.behavior = "answer";
  app.write("are you there?\n");
  await app.says("Before this: null");
  app.write("/history\n");
  await app.says("1. user: are you there?");
  app.process.kill("SIGINT");
  await app.says("\n  Ctrl-C again leaves.\n");
  app.process.kill("SIGINT");
  expect(await app.ended).toMatchObject({ code: 0 });
});

test("a second interrupt leaves when the first one stopped an answer", async () => {
  const data = await temporaryFolder();
  const server = await startChatServer();
  server.behavior = "hang";
  const app = startApp(["--chat", "--data", data], server.environment);
  app.write("hello\n");
  await app.says("I was given");
  app.process.kill("SIGINT");
  await app.says("Ctrl-C again leaves.\n");
  app.process.kill("SIGINT");
  expect((await app.ended).code).toBe(0);
});

test("a turn that fails is told, the others go on, and the exit code says so", async () => {
  const data = await temporaryFolder();
  const server = await startChatServer();
  const app = startApp(["--chat", "--data", data], server.environment);
  server.behavior = "refuse";
  app.write("one\n");
  await app.says("agent:");
  app.write("/history\n");
  await app.says("Nothing is stored.");
  server.behavior = "answer";
  app.write("two\n");
  await app.says("Before this:");
  app.process.stdin?.end();
  const { code, errorOutput } = await app.ended;
  expect(code).toBe(1);
  expect(errorOutput).toContain("error: configuration:");
});

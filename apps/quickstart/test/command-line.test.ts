import { resolve } from "node:path";
import { expect, test } from "vitest";
import { command, DEFAULT_DATA, optionsFor, parseOptions } from "../src/options.ts";
import { shellQuoted } from "../src/terminal.ts";
import { runApp } from "./support/app.ts";

const parse = (...args: string[]) => parseOptions(args, {});

test("without arguments: the demonstration, in a folder of the app", () => {
  expect(parse()).toMatchObject({ mode: "demo", backend: "file", session: "demo", owner: "local-user" });
  expect(parse().data).toBe(resolve(import.meta.dirname, "../.data"));
  expect(DEFAULT_DATA).toBe(parse().data);
});

test("each way to start it", () => {
  expect(parse("--chat", "--session=a b", "--owner", "x")).toMatchObject({ mode: "chat", session: "a b", owner: "x" });
  expect(parse("--say", "hi")).toMatchObject({ mode: "say", text: "hi" });
  expect(parse("--transcripts", "f", "--replay=r", "--check")).toMatchObject({
    mode: "transcripts",
    transcripts: "f",
    replay: "r",
    check: true,
  });
  expect(parse("--backend=postgres", "--sql", "SELECT 1")).toMatchObject({ mode: "sql", sql: "SELECT 1" });
  // What is in a folder is there for the next command.
  expect(parse("--backend=postgres", "--transcripts", "f", "--replay=r", "--check").check).toBe(true);
  expect(parse("--chat", "--help").mode).toBe("help");
  expect(parse("-h").mode).toBe("help");
});

test("a new session has an id of its own every time", () => {
  expect(parse("--new").session).not.toBe(parse("--new").session);
  expect(parse("--chat", "--new").session).toMatch(/^demo-/);
});

test.each([
  [["--bogus"], /Unknown option '--bogus'/],
  [["chat"], /Unexpected argument 'chat'/],
  [["--say"], /argument missing/],
  [["--say", "--chat"], /ambiguous/],
  [["--chat=yes"], /does not take an argument/],
  [["--session", ""], /--session must not be empty/],
  [["--owner="], /--owner must not be empty/],
  [["--backend", "redish"], /no backend named redish; there are blob, file, foundry, memory, postgres and redis/],
  [["--api", "soap"], /no API named soap; there are chat and responses/],
  [["--api", "chat", "--transcripts", "x"], /--api does not go with --transcripts/],
  [["--backend", "__proto__"], /no backend named __proto__/],
  [["--chat", "--say", "x"], /--chat and --say do not go together/],
  [["--chat", "--transcripts", "x"], /do not go together/],
  [["--new", "--session", "x"], /--new makes a session id of its own/],
  [["--transcripts", "f", "--session", "x"], /--session does not go with --transcripts/],
  [["--transcripts", "f", "--new"], /--new does not go with --transcripts/],
  [["--replay", "r"], /--replay does not go with the demonstration/],
  [["--session-file", "f"], /--session-file does not go with the demonstration/],
  [["--transcripts", "f", "--check"], /--check needs the name/],
  [["--url", ""], /--url must not be empty/],
  [["--url", "redis://localhost"], /--url does not go with --backend file, which has no server/],
  [["--backend", "memory", "--url", "redis://localhost"], /--url does not go with --backend memory/],
  [["--sql", "SELECT 1"], /--sql goes with --backend postgres without --url/],
  [["--backend", "postgres", "--url", "postgres://localhost", "--sql", "SELECT 1"], /psql asks a server/],
  [["--backend", "postgres", "--sql", "SELECT 1", "--owner", "x"], /--owner does not go with --sql/],
  [["--backend", "redis", "--transcripts", "f", "--replay", "r", "--check"], /--url says where the replay is/],
])("%j makes no sense", (args, reason) => {
  expect(() => parse(...args)).toThrow(reason);
});

test("an option that npm kept for itself is noticed", () => {
  expect(() => parseOptions([], { npm_config_chat: "true" })).toThrow("npm run quickstart -- --chat");
  expect(parseOptions([], { npm_config_loglevel: "silent" }).mode).toBe("demo");
});

test("the options of a conversation lead back to it", () => {
  expect(optionsFor(parse())).toEqual([]);
  const args = ["--backend=memory", "--data=d", "--session=s p", "--owner=-o"];
  expect(optionsFor(parse("--chat", ...args))).toEqual(args);
  expect(optionsFor(parse("--api=responses"))).toEqual(["--api=responses"]);
  const onServer = ["--backend=redis", "--url=redis://:secret@localhost/1"];
  expect(optionsFor(parse(...onServer))).toEqual(onServer);
  expect(shellQuoted("it's")).toBe(`'it'\\''s'`);
});

test("a command that is shown has no password in it", () => {
  expect(command("--chat", "--url=redis://me:secret@localhost:7000/1")).toBe(
    "npm run quickstart -- --chat '--url=redis://me:***@localhost:7000/1'",
  );
  expect(command("--url=postgres://localhost/db?user=me&password=secret")).toBe(
    "npm run quickstart -- '--url=postgres://localhost/db?user=me&password=***'",
  );
  expect(command("--url=rediss://localhost")).toBe("npm run quickstart -- --url=rediss://localhost");
});

test("the process ends with 0 for help and with 2 for what makes no sense", async () => {
  const help = await runApp(["--help"]);
  expect(help).toMatchObject({ code: 0, errorOutput: "" });
  expect(help.output).toContain("--transcripts FILE");
  expect(help.output).toContain("blob, file, foundry, memory, postgres or redis");
  expect(help.output).toContain("--url URL");
  const bad = await runApp(["--bogus"]);
  expect(bad).toMatchObject({ code: 2, output: "" });
  expect(bad.errorOutput).toBe(
    "quickstart: Unknown option '--bogus'\nnpm run quickstart -- --help shows the options.\n",
  );
});

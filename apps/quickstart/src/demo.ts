import { createHash } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type Message, messageText } from "@agentfw/core";
import type { Backend, OpenBackend } from "./backends/backend.ts";
import { openBackend } from "./backends/index.ts";
import { runAgain } from "./child-process.ts";
import { ExplainedError } from "./errors.ts";
import { chooseModel } from "./model.ts";
import { command, DEFAULT_SESSION, type Options, optionsFor } from "./options.ts";
import { openSession } from "./session-file.ts";
import { count, print, shellQuoted } from "./terminal.ts";

export const STATEMENT = "Remember that I like Italian food.";
export const QUESTION = "What kind of food do I like?";
export const FACT: RegExp = /italian/i;

/**
 * The main job: turn 1 in one process, turn 2 in another one, and the second answers from what the first one stored.
 * This process talks to no model; it starts the two and looks at the store before and after.
 */
export async function demonstrate(given: Options): Promise<number> {
  const backend = await openBackend(given);
  try {
    return await demonstrateOn(backend, given);
  } finally {
    await backend.close();
  }
}

async function demonstrateOn(backend: Backend & OpenBackend, given: Options): Promise<number> {
  // Every process is to use the server that this one may have started.
  const options = backend.isInSession ? await withSessionFile(given) : { ...given, url: backend.url };
  const before = (await storedMessages(options)).length;
  await introduce(backend, options, before);
  await turn("Turn 1", "This process ends after its answer.", STATEMENT, options);
  await turn(
    "Turn 2",
    "A new process. It is told the session id and the owner, and loads the rest.",
    QUESTION,
    options,
  );
  const stored = await storedMessages(options);
  judge(stored, before);
  await explainStorage(backend, options, stored.length);
  suggest(backend, given, options.sessionFile);
  return 0;
}

/** What is in memory survives only as the session's JSON: the first process writes it, the second takes it up. */
export async function withSessionFile(options: Options): Promise<Options> {
  await mkdir(resolve(options.data), { recursive: true, mode: 0o700 });
  const name = createHash("sha256")
    .update(JSON.stringify([options.owner, options.session]))
    .digest("hex")
    .slice(0, 16);
  const sessionFile = join(resolve(options.data), `memory-session-${name}.txt`);
  await rm(sessionFile, { force: true });
  return { ...options, sessionFile };
}

async function introduce(backend: Backend & OpenBackend, options: Options, before: number): Promise<void> {
  print("An agent that remembers across a restart\n");
  print(`  Model     ${(await chooseModel(options.api)).description}`);
  print(`  History   ${backend.summary}`);
  print(`  Session   ${options.session}, of the owner ${options.owner}`);
  print(`  Process   ${process.pid} starts the others and runs no agent itself`);
  if (before > 0) {
    print(`\n  This conversation holds ${count(before, "message")} from earlier. Another one: ${command("--new")}`);
  }
}

export async function turn(title: string, subtitle: string, text: string, options: Options): Promise<void> {
  print(`\n${title}. ${subtitle}`);
  const files = options.sessionFile === undefined ? [] : [`--session-file=${options.sessionFile}`];
  const { pid, code } = await runAgain([`--say=${text}`, ...optionsFor(options), ...files]);
  if (code !== 0) {
    throw new ExplainedError(`${title} failed: process ${pid} ended with exit code ${code}`);
  }
  print(`  process ${pid} has ended`);
}

/** What is stored now, read afresh. */
export async function storedMessages(options: Options): Promise<readonly Message[]> {
  const backend = await openBackend(options);
  try {
    return await (await backend.provider()).getMessages(await openSession(options));
  } finally {
    await backend.close();
  }
}

function judge(stored: readonly Message[], before: number): void {
  const added = stored.slice(before);
  const answer = added.findLast(({ role }) => role === "assistant");
  if (added.length < 4) {
    throw new ExplainedError(`two turns should have stored 4 messages or more, and stored ${added.length}`);
  }
  if (answer === undefined || !FACT.test(messageText(answer))) {
    throw new ExplainedError("the answer of turn 2 does not say what turn 1 was told");
  }
  print(`\nIt worked: the second process answered from what the first one had stored.`);
}

async function explainStorage(backend: OpenBackend, options: Options, total: number): Promise<void> {
  const session = await openSession(options);
  const where = await backend.where(session);
  const look = await backend.howToLook(session);
  const { sessionFile } = options;
  print("\nWhere things are");
  if (sessionFile === undefined) {
    print(`  The conversation, ${count(total, "message")}:  ${where}`);
    print("  The session:  nowhere; its id and its owner were all that the second process was given");
  } else {
    print(`  The conversation, ${count(total, "message")}:  in the session object, and forgotten with each process`);
    print(`  The session's JSON, which carried it over:  ${sessionFile}`);
  }
  const isTemporary = sessionFile === undefined && backend.howToKeep !== undefined;
  print(isTemporary ? "\nLook at it while it is there; it ends now, with this command" : "\nLook at it");
  for (const line of sessionFile === undefined ? look : [`cat ${shellQuoted(sessionFile)}`]) {
    print(`  ${line}`);
  }
}

function suggest(backend: OpenBackend, options: Options, sessionFile: string | undefined): void {
  print("\nTry next");
  const rows =
    sessionFile === undefined && backend.howToKeep !== undefined
      ? [
          ["talk, and look at it meanwhile", command("--chat", ...optionsFor(options))],
          ["go on at another time", backend.howToKeep],
        ]
      : whatStays(backend, options, sessionFile);
  const always = [
    ["notes that outlive sessions", command("--memory", ...optionsFor({ ...options, session: DEFAULT_SESSION }))],
    ["a real model", "OPENAI_API_KEY=... npm run quickstart"],
    ["everything else", command("--help")],
  ];
  for (const [meaning = "", text = ""] of [...rows, ...always]) {
    print(`  ${meaning.padEnd(30)} ${text}`);
  }
}

function whatStays(backend: OpenBackend, options: Options, sessionFile: string | undefined): string[][] {
  const same = [...optionsFor(options), ...(sessionFile === undefined ? [] : [`--session-file=${sessionFile}`])];
  return [
    ["go on with this conversation", command("--chat", ...same)],
    ["one turn in one more process", command("--say", "Which food was it?", ...same)],
    ["a fresh conversation", command("--new", ...optionsFor({ ...options, session: DEFAULT_SESSION }))],
    ["delete what was stored", sessionFile === undefined ? backend.howToDelete() : `rm ${shellQuoted(sessionFile)}`],
  ];
}

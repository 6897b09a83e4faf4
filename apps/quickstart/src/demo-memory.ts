import { randomUUID } from "node:crypto";
import { messageText } from "@agentfw/core";
import type { Backend, OpenBackend } from "./backends/backend.ts";
import { openBackend } from "./backends/index.ts";
import { FACT, QUESTION, STATEMENT, storedMessages, turn, withSessionFile } from "./demo.ts";
import { ExplainedError } from "./errors.ts";
import { openMemory } from "./memory.ts";
import { chooseModel } from "./model.ts";
import { command, DEFAULT_SESSION, type Options, optionsFor } from "./options.ts";
import { print, shellQuoted } from "./terminal.ts";

/**
 * What outlives a conversation: turn 1 in one process and session writes a memory file, turn 2 in another process and
 * another session of the same owner answers from it. The two sessions share no history.
 */
export async function demonstrateMemory(given: Options): Promise<number> {
  const backend = await openBackend(given);
  try {
    return await demonstrateOn(backend, { ...given, url: backend.url });
  } finally {
    await backend.close();
  }
}

async function demonstrateOn(backend: Backend & OpenBackend, options: Options): Promise<number> {
  const { store, scope, directory } = openMemory(options);
  const later = { ...options, session: `later-${randomUUID().slice(0, 8)}` };
  // A history that is in the session object is looked at in the session's JSON.
  const second = backend.isInSession ? await withSessionFile(later) : later;
  print("An agent with a memory of its own, across conversations\n");
  print(`  Model     ${(await chooseModel(options.api)).description}`);
  print(`  Memory    ${directory}`);
  print(`  Sessions  ${options.session}, then ${second.session}, both of the owner ${options.owner}`);
  await turn("Turn 1", "This process ends after its answer.", STATEMENT, options);
  const files = await store.list(scope);
  if (files.length === 0) {
    throw new ExplainedError("turn 1 should have written a memory, and there is none");
  }
  await turn("Turn 2", "A new process in another session, which has no history yet.", QUESTION, second);
  const answer = (await storedMessages(second)).findLast(({ role }) => role === "assistant");
  if (answer === undefined || !FACT.test(messageText(answer))) {
    throw new ExplainedError("the answer of turn 2 does not say what turn 1 wrote down");
  }
  print("\nIt worked: the second conversation answered from a memory that the first one had written.");
  print("\nLook at it");
  print(`  head ${shellQuoted(directory)}/*`);
  print("\nTry next");
  const same = optionsFor({ ...options, session: DEFAULT_SESSION });
  for (const [meaning = "", text = ""] of [
    ["talk to it", command("--chat", "--new", ...same)],
    ["change a file, then ask again", command("--say", QUESTION, "--new", ...same)],
    ["delete what it remembers", `rm -r ${shellQuoted(directory)}`],
  ]) {
    print(`  ${meaning.padEnd(30)} ${text}`);
  }
  return 0;
}

#!/usr/bin/env node
import { fileURLToPath } from "node:url";
import { runAsChild } from "./cli-child.ts";
import { INTERRUPTION_CODES } from "./cli-ending.ts";
import { runCli } from "./cli-run.ts";

/** What the command says to itself, to be the process that runs the clauses. */
const AS_CHILD = "--run-clauses";

const [first, request, ...others] = process.argv.slice(2);
if (first === AS_CHILD && request !== undefined && others.length === 0) {
  await runAsChild(JSON.parse(request));
} else {
  await runAsCommand();
}

async function runAsCommand(): Promise<void> {
  let whenUnread = (): void => process.exit(INTERRUPTION_CODES.EPIPE);
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error) => {
      if (Reflect.get(error, "code") !== "EPIPE") {
        throw error;
      }
      whenUnread();
    });
  }
  const output = {
    write: (text: string) => void process.stdout.write(text),
    writeAside: (text: string) => void process.stderr.write(text),
    terminal: process.stderr.isTTY ? process.stderr : undefined,
    onUnread: (call: () => void) => {
      whenUnread = call;
    },
  };
  const code = await runCli(process.argv.slice(2), output, [fileURLToPath(import.meta.url), AS_CHILD]);
  // What is still on its way is written first.
  process.stdout.write("", () => process.stderr.write("", () => process.exit(code)));
}

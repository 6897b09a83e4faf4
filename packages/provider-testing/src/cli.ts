#!/usr/bin/env node
import { runCli } from "./cli-run.ts";

const code = await runCli(process.argv.slice(2), {
  write: (text) => void process.stdout.write(text),
  writeAside: (text) => void process.stderr.write(text),
});

// A store under test may leave connections open; they must not keep the command from ending.
process.stdout.write("", () => process.stderr.write("", () => process.exit(code)));

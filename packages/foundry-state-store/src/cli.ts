#!/usr/bin/env node
import { runCli } from "./cli-run.ts";

const ended = new Promise((resolve) => {
  process.once("SIGINT", resolve);
  process.once("SIGTERM", resolve);
});

// Whoever reads the output may stop reading, `head` for example.
process.stdout.on("error", () => {});

process.exitCode = await runCli(process.argv.slice(2), {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  ended,
});

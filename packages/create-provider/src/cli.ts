#!/usr/bin/env node
import { stripVTControlCharacters } from "node:util";
import { runCli } from "./cli-run.ts";

// Whoever reads the output may stop reading, `head` for example.
process.stdout.on("error", () => {});

// Colors are for people; the library behind --help gives them to files too.
const out = (text: string) => void process.stdout.write(process.stdout.isTTY ? text : stripVTControlCharacters(text));
const err = (text: string) => void process.stderr.write(text);

process.exitCode = await runCli(process.argv.slice(2), process.cwd(), { out, err });

#!/usr/bin/env node
import { stripVTControlCharacters } from "node:util";
import { runCli } from "./cli-run.ts";

// Colors are for people; the library behind --help gives them to files too.
const write = (text: string) => process.stdout.write(process.stdout.isTTY ? text : stripVTControlCharacters(text));

process.exitCode = await runCli(process.argv.slice(2), process.cwd(), write);

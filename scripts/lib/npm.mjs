import { basename } from "node:path";
import { run } from "./run.mjs";

/** Runs the npm that this command was started with, or the one on PATH. */
export function npm(args, options) {
  const script = process.env.npm_execpath;
  if (script && basename(script) === "npm-cli.js") return run(process.execPath, [script, ...args], options);
  // On Windows npm is a script, which only a shell can start.
  return process.platform === "win32" ? run("cmd.exe", ["/c", "npm", ...args], options) : run("npm", args, options);
}

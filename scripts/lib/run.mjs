import { spawn } from "node:child_process";
import { root } from "./workspace.mjs";

/**
 * Runs a program to its end and resolves to `{ code, output }`. A program killed by a signal has code 128, also one that
 * was killed because it took longer than `timeoutMs`.
 * With `show`, its output goes straight to the terminal and `output` is empty; its standard input is closed either way.
 */
export function run(command, args, { cwd = root, env = process.env, show = false, timeoutMs } = {}) {
  return new Promise((resolve) => {
    const stdio = show ? ["ignore", "inherit", "inherit"] : ["ignore", "pipe", "pipe"];
    const child = spawn(command, args, { cwd, env, stdio, timeout: timeoutMs, killSignal: "SIGKILL" });
    const chunks = [];
    child.stdout?.on("data", (chunk) => chunks.push(chunk));
    child.stderr?.on("data", (chunk) => chunks.push(chunk));
    child.on("error", (error) => resolve({ code: 127, output: `${command}: ${error.message}\n` }));
    child.on("close", (code) => resolve({ code: code ?? 128, output: Buffer.concat(chunks).toString("utf8") }));
  });
}

/** Runs a program in place of this one: same terminal, same exit code, asked to end when this one is. */
export function become(command, args, options = {}) {
  const child = spawn(command, args, { cwd: process.cwd(), stdio: "inherit", ...options });
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  // A terminal sends its interrupt to both; the program decides what it means.
  process.on("SIGINT", () => {});
  child.on("error", (error) => {
    process.stderr.write(`${command}: ${error.message}\n`);
    process.exit(127);
  });
  child.on("close", (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

/** Says in one line what is going on. Standard error, so that the output of a command stays clean. */
export function say(line) {
  process.stderr.write(`${line}\n`);
}

export function seconds(since) {
  return `${((Date.now() - since) / 1000).toFixed(1)} s`;
}

/** An error that its message explains; where in the scripts it was thrown would explain nothing. */
export function failure(message) {
  return Object.assign(new Error(message), { stack: message });
}

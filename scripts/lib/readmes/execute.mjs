import { run } from "../run.mjs";
import { longestRunMs } from "./servers.mjs";

/** Runs the JavaScript of an example. Returns what it did wrong, as the rest of a sentence. */
export async function exampleProblems(file, { cwd, env }) {
  const { code, output } = await run(process.execPath, [file], { cwd, env, timeoutMs: longestRunMs });
  if (code !== 0) return [`ended with code ${code}:\n${output}`];
  // Node goes on after a `console.assert` that does not hold.
  return /^Assertion failed/m.test(output) ? [`found that something does not hold:\n${output}`] : [];
}

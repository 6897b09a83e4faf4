// Everything but the tests: format, lint, package rules, types, readme examples, build, packed tarballs.
import "./lib/require-node.mjs";
import { prepare, runChecks } from "./lib/gate.mjs";
import { main } from "./lib/main.mjs";
import { failure } from "./lib/run.mjs";

await main(async () => {
  const failed = await runChecks(await prepare());
  if (failed.length > 0) throw failure(`\nFailed: ${failed.join(", ")}`);
});

// Refuses a release that would break whoever installs it without saying so by its version. One line per reason.
import "./lib/require-node.mjs";
import { main } from "./lib/main.mjs";
import { withReleaseCopy } from "./lib/release/copy.mjs";
import { planRelease } from "./lib/release/plan.mjs";
import { failure } from "./lib/run.mjs";

await main(async () => {
  const { problems } = await withReleaseCopy((copy) => planRelease(copy));
  if (problems.length > 0) throw failure(problems.join("\n"));
});

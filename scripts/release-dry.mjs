// What a release would publish and why, without publishing anything. Exit code 1 and the reasons where it must not happen.
import "./lib/require-node.mjs";
import { prepare, step } from "./lib/gate.mjs";
import { main } from "./lib/main.mjs";
import { dryRelease } from "./lib/release/dry.mjs";
import { releaseText } from "./lib/release/text.mjs";
import { failure } from "./lib/run.mjs";

const asJson = process.argv.includes("--json");

await main(async () => {
  const tools = await prepare();
  const build = async () => tools.turbo("build");
  if (asJson) {
    const { code, output } = await build();
    if (code !== 0) throw failure(output);
  } else if (!(await step("build", build))) throw failure("What does not build is not released.");
  const dry = await dryRelease();
  process.stdout.write(asJson ? `${JSON.stringify(dry, undefined, 2)}\n` : releaseText(dry));
  process.exitCode = dry.problems.length === 0 ? 0 : 1;
});

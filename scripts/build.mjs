import "./lib/require-node.mjs";
import { prepare, step } from "./lib/gate.mjs";
import { main } from "./lib/main.mjs";
import { failure } from "./lib/run.mjs";

await main(async () => {
  const tools = await prepare();
  if (!(await step("build", () => tools.turbo("build")))) throw failure("The build failed.");
});

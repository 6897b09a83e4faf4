// A new provider in this workspace, from the same template as `npm create @agentfw/provider`:
// `npm run pnpm -- new history sqlite`.
import "./lib/require-node.mjs";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { prepare, step } from "./lib/gate.mjs";
import { main } from "./lib/main.mjs";
import { firstChangeset, workspacePackage } from "./lib/new/workspace-package.mjs";
import { findPnpm, withPnpm } from "./lib/pnpm.mjs";
import { failure, run } from "./lib/run.mjs";
import { root } from "./lib/workspace.mjs";

async function scaffolder(tools) {
  if (!(await step("build", () => tools.turbo("build", "--filter=@agentfw/create-provider"))))
    throw failure("The scaffolder could not be built.");
  return import(pathToFileURL(join(root, "packages", "create-provider", "dist", "index.js")).href);
}

async function create([kind, name, ...more], tools) {
  const { nameProvider, providerKinds, renderProvider, writeProvider } = await scaffolder(tools);
  if (name === undefined || more.length > 0)
    throw failure(`npm run pnpm -- new <${providerKinds.join(" | ")}> <name>, for example: new history sqlite`);
  const names = nameProvider({ kind, name, scope: "agentfw" });
  const license = readFileSync(join(root, "LICENSE"), "utf8");
  const files = workspacePackage(await renderProvider(names), names, license);
  await writeProvider(join(root, "packages", names.provider), files);
  writeFileSync(join(root, ".changeset", `first-${names.provider}.md`), firstChangeset(names));
  return names;
}

await main(async () => {
  const tools = await prepare();
  const { provider, packageName } = await create(process.argv.slice(2), tools).catch((error) => {
    throw error?.name === "CreateProviderError" ? failure(error.message) : error;
  });
  // What stands in the place of a token has another length and another place in the alphabet.
  await step("format", () => tools.node("@biomejs/biome/bin/biome", "check", "--write", `packages/${provider}`));
  const pnpm = await findPnpm();
  const install = [pnpm.script, "install", "--no-frozen-lockfile"];
  await step("install", () => run(process.execPath, install, { env: withPnpm(pnpm) }));
  process.stdout.write(
    `\nMade packages/${provider}. Its tests fail, one line for each promise that is to be kept:\n\n` +
      `  npm run pnpm -- --filter ${packageName} test\n\n` +
      "Then the rows of README.md and ARCHITECTURE.md, and a record in docs/decisions for the stored layout.\n",
  );
});

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { npm } from "../npm.mjs";
import { findPnpm } from "../pnpm.mjs";
import { registryTools } from "../registry/tools.mjs";
import { scope } from "../rules/kinds.mjs";
import { failure, run } from "../run.mjs";

const offline = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_PNPM_META_FETCH_FAIL/;

/** How each package manager adds packages to a folder. What they fetched before is fetched once. */
const managers = {
  npm: (specs, { cwd, caches }) => {
    const quiet = ["--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline"];
    // Who is offline hears of it in seconds.
    const retries = ["--fetch-retry-mintimeout", "1000", "--fetch-retry-maxtimeout", "3000"];
    const places = ["--cache", join(caches, "npm"), ...retries];
    return npm(["install", ...specs, ...quiet, ...places], { cwd });
  },
  // The first yarn: everything in one flat folder, and peers only where they are asked for.
  yarn: async (specs, { cwd, caches }) => {
    const script = join(await registryTools(), "node_modules", "yarn", "bin", "yarn.js");
    // What a driver says about Node is a warning for npm and pnpm too.
    const quiet = ["--non-interactive", "--ignore-scripts", "--ignore-engines", "--no-progress", "--prefer-offline"];
    return run(process.execPath, [script, "add", ...specs, ...quiet, "--cache-folder", join(caches, "yarn")], { cwd });
  },
  // A folder of links for each package: it sees what it declares and nothing else.
  pnpm: async (specs, { cwd, caches }) => {
    const { script } = await findPnpm();
    const places = ["--store-dir", join(caches, "pnpm-store"), "--cache-dir", join(caches, "pnpm-cache")];
    const settings = ["--ignore-scripts", "--prefer-offline", "--ignore-workspace", "--config.minimum-release-age=0"];
    return run(process.execPath, [script, "add", ...specs, ...settings, ...places], { cwd });
  },
};

/**
 * An empty project outside of every workspace: `{ folder, manager, add(specs) }`. Our packages come from the given registry, all
 * others from where npm is set to get them.
 */
export function emptyProject(folder, { registry, manager, caches }) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "name": "empty", "version": "1.0.0", "type": "module" }\n');
  writeFileSync(join(folder, ".npmrc"), `${scope.slice(0, -1)}:registry=${registry}\n`);
  const add = async (specs) => {
    const { code, output } = await managers[manager](specs, { cwd: folder, caches });
    if (code === 0) return;
    const reason = offline.test(output)
      ? " The registry that npm is set to use could not be reached, and what is needed was not fetched before"
      : "";
    throw failure(`${manager} could not add ${specs.join(" ")}.${reason}\n${output.trim()}`);
  };
  return { folder, manager, add };
}

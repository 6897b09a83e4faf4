import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { failure, run } from "../run.mjs";

const hooks = `import { appendFileSync } from "node:fs";
export async function load(url, context, next) {
  if (url.startsWith("file:")) appendFileSync(process.env.AGENTFW_LOADED, url + "\\n");
  return next(url, context);
}`;

const program = `import { appendFileSync } from "node:fs";
import { createRequire, register } from "node:module";
import { pathToFileURL } from "node:url";
const [hooks, specifier] = process.argv.slice(2);
register(hooks);
await import(specifier);
function finish() {
  // What CommonJS modules require of each other goes around the hooks.
  const required = Object.keys(createRequire(import.meta.url).cache);
  for (const path of required) appendFileSync(process.env.AGENTFW_LOADED, pathToFileURL(path).href + "\\n");
  process.exit(0);
}
// What an import sets going and does not wait for is loaded by it too. A driver may keep a process alive for ever.
process.once("beforeExit", finish);
setTimeout(finish, 5000).unref();`;

/**
 * What importing a package from a folder loads, also what it only sets going: `{ files, ours, foreign, packages }`, all
 * paths, the number of our files, that of others, and the names of the other packages, sorted.
 */
export async function loadedBy(folder, specifier) {
  const work = join(folder, ".loaded");
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work);
  const file = (name, content) => {
    writeFileSync(join(work, name), content);
    return join(work, name);
  };
  const list = file("list.txt", "");
  const hooksUrl = pathToFileURL(file("hooks.mjs", hooks)).href;
  // Beside node_modules, because a package's name is looked up from where it is imported.
  const main = join(folder, "loaded.mjs");
  writeFileSync(main, program);
  const env = { ...process.env, AGENTFW_LOADED: list };
  const { code, output } = await run(process.execPath, [main, hooksUrl, specifier], { cwd: folder, env });
  if (code !== 0) throw failure(`${specifier} cannot be imported:\n${output}`);
  const urls = [...new Set(readFileSync(list, "utf8").split("\n"))];
  const found = urls.filter((url) => url.includes("/node_modules/"));
  return { files: found.map((url) => fileURLToPath(url)), ...count(found) };
}

function count(urls) {
  const names = urls.map((url) => {
    const rest = url.slice(url.lastIndexOf("/node_modules/") + "/node_modules/".length);
    return decodeURIComponent(/^(@[^/]+\/)?[^/]+/.exec(rest)[0]);
  });
  const foreign = names.filter((name) => !name.startsWith("@agentfw/"));
  return { ours: names.length - foreign.length, foreign: foreign.length, packages: [...new Set(foreign)].sort() };
}

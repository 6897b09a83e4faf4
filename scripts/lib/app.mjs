import { existsSync, mkdirSync, renameSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { ensureInstalled } from "./install.mjs";
import { become, failure, say, seconds } from "./run.mjs";
import { hashFiles, readJson, root } from "./workspace.mjs";

/**
 * Installs what an app needs, bundles its src/main.ts with the workspace packages inside, and runs the bundle
 * in the caller's folder with the caller's arguments and exit code.
 */
export async function runApp(directory, { nodeArguments = [] } = {}) {
  const folder = join(root, directory);
  const output = join(folder, "dist", "main.js");
  await ensureInstalled(readJson(join(folder, "package.json")).name);
  if (!isFresh(output)) await bundle(folder, output);
  // npm moves to the checkout; paths among the arguments mean the folder that the person is in.
  const cwd = process.env.INIT_CWD ?? process.cwd();
  become(process.execPath, [...nodeArguments, output, ...process.argv.slice(2)], { cwd });
}

async function bundle(folder, output) {
  const start = Date.now();
  // The app's own copy: the checkout's may not be installed.
  const esbuild = createRequire(join(folder, "package.json"))("esbuild");
  const result = await esbuild
    .build({
      absWorkingDir: root,
      entryPoints: [join(folder, "src", "main.ts")],
      outfile: output,
      bundle: true,
      format: "esm",
      platform: "node",
      target: "node20.19",
      sourcemap: true,
      metafile: true,
      write: false,
      // An install without development dependencies gives the packages no link to core; the app has one to each.
      nodePaths: [join(folder, "node_modules")],
      // As large as everything else together: it stays outside, and is loaded by whoever asks for it.
      external: ["@azure/storage-blob"],
      // CommonJS dependencies inside an ES module still ask for Node's modules with require.
      banner: {
        js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
      },
      logLevel: "warning",
    })
    .catch(() => {
      throw failure(`${relative(root, folder)} could not be built; the reason stands above.`);
    });
  mkdirSync(dirname(output), { recursive: true });
  for (const { path, contents } of result.outputFiles) replaceFile(path, contents);
  const inputs = Object.keys(result.metafile.inputs).filter((path) => !path.includes("node_modules/"));
  replaceFile(`${output}.inputs.json`, JSON.stringify({ key: buildKey(), inputs: inputs.map(fingerprint) }));
  say(`Built ${relative(root, folder)} (${seconds(start)}).`);
}

/** In one step, because another process may be starting from this very file. */
function replaceFile(path, contents) {
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, contents);
  renameSync(temporary, path);
}

/** True when no file that went into the bundle changed since, nor what is installed. */
function isFresh(output) {
  const record = `${output}.inputs.json`;
  if (!existsSync(output) || !existsSync(record)) return false;
  const { key, inputs } = readJson(record);
  return (
    key === buildKey() &&
    inputs.every((input) => existsSync(join(root, input.path)) && isSame(input, fingerprint(input.path)))
  );
}

function isSame(one, other) {
  return one.modified === other.modified && one.bytes === other.bytes;
}

function fingerprint(path) {
  const { mtimeMs, size } = statSync(join(root, path));
  return { path, modified: mtimeMs, bytes: size };
}

function buildKey() {
  return hashFiles([join(root, "scripts", "lib", "app.mjs"), join(root, "pnpm-lock.yaml")]);
}

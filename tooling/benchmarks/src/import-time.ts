import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import type { Plugin } from "esbuild";
import { BenchmarkError } from "./errors.ts";
import { HOME, PACKAGES } from "./folders.ts";
import type { JobContext, OpenJob, Sample } from "./measurement.ts";

// Never part of a bundle: it finds its binary beside its own file.
const esbuild: typeof import("esbuild") = createRequire(join(HOME, "package.json"))("esbuild");

const execute = promisify(execFile);

/** What is imported. */
export interface ImportSubject {
  /** The package, by its folder. */
  readonly folder: string;
  /** The library that it drives; without one, the raw import is that of an empty module. */
  readonly driver?: string | undefined;
}

/**
 * Imports a package, with core inside of it and its driver beside it as when it is installed, and its driver alone:
 * each in a fresh process, timed there from before the import until it is done.
 */
export async function importJob(context: JobContext, { folder, driver }: ImportSubject): Promise<OpenJob> {
  const home = join(PACKAGES, folder);
  const bundle = join(context.directory, "package.mjs");
  const alone = join(context.directory, "driver.mjs");
  await bundled(join(home, "src", "index.ts"), bundle);
  await writeFile(join(context.directory, "timer.mjs"), TIMER);
  if (driver === undefined) {
    await writeFile(alone, "export {};\n");
  } else {
    await bundled({ contents: `import "${driver}";`, resolveDir: home }, alone);
  }
  const timer = join(context.directory, "timer.mjs");
  return { contenders: [imported("raw", timer, alone), imported("agentfw", timer, bundle)] };
}

const TIMER = `const start = performance.now();
await import(process.argv[2]);
process.stdout.write(String((performance.now() - start) * 1000));
`;

function imported(name: string, timer: string, file: string): Sample {
  return {
    name,
    sample: async () => {
      const { stdout } = await execute(process.execPath, [timer, pathToFileURL(file).href]);
      const microseconds = Number(stdout);
      if (!(microseconds > 0)) {
        throw new BenchmarkError("an import could not be timed");
      }
      return microseconds;
    },
  };
}

type Entry = string | { readonly contents: string; readonly resolveDir: string };

async function bundled(entry: Entry, outfile: string): Promise<void> {
  const source = typeof entry === "string" ? { entryPoints: [entry] } : { stdin: entry };
  await esbuild.build({
    ...source,
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    logLevel: "error",
    // Installed without development dependencies, the packages have no link to each other; this one has.
    nodePaths: [join(HOME, "node_modules")],
    plugins: [driversStayOutside],
  });
}

/** Other people's packages are imported from where they are installed; ours become part of the bundle. */
const driversStayOutside: Plugin = {
  name: "drivers-stay-outside",
  setup: (build) => {
    build.onResolve({ filter: /^[^./]/ }, async ({ path, resolveDir, kind, pluginData }) => {
      if (path.startsWith("@agentfw/") || path.startsWith("node:") || pluginData === driversStayOutside) {
        return undefined;
      }
      const found = await build.resolve(path, { resolveDir, kind, pluginData: driversStayOutside });
      return found.errors.length > 0 || found.external
        ? found
        : { path: pathToFileURL(found.path).href, external: true };
    });
  },
};

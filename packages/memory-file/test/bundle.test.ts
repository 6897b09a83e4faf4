import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect, test } from "vitest";

/** The package's files that a bundler puts into one file for a program that imports this. */
async function bundled(name: string): Promise<string[]> {
  const { metafile } = await build({
    stdin: { contents: `import { ${name} } from "./index.ts"; globalThis.used = ${name};`, resolveDir: SOURCE },
    absWorkingDir: SOURCE,
    bundle: true,
    format: "esm",
    platform: "neutral",
    packages: "external",
    metafile: true,
    write: false,
  });
  return Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  );
}

const SOURCE = fileURLToPath(new URL("../src", import.meta.url));

const ENGINES = { store: "writing.ts", memories: "memories.ts" };

test.each([
  ["FileSystemFileStore", ["store"]],
  ["FileMemoryProvider", ["memories"]],
  ["scopeSegment", []],
] as const)("a program that imports %s alone is bundled with the engines %j", async (name, engines) => {
  const files = await bundled(name);
  expect(Object.keys(ENGINES).filter((engine) => files.includes(Reflect.get(ENGINES, engine)))).toEqual(engines);
});

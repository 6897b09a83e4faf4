import { readdir, readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { CreateProviderError } from "./errors.ts";
import { kindWords } from "./kinds.ts";
import type { ProviderNames } from "./names.ts";
import { versions } from "./versions.ts";

/** A project as text: its files by their paths, with `/` between segments. */
export type RenderedFiles = ReadonlyMap<string, string>;

// The same place seen from src and from dist.
const TEMPLATE = fileURLToPath(new URL("../template/", import.meta.url));
const TOKEN = /__([a-zA-Z]+)__/g;

/**
 * Renders the template of a kind with these names. Writes nothing.
 *
 * The template is `template/all` with the files of `template/<kind>` over it. `__token__` is replaced in paths and
 * texts; the Markdown files in `parts` are tokens themselves. A first `_` in a path stands for a dot, and
 * `package.template.json` for `package.json`: npm leaves files such as `.gitignore` out of packages, and tools take a
 * package.json for a package.
 *
 * @param year In the license. @default this year
 * @throws `configuration` when the template asks for a token that does not exist.
 */
export async function renderProvider(
  names: ProviderNames,
  year: number = new Date().getFullYear(),
): Promise<RenderedFiles> {
  const sources = new Map([...(await readFolder("all")), ...(await readFolder(names.kind))]);
  const tokens = new Map(Object.entries(tokensOf(names, year)));
  for (const [path, text] of sources) {
    const part = /^parts\/([a-zA-Z]+)\.md$/.exec(path)?.[1];
    if (part !== undefined) {
      sources.delete(path);
      tokens.set(part, fill(text.trimEnd(), tokens));
    }
  }
  const files = [...sources].map(([path, text]) => [fill(targetOf(path), tokens), fill(text, tokens)] as const);
  return new Map(files.sort(([left], [right]) => (left < right ? -1 : 1)));
}

function targetOf(path: string): string {
  return path.replace(/^_/, ".").replace(/^package\.template\.json$/, "package.json");
}

function tokensOf(names: ProviderNames, year: number): Record<string, string> {
  return {
    package: names.packageName,
    kind: names.kind,
    name: names.name,
    provider: names.provider,
    class: names.className,
    port: kindWords(names.kind).port,
    file: names.fileName,
    description: names.description,
    core: versions.core,
    kit: versions.kit,
    year: String(year),
  };
}

async function readFolder(folder: string): Promise<Map<string, string>> {
  const root = join(TEMPLATE, folder);
  const files = new Map<string, string>();
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) {
      const path = join(entry.parentPath, entry.name);
      files.set(relative(root, path).replaceAll(sep, "/"), await readFile(path, "utf8"));
    }
  }
  return files;
}

function fill(text: string, tokens: ReadonlyMap<string, string>): string {
  return text.replace(TOKEN, (token, name: string) => {
    const value = tokens.get(name);
    if (value === undefined) {
      throw new CreateProviderError("configuration", `the template asks for ${token}, which nothing stands for`);
    }
    return value;
  });
}

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readJson } from "../workspace.mjs";

/**
 * What a page may ask for: the ranges of the packages in the scaffolder's template, and those of the drivers in the examples
 * that were written from the pages. A map of names to ranges.
 */
export function knownRanges(base) {
  const scaffolder = join(base, "packages", "create-provider");
  const template = readJson(join(scaffolder, "template", "all", "package.template.json"));
  const versions = readFileSync(join(scaffolder, "src", "versions.ts"), "utf8");
  const tokens = new Map([...versions.matchAll(/(\w+): "([^"]+)"/g)].map(([, name, range]) => [`__${name}__`, range]));
  const ranges = Object.entries({ ...template.devDependencies, ...template.peerDependencies });
  const example = join(base, "examples", "history-sqlite", "package.json");
  const drivers = existsSync(example) ? Object.entries(readJson(example).dependencies ?? {}) : [];
  return new Map([...drivers, ...ranges.map(([name, range]) => [name, tokens.get(range) ?? range])]);
}

/**
 * Which versions in a page are not those that a new project has. Looked at are `"name": "range"`, of a name that is known, and
 * ranges in the text, which are core's.
 */
export function versionProblems(text, known) {
  return text.split("\n").flatMap((line, index) => {
    const named = [...line.matchAll(/"([^"\s]+)": "(\^?\d+\.\d+\.\d+)"/g)].map(([, name, range]) => [name, range]);
    const inText = [...line.matchAll(/`(\^\d+\.\d+\.\d+)`/g)].map(([, range]) => ["@agentfw/core", range]);
    return [...named, ...inText].flatMap(([name, range]) => {
      if (!known.has(name))
        return [`line ${index + 1}: ${name} is in no new project, and nothing says that ${range} is right`];
      const wanted = known.get(name);
      return range === wanted ? [] : [`line ${index + 1}: ${name} is ${range} here, and ${wanted} in a new project`];
    });
  });
}

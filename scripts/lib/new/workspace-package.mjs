const tsconfig = `{
  "extends": "../../tsconfig.node.json",
  "include": ["src", "test"]
}
`;
const tsdownConfig = `import { library } from "../../tsdown.base.ts";

export default library(["src/index.ts"]);
`;
const vitestConfig = `import { testConfig } from "../../vitest.base.ts";

export default testConfig();
`;

/** What the template has for people who have a repository of their own. */
const outside = /^(\.github\/|\.changeset\/|\.gitignore$|CONTRIBUTING\.md$|scripts\/|tsconfig\.build\.json$)/;

/**
 * Turns a project of `@agentfw/create-provider` into a package of this workspace: its sources, tests and README as they
 * are, and around them the manifest and the configuration that every package here has. Both are maps of paths to texts,
 * relative to the package's folder.
 */
export function workspacePackage(files, names, license) {
  const kept = [...files].filter(([path]) => !outside.test(path));
  return new Map([
    ...kept,
    ["package.json", `${JSON.stringify(manifestOf(JSON.parse(files.get("package.json")), names), undefined, 2)}\n`],
    ["LICENSE", license],
    ["tsconfig.json", tsconfig],
    ["tsdown.config.ts", tsdownConfig],
    ["vitest.config.ts", vitestConfig],
  ]);
}

/** The changeset with which the package is released for the first time. */
export function firstChangeset({ packageName, description }) {
  return `---\n"${packageName}": minor\n---\n\n${description}\n`;
}

function manifestOf({ name, version, description, keywords, license, peerDependencies, engines }, { provider }) {
  const own = "./package.json";
  return {
    name,
    version,
    description,
    keywords,
    license,
    repository: { type: "git", directory: `packages/${provider}` },
    files: ["dist"],
    type: "module",
    sideEffects: false,
    exports: { ".": "./src/index.ts", [own]: own },
    publishConfig: {
      access: "public",
      exports: { ".": { types: "./dist/index.d.ts", default: "./dist/index.js" }, [own]: own },
    },
    scripts: {
      build: "tsdown",
      "check:pack": "node ../../scripts/pack-check.mjs",
      test: "vitest run",
      typecheck: "node ../../scripts/tsc.mjs -p .",
    },
    devDependencies: {
      "@agentfw/core": "workspace:*",
      "@agentfw/provider-testing": "workspace:*",
      "@types/node": "catalog:",
      vitest: "catalog:",
    },
    peerDependencies,
    engines,
  };
}

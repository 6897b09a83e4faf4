import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

const core = manifest("core", {});
const peer = { peerDependencies: { "@agentfw/core": "^0.1.0" } };

/** A small checkout that keeps every rule, as `{ path: text or JSON }`. */
export function goodWorkspace() {
  return {
    ...packageFiles("core", core),
    ...packageFiles(
      "agent",
      manifest("agent", { ...peer, devDependencies: { "@agentfw/core": "workspace:*", vitest: "catalog:" } }),
    ),
    ...packageFiles(
      "openai",
      manifest("openai", {
        ...peer,
        dependencies: { openai: "^6" },
        devDependencies: { "@agentfw/agent": "workspace:*" },
      }),
    ),
    "packages/openai/src/index.ts": 'import "openai";\n',
    ...packageFiles("provider-testing", manifest("provider-testing", peer)),
    ...packageFiles("create-provider", {
      ...manifest("create-provider", { devDependencies: { "@agentfw/core": "*", "@agentfw/provider-testing": "*" } }),
      files: ["dist", "template"],
    }),
    ...packageFiles("history-file", manifest("history-file", { ...peer, keywords: ["agentfw", "agentfw-provider"] })),
    ...packageFiles("history-other", manifest("history-other", { ...peer, keywords: ["agentfw", "agentfw-provider"] })),
    "packages/history-file/test/contract.test.ts": "",
    "packages/history-other/test/contract.test.ts": "",
    "apps/quickstart/package.json": { name: "@agentfw/quickstart", private: true },
    "apps/quickstart/src/main.ts": 'console.log("apps may print");\n',
    "tooling/test-servers/package.json": { name: "@agentfw/test-servers", private: true },
  };
}

/** Writes a checkout to a temporary folder that the running test takes away again, and returns the folder. */
export function write(files) {
  const folder = mkdtempSync(join(tmpdir(), "agentfw-scripts-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, content] of Object.entries(files)) {
    if (content === undefined) continue;
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), typeof content === "string" ? content : JSON.stringify(content));
  }
  return folder;
}

/** What no compression makes short, the same each time. */
export function randomText(length) {
  let state = 1;
  return Array.from({ length }, () => {
    state = (state * 48271) % 2147483647;
    return String.fromCharCode(97 + (state % 26));
  }).join("");
}

export function manifest(folder, more) {
  return {
    name: `@agentfw/${folder}`,
    description: "A package.",
    keywords: ["agentfw"],
    license: "MIT",
    repository: { type: "git", directory: `packages/${folder}` },
    files: ["dist"],
    type: "module",
    sideEffects: false,
    exports: { ".": "./src/index.ts", "./package.json": "./package.json" },
    publishConfig: {
      access: "public",
      exports: { ".": { types: "./dist/index.d.ts", default: "./dist/index.js" }, "./package.json": "./package.json" },
    },
    engines: { node: ">=20.19" },
    ...more,
  };
}

function packageFiles(folder, content) {
  const files = ["README.md", "LICENSE", "tsconfig.json", "tsdown.config.ts", "vitest.config.ts", "src/index.ts"];
  return {
    ...Object.fromEntries(files.map((file) => [`packages/${folder}/${file}`, ""])),
    [`packages/${folder}/package.json`]: content,
  };
}

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { scope } from "./kinds.mjs";

const driver = "driver";
const here = "2026-11-30-every-dependency-is-named.md";
const foundry = "2026-11-30-foundry-client.md";

/**
 * What a published package may bring along besides our own: its driver, or what the named record in docs/decisions decides
 * on. A new name is a line here and a record there.
 */
export const allowedDependencies = {
  agent: { "@cfworker/json-schema": here },
  "create-provider": { citty: here, "validate-npm-package-name": "2026-11-30-scaffolder.md" },
  "foundry-state-store": {
    "@azure/core-auth": foundry,
    "@azure/core-rest-pipeline": foundry,
    "@azure/core-tracing": foundry,
    "@azure/logger": foundry,
    "@langchain/core": here,
    "@langchain/langgraph-checkpoint": here,
    "proper-lockfile": foundry,
  },
  "history-blob": { "@azure/storage-blob": driver },
  "history-postgres": { pg: driver },
  "history-redis": { ioredis: driver },
  openai: { openai: driver },
  otel: { "@opentelemetry/api": here },
  "provider-testing": {
    citty: here,
    jiti: "2026-11-30-typescript-for-the-kits-command.md",
    vitest: here,
  },
  "state-postgres": { pg: driver },
  "state-redis": { ioredis: driver },
};

const fields = ["dependencies", "optionalDependencies", "peerDependencies"];

/** Checks what a published package brings along; `imported` is what its sources import. One sentence per problem. */
export function dependencyProblems(base, { folder, manifest }, imported) {
  // Core has no dependencies at all, which is a rule of its own.
  if (folder === "core") return [];
  const names = fields.flatMap((field) => Object.keys(manifest[field] ?? {}));
  return [...new Set(names)]
    .filter((name) => !name.startsWith(scope))
    .flatMap((name) => [
      ...reasonProblems(base, name, allowedDependencies[folder]?.[name]),
      ...(imported.has(name) ? [] : [`package.json names ${name}, which nothing in src imports`]),
    ]);
}

function reasonProblems(base, name, reason) {
  if (reason === driver) return [];
  if (reason === undefined)
    return [`${name} is nothing that it may bring along; a decision and a line in scripts/lib/rules/dependencies.mjs`];
  const record = join(base, "docs", "decisions", reason);
  const isDecided = existsSync(record) && readFileSync(record, "utf8").includes(`\`${name}\``);
  return isDecided ? [] : [`docs/decisions/${reason} is to say why it brings \`${name}\` along, and does not`];
}

/** The scope of everything that is ours. */
export const scope = "@agentfw/";

/**
 * What a package is decides whom it may know. A package that fits no kind is a problem of its own: a new kind is a
 * decision, not an accident.
 */
export function kindOf({ group, folder }) {
  if (group !== "packages") return "app";
  if (folder === "core" || folder === "agent" || folder === "create-provider") return folder;
  if (folder === "provider-testing") return "kit";
  if (folder === "openai" || folder === "otel") return "runtime";
  if (/^(history|state|file|memory|context|chat-client)-[a-z]/.test(folder) || folder === "foundry-state-store")
    return "backend";
  return "unknown";
}

/**
 * Which of our packages each kind may name, by the field of package.json. `private` stands for the unpublished
 * packages in tooling. What is not listed is forbidden; apps and tooling may name everything.
 */
export const allowed = {
  core: { peer: [], dev: [] },
  agent: { peer: ["core"], dev: ["core", "kit"] },
  runtime: { peer: ["core"], dev: ["core", "agent", "kit", "private"] },
  kit: { peer: ["core"], dev: ["core"] },
  backend: { peer: ["core"], dev: ["core", "agent", "kit", "private"] },
  // It knows of core and the kit what its template says, and proves that with both.
  "create-provider": { peer: [], dev: ["core", "kit"] },
};

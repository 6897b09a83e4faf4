import { isSoakBackend, SOAK_BACKENDS, type SoakBackend } from "./places.ts";

/** What a soak is told by its environment. */
export interface SoakSettings {
  readonly backends: readonly SoakBackend[];
  readonly runs: number;
  readonly seed: number;
}

/** The backends of a soak that says nothing else, and that every test run can wait for. */
const SHORT: SoakSettings = { backends: ["file", "redis", "postgres"], runs: 60, seed: 1 };

/**
 * Reads `AGENTFW_SOAK_BACKEND`, `AGENTFW_SOAK_RUNS` and `AGENTFW_SOAK_SEED`.
 *
 * @throws RangeError naming the variable and the rule
 */
export function soakSettings(environment: NodeJS.ProcessEnv): SoakSettings {
  const backend = environment["AGENTFW_SOAK_BACKEND"];
  if (backend !== undefined && !isSoakBackend(backend)) {
    throw new RangeError(`AGENTFW_SOAK_BACKEND must be one of ${SOAK_BACKENDS.join(", ")}`);
  }
  return {
    backends: backend === undefined ? SHORT.backends : [backend],
    runs: whole(environment, "AGENTFW_SOAK_RUNS", 1) ?? SHORT.runs,
    seed: whole(environment, "AGENTFW_SOAK_SEED", 0) ?? SHORT.seed,
  };
}

function whole(environment: NodeJS.ProcessEnv, name: string, least: number): number | undefined {
  const text = environment[name];
  if (text === undefined) {
    return undefined;
  }
  const value = Number(text);
  if (!/^\d{1,9}$/.test(text) || value < least) {
    throw new RangeError(`${name} must be a whole number from ${least} to 999999999`);
  }
  return value;
}

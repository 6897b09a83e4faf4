import { configurationError } from "@agentfw/core";

/** Where the service is. */
export interface Endpoint {
  /** What comes before `state_stores`, with a slash at its end. */
  readonly baseUrl: string;
  /** True for plain HTTP on this machine, where the emulator is. */
  readonly isLoopback: boolean;
  /** True for the agent-scoped surface. */
  readonly isAgentScoped: boolean;
}

/**
 * The base URL of a project endpoint, with or without `/storage` and slashes at its end; with `agentName`, that of the
 * surface that is scoped to an agent.
 *
 * @throws `configuration`
 */
export function resolveEndpoint(endpoint: string, agentName: string | undefined): Endpoint {
  const url = typeof endpoint === "string" && URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw configurationError("endpoint", "must be a URL that begins with https://, or http:// on this machine");
  }
  const isLoopback = url.protocol === "http:";
  if (isLoopback && !/^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(url.hostname)) {
    throw configurationError("endpoint", "must begin with https://: a token must not go over the network in clear");
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw configurationError("endpoint", "must hold no credentials, query or fragment");
  }
  const project = `${url.origin}${url.pathname}`.replace(/\/+$/, "").replace(/\/storage$/i, "");
  const surface = agentName === undefined ? "storage" : `agents/${encodeURIComponent(agentName)}/endpoint`;
  return { baseUrl: `${project}/${surface}/`, isLoopback, isAgentScoped: agentName !== undefined };
}

/** What the environment says about where this program runs. */
export interface Surroundings {
  readonly endpoint: string | undefined;
  readonly isHosted: boolean;
}

/** Reads `FOUNDRY_PROJECT_ENDPOINT` and `FOUNDRY_HOSTING_ENVIRONMENT`; an empty value is as good as none. */
export function surroundings(environment: NodeJS.ProcessEnv = process.env): Surroundings {
  return {
    endpoint: environment["FOUNDRY_PROJECT_ENDPOINT"] || undefined,
    isHosted: (environment["FOUNDRY_HOSTING_ENVIRONMENT"] ?? "") !== "",
  };
}

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
 * surface that is scoped to an agent. A token goes over no network in clear.
 *
 * @throws `configuration`
 */
export function resolveEndpoint(endpoint: string, agentName: string | undefined): Endpoint {
  const url = typeof endpoint === "string" && URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  const isLoopback = url?.protocol === "http:" && /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(url.hostname);
  if (url === undefined || !(isLoopback || url.protocol === "https:")) {
    throw configurationError("endpoint", "must be an https:// URL, or an http:// one of this machine");
  }
  if (url.username || url.password || url.search || url.hash) {
    throw configurationError("endpoint", "must hold no credentials, query or fragment");
  }
  const project = `${url.origin}${url.pathname}`.replace(/\/+$/, "").replace(/\/storage$/i, "");
  const surface = agentName === undefined ? "storage" : `agents/${encodeURIComponent(agentName)}/endpoint`;
  return { baseUrl: `${project}/${surface}/`, isLoopback, isAgentScoped: agentName !== undefined };
}

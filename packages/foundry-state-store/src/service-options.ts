import { assertCount, assertObject, configurationError } from "@agentfw/core";
import type { TokenCredential } from "@azure/core-auth";
import type { HttpClient, PipelineOptions } from "@azure/core-rest-pipeline";
import { type Endpoint, resolveEndpoint, surroundings } from "./endpoint.ts";
import {
  type CommonSettings,
  type FoundryStateStoreOptions,
  type LocalStateStoreOptions,
  optionalName,
} from "./options.ts";

/** How to reach the service. */
export interface ServiceSettings {
  readonly place: Endpoint;
  readonly credential: TokenCredential;
  readonly pipelineOptions: PipelineOptions;
  readonly httpClient: HttpClient | undefined;
}

/**
 * Checks what is about the service alone, also where files are used in its place: `undefined` where nothing hosted is
 * configured.
 *
 * @throws `configuration`
 */
export function resolveService(options: FoundryStateStoreOptions): ServiceSettings | undefined {
  const { agentName, localDirectory, credential, httpClient } = options;
  const agent = optionalName(agentName, "agentName");
  if (agent !== undefined && (!agent.isWellFormed() || agent === "." || agent === "..")) {
    throw configurationError("agentName", 'must be a name, without lone surrogates, and not "." or ".."');
  }
  optionalName(localDirectory, "localDirectory");
  if (httpClient !== undefined && typeof httpClient?.sendRequest !== "function") {
    throw configurationError("httpClient", "must be an HttpClient of @azure/core-rest-pipeline");
  }
  const pipelineOptions = checkedPipelineOptions(options.pipelineOptions);
  const environment = surroundings();
  const endpoint = options.endpoint === undefined ? environment.endpoint : options.endpoint;
  if (endpoint === undefined) {
    if (environment.isHosted) {
      throw configurationError("endpoint", "must be given, or be in FOUNDRY_PROJECT_ENDPOINT");
    }
    return undefined;
  }
  const place = resolveEndpoint(endpoint, agent);
  return { place, credential: checkedCredential(credential, place.isLoopback), pipelineOptions, httpClient };
}

/** What files that stand in for the service are opened with. */
export function localOptions(
  { creation: { description, tags }, asked, timeoutMs, onDiagnostic }: CommonSettings,
  { localDirectory, allowUnisolatedLocal, signal }: FoundryStateStoreOptions,
): LocalStateStoreOptions {
  return {
    ...asked,
    ...{ description, tags, timeoutMs, onDiagnostic, signal, allowUnisolatedLocal },
    directory: localDirectory,
  };
}

/** A copy, so that what is used is what was checked. */
function checkedPipelineOptions(given: PipelineOptions = {}): PipelineOptions {
  assertObject(given, "pipelineOptions");
  const { retryOptions = {} } = given;
  assertObject(retryOptions, "pipelineOptions.retryOptions");
  for (const [name, value] of Object.entries(retryOptions).filter(([, one]) => one !== undefined)) {
    assertCount(value, `pipelineOptions.retryOptions.${name}`, 0);
  }
  return { ...given, retryOptions: { ...retryOptions } };
}

/** An emulator on this machine takes any token; the service takes none but a credential's. */
function checkedCredential(credential: unknown, isLoopback: boolean): TokenCredential {
  if (credential === undefined && isLoopback) {
    return { getToken: async () => ({ token: "local", expiresOnTimestamp: Number.MAX_SAFE_INTEGER }) };
  }
  if (!isCredential(credential)) {
    throw configurationError("credential", "must be a TokenCredential, as those of @azure/identity are");
  }
  return credential;
}

function isCredential(value: unknown): value is TokenCredential {
  return typeof value === "object" && value !== null && "getToken" in value && typeof value.getToken === "function";
}

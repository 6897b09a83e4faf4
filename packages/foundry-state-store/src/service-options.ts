import { assertCount, assertName, assertObject, configurationError } from "@agentfw/core";
import type { TokenCredential } from "@azure/core-auth";
import type { HttpClient, PipelineOptions } from "@azure/core-rest-pipeline";
import { type Endpoint, resolveEndpoint } from "./endpoint.ts";
import type { FoundryStateStoreOptions } from "./options.ts";

/** How to reach the service. */
export interface ServiceSettings {
  readonly place: Endpoint;
  readonly credential: TokenCredential;
  readonly pipelineOptions: PipelineOptions;
  readonly httpClient: HttpClient | undefined;
}

/** What `FoundryStateStore` takes and `LocalStateStore` does not. */
export const SERVICE_OPTIONS: readonly string[] = [
  "credential",
  "endpoint",
  "agentName",
  "pipelineOptions",
  "httpClient",
  "localDirectory",
];

/** An emulator on this machine takes any token. */
const ANY_TOKEN: TokenCredential = {
  getToken: async () => ({ token: "local", expiresOnTimestamp: Number.MAX_SAFE_INTEGER }),
};

/**
 * Checks what is about the service alone, also where files are used in its place: `undefined` where nothing hosted is
 * configured, by options or by `FOUNDRY_PROJECT_ENDPOINT` and `FOUNDRY_HOSTING_ENVIRONMENT`. An empty one is as good as none.
 *
 * @throws `configuration`
 */
export function resolveService(options: FoundryStateStoreOptions): ServiceSettings | undefined {
  const { agentName = "-", localDirectory = "-", httpClient } = options;
  assertName(localDirectory, "localDirectory");
  assertName(agentName, "agentName");
  if (!agentName.isWellFormed() || /^\.\.?$/.test(agentName)) {
    throw configurationError("agentName", 'must be a name, without lone surrogates, and not "." or ".."');
  }
  if (httpClient !== undefined && typeof httpClient?.sendRequest !== "function") {
    throw configurationError("httpClient", "must be an HttpClient of @azure/core-rest-pipeline");
  }
  const pipelineOptions = copyOf(options.pipelineOptions);
  const { FOUNDRY_PROJECT_ENDPOINT, FOUNDRY_HOSTING_ENVIRONMENT } = process.env;
  const { endpoint = FOUNDRY_PROJECT_ENDPOINT || undefined } = options;
  const place = endpoint === undefined ? undefined : resolveEndpoint(endpoint, options.agentName);
  if (place === undefined) {
    if (FOUNDRY_HOSTING_ENVIRONMENT) {
      throw configurationError("endpoint", "must be given, or be in FOUNDRY_PROJECT_ENDPOINT");
    }
    return undefined;
  }
  const { credential = place.isLoopback ? ANY_TOKEN : undefined } = options;
  if (typeof credential?.getToken !== "function") {
    throw configurationError("credential", "must be a TokenCredential, as those of @azure/identity are");
  }
  return { place, credential, pipelineOptions, httpClient };
}

/** So that what is used is what was checked. */
function copyOf(given: PipelineOptions = {}): PipelineOptions {
  assertObject(given, "pipelineOptions");
  const { retryOptions = {} } = given;
  assertObject(retryOptions, "pipelineOptions.retryOptions");
  for (const [name, value = 0] of Object.entries(retryOptions)) {
    assertCount(value, `pipelineOptions.retryOptions.${name}`, 0);
  }
  return { ...given, retryOptions: { ...retryOptions } };
}

import { assertCount, assertObject, configurationError, type DiagnosticHandler, report } from "@agentfw/core";
import type { TokenCredential } from "@azure/core-auth";
import { resolveEndpoint, surroundings } from "./endpoint.ts";
import { PROVIDER } from "./errors.ts";
import type { FoundryStateStore, StoreParts } from "./foundry-state-store.ts";
import { createStorePipeline, defaultHttpClient } from "./http/pipeline.ts";
import { Transport } from "./http/transport.ts";
import { assertAsAsked } from "./mismatch.ts";
import { type FoundryStateStoreOptions, optionalName, resolveCommon } from "./options.ts";
import { Requests } from "./service/requests.ts";
import { getOrCreateStore, ServiceBackend } from "./service/service-backend.ts";

/** Opens a store in the service, or in files where nothing hosted is configured. */
export async function openStore(
  name: string,
  options: FoundryStateStoreOptions,
  make: (parts: StoreParts) => FoundryStateStore,
): Promise<FoundryStateStore> {
  const { creation, asked, timeoutMs, onDiagnostic } = resolveCommon("FoundryStateStore", name, options);
  assertServiceOptions(options);
  const environment = surroundings();
  const endpoint = options.endpoint === undefined ? environment.endpoint : options.endpoint;
  if (endpoint === undefined) {
    if (environment.isHosted) {
      throw configurationError("endpoint", "must be given, or be in FOUNDRY_PROJECT_ENDPOINT");
    }
    return openLocally(name, options);
  }
  const place = resolveEndpoint(endpoint, options.agentName);
  const credential = checkedCredential(options.credential, place.isLoopback);
  const pipeline = createStorePipeline(options.pipelineOptions ?? {}, { credential, isLoopback: place.isLoopback });
  const requests = new Requests(new Transport(pipeline, options.httpClient ?? defaultHttpClient()), place);
  const properties = await getOrCreateStore(requests, creation, { timeoutMs, signal: options.signal });
  assertAsAsked(properties, asked, onDiagnostic);
  const isIsolated = properties.userIsolation;
  return make({ backend: new ServiceBackend(requests, { name, timeoutMs, isIsolated }), properties, isIsolated });
}

/** Checks what is about the service alone, also where files are used. @throws `configuration` */
function assertServiceOptions({
  agentName,
  localDirectory,
  httpClient,
  pipelineOptions,
}: FoundryStateStoreOptions): void {
  const agent = optionalName(agentName, "agentName");
  if (agent !== undefined && (!agent.isWellFormed() || agent === "." || agent === "..")) {
    throw configurationError("agentName", 'must be a name, without lone surrogates, and not "." or ".."');
  }
  optionalName(localDirectory, "localDirectory");
  if (httpClient !== undefined && typeof httpClient?.sendRequest !== "function") {
    throw configurationError("httpClient", "must be an HttpClient of @azure/core-rest-pipeline");
  }
  if (pipelineOptions === undefined) {
    return;
  }
  assertObject(pipelineOptions, "pipelineOptions");
  const { retryOptions = {} } = pipelineOptions;
  assertObject(retryOptions, "pipelineOptions.retryOptions");
  for (const [name, value] of Object.entries(retryOptions).filter(([, given]) => given !== undefined)) {
    assertCount(value, `pipelineOptions.retryOptions.${name}`, 0);
  }
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

let hasWarned = false;

/** Who was told already that files are used. */
const told = new WeakSet<DiagnosticHandler>();

async function openLocally(name: string, options: FoundryStateStoreOptions): Promise<FoundryStateStore> {
  const { LocalStateStore } = await import("./local-state-store.ts");
  const { userIsolation, itemTtlSeconds, description, tags, onMismatch, timeoutMs, signal } = options;
  const store = await LocalStateStore.getOrCreate(name, {
    ...{ userIsolation, itemTtlSeconds, description, tags, onMismatch, timeoutMs, signal },
    directory: options.localDirectory,
    allowUnisolatedLocal: options.allowUnisolatedLocal,
    onDiagnostic: options.onDiagnostic,
  });
  const message = "no endpoint is configured: state is kept in files on this machine";
  const { onDiagnostic } = options;
  if (onDiagnostic === undefined && !hasWarned) {
    hasWarned = true;
    process.emitWarning(message, { code: "AGENTFW_LOCAL_STATE_STORE" });
  } else if (onDiagnostic !== undefined && !told.has(onDiagnostic)) {
    told.add(onDiagnostic);
    report(onDiagnostic, { type: "local_state_store", provider: PROVIDER, message });
  }
  return store;
}

import type { StoreParts } from "../foundry-state-store.ts";
import { createStorePipeline, defaultHttpClient } from "../http/pipeline.ts";
import { Transport } from "../http/transport.ts";
import { assertAsAsked } from "../mismatch.ts";
import type { CommonSettings, OpeningCall } from "../options.ts";
import type { ServiceSettings } from "../service-options.ts";
import { Requests } from "./requests.ts";
import { getOrCreateStore, ServiceBackend } from "./service-backend.ts";

/** Opens a store in the service, and creates it when there is none. */
export async function openStore(
  { creation, asked, timeoutMs, onDiagnostic }: CommonSettings,
  { place, credential, pipelineOptions, httpClient = defaultHttpClient() }: ServiceSettings,
  call: OpeningCall,
): Promise<StoreParts> {
  const pipeline = createStorePipeline(pipelineOptions, { credential, isLoopback: place.isLoopback });
  const requests = new Requests(new Transport(pipeline, httpClient), place);
  const properties = await getOrCreateStore(requests, creation, call);
  assertAsAsked(properties, asked, onDiagnostic);
  const isIsolated = properties.userIsolation;
  const backend = new ServiceBackend(requests, { name: creation.name, timeoutMs, isIsolated });
  return { backend, properties, isIsolated };
}

import type { StoreParts } from "../backend.ts";
import { createStorePipeline, defaultHttpClient } from "../http/pipeline.ts";
import { Transport } from "../http/transport.ts";
import type { CommonSettings } from "../options.ts";
import type { ServiceSettings } from "../service-options.ts";
import { Requests } from "./requests.ts";
import { getOrCreateStore, ServiceBackend } from "./service-backend.ts";

/** Opens a store in the service, and creates it when there is none. */
export async function openStore(settings: CommonSettings, service: ServiceSettings): Promise<StoreParts> {
  const { place, httpClient = defaultHttpClient() } = service;
  const requests = new Requests(new Transport(createStorePipeline(service), httpClient), place);
  const properties = await getOrCreateStore(requests, settings);
  const isIsolated = properties.userIsolation;
  const { timeoutMs } = settings;
  const backend = new ServiceBackend(requests, { name: settings.creation.name, timeoutMs, isIsolated });
  return { backend, properties, isIsolated };
}

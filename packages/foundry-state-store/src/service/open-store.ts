import type { StoreParts } from "../backend.ts";
import type { CommonSettings } from "../options.ts";
import type { ServiceSettings } from "../service-options.ts";
import { Requests } from "./requests.ts";
import { getOrCreateStore, ServiceBackend } from "./service-backend.ts";

/** Opens a store in the service, and creates it when there is none. */
export async function openStore(settings: CommonSettings, service: ServiceSettings): Promise<StoreParts> {
  const requests = new Requests(service);
  const properties = await getOrCreateStore(requests, settings);
  const isIsolated = properties.userIsolation;
  const { timeoutMs, creation } = settings;
  return {
    backend: new ServiceBackend(requests, { name: creation.name, timeoutMs, isIsolated }),
    properties,
    isIsolated,
  };
}

import type { DiagnosticHandler } from "@agentfw/core";
import { complain } from "../terminal.ts";
import type { Backend, OpenBackend } from "./backend.ts";

export type BackendName = "file" | "memory" | "redis";

interface Entry {
  /** True when it is on a server, which `--url` names. */
  readonly hasServer: boolean;
  load(): Promise<Backend>;
}

/** Every backend, loaded when it is chosen, so that the drivers of the others cost nothing. */
const BACKENDS: Readonly<Record<BackendName, Entry>> = {
  file: { hasServer: false, load: async () => (await import("./file.ts")).fileBackend },
  memory: { hasServer: false, load: async () => (await import("./memory.ts")).memoryBackend },
  redis: { hasServer: true, load: async () => (await import("./redis.ts")).redisBackend },
};

export function backendNames(): string[] {
  return Object.keys(BACKENDS);
}

export function isBackendName(name: string): name is BackendName {
  return Object.hasOwn(BACKENDS, name);
}

/** True when `--url` can name the backend's server. */
export function hasServer(name: BackendName): boolean {
  return BACKENDS[name].hasServer;
}

/** Opens a backend by its name. Starts a server where there is to be one and no URL says where it is. */
export async function openBackend(options: {
  readonly backend: BackendName;
  readonly data: string;
  readonly url?: string | undefined;
}): Promise<Backend & OpenBackend> {
  const backend = await BACKENDS[options.backend].load();
  const onDiagnostic: DiagnosticHandler = ({ type, message }) => complain(`note: ${type}: ${message}`);
  return { ...backend, ...(await backend.open({ data: options.data, url: options.url, onDiagnostic })) };
}

import type { DiagnosticHandler } from "@agentfw/core";
import { complain } from "../terminal.ts";
import type { Backend, OpenBackend } from "./backend.ts";

export type BackendName = "blob" | "file" | "foundry" | "memory" | "postgres" | "redis";

interface Entry {
  /** True when `--url` can name a server. */
  readonly takesUrl: boolean;
  /** True when what is stored is there for the next command, also without `--url`. */
  readonly staysWithoutUrl: boolean;
  load(): Promise<Backend>;
}

/** Every backend, loaded when it is chosen, so that the drivers of the others cost nothing. */
const BACKENDS: Readonly<Record<BackendName, Entry>> = {
  blob: {
    takesUrl: true,
    staysWithoutUrl: process.env["AZURE_STORAGE_CONNECTION_STRING"] !== undefined,
    load: async () => (await import("./blob.ts")).blobBackend,
  },
  file: {
    takesUrl: false,
    staysWithoutUrl: true,
    load: async () => (await import("./file.ts")).fileBackend,
  },
  foundry: {
    takesUrl: true,
    staysWithoutUrl: true,
    load: async () => (await import("./foundry.ts")).foundryBackend,
  },
  memory: {
    takesUrl: false,
    staysWithoutUrl: false,
    load: async () => (await import("./memory.ts")).memoryBackend,
  },
  postgres: {
    takesUrl: true,
    staysWithoutUrl: true,
    load: async () => (await import("./postgres.ts")).postgresBackend,
  },
  redis: {
    takesUrl: true,
    staysWithoutUrl: false,
    load: async () => (await import("./redis.ts")).redisBackend,
  },
};

export function backendNames(): string[] {
  return Object.keys(BACKENDS);
}

export function isBackendName(name: string): name is BackendName {
  return Object.hasOwn(BACKENDS, name);
}

/** True when `--url` can name the backend's server. */
export function takesUrl(name: BackendName): boolean {
  return BACKENDS[name].takesUrl;
}

/** True when what is stored is there for the next command, also without `--url`. */
export function staysWithoutUrl(name: BackendName): boolean {
  return BACKENDS[name].staysWithoutUrl;
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

import type { DiagnosticHandler } from "@agentfw/core";
import { complain } from "../terminal.ts";
import type { Backend, OpenBackend } from "./backend.ts";

/** Every backend, loaded when it is chosen, so that the drivers of the others cost nothing. */
const BACKENDS = {
  file: async (): Promise<Backend> => (await import("./file.ts")).fileBackend,
  memory: async (): Promise<Backend> => (await import("./memory.ts")).memoryBackend,
};

export type BackendName = keyof typeof BACKENDS;

export function backendNames(): string[] {
  return Object.keys(BACKENDS);
}

export function isBackendName(name: string): name is BackendName {
  return Object.hasOwn(BACKENDS, name);
}

/** Opens a backend by its name. Connects to nothing. */
export async function openBackend(options: {
  readonly backend: BackendName;
  readonly data: string;
}): Promise<Backend & OpenBackend> {
  const backend = await BACKENDS[options.backend]();
  const onDiagnostic: DiagnosticHandler = ({ type, message }) => complain(`note: ${type}: ${message}`);
  return { ...backend, ...backend.open({ data: options.data, onDiagnostic }) };
}

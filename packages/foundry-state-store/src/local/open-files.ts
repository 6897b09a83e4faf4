import type { StoreParts } from "../backend.ts";
import type { LocalStoreSettings } from "../local-options.ts";
import { LocalBackend } from "./local-backend.ts";

/** Opens a store in files, and creates it when there is none. */
export async function openFiles(settings: LocalStoreSettings): Promise<StoreParts> {
  const backend = new LocalBackend(settings);
  // By the owner of core's port, not by call.
  return { backend, properties: await backend.getOrCreate(settings), isIsolated: true };
}

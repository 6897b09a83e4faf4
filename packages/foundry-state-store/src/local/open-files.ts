import { type DiagnosticHandler, report } from "@agentfw/core";
import { PROVIDER } from "../errors.ts";
import type { FoundryStateStore, StoreParts } from "../foundry-state-store.ts";
import { LocalStateStore, type LocalStoreSettings } from "../local-state-store.ts";
import { assertAsAsked } from "../mismatch.ts";
import type { LocalStateStoreOptions, OpeningCall } from "../options.ts";
import { LocalBackend } from "./local-backend.ts";

/** Opens a store in files, and creates it when there is none. */
export async function openFiles(
  { creation, asked, timeoutMs, onDiagnostic, directory, now }: LocalStoreSettings,
  call: OpeningCall,
): Promise<StoreParts> {
  const backend = new LocalBackend(creation.name, { directory, timeoutMs, now });
  const properties = await backend.getOrCreate(creation, call);
  assertAsAsked(properties, asked, onDiagnostic);
  // By the owner of core's port, not by call.
  return { backend, properties, isIsolated: true };
}

let hasWarned = false;

/** Who was told already that files are used. */
const told = new WeakSet<DiagnosticHandler>();

/** Opens a store in files because nothing hosted is configured, and says so once. */
export async function openInstead(name: string, options: LocalStateStoreOptions): Promise<FoundryStateStore> {
  const store = await LocalStateStore.getOrCreate(name, options);
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

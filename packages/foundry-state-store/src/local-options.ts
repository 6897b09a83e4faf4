import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { assertName, configurationError, type DiagnosticHandler, report } from "@agentfw/core";
import { PROVIDER } from "./errors.ts";
import { type CommonSettings, type LocalStateStoreOptions, resolveCommon } from "./options.ts";

/** What a store in files is opened with, checked. */
export interface LocalStoreSettings extends CommonSettings {
  /** Absolute. */
  readonly directory: string;
  readonly now: () => number;
}

/** Checks the options of a store in files, which keep no users apart. @throws `configuration` */
export function resolveLocal(name: string, options: LocalStateStoreOptions): LocalStoreSettings {
  const common = resolveCommon(name, options, ["directory", "now"]);
  const { directory = join(homedir(), ".agentfw", "state-stores"), allowUnisolatedLocal, now = Date.now } = options;
  assertName(directory, "directory");
  if (directory.includes("\0")) {
    throw configurationError("directory", "must not hold NUL");
  }
  const { creation, asked, onDiagnostic } = common;
  if (asked.userIsolation) {
    if (!allowUnisolatedLocal) {
      const rule = "files cannot keep users apart; allowUnisolatedLocal: true does without, and an emulator can";
      throw configurationError("userIsolation", rule);
    }
    tell(onDiagnostic, "unisolated_state_store", "user isolation was asked for; in files all users share the items");
  }
  return {
    ...common,
    creation: { ...creation, userIsolation: false },
    asked: { ...asked, userIsolation: undefined },
    directory: resolve(directory),
    now,
  };
}

/** Who was told already that files are used. */
const told = new WeakSet<object>();

/** Says once that files are used because nothing hosted is configured. */
export function tellOfFiles(onDiagnostic: DiagnosticHandler | undefined): void {
  const listener = onDiagnostic ?? process;
  if (told.has(listener)) {
    return;
  }
  told.add(listener);
  const message = "no endpoint is configured: state is kept in files on this machine";
  if (onDiagnostic === undefined) {
    process.emitWarning(message, { code: "AGENTFW_LOCAL_STATE_STORE" });
  }
  tell(onDiagnostic, "local_state_store", message);
}

function tell(onDiagnostic: DiagnosticHandler | undefined, type: string, message: string): void {
  report(onDiagnostic, { type, provider: PROVIDER, message });
}

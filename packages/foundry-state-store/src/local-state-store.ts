import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { assertCallOptions, assertObject, configurationError, report } from "@agentfw/core";
import { PROVIDER } from "./errors.ts";
import { FoundryStateStore, type StoreParts } from "./foundry-state-store.ts";
import { engines, loadEngine } from "./load-engine.ts";
import {
  type CommonSettings,
  type LocalStateStoreOptions,
  openingCall,
  optionalName,
  resolveCommon,
} from "./options.ts";

/** What a store in files is opened with, checked. */
export interface LocalStoreSettings extends CommonSettings {
  /** Absolute. */
  readonly directory: string;
  readonly now: () => number;
}

/**
 * A state store in files on this machine, with the semantics of the service: one folder, one file a store. For development,
 * and for programs of one machine.
 *
 * *Atomicity*: each write puts a new file in place of the old one, synced; a crash leaves one of the two. Any number of
 * processes may write: one at a time has the file's lock, and a lock whose holder died is taken over after 3 seconds.
 *
 * *Identity*: call ids are accepted and mean nothing, because only the platform knows who is behind one. The `owner` of
 * core's port is kept apart.
 *
 * *Limits*: each write writes the whole file. Not for network file systems.
 */
export class LocalStateStore extends FoundryStateStore {
  private constructor(parts: StoreParts) {
    super(parts);
  }

  /**
   * Opens a store, and creates it when there is none.
   *
   * @throws `configuration` naming the option, or what differs from a store that exists, also for user isolation
   * without `allowUnisolatedLocal`; `corrupt`, `unauthorized`, `unavailable`, `timeout`, `outcome_unknown`
   */
  static override async getOrCreate(name: string, options: LocalStateStoreOptions = {}): Promise<LocalStateStore> {
    assertCallOptions(options);
    const settings = resolveLocal(name, options);
    const call = openingCall(settings, options);
    const { openFiles } = await loadEngine(engines.files, call);
    return new LocalStateStore(await openFiles(settings, call));
  }
}

/** Checks the options of a store in files. @throws `configuration` */
function resolveLocal(name: string, options: LocalStateStoreOptions): LocalStoreSettings {
  const common = resolveCommon("LocalStateStore", name, options);
  assertObject(options, "options", { now: "function" });
  const directory = resolve(
    optionalName(options.directory, "directory") ?? join(homedir(), ".agentfw", "state-stores"),
  );
  if (directory.includes("\0")) {
    throw configurationError("directory", "must not hold NUL");
  }
  const isUnisolated = assertIsolation(common, options.allowUnisolatedLocal ?? false);
  return {
    ...common,
    creation: { ...common.creation, userIsolation: false },
    asked: isUnisolated ? { ...common.asked, userIsolation: undefined } : common.asked,
    directory,
    now: options.now ?? Date.now,
  };
}

/** True when isolation was asked for and is done without. */
function assertIsolation({ asked, onDiagnostic }: CommonSettings, isAllowed: boolean): boolean {
  if (!asked.userIsolation) {
    return false;
  }
  if (!isAllowed) {
    const rule =
      "files on this machine cannot keep users apart; allowUnisolatedLocal: true goes on without, and the emulator can";
    throw configurationError("userIsolation", rule);
  }
  report(onDiagnostic, {
    type: "unisolated_state_store",
    provider: PROVIDER,
    message: "user isolation was asked for; in files on this machine all users share the items",
  });
  return true;
}

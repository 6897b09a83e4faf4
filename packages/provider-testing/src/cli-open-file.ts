import { access } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chatClientContract } from "./chat/contract.ts";
import type { ContractClause, ContractPort } from "./clause.ts";
import { KINDS, type Kind, openerNames, type SubjectKind } from "./cli-kinds.ts";
import { contextProviderContract } from "./context/contract.ts";
import { fileStoreContract } from "./file/contract.ts";
import { historyStoreContract } from "./history/contract.ts";
import type { ContractSuite, HookReasons, OpenedSubject, OpenOptions } from "./opened.ts";
import { assertReasons } from "./opened-input.ts";
import type { ClauseResult, ContractReport } from "./report.ts";
import { assertRunnable, closeOpened, runContract } from "./run.ts";
import { stateStoreContract } from "./state/contract.ts";

/** The file cannot be used; the message says why and what to do. */
export class OpenFileError extends Error {}

/** A contract that is ready to be run against what the file opens. */
export interface LoadedSuite {
  readonly name: string;
  readonly port: ContractPort;
  readonly ids: readonly string[];
  /** Opens once and closes: what is wrong with the file is told once, and not by every clause. */
  tryOpen(): Promise<void>;
  run(only: readonly string[] | undefined, onResult: (result: ClauseResult) => void): Promise<ContractReport>;
}

/** Loads the file and gives the contracts it opens something for. */
export async function loadSuites(file: string, kind: SubjectKind | undefined): Promise<LoadedSuite[]> {
  const exported = await load(resolve(file));
  const suites = [
    suiteOf(exported, kind, KINDS.history, historyStoreContract),
    suiteOf(exported, kind, KINDS.state, stateStoreContract),
    suiteOf(exported, kind, KINDS.file, fileStoreContract),
    suiteOf(exported, kind, KINDS.context, contextProviderContract),
    suiteOf(exported, kind, KINDS["chat-client"], chatClientContract),
  ].filter((suite) => suite !== undefined);
  if (suites.length === 0) {
    const found = [...exported.keys()];
    throw new OpenFileError(
      [
        `${file} exports nothing that can be tested${found.length === 0 ? "" : `; it exports ${found.join(", ")}`}.`,
        kind === undefined
          ? `It must export an async function ${openerNames(" or ")}, or a plain \`open\` together with --kind.`
          : `For --kind ${kind} it must export an async function ${KINDS[kind].opener}, open, or a default.`,
      ].join("\n"),
    );
  }
  return suites;
}

function suiteOf<O extends OpenedSubject>(
  exported: ReadonlyMap<string, unknown>,
  wanted: SubjectKind | undefined,
  definition: Kind,
  contract: readonly ContractClause<O>[],
): LoadedSuite | undefined {
  const { kind, port, opener } = definition;
  if (wanted !== undefined && wanted !== kind) {
    return undefined;
  }
  const names = wanted === undefined ? [opener] : [opener, "open", "default"];
  const open = names.map((name) => exported.get(name)).find((value) => typeof value === "function");
  if (typeof open !== "function") {
    return undefined;
  }
  const name = exported.get("name");
  const suite = {
    name: typeof name === "string" ? name : definition.noun,
    cannot: reasons(exported.get("cannot")),
    open: async (options?: OpenOptions): Promise<O> => {
      const opened: unknown = await open(options);
      assertOpened<O>(opened, definition);
      return opened;
    },
  };
  return {
    name: suite.name,
    port,
    ids: contract.map(({ id }) => id),
    tryOpen: () => tryOpen(suite),
    run: (only, onResult) => runContract(port, contract, suite, { only, onResult }),
  };
}

async function tryOpen<O extends OpenedSubject>(suite: ContractSuite<O>): Promise<void> {
  const opened = await suite.open();
  try {
    assertRunnable(opened);
  } finally {
    await closeOpened(opened);
  }
}

function assertOpened<O extends OpenedSubject>(opened: unknown, { port, member, lacks }: Kind): asserts opened is O {
  const subject: unknown = typeof opened === "object" && opened !== null ? Reflect.get(opened, member) : undefined;
  if (typeof subject !== "object" || subject === null) {
    throw new OpenFileError(`it must resolve with an object that has the ${port} as \`${member}\`.`);
  }
  const missing = lacks(subject);
  if (missing.length > 0) {
    throw new OpenFileError(`its \`${member}\` is no ${port}: it lacks ${missing.join(", ")}.`);
  }
}

function reasons(value: unknown): HookReasons | undefined {
  try {
    assertReasons(value);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new OpenFileError(`The export ${why}.`, { cause: error });
  }
  return value;
}

async function load(path: string): Promise<ReadonlyMap<string, unknown>> {
  try {
    await access(path);
  } catch (error) {
    throw new OpenFileError(`${path} cannot be read.`, { cause: error });
  }
  try {
    return new Map<string, unknown>(Object.entries(await importFile(path)));
  } catch (error) {
    const why = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    throw new OpenFileError(`${path} cannot be loaded: ${why}`, { cause: error });
  }
}

/** TypeScript goes through a loader, also where Node strips types: enums and imports of `.js` names work then, too. */
async function importFile(path: string): Promise<object> {
  const url = pathToFileURL(path).href;
  if (!/\.[cm]?tsx?$/.test(path)) {
    return import(/* @vite-ignore */ url);
  }
  const { createJiti } = await import("jiti");
  // Kept compiled files could be old ones, and are nobody's to clean up.
  return createJiti(url, { fsCache: false, moduleCache: true }).import<object>(url);
}

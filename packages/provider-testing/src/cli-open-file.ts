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
import type { ContractReport } from "./report.ts";
import { assertRunnable, closeOpened, isClosed, type RunOptions, runContract } from "./run.ts";
import { stateStoreContract } from "./state/contract.ts";

/** The file cannot be used; the message says why and what to do. */
export class OpenFileError extends Error {}

/** A contract that is ready to be run against what the file opens. */
export interface LoadedSuite {
  readonly name: string;
  readonly port: ContractPort;
  readonly ids: readonly string[];
  /** Opens once, and gives what closes it. */
  tryOpen(): Promise<() => Promise<void>>;
  run(options: RunOptions): Promise<ContractReport>;
}

const openSubjects = new Set<OpenedSubject>();

/** Closes what the file opened and the kit has not closed yet, as long as a close may take. Never rejects. */
export async function closeOpenSubjects(): Promise<void> {
  const open = [...openSubjects].filter((subject) => !isClosed(subject));
  await Promise.allSettled(open.map(closeOpened));
}

function keepTrack(opened: OpenedSubject): void {
  for (const subject of openSubjects) {
    if (isClosed(subject)) {
      openSubjects.delete(subject);
    }
  }
  openSubjects.add(opened);
}

/** Loads the file and gives the contracts it opens something for. */
export async function loadSuites(
  file: string,
  kind: SubjectKind | undefined,
  clauseTimeoutMs: number | undefined,
): Promise<LoadedSuite[]> {
  const asked = { exported: await load(resolve(file)), wanted: kind, clauseTimeoutMs };
  const suites = [
    suiteOf(asked, KINDS.history, historyStoreContract),
    suiteOf(asked, KINDS.state, stateStoreContract),
    suiteOf(asked, KINDS.file, fileStoreContract),
    suiteOf(asked, KINDS.context, contextProviderContract),
    suiteOf(asked, KINDS["chat-client"], chatClientContract),
  ].filter((suite) => suite !== undefined);
  if (suites.length === 0) {
    const found = [...asked.exported.keys()];
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

interface Asked {
  readonly exported: ReadonlyMap<string, unknown>;
  readonly wanted: SubjectKind | undefined;
  readonly clauseTimeoutMs: number | undefined;
}

function suiteOf<O extends OpenedSubject>(
  { exported, wanted, clauseTimeoutMs }: Asked,
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
    clauseTimeoutMs,
    open: async (options?: OpenOptions): Promise<O> => {
      const opened: unknown = await open(options);
      assertOpened<O>(opened, definition);
      keepTrack(opened);
      return opened;
    },
  };
  return {
    name: suite.name,
    port,
    ids: contract.map(({ id }) => id),
    tryOpen: () => tryOpen(suite),
    run: (options) => runContract(port, contract, suite, options),
  };
}

async function tryOpen<O extends OpenedSubject>(suite: ContractSuite<O>): Promise<() => Promise<void>> {
  const opened = await suite.open();
  try {
    assertRunnable(opened);
  } catch (error) {
    await closeOpened(opened);
    throw error;
  }
  return () => closeOpened(opened);
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

import { access } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { isPlainObject } from "@agentfw/core";
import type { ContractClause, ContractPort } from "./clause.ts";
import { fileStoreContract } from "./file/contract.ts";
import { historyStoreContract } from "./history/contract.ts";
import type { Opened, OpenOptions } from "./opened.ts";
import type { ClauseResult, ContractReport } from "./report.ts";
import { closeOpened, runContract } from "./run.ts";
import { stateStoreContract } from "./state/contract.ts";

/** What the command can test. */
export type StoreKind = "history" | "state" | "file";

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

interface Kind<O extends Opened> {
  readonly port: ContractPort;
  readonly opener: string;
  readonly contract: readonly ContractClause<O>[];
  /** What a store must have at least, so that a file that opens something else is told from a store that fails. */
  readonly methods: readonly string[];
}

/** Loads the file and gives the contracts it has a store for. */
export async function loadSuites(file: string, kind: StoreKind | undefined): Promise<LoadedSuite[]> {
  const exported = await load(resolve(file));
  const suites = [
    suiteOf(exported, kind, "history", {
      port: "HistoryStore",
      opener: "openHistoryStore",
      contract: historyStoreContract,
      methods: ["append", "read", "clear"],
    }),
    suiteOf(exported, kind, "state", {
      port: "StateStore",
      opener: "openStateStore",
      contract: stateStoreContract,
      methods: ["create", "set", "get", "delete", "listKeys"],
    }),
    suiteOf(exported, kind, "file", {
      port: "FileStore",
      opener: "openFileStore",
      contract: fileStoreContract,
      methods: ["read", "write", "delete", "exists", "list", "search"],
    }),
  ].filter((suite) => suite !== undefined);
  if (suites.length === 0) {
    const wanted =
      kind === undefined
        ? "openHistoryStore, openStateStore or openFileStore"
        : "a fitting open function, `open` or a default";
    throw new OpenFileError(`${file} must export ${wanted}.`);
  }
  return suites;
}

function suiteOf<O extends Opened>(
  exported: ReadonlyMap<string, unknown>,
  wanted: StoreKind | undefined,
  kind: StoreKind,
  definition: Kind<O>,
): LoadedSuite | undefined {
  const { port, opener, contract } = definition;
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
    name: typeof name === "string" ? name : "store",
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
    tryOpen: async () => closeOpened(await suite.open()),
    run: (only, onResult) => runContract(port, contract, suite, { only, onResult }),
  };
}

function assertOpened<O extends Opened>(opened: unknown, { port, methods }: Kind<O>): asserts opened is O {
  const store: unknown = typeof opened === "object" && opened !== null && "store" in opened ? opened.store : undefined;
  const missing = methods.filter((name) => typeof Reflect.get(Object(store), name) !== "function");
  if (missing.length > 0) {
    throw new OpenFileError(`open() must resolve with { store }; as a ${port} it lacks ${missing.join(", ")}.`);
  }
}

function reasons(value: unknown): Record<string, string> {
  const entries = isPlainObject(value) ? Object.entries(value) : [];
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}

async function load(path: string): Promise<ReadonlyMap<string, unknown>> {
  try {
    await access(path);
  } catch (error) {
    throw new OpenFileError(`${path} cannot be read.`, { cause: error });
  }
  try {
    const exported: object = await import(/* @vite-ignore */ pathToFileURL(path).href);
    return new Map<string, unknown>(Object.entries(exported));
  } catch (error) {
    throw new OpenFileError(loadProblem(path, error), { cause: error });
  }
}

function loadProblem(path: string, error: unknown): string {
  const isUnknownExtension =
    typeof error === "object" && error !== null && "code" in error && error.code === "ERR_UNKNOWN_FILE_EXTENSION";
  if (isUnknownExtension && /\.[cm]?tsx?$/.test(path)) {
    return [
      `This Node (${process.version}) does not load TypeScript. One of these does:`,
      "- Node 22.18 or newer, which strips types by itself,",
      "- a loader: NODE_OPTIONS='--import tsx' npx agentfw-provider-test open.ts,",
      "- the same file as JavaScript.",
    ].join("\n");
  }
  return `${path} cannot be loaded: ${error instanceof Error ? error.message : String(error)}`;
}

import type { ContractPort } from "./clause.ts";

/** What the command can test. */
export type SubjectKind = "history" | "state" | "file" | "context" | "chat-client";

/** How the command tells what a file opens. */
export interface Kind {
  readonly kind: SubjectKind;
  readonly port: ContractPort;
  /** The export that opens it. */
  readonly opener: string;
  /** What it is called in reports when the file gives no name. */
  readonly noun: string;
  /** Where in what was opened it is. */
  readonly member: "store" | "provider" | "client";
  /** What an object must have at least and has not, so that something else is told from one that fails. */
  lacks(subject: object): readonly string[];
}

/** Every kind, by the word that `--kind` takes. */
export const KINDS: Readonly<Record<SubjectKind, Kind>> = {
  history: store("history", "HistoryStore", ["append", "read", "clear"]),
  state: store("state", "StateStore", ["create", "set", "get", "delete", "listKeys"]),
  file: store("file", "FileStore", ["read", "write", "delete", "exists", "list", "search"]),
  context: {
    kind: "context",
    port: "ContextProvider",
    opener: "openContextProvider",
    noun: "provider",
    member: "provider",
    lacks: (subject) => [
      ...(typeof Reflect.get(subject, "sourceId") === "string" ? [] : ["sourceId"]),
      ...(missing(subject, ["beforeRun", "afterRun"]).length < 2 ? [] : ["beforeRun or afterRun"]),
    ],
  },
  "chat-client": {
    kind: "chat-client",
    port: "ChatClient",
    opener: "openChatClient",
    noun: "client",
    member: "client",
    lacks: (subject) => (missing(subject, ["stream", "complete"]).length < 2 ? [] : ["stream or complete"]),
  },
};

/** Every {@link SubjectKind}. */
export const KIND_NAMES: readonly SubjectKind[] = ["history", "state", "file", "context", "chat-client"];

/** The exports that the command looks for. */
export function openerNames(conjunction: string): string {
  const names = KIND_NAMES.map((name) => KINDS[name].opener);
  return names.slice(0, -1).join(", ") + conjunction + names.at(-1);
}

function store(kind: SubjectKind, port: ContractPort, methods: readonly string[]): Kind {
  return {
    kind,
    port,
    opener: `open${port}`,
    noun: "store",
    member: "store",
    lacks: (subject) => missing(subject, methods),
  };
}

function missing(subject: object, methods: readonly string[]): string[] {
  return methods.filter((name) => typeof Reflect.get(subject, name) !== "function");
}

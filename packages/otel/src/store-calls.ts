import { utf8Length } from "@agentfw/core";

/** What a call of a store moved. */
export interface Moved {
  /** Records, items, keys, paths or lines. */
  readonly items?: number | undefined;
  /** UTF-8 bytes of their text. */
  readonly bytes?: number | undefined;
  readonly appended?: number | undefined;
  readonly corrupt?: number | undefined;
  readonly found?: boolean | undefined;
}

/** Whose and which thing a call is about. */
export interface Named {
  readonly owner?: string | undefined;
  readonly session?: string | undefined;
  readonly key?: string | undefined;
}

/** What is to be seen in the arguments and the result of one method of a port. */
export interface StoreCall {
  readonly names: (args: readonly unknown[]) => Named;
  readonly sent?: ((args: readonly unknown[]) => Moved) | undefined;
  readonly received?: ((result: unknown) => Moved) | undefined;
}

/** The methods of a port, by name. */
export type StoreCalls = Readonly<Record<string, StoreCall>>;

/** The methods of HistoryStore. */
export const HISTORY_CALLS: StoreCalls = {
  append: {
    names: namesOfConversation,
    sent: (args) => texts(args[1], "data"),
    received: (result) => ({ appended: count(member(result, "appended")) }),
  },
  read: {
    names: namesOfConversation,
    received: (result) => ({
      ...texts(member(result, "records"), "data"),
      corrupt: length(member(result, "corrupt")),
    }),
  },
  clear: { names: namesOfConversation },
  replace: { names: namesOfConversation, sent: (args) => texts(args[2], "data") },
  list: {
    names: (args) => ({ owner: text(member(args[0], "owner")) }),
    received: (result) => ({ items: length(member(result, "items")) }),
  },
};

/** The methods of StateStore. */
export const STATE_CALLS: StoreCalls = {
  create: { names: namesOfItem(2), sent: (args) => one(args[1]) },
  set: { names: namesOfItem(2), sent: (args) => one(args[1]) },
  get: { names: namesOfItem(1), received: (result) => lookup(member(result, "text"), result) },
  delete: { names: namesOfItem(1), received: (result) => ({ found: result === true }) },
  listKeys: {
    names: (args) => ({ owner: text(member(args[0], "owner")) }),
    received: (result) => ({ items: length(member(result, "keys")) }),
  },
};

/** The methods of FileStore. */
export const FILE_CALLS: StoreCalls = {
  read: { names: namesOfItem(1), received: (result) => lookup(member(result, "text"), result) },
  write: { names: namesOfItem(2), sent: (args) => one(args[1]) },
  delete: { names: namesOfItem(1), received: (result) => ({ found: result === true }) },
  exists: { names: namesOfItem(1), received: (result) => ({ found: result === true }) },
  list: { names: namesOfItem(1), received: (result) => ({ items: length(result) }) },
  // The pattern is content, and so are the lines.
  search: {
    names: (args) => ({ owner: text(member(args[1], "owner")), key: text(member(args[1], "directory")) }),
    received: (result) => texts(result, "text"),
  },
};

function namesOfConversation(args: readonly unknown[]): Named {
  const [key] = args;
  return {
    owner: text(member(key, "owner")),
    session: text(member(key, "session")),
    key: text(member(key, "source")),
  };
}

function namesOfItem(options: number): (args: readonly unknown[]) => Named {
  return (args) => ({ owner: text(member(args[options], "owner")), key: text(args[0]) });
}

/** A member of what may be anything: the caller's arguments, or what a store of somebody else's gave. */
function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function count(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function length(value: unknown): number | undefined {
  return Array.isArray(value) ? value.length : undefined;
}

function one(value: unknown): Moved {
  return typeof value === "string" ? { items: 1, bytes: utf8Length(value) } : {};
}

function lookup(value: unknown, result: unknown): Moved {
  return { ...one(value), found: result !== undefined };
}

function texts(list: unknown, name: string): Moved {
  if (!Array.isArray(list)) {
    return {};
  }
  let bytes = 0;
  for (const entry of list) {
    const value = member(entry, name);
    bytes += typeof value === "string" ? utf8Length(value) : 0;
  }
  return { items: list.length, bytes };
}

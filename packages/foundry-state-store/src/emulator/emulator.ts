import type { Server } from "node:http";
import { assertName, assertObject, configurationError } from "@agentfw/core";
import { assertOptions, assertWithin } from "@agentfw/core/backend";
import type { StoreData } from "../data/store-data.ts";
import { stateError } from "../errors.ts";
import { fileError } from "../local/exclusive-file.ts";
import { FolderJournal, memoryJournal } from "./journal.ts";
import { type EmulatorLog, emulatorServer } from "./server.ts";
import { type EmulatorSettings, World } from "./world.ts";

/** Options of {@link startEmulator}. What the service does where these choose is not known. */
export interface EmulatorOptions {
  /** Where to listen; 0 takes a free port. @default 0 */
  readonly port?: number | undefined;
  /** The address to listen on. The emulator accepts any token: leave it on this machine. @default "127.0.0.1" */
  readonly host?: string | undefined;
  /** The folder that keeps everything, for one emulator at a time. @default in memory */
  readonly dataDirectory?: string | undefined;
  /** Which user is behind each call id, for stores with user isolation. @default nobody is known */
  readonly users?: Readonly<Record<string, string>> | undefined;
  /**
   * What an item operation on an isolated store gets whose call id names no user: a status, or `"token"` to go by the
   * bearer token. @default 400
   */
  readonly withoutUser?: 400 | 401 | 403 | "token" | undefined;
  /** What a page after a cursor that was never given is: empty, or refused with 400. @default "empty" */
  readonly unknownCursor?: "empty" | "refuse" | undefined;
  /** Whether the agent-scoped surface asks for its preview header. @default true */
  readonly requirePreviewHeader?: boolean | undefined;
  /** Milliseconds since the epoch, for times and expiry. @default Date.now */
  readonly now?: (() => number) | undefined;
  /** Takes what is logged. @default nothing is */
  readonly log?: EmulatorLog | undefined;
}

const KNOWN = [
  "port",
  "host",
  "dataDirectory",
  "users",
  "withoutUser",
  "unknownCursor",
  "requirePreviewHeader",
  "now",
  "log",
];

/** A running emulator. */
export interface StateStoreEmulator {
  /** A project endpoint, for the `endpoint` option and `FOUNDRY_PROJECT_ENDPOINT`. */
  readonly endpoint: string;
  readonly port: number;
  /** Moves the clock ahead, so that items expire. */
  advanceTime(milliseconds: number): void;
  /** Says which user is behind a call id, from now on. */
  setUser(callId: string, user: string): void;
  /** Ends it: open connections are closed, and a data folder is free again. */
  close(): Promise<void>;
}

/**
 * Starts an emulator of the Foundry state store. It speaks both URL surfaces, keeps the limits, etags, expiry, tags and
 * pages of the protocol, and keeps users apart by call id.
 *
 * @throws `configuration` naming the option; `conflict` when another emulator has the folder; `corrupt` for data that
 * cannot be read; `unavailable` when the port cannot be had.
 */
export async function startEmulator(options: EmulatorOptions = {}): Promise<StateStoreEmulator> {
  const { port, host, users: given, dataDirectory, now, log } = checked(options);
  const users = usersOf(given);
  const settings = settingsOf(options, users);
  const { journal, projects } =
    dataDirectory === undefined
      ? { journal: memoryJournal, projects: new Map<string, Map<string, StoreData>>() }
      : await FolderJournal.open(checkedDirectory(dataDirectory), now()).catch((error: unknown) => {
          throw fileError(error, "dataDirectory");
        });
  const world = new World(settings, journal, { projects, now });
  const server = emulatorServer(world, log);
  try {
    await listen(server, port, host);
  } catch (error) {
    await journal.close();
    throw error;
  }
  const address = server.address();
  const taken = typeof address === "object" && address !== null ? address.port : port;
  let closed: Promise<void> | undefined;
  return {
    endpoint: `http://${host.includes(":") ? `[${host}]` : host}:${taken}/api/projects/local`,
    port: taken,
    advanceTime: (milliseconds) => world.advance(checkedTime(milliseconds)),
    setUser: (callId, user) => void users.set(checkedName(callId, "callId"), checkedName(user, "user")),
    close: () => {
      closed ??= closeServer(server).then(() => journal.close());
      return closed;
    },
  };
}

/** The options with their defaults. @throws `configuration` */
function checked(options: EmulatorOptions) {
  assertOptions(options, "options", KNOWN, { requirePreviewHeader: "boolean", now: "function", log: "function" });
  const { port = 0, host = "127.0.0.1", dataDirectory, users = {}, now = Date.now, log = () => {} } = options;
  checkedName(host, "host");
  assertWithin(port, "port", 0, 65_535);
  return { port, host, users, dataDirectory, now, log };
}

function settingsOf(options: EmulatorOptions, users: ReadonlyMap<string, string>): EmulatorSettings {
  const { withoutUser = 400, unknownCursor = "empty", requirePreviewHeader = true } = options;
  if (![400, 401, 403, "token"].includes(withoutUser)) {
    throw configurationError("withoutUser", 'must be 400, 401, 403 or "token"');
  }
  if (!["empty", "refuse"].includes(unknownCursor)) {
    throw configurationError("unknownCursor", 'must be "empty" or "refuse"');
  }
  return { users, withoutUser, unknownCursor, requirePreviewHeader };
}

function usersOf(users: Readonly<Record<string, string>>): Map<string, string> {
  assertObject(users, "users");
  return new Map(
    Object.entries(users).map(([callId, user]) => [checkedName(callId, "users"), checkedName(user, "users")]),
  );
}

function checkedName(value: unknown, field: string): string {
  assertName(value, field);
  return value;
}

function checkedDirectory(value: unknown): string {
  const directory = checkedName(value, "dataDirectory");
  if (directory.includes("\0")) {
    throw configurationError("dataDirectory", "must not hold NUL");
  }
  return directory;
}

function checkedTime(milliseconds: unknown): number {
  if (typeof milliseconds !== "number" || !Number.isFinite(milliseconds) || milliseconds < 0) {
    throw configurationError("milliseconds", "must be a number of at least 0");
  }
  return milliseconds;
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause) => reject(stateError("unavailable", "port: cannot be listened on", { cause })));
    server.listen(port, host, resolve);
  });
}

async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}

import { resolve } from "node:path";
import { type AgentSession, HistoryProvider } from "@agentfw/core";
import { FoundryHistoryStore, FoundryStateStore, type FoundryStateStoreOptions } from "@agentfw/foundry-state-store";
import { type StateStoreEmulator, startEmulator } from "@agentfw/foundry-state-store/emulator";
import { ExplainedError } from "../errors.ts";
import { complain, shellQuoted } from "../terminal.ts";
import type { Backend, BackendOptions, OpenBackend } from "./backend.ts";

/** The state store, so that what this program stored can be told from everything else in a project. */
const STORE = "agentfw-quickstart";

/** A conversation is read by many requests, and this machine may be busy. */
const TIMEOUT_MS = 30_000;

/** Items in a Foundry state store: that of an endpoint, or of an emulator that keeps them in a folder. */
export const foundryBackend: Backend = {
  summary: "items in a Foundry state store",
  isInSession: false,
  open: async (options) => {
    const given = options.url ?? (process.env["FOUNDRY_PROJECT_ENDPOINT"] || undefined);
    if (given !== undefined) {
      return openAt(given, options, { place: given, howToDelete: `${curl("-X DELETE")} ${storeUrl(given)}` });
    }
    const folder = resolve(options.data, "foundry");
    const emulator = await start(folder);
    const there = { place: folder, howToDelete: `rm -r ${shellQuoted(folder)}`, emulator };
    return openAt(emulator.endpoint, options, there);
  },
};

/** Where the items are, and how to get rid of them. */
interface There {
  readonly place: string;
  readonly howToDelete: string;
  readonly emulator?: StateStoreEmulator;
}

function openAt(endpoint: string, { onDiagnostic }: BackendOptions, there: There): OpenBackend {
  const { place, howToDelete, emulator } = there;
  let opened: Promise<FoundryHistoryStore> | undefined;
  const use = () => {
    opened ??= openStore(endpoint).catch((error) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
  const provider = async () => new HistoryProvider(await use(), { onDiagnostic });
  return {
    url: endpoint,
    processes: "many",
    howToKeep: undefined,
    place: `${place}, in the state store ${STORE}`,
    provider: async (policy) => new HistoryProvider(await use(), { ...policy, onDiagnostic }),
    where: async () => `${place}, in the state store ${STORE}`,
    howToLook: async () => {
      const items = `${storeUrl(endpoint, "/items:keys", "&limit=100")}`;
      return emulator === undefined ? [`${curl()} ${items}`] : [`cat ${shellQuoted(place)}/*.jsonl`];
    },
    howToDelete: () => howToDelete,
    clear: async (session: AgentSession) => (await provider()).conversation(session).clear(),
    close: async () => {
      await emulator?.close();
    },
  };
}

async function openStore(endpoint: string): Promise<FoundryHistoryStore> {
  const options: FoundryStateStoreOptions = { endpoint, itemTtlSeconds: -1, onMismatch: "fail", timeoutMs: TIMEOUT_MS };
  const token = process.env["FOUNDRY_ACCESS_TOKEN"];
  if (token === undefined && endpoint.startsWith("https:")) {
    throw new ExplainedError("FOUNDRY_ACCESS_TOKEN must hold a token for https://ai.azure.com");
  }
  const credential =
    token === undefined
      ? undefined
      : { getToken: async () => ({ token, expiresOnTimestamp: Number.MAX_SAFE_INTEGER }) };
  const store = await FoundryStateStore.getOrCreate(STORE, { ...options, credential });
  return new FoundryHistoryStore(store, { timeoutMs: TIMEOUT_MS });
}

async function start(folder: string): Promise<StateStoreEmulator> {
  const emulator = await startEmulator({ dataDirectory: folder });
  complain(`Started an emulator of the Foundry state store on ${emulator.endpoint}. It ends with this command.`);
  return emulator;
}

function curl(...options: readonly string[]): string {
  return ["curl", ...options, `-H "Authorization: Bearer \${FOUNDRY_ACCESS_TOKEN:-local}"`].join(" ");
}

function storeUrl(endpoint: string, rest = "", query = ""): string {
  const segment = Buffer.from(STORE).toString("base64url");
  // As the client has it: the endpoint may end in /storage.
  const project = endpoint.replace(/\/+$/, "").replace(/\/storage$/i, "");
  return shellQuoted(`${project}/storage/state_stores/${segment}${rest}?api-version=v1${query}`);
}

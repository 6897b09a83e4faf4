import { type AgentSession, HistoryProvider } from "@agentfw/core";
import { BlobHistoryStore } from "@agentfw/history-blob";
import { type AzuriteServer, startAzurite } from "@agentfw/test-servers";
import { ExplainedError } from "../errors.ts";
import { complain, shellQuoted, withoutPassword } from "../terminal.ts";
import type { Backend, BackendOptions, OpenBackend } from "./backend.ts";

/** The container, and what every blob's name begins with: so what this program stored can be told from everything else. */
const NAME = "agentfw-quickstart";

/** The source of the history provider, which is one part of a blob's name. */
const SOURCE = "history";

/** Longer than any chat with a server that ends with the command. */
const RIGHTS_MS = 7 * 24 * 60 * 60 * 1000;

/** Append blobs: in the container that `--url` names, in the account of the environment, or in Azurite. */
export const blobBackend: Backend = {
  summary: "append blobs in Azure Blob Storage",
  isInSession: false,
  open: async (options) => {
    const connectionString = process.env["AZURE_STORAGE_CONNECTION_STRING"];
    if (options.url !== undefined) {
      return inContainer(options.url, options, undefined);
    }
    return connectionString === undefined ? onAzurite(options) : inAccount(connectionString, options);
  },
};

async function onAzurite(options: BackendOptions): Promise<OpenBackend> {
  const server = await startServer();
  // Not bundled, so that the other backends do not load it.
  const { ContainerClient, ContainerSASPermissions } = await import("@azure/storage-blob");
  const container = new ContainerClient(server.connectionString, NAME);
  await container.create();
  const permissions = ContainerSASPermissions.parse("racwdl");
  const url = await container.generateSasUrl({ permissions, expiresOn: new Date(Date.now() + RIGHTS_MS) });
  return inContainer(url, options, server);
}

function inContainer(url: string, options: BackendOptions, server: AzuriteServer | undefined): OpenBackend {
  const shown = withoutPassword(url);
  const { origin, pathname } = new URL(shown);
  // What was started here has no secrets, and the commands are to work as they are printed.
  const address = new URL(server === undefined ? shown : url);
  const listing = new URL(`${address.href}&restype=container&comp=list&prefix=${NAME}/`);
  const blob = (session: AgentSession) => {
    const one = new URL(address);
    one.pathname += `/${folderOf(session)}s999999999-0.jsonl`;
    return one.href;
  };
  return {
    ...opened(new BlobHistoryStore({ url }, { prefix: NAME }), options, server),
    url,
    place: `${origin}${pathname}, in blobs that begin with ${NAME}/`,
    howToKeep: server && "--url with the URL and SAS of a container, or AZURE_STORAGE_CONNECTION_STRING, would keep it",
    where: async (session) => `${origin}${pathname}/${folderOf(session)}`,
    howToLook: async (session) => [`curl ${shellQuoted(listing.href)}`, `curl ${shellQuoted(blob(session))}`],
    howToDelete: () => `azcopy remove ${shellQuoted(`${shown.replace("?", `/${NAME}/?`)}`)} --recursive`,
  };
}

function inAccount(connectionString: string, options: BackendOptions): OpenBackend {
  const where = { connectionString, containerName: NAME };
  const store = new BlobHistoryStore(where, { prefix: NAME, createContainer: true });
  const az = (command: string, rest: string) => `az storage blob ${command} --container-name ${NAME} ${rest}`;
  return {
    ...opened(store, options, undefined),
    // The other processes have the same environment.
    url: undefined,
    place: `the container ${NAME} of the account in AZURE_STORAGE_CONNECTION_STRING`,
    howToKeep: undefined,
    where: async (session) => `the container ${NAME}, in ${folderOf(session)}`,
    howToLook: async (session) => [
      az("list", `--prefix ${NAME}/ --output table`),
      az("download", `--name ${shellQuoted(`${folderOf(session)}s999999999-0.jsonl`)}`),
    ],
    howToDelete: () => az("delete-batch", `--pattern '${NAME}/*'`).replace("--container-name", "--source"),
  };
}

/** What is the same wherever the container is. */
function opened(
  store: BlobHistoryStore,
  { onDiagnostic }: BackendOptions,
  server: AzuriteServer | undefined,
): Pick<OpenBackend, "processes" | "provider" | "clear" | "close"> {
  return {
    processes: "many",
    provider: async (policy) => new HistoryProvider(store, { ...policy, onDiagnostic }),
    clear: (session) => new HistoryProvider(store).conversation(session).clear(),
    close: async () => {
      await store.close();
      // Not waited for: it goes by itself, also when this process ends before.
      void server?.stop();
    },
  };
}

async function startServer(): Promise<AzuriteServer> {
  try {
    const server = await startAzurite();
    complain(`Started Azurite on port ${server.port}. It is in memory, and ends with this command.`);
    return server;
  } catch (cause) {
    throw new ExplainedError("Azurite could not be started; --url says where there is a container", { cause });
  }
}

/** The folder of a conversation's blobs; long names, which are stored as a hash, are shown as they are. */
function folderOf({ owner, sessionId }: AgentSession): string {
  const parts = [owner === null ? "~unowned" : partOf(owner), SOURCE, partOf(sessionId)];
  return `${NAME}/${parts.join("/")}/`;
}

/** A name as a part of a blob's. */
function partOf(name: string): string {
  return name === ""
    ? "="
    : name.replace(/[^A-Za-z0-9._@+-]|^\.|\.$/g, (unit) => `=${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

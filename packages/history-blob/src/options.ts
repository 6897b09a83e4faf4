import { assertTimeout, configurationError } from "@agentfw/core";
import { assertOptions, assertWithin } from "@agentfw/core/backend";
import type { BlobContainerClient, BlobCredential } from "./client.ts";
import { hasMethods } from "./has-methods.ts";
import { assertExactlyOne } from "./option-choice.ts";

/** Where the container is: a client that stays the caller's, or an address that the store opens itself. */
export type BlobConnectionOptions =
  | {
      /** A `ContainerClient` of @azure/storage-blob, with its own retries and credentials. */
      readonly container: BlobContainerClient;
      readonly url?: undefined;
      readonly credential?: undefined;
      readonly connectionString?: undefined;
      readonly containerName?: undefined;
    }
  | {
      /** The container's URL, `https://account.blob.core.windows.net/container`; it may carry a SAS. */
      readonly url: string;
      /** A `TokenCredential` (`https://` only), of @azure/identity for one, or a `StorageSharedKeyCredential`. None with a SAS. */
      readonly credential?: BlobCredential | undefined;
      readonly container?: undefined;
      readonly connectionString?: undefined;
      readonly containerName?: undefined;
    }
  | {
      /** The connection string of a storage account, with its key or a SAS. */
      readonly connectionString: string;
      /** 3 to 63 lower-case letters, digits and single hyphens. */
      readonly containerName: string;
      readonly container?: undefined;
      readonly url?: undefined;
      readonly credential?: undefined;
    };

/** Options of `BlobHistoryStore`. */
export interface BlobHistoryStoreOptions {
  /** Begins every blob's name; 1 to 200 letters, digits, `.`, `_`, `-`, in parts between slashes. @default "history" */
  readonly prefix?: string | undefined;
  /** Make the container at the first call if it is not there. @default false */
  readonly createContainer?: boolean | undefined;
  /** A segment that would become larger than this many bytes is closed; 65,536 to 2^40. @default 268,435,456 */
  readonly segmentBytes?: number | undefined;
  /** A segment that would have more blocks than this is closed; 2 to 49,000. @default 45,000 */
  readonly segmentBlocks?: number | undefined;
  /** Offer `list`. With `false` long names of owners and sessions are stored as hashes alone. @default true */
  readonly list?: boolean | undefined;
  /** Offer `ifVersion`. With `false` a call that has one is refused. @default true */
  readonly conditionalAppend?: boolean | undefined;
  /** Largest record in UTF-8 bytes, 1 to 67,108,864. @default 16,777,216 */
  readonly maxRecordBytes?: number | undefined;
  /** Every call settles within this many milliseconds, retries included. @default 5,000 */
  readonly timeoutMs?: number | undefined;
}

/** The options with defaults in place. */
export type Settings = { [Name in keyof BlobHistoryStoreOptions]-?: NonNullable<BlobHistoryStoreOptions[Name]> };

const CONNECTION: readonly string[] = ["container", "url", "credential", "connectionString", "containerName"];

const DEFAULTS: Settings = {
  prefix: "history",
  createContainer: false,
  segmentBytes: 256 * 1024 * 1024,
  segmentBlocks: 45_000,
  list: true,
  conditionalAppend: true,
  maxRecordBytes: 16 * 1024 * 1024,
  timeoutMs: 5_000,
};

/** The service takes 50,000; the rest is for the parts of a large turn that was begun before. */
const MOST_BLOCKS = 49_000;
const MOST_SEGMENT_BYTES = 2 ** 40;
const MOST_RECORD_BYTES = 64 * 1024 * 1024;
const PREFIX = /^(?=.{1,200}$)[\w-](?:[\w.-]*[\w-])?(?:\/[\w-](?:[\w.-]*[\w-])?)*$/;
const CONTAINER_NAME = /^(?=.{3,63}$)[a-z0-9]+(?:-[a-z0-9]+)*$/;
const CONNECTION_STRING = /(?:^|;)\s*(?:AccountName|BlobEndpoint|UseDevelopmentStorage)\s*=/i;

/**
 * Checks the options and fills in defaults.
 *
 * @throws `configuration` naming the option and the rule.
 */
export function resolveOptions(options: BlobHistoryStoreOptions): Settings {
  const types = { createContainer: "boolean", list: "boolean", conditionalAppend: "boolean" } as const;
  assertOptions(options, "options", Object.keys(DEFAULTS), types);
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const settings: Settings = { ...DEFAULTS, ...Object.fromEntries(given) };
  const { prefix, segmentBytes, segmentBlocks, maxRecordBytes, timeoutMs } = settings;
  demand(
    matches(prefix, PREFIX),
    "prefix",
    "must be 1 to 200 letters, digits, dots, underscores and hyphens between slashes",
  );
  assertWithin(segmentBytes, "segmentBytes", 65_536, MOST_SEGMENT_BYTES);
  assertWithin(segmentBlocks, "segmentBlocks", 2, MOST_BLOCKS);
  assertWithin(maxRecordBytes, "maxRecordBytes", 1, MOST_RECORD_BYTES);
  assertTimeout(timeoutMs, "timeoutMs");
  return settings;
}

/**
 * Checks that exactly one of `container`, `url` and `connectionString` is there. Gives a copy.
 *
 * @throws `configuration`, without the address in its message, because that may hold a key.
 */
export function resolveConnection(connection: BlobConnectionOptions): BlobConnectionOptions {
  demand(!isContainer(connection), "connection", "must be { container }, not the client itself");
  assertOptions(connection, "connection", CONNECTION);
  const { container, url, credential, connectionString, containerName } = connection;
  assertExactlyOne(connection, "connection", "container", "url", "connectionString");
  demand(
    container === undefined || isContainer(container),
    "container",
    "must be a ContainerClient of @azure/storage-blob",
  );
  if (url === undefined) {
    demand(credential === undefined, "credential", "goes with url only");
  } else {
    demand(isContainerUrl(url), "url", "must be the URL of a container that begins with https:// or http://");
    const isToken = hasMethods(credential, "getToken");
    const isCredential = credential === undefined || isToken || hasMethods(credential, "create");
    demand(isCredential, "credential", "must be a TokenCredential or a StorageSharedKeyCredential");
    demand(!isToken || matches(url, /^https:/i), "url", "must begin with https:// where a token is sent");
  }
  if (connectionString === undefined) {
    demand(containerName === undefined, "containerName", "goes with connectionString only");
  } else {
    demand(
      matches(connectionString, CONNECTION_STRING),
      "connectionString",
      "must be the connection string of a storage account",
    );
    demand(
      matches(containerName, CONTAINER_NAME),
      "containerName",
      "must be 3 to 63 lower-case letters, digits and single hyphens",
    );
  }
  return { ...connection };
}

function demand(isMet: boolean, field: string, rule: string): void {
  if (!isMet) {
    throw configurationError(field, rule);
  }
}

function matches(value: unknown, pattern: RegExp): boolean {
  return typeof value === "string" && pattern.test(value);
}

function isContainer(value: unknown): boolean {
  return hasMethods(value, "getAppendBlobClient", "listBlobsFlat", "create");
}

function isContainerUrl(url: string): boolean {
  return matches(url, /^https?:/i) && URL.canParse(url) && /[^/]/.test(new URL(url).pathname);
}

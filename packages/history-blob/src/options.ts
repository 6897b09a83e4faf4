import { assertTimeout, configurationError } from "@agentfw/core";
import { assertOptions, assertWithin } from "@agentfw/core/backend";
import type { BlobContainerClient, BlobCredential } from "./client.ts";

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

const KNOWN_ADDRESS: readonly string[] = ["container", "url", "credential", "connectionString", "containerName"];

const KNOWN: readonly string[] = [
  "prefix",
  "createContainer",
  "segmentBytes",
  "segmentBlocks",
  "list",
  "conditionalAppend",
  "maxRecordBytes",
  "timeoutMs",
];

/** The service takes 50,000; the rest is for the parts of a large turn that was begun before. */
const MOST_BLOCKS = 49_000;
const MOST_SEGMENT_BYTES = 2 ** 40;
const MOST_RECORD_BYTES = 64 * 1024 * 1024;
const PREFIX = /^[A-Za-z0-9_-](?:[A-Za-z0-9._-]*[A-Za-z0-9_-])?(?:\/[A-Za-z0-9_-](?:[A-Za-z0-9._-]*[A-Za-z0-9_-])?)*$/;
const CONTAINER_NAME = /^(?=.{3,63}$)[a-z0-9]+(?:-[a-z0-9]+)*$/;

/**
 * Checks the options and fills in defaults.
 *
 * @throws `configuration` naming the option and the rule.
 */
export function resolveOptions(options: BlobHistoryStoreOptions): Settings {
  const types = { createContainer: "boolean", list: "boolean", conditionalAppend: "boolean" } as const;
  assertOptions(options, "options", KNOWN, types);
  const { prefix = "history", createContainer = false, list = true, conditionalAppend = true } = options;
  const { segmentBytes = 256 * 1024 * 1024, segmentBlocks = 45_000, timeoutMs = 5000 } = options;
  const { maxRecordBytes = 16 * 1024 * 1024 } = options;
  if (typeof prefix !== "string" || prefix.length > 200 || !PREFIX.test(prefix)) {
    throw configurationError(
      "prefix",
      "must be 1 to 200 letters, digits, dots, underscores and hyphens between slashes",
    );
  }
  assertWithin(segmentBytes, "segmentBytes", 65_536, MOST_SEGMENT_BYTES);
  assertWithin(segmentBlocks, "segmentBlocks", 2, MOST_BLOCKS);
  assertWithin(maxRecordBytes, "maxRecordBytes", 1, MOST_RECORD_BYTES);
  assertTimeout(timeoutMs, "timeoutMs");
  return { prefix, createContainer, segmentBytes, segmentBlocks, list, conditionalAppend, maxRecordBytes, timeoutMs };
}

/** Where a store that opens its own client finds the container. */
export type Address =
  | { readonly url: string; readonly credential: BlobCredential | undefined }
  | { readonly connectionString: string; readonly containerName: string };

/** What a store works on, checked. */
export type ResolvedConnection = { readonly container: BlobContainerClient } | { readonly address: Address };

/**
 * Checks that exactly one of `container`, `url` and `connectionString` is there.
 *
 * @throws `configuration`, without the address in its message, because that may hold a key.
 */
export function resolveConnection(connection: BlobConnectionOptions): ResolvedConnection {
  if (isContainer(connection)) {
    throw configurationError("connection", "must be { container }, not the client itself");
  }
  assertOptions(connection, "connection", KNOWN_ADDRESS);
  const { container, url, credential, connectionString, containerName } = connection;
  if ([container, url, connectionString].filter((one) => one !== undefined).length !== 1) {
    throw configurationError("connection", "must have exactly one of container, url and connectionString");
  }
  if (credential !== undefined && url === undefined) {
    throw configurationError("credential", "goes with url only");
  }
  if (containerName !== undefined && connectionString === undefined) {
    throw configurationError("containerName", "goes with connectionString only");
  }
  if (container !== undefined) {
    if (!isContainer(container)) {
      throw configurationError("container", "must be a ContainerClient of @azure/storage-blob");
    }
    return { container };
  }
  if (url !== undefined) {
    assertUrl(url);
    assertCredential(credential, url);
    return { address: { url, credential } };
  }
  assertConnectionString(connectionString);
  assertContainerName(containerName);
  return { address: { connectionString, containerName } };
}

function hasMethods(value: unknown, names: readonly string[]): boolean {
  return (
    typeof value === "object" && value !== null && names.every((name) => typeof Reflect.get(value, name) === "function")
  );
}

function assertUrl(text: unknown): asserts text is string {
  const url = typeof text === "string" && URL.canParse(text) ? new URL(text) : undefined;
  const isHttp = url?.protocol === "https:" || url?.protocol === "http:";
  if (!isHttp || !/[^/]/.test(url.pathname)) {
    throw configurationError("url", "must be the URL of a container that begins with https:// or http://");
  }
}

function isContainer(value: unknown): boolean {
  return hasMethods(value, ["getAppendBlobClient", "listBlobsFlat", "create"]);
}

function assertCredential(credential: unknown, url: string): void {
  const isToken = hasMethods(credential, ["getToken"]);
  if (credential !== undefined && !isToken && !hasMethods(credential, ["create"])) {
    throw configurationError("credential", "must be a TokenCredential or a StorageSharedKeyCredential");
  }
  if (isToken && new URL(url).protocol !== "https:") {
    throw configurationError("url", "must begin with https:// where a token is sent");
  }
}

function assertConnectionString(text: unknown): asserts text is string {
  const isOne =
    typeof text === "string" && /(?:^|;)\s*(?:AccountName|BlobEndpoint|UseDevelopmentStorage)\s*=/i.test(text);
  if (!isOne) {
    throw configurationError("connectionString", "must be the connection string of a storage account");
  }
}

function assertContainerName(name: unknown): asserts name is string {
  if (typeof name !== "string" || !CONTAINER_NAME.test(name)) {
    throw configurationError("containerName", "must be 3 to 63 lower-case letters, digits and single hyphens");
  }
}

import { randomUUID } from "node:crypto";
import { ContainerClient, ContainerSASPermissions } from "@azure/storage-blob";
import { inject, onTestFinished } from "vitest";
import { BlobHistoryStore, type BlobHistoryStoreOptions } from "../../src/index.ts";
import { type ServiceProxy, startServiceProxy } from "./service-proxy.ts";

/** A container's name that no other test has. */
export function freshName(): string {
  return `history-${randomUUID()}`;
}

/** A client of a container of the test's own, which is made now and deleted with the test. */
export async function openContainer(): Promise<ContainerClient> {
  const container = clientOf(freshName());
  await container.create();
  onTestFinished(() => container.delete().then(() => {}));
  return container;
}

/** A client of a container by its name. */
export function clientOf(name: string, connectionString: string = inject("storageConnectionString")): ContainerClient {
  return new ContainerClient(connectionString, name, { retryOptions: { maxTries: 1 } });
}

/** A store on a container. */
export function openStore(container: ContainerClient, options: BlobHistoryStoreOptions = {}): BlobHistoryStore {
  return new BlobHistoryStore({ container }, { timeoutMs: 20_000, ...options });
}

/** The URL of a container with a SAS that has these rights. */
export function sasUrl(container: ContainerClient, rights: string): Promise<string> {
  const expiresOn = new Date(Date.now() + 3_600_000);
  return container.generateSasUrl({ permissions: ContainerSASPermissions.parse(rights), expiresOn });
}

/** The names of all blobs, in their order. */
export async function blobNames(container: ContainerClient, prefix = ""): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of container.listBlobsFlat({ prefix })) {
    names.push(name);
  }
  return names;
}

/** What is in a blob. */
export async function contentOf(container: ContainerClient, name: string): Promise<Buffer> {
  return container.getBlobClient(name).downloadToBuffer();
}

/** Puts a blob in the place of another one, with its metadata. */
export async function rewrite(
  container: ContainerClient,
  name: string,
  change: (content: Buffer) => Buffer,
): Promise<void> {
  const blob = container.getAppendBlobClient(name);
  const { metadata = {} } = await blob.getProperties();
  const content = change(await contentOf(container, name));
  await blob.create({ metadata });
  if (content.length > 0) {
    await blob.appendBlock(content, content.length);
  }
}

/** A store that connects itself through a proxy, and a container of the test's own. */
export interface Proxied {
  readonly container: ContainerClient;
  readonly proxy: ServiceProxy;
  readonly store: BlobHistoryStore;
  /** Another store, which knows nothing of the first. */
  open(options?: BlobHistoryStoreOptions): BlobHistoryStore;
}

/** Opens both. */
export async function openProxied(options: BlobHistoryStoreOptions = {}): Promise<Proxied> {
  const container = await openContainer();
  const proxy = await startServiceProxy();
  const { connectionString } = proxy;
  const open = (more: BlobHistoryStoreOptions = {}) =>
    new BlobHistoryStore(
      { connectionString, containerName: container.containerName },
      { timeoutMs: 20_000, ...options, ...more },
    );
  return { container, proxy, store: open(), open };
}

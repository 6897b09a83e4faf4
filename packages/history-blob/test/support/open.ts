import type { HistoryKey } from "@agentfw/core";
import type { OpenedHistoryStore, OpenOptions } from "@agentfw/provider-testing";
import { faultHooks, startFaultProxy } from "@agentfw/test-servers";
import { inject } from "vitest";
import { BlobHistoryStore, type BlobHistoryStoreOptions } from "../../src/index.ts";
import { decodeTurn } from "../../src/line-format.ts";
import { conversationPlace } from "../../src/places.ts";
import { blobNames, clientOf, contentOf, freshName, rewrite } from "./storage.ts";

/** Opens a store that connects itself, through a proxy, to a container of its own. */
export async function openThroughProxy(
  given: OpenOptions = {},
  defaults: BlobHistoryStoreOptions = {},
): Promise<OpenedHistoryStore> {
  const direct = inject("storageConnectionString");
  const endpoint = new URL(/BlobEndpoint=([^;]+)/.exec(direct)?.[1] ?? "");
  const proxy = await startFaultProxy({ host: endpoint.hostname, port: Number(endpoint.port) });
  const connectionString = direct.replace(endpoint.host, `127.0.0.1:${proxy.port}`);
  const containerName = freshName();
  // The kit stores a record at the limit only where the limit is small.
  const options = { maxRecordBytes: 4_000_000, timeoutMs: 20_000, createContainer: true, ...defaults, ...given };
  const open = () => new BlobHistoryStore({ connectionString, containerName }, options);
  const container = clientOf(containerName, direct);
  const stores: BlobHistoryStore[] = [];
  try {
    stores.push(open());
  } catch (error) {
    // Bad options must not leave a proxy behind.
    await proxy.close();
    throw error;
  }
  return {
    store: stores[0]!,
    async another() {
      stores.push(open());
      return stores.at(-1)!;
    },
    async close() {
      await Promise.all(stores.map((store) => store.close()));
      await proxy.close();
      await container.deleteIfExists();
    },
    ...faultHooks(proxy, { protocol: "http" }),
    corrupt: (key, position) => corruptRecord(key, position),
    sharedClient: async () => ({
      store: new BlobHistoryStore({ container }, options),
      isClientOpen: async () => (await container.getProperties()).etag !== undefined,
    }),
  };

  async function corruptRecord(key: HistoryKey, position: number): Promise<void> {
    const { directory } = conversationPlace(options.prefix ?? "history", key, true);
    let index = position;
    // The newest segment has the first name.
    for (const name of (await blobNames(container, directory)).reverse()) {
      const content = await contentOf(container, name);
      for (let start = 0; start < content.length; start = content.indexOf("\n", start) + 1) {
        const turn = decodeTurn(content.subarray(start, content.indexOf("\n", start)));
        const record = turn?.records[index];
        if (record !== undefined) {
          const from = content.indexOf(record.data, start);
          await rewrite(container, name, (bytes) => bytes.fill("?", from, from + record.data.length));
          return;
        }
        index -= turn?.records.length ?? 0;
      }
    }
  }
}

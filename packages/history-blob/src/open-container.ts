import { AgentFrameworkError } from "@agentfw/core";
import type { BlobContainerClient } from "./client.ts";
import { PROVIDER } from "./errors.ts";
import type { Address } from "./options.ts";

/** The store tries again by itself, within its own deadline and knowing what it may send twice. */
const ONE_TRY = { retryOptions: { maxTries: 1 } };

/** Makes a client of the driver, which is loaded only now: it takes longer to load than everything of ours. */
export async function openContainer(address: Address): Promise<BlobContainerClient> {
  const { ContainerClient } = await import("@azure/storage-blob").catch((cause: unknown) => {
    throw new AgentFrameworkError("configuration", "@azure/storage-blob cannot be loaded", {
      provider: PROVIDER,
      cause,
    });
  });
  return "url" in address
    ? new ContainerClient(address.url, address.credential, ONE_TRY)
    : new ContainerClient(address.connectionString, address.containerName, ONE_TRY);
}

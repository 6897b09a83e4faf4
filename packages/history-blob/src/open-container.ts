import type { BlobContainerClient, BlobCredential, BlobTokenCredential } from "./client.ts";
import { failure } from "./errors.ts";
import type { Address } from "./options.ts";

/** The store tries again by itself, within its own deadline and knowing what it may send twice. */
const ONE_TRY = { retryOptions: { maxTries: 1 } };

/**
 * Makes a client of the driver, which is loaded only now: it takes longer to load than everything of ours.
 *
 * @throws `configuration` for an address that the driver makes nothing of
 */
export async function openContainer(address: Address): Promise<BlobContainerClient> {
  const { ContainerClient } = await import("@azure/storage-blob").catch((cause: unknown) => {
    throw failure("configuration", "@azure/storage-blob cannot be loaded", { cause });
  });
  try {
    return "url" in address
      ? new ContainerClient(address.url, strict(address.credential), ONE_TRY)
      : new ContainerClient(address.connectionString, address.containerName, ONE_TRY);
  } catch (cause) {
    const field = "url" in address ? "url" : "connectionString";
    throw failure("configuration", `${field}: the driver makes nothing of it`, { cause });
  }
}

/** A credential may give no token, which the driver reports as a failure like any other. */
function strict(credential: BlobCredential | undefined): BlobCredential | undefined {
  if (credential === undefined || !isToken(credential)) {
    return credential;
  }
  return {
    async getToken(scopes, options) {
      const token = await credential.getToken(scopes, options);
      if (token === null) {
        throw failure("unauthorized", "credential: it gave no token");
      }
      return token;
    },
  };
}

function isToken(credential: BlobCredential): credential is BlobTokenCredential {
  return "getToken" in credential;
}

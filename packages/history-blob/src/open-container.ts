import type { BlobContainerClient, BlobCredential } from "./client.ts";
import { failure } from "./errors.ts";
import type { BlobConnectionOptions } from "./options.ts";

/** The store tries again by itself, within its own deadline and knowing what it may send twice. */
const ONE_TRY = { retryOptions: { maxTries: 1 } };

/**
 * Makes a client of the driver, which is loaded only now: it takes longer to load than everything of ours.
 *
 * @throws `configuration` for an address that the driver makes nothing of
 */
export async function openContainer(address: BlobConnectionOptions): Promise<BlobContainerClient> {
  const { ContainerClient } = await import("@azure/storage-blob").catch((cause: unknown) => {
    throw failure("configuration", "@azure/storage-blob cannot be loaded", { cause });
  });
  const { url, credential, connectionString = "", containerName = "" } = address;
  try {
    return url === undefined
      ? new ContainerClient(connectionString, containerName, ONE_TRY)
      : new ContainerClient(url, strict(credential), ONE_TRY);
  } catch (cause) {
    const field = url === undefined ? "connectionString" : "url";
    throw failure("configuration", `${field}: the driver makes nothing of it`, { cause });
  }
}

/** A credential may give no token, which the driver reports as a failure like any other. */
function strict(credential: BlobCredential | undefined): BlobCredential | undefined {
  if (credential === undefined || !("getToken" in credential)) {
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

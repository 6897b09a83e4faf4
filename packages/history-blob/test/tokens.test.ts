import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startAzurite } from "@agentfw/test-servers";
import { generate } from "selfsigned";
import { expect, onTestFinished, test } from "vitest";
import { BlobHistoryStore } from "../src/index.ts";
import { outputOf } from "./support/processes.ts";
import { freshName } from "./support/storage.ts";

/** A service that takes tokens, which clients send over HTTPS only, and the certificate to trust. */
async function startTokenService(): Promise<{ url: string; certificatePath: string }> {
  const directory = await mkdtemp(join(tmpdir(), "agentfw-history-blob-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const extensions = [{ name: "subjectAltName" as const, altNames: [{ type: 7 as const, ip: "127.0.0.1" }] }];
  const pems = await generate([{ name: "commonName", value: "127.0.0.1" }], { keySize: 2048, extensions });
  const [certificatePath, keyPath] = [join(directory, "certificate.pem"), join(directory, "key.pem")];
  await writeFile(certificatePath, pems.cert);
  await writeFile(keyPath, pems.private);
  const server = await startAzurite({ tls: { certificatePath, keyPath } });
  onTestFinished(() => server.stop());
  return { url: `https://127.0.0.1:${server.port}/devstoreaccount1/${freshName()}`, certificatePath };
}

test("a token signs every request, and an expired one is unauthorized", { timeout: 120_000 }, async () => {
  const { url, certificatePath } = await startTokenService();
  const output = await outputOf("token-child.ts", { CONTAINER_URL: url, NODE_EXTRA_CA_CERTS: certificatePath });
  expect(JSON.parse(output)).toEqual({
    appended: 1,
    ids: ["a", "b"],
    listed: 1,
    refusal: "unauthorized",
    left: 0,
    // Asked once, and kept by the driver for as long as it is good.
    scopes: [expect.anything()],
  });
});

test("a certificate that nobody trusts is a matter of configuration, and told at once", {
  timeout: 120_000,
}, async () => {
  const { url } = await startTokenService();
  const credential = { getToken: async () => ({ token: "t", expiresOnTimestamp: Date.now() + 3_600_000 }) };
  const store = new BlobHistoryStore({ url, credential }, { timeoutMs: 20_000 });
  const read = store.read({ owner: "a", source: "b", session: "c" });
  await expect(read).rejects.toMatchObject({ code: "configuration", message: expect.stringContaining("trusted") });
});

import fs from "node:fs";
import { isAgentFrameworkError } from "@agentfw/core";
import { BlobHistoryStore } from "../../src/index.ts";

/** Does everything with tokens, and prints what came of it. */
const url = process.env["CONTAINER_URL"] ?? "";
const key = { owner: "owner-1", source: "main", session: "session-1" };
const seconds = Math.floor(Date.now() / 1_000);

function token(expiresInSeconds: number): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const tenant = "00000000-0000-0000-0000-000000000001";
  const claims = {
    aud: "https://storage.azure.com",
    iss: `https://sts.windows.net/${tenant}/`,
    iat: seconds - 7_200,
    nbf: seconds - 7_200,
    exp: seconds + expiresInSeconds,
    oid: tenant,
  };
  return `${part({ alg: "RS256", typ: "JWT" })}.${part(claims)}.${Buffer.from("signature").toString("base64url")}`;
}

const scopes: unknown[] = [];
const credential = {
  async getToken(asked: string | string[]) {
    scopes.push(asked);
    return { token: token(3_600), expiresOnTimestamp: Date.now() + 3_600_000 };
  },
};
const store = new BlobHistoryStore({ url, credential }, { createContainer: true, timeoutMs: 20_000 });
const { appended } = await store.append(key, [{ id: "a", data: "1" }]);
await store.append(key, [{ id: "b", data: "2" }]);
const { records } = await store.read(key);
const { items } = await store.list({ owner: "owner-1" });

const expired = { getToken: async () => ({ token: token(-60), expiresOnTimestamp: Date.now() + 3_600_000 }) };
const late = new BlobHistoryStore({ url, credential: expired }, { timeoutMs: 20_000 });
const refusal = await late.read(key).catch((error: unknown) => (isAgentFrameworkError(error) ? error.code : "another"));

await store.clear(key);
const left = (await store.read(key)).records.length;
const ids = records.map(({ id }) => id);
fs.writeSync(1, JSON.stringify({ appended, ids, listed: items.length, refusal, left, scopes }));
await store.close();

import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** Says who a request comes from; `undefined` when nobody can tell. What it gives becomes the owner of what is stored. */
export type SignIn = (headers: IncomingHttpHeaders) => string | undefined;

/** Names that an owner may have. No comma: Node joins headers that came twice with one, and such a pair is nobody. */
const OWNER = /^[\w.@|:-]{1,200}$/;

/** Bearer tokens that are known beforehand. In production, verify those of your identity provider in this place. */
export function bearerTokens(ownersByToken: ReadonlyMap<string, string>): SignIn {
  // Found by their hashes, so that the time of a look-up says nothing about a token.
  const owners = new Map([...ownersByToken].map(([token, owner]) => [hash(token), owner]));
  return ({ authorization = "" }) => {
    const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
    return token === undefined ? undefined : owners.get(hash(token));
  };
}

/**
 * The header in which a gateway says who it has let in. It must remove that header from what comes in, and nobody may
 * reach this server but through it.
 */
export function trustedHeader(name: string): SignIn {
  const header = name.toLowerCase();
  return (headers) => {
    const owner = headers[header];
    return typeof owner === "string" && isOwner(owner) ? owner : undefined;
  };
}

/** True for a name that an owner may have. */
export function isOwner(name: string): boolean {
  return OWNER.test(name);
}

function hash(token: string): string {
  return createHash("sha256").update(token).digest("base64");
}

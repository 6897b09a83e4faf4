import type { ErrorCode } from "../errors.ts";

/**
 * Why there is no connection. Nothing was sent over it; a client that connects again by itself may have lost what it sent
 * over the one before.
 */
export interface ConnectionFailure {
  /** `unavailable` for what may pass, `configuration` for what does not. */
  readonly code: Extract<ErrorCode, "unavailable" | "configuration">;
  readonly reason: string;
}

const NOT_CONNECTED: ReadonlyMap<string, string> = new Map([
  ["ECONNREFUSED", "connection refused"],
  ["ENOTFOUND", "the host name is not known"],
  ["EAI_AGAIN", "the host name could not be looked up"],
  ["EHOSTUNREACH", "the host cannot be reached"],
  ["ENETUNREACH", "the network cannot be reached"],
  ["EADDRNOTAVAIL", "this machine has no free port or address"],
]);

/** Codes for a certificate that is not accepted. To try again helps against none of them. */
const UNTRUSTED =
  /^(?:CERT_|CRL_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_|ERR_TLS_CERT_)|^(?:HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED)$/;

/** A connection that is up can fail with the codes of one that is not, and says so in its message. */
const CONNECTED = /^(?:read|write) /;

/**
 * What an error of Node says about a connection that could not be made, by its `code`; undefined for everything else, and
 * then a request may have been sent. So errors of TLS itself (`EPROTO`, `ERR_SSL_…`) are not here: a connection that
 * is up can meet them too. The codes are those of Node's `dns`, `net` and `tls`.
 */
export function connectionFailure(error: unknown): ConnectionFailure | undefined {
  const code = systemCode(error) ?? "";
  if (UNTRUSTED.test(code)) {
    return { code: "configuration", reason: "the server's TLS certificate is not trusted" };
  }
  const reason = error instanceof Error && CONNECTED.test(error.message) ? undefined : NOT_CONNECTED.get(code);
  return reason === undefined ? undefined : { code: "unavailable", reason };
}

/** The `code` of an error, where that is a text: Node's system errors and most drivers' have one. */
export function systemCode(error: unknown): string | undefined {
  const code: unknown = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
}

import { connect, createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { connectionFailure, systemCode } from "../../src/backend.ts";

const withCode = (code: unknown) => Object.assign(new Error("the driver's text"), { code });

describe("A connection that cannot be made", () => {
  it.each<[code: string, meaning: string, reason: string]>([
    ["ECONNREFUSED", "unavailable", "connection refused"],
    ["ENOTFOUND", "unavailable", "the host name is not known"],
    ["EAI_AGAIN", "unavailable", "the host name could not be looked up"],
    ["EHOSTUNREACH", "unavailable", "the host cannot be reached"],
    ["ENETUNREACH", "unavailable", "the network cannot be reached"],
    ["EADDRNOTAVAIL", "unavailable", "this machine has no free port or address"],
    ...[
      "CERT_HAS_EXPIRED",
      "CRL_HAS_EXPIRED",
      "SELF_SIGNED_CERT_IN_CHAIN",
      "DEPTH_ZERO_SELF_SIGNED_CERT",
      "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
      "ERR_TLS_CERT_ALTNAME_INVALID",
      "HOSTNAME_MISMATCH",
      "INVALID_CA",
      "INVALID_PURPOSE",
      "PATH_LENGTH_EXCEEDED",
    ].map((code): [string, string, string] => [code, "configuration", "the server's TLS certificate is not trusted"]),
  ])("%s is %s: %s", (code, meaning, reason) => {
    expect(connectionFailure(withCode(code))).toEqual({ code: meaning, reason });
  });

  it.each(["ECONNRESET", "EPIPE", "ETIMEDOUT", "ECONNREFUSED_NOT", "EPROTO", "ERR_SSL_BAD_RECORD", "", 5, undefined])(
    "is not what %o says, after which something may have been sent",
    (code) => {
      expect(connectionFailure(withCode(code))).toBeUndefined();
    },
  );

  it("is not what a connection met that was up", () => {
    for (const message of ["read EHOSTUNREACH", "write EHOSTUNREACH"]) {
      expect(connectionFailure(Object.assign(new Error(message), { code: "EHOSTUNREACH" }))).toBeUndefined();
    }
  });

  it("is told from errors of Node itself", async () => {
    const server = createServer();
    const port = await new Promise<number>((resolve) => {
      server.listen(0, "127.0.0.1", () => {
        const address = server.address();
        resolve(typeof address === "object" && address !== null ? address.port : 0);
      });
    });
    await new Promise((resolve) => server.close(resolve));
    const refused = await new Promise((resolve) => connect({ port, host: "127.0.0.1" }).once("error", resolve));
    expect(connectionFailure(refused)?.reason).toBe("connection refused");
  });
});

describe("The code of an error", () => {
  it("is a text, whatever it is a member of", () => {
    expect(systemCode(withCode("EIO"))).toBe("EIO");
    expect(systemCode({ code: "EIO" })).toBe("EIO");
    for (const other of [withCode(5), withCode(undefined), new Error("EIO"), null, undefined, "EIO"]) {
      expect(systemCode(other)).toBeUndefined();
    }
  });
});

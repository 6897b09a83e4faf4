import { connectionFailure, type ServerFailure, systemCode } from "@agentfw/core/backend";

/** What errors mean, by the `code` that Node gave them, else by the beginning of what the server or the driver says. */
const FAILURES: readonly (readonly [beginning: RegExp, ServerFailure])[] = [
  [
    /^(ECONNRESET|EPIPE|ETIMEDOUT)$|^(Connection is closed|Command aborted|Socket timeout|Reached the max retries)/,
    { code: "unavailable", reason: "the connection ended", outcome: "lost" },
  ],
  [/^Command timed out/, { code: "timeout", reason: "the client's own time limit passed", outcome: "lost" }],
  [
    /^(Stream isn't writeable|Failed to refresh slots cache|None of startup nodes|Cluster isn't ready)/,
    { code: "unavailable", reason: "there is no connection", outcome: "unsent" },
  ],
  [/^(ERR_SSL_|EPROTO$)/, { code: "unavailable", reason: "the server and this side agree on no TLS" }],
  [
    /^WRONGTYPE/,
    {
      code: "corrupt",
      reason: "a key of another type stands where the store keeps its data",
      position: "the type of a key",
      outcome: "refused",
    },
  ],
  [
    /^(NOAUTH|WRONGPASS|ERR (invalid password|AUTH <password>))/,
    { code: "unauthorized", reason: "the server refused the user name or password", outcome: "refused" },
  ],
  [
    /^(NOPERM|ERR (ACL failure|The user executing))/,
    { code: "unauthorized", reason: "the server's user may not do this", outcome: "refused" },
  ],
  [
    /^DENIED/,
    { code: "unauthorized", reason: "the server takes connections from its own machine only", outcome: "refused" },
  ],
  [
    /^CROSSSLOT/,
    { code: "configuration", reason: "the client's own key prefix must not hold braces", outcome: "refused" },
  ],
  [
    /^(MOVED|ASK)/,
    {
      code: "configuration",
      reason: "the server is a node of a cluster; pass a Cluster as client",
      outcome: "refused",
    },
  ],
  [/^ERR DB index/, { code: "configuration", reason: "url: the server has no such database", outcome: "refused" }],
  [/^ERR SELECT/, { code: "configuration", reason: "url: a cluster has no database but 0", outcome: "refused" }],
  [
    /^ERR (unknown|syntax|wrong number)/,
    { code: "unsupported", reason: "the server must be Redis 7.0 or later", outcome: "refused" },
  ],
  [/^ERR max/, { code: "unavailable", reason: "the server has too many connections", outcome: "refused" }],
];

/** What cluster clients and Redis before 7 put before an answer. A slot that was followed in vain is no caller's fault. */
const WRAPPING =
  /^(ERR Error running script.*@user_script:\d+: |Too many Cluster redirections\. Last error: (\w*Error: )?(?!MOVED|ASK))?-?/s;

/**
 * What an error means. What the caller's signal was aborted with must not come here: the driver calls some errors of its own
 * AbortError.
 */
export function failureOf(error: unknown): ServerFailure {
  const text = systemCode(error) ?? (error instanceof Error ? error.message.replace(WRAPPING, "") : "");
  return FAILURES.find(([beginning]) => beginning.test(text))?.[1] ?? connectionFailure(error) ?? otherFailure(text);
}

/** Answers begin with a word. What is not in the table may pass. */
function otherFailure(text: string): ServerFailure {
  const word = /^([A-Z]{2,}) /.exec(text)?.[1];
  if (word === undefined) {
    return { code: "unavailable", reason: "the server or its client refused" };
  }
  const outcome = word === "NOSCRIPT" ? "forgotten" : word === "READONLY" ? "misplaced" : "refused";
  return { code: "unavailable", reason: `the server refuses for now: ${word}`, outcome };
}

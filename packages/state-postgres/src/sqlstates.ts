import type { Meaning } from "./errors.ts";

/** What to do where the tables are missing. */
export const CREATE_ADVICE = "let the store create them, or apply schemaSql()";

const SHAPE: Meaning = {
  code: "configuration",
  reason: "a table or function of that name is not the store's; verifySchema says what differs",
};
const MISSING: Meaning = {
  code: "configuration",
  reason: `the tables or functions are missing; ${CREATE_ADVICE}`,
};
const BUSY: Meaning = { code: "unavailable", reason: "others changed the same data; nothing was written" };
const STOPPING: Meaning = { code: "unavailable", reason: "the server ends or starts" };
const CONNECTION: Meaning = { code: "unavailable", reason: "there is no connection" };

/**
 * What the server's answers mean, by the five characters of SQLSTATE, else by the first two. In all of these nothing
 * was written.
 */
export const SQLSTATES: Readonly<Record<string, Meaning>> = {
  "08": CONNECTION,
  "22": { code: "configuration", reason: "the database does not take the text" },
  "22021": { code: "configuration", reason: "the database must have the encoding UTF8" },
  "22P05": { code: "configuration", reason: "the database must have the encoding UTF8" },
  "23": SHAPE,
  "23505": { code: "corrupt", reason: "a position is taken that was not given yet" },
  "25006": { code: "unavailable", reason: "the server is a standby, or set to read only, and takes no writes" },
  "25P02": { code: "unavailable", reason: "the client is in a transaction that has failed" },
  "25P04": { code: "timeout", reason: "the server's own time limit passed" },
  "28": { code: "unauthorized", reason: "the server refused the user or the password" },
  "3D": { code: "configuration", reason: "connectionString: there is no such database" },
  "3F": MISSING,
  "40": BUSY,
  "40003": { code: "outcome_unknown", reason: "the server does not know whether it was carried out" },
  "42": SHAPE,
  "42501": { code: "unauthorized", reason: "the server's user may not do this; schemaSql() is what must be there" },
  "42704": {
    code: "configuration",
    reason: "the database's own rules ask for a setting, type or role that is not there",
  },
  "42883": MISSING,
  "42939": { code: "configuration", reason: "schema: the name is reserved" },
  "42P01": MISSING,
  "53": { code: "unavailable", reason: "the server is out of resources" },
  "53100": { code: "unavailable", reason: "the server's disk is full" },
  "53200": { code: "unavailable", reason: "the server is out of memory" },
  "53300": { code: "unavailable", reason: "the server has too many connections" },
  "54": { code: "too_large", reason: "above a limit of the server" },
  "55": { code: "unavailable", reason: "something is in use" },
  "55P03": { code: "unavailable", reason: "a lock was not to be had" },
  "57": STOPPING,
  "57014": { code: "timeout", reason: "the server's own time limit passed, or an operator canceled it" },
  "57P04": { code: "configuration", reason: "connectionString: the database was dropped" },
  "58": { code: "unavailable", reason: "the server's disk or system failed" },
  "58030": { code: "unavailable", reason: "the server's disk failed" },
  XX: { code: "unavailable", reason: "the server failed" },
  XX001: { code: "corrupt", reason: "the server found damaged data" },
  XX002: { code: "corrupt", reason: "the server found a damaged index" },
};

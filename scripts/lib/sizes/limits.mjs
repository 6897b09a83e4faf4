import { kindOf } from "../rules/kinds.mjs";

const kib = 1024;

/** The most that an entry may weigh, by the kind of its package; kinds without a limit are only kept from drifting. */
const byKind = { core: 14 * kib, backend: 8 * kib };

/** What importing a package may cost more than importing its drivers alone. A promise to read, not to test: times vary. */
export const importLimitMs = 15;

/**
 * Entries that weigh more than their limit, and what of. A new one needs a decision; one that fits again must leave
 * this list, which the check sees to.
 */
export const exceptions = {
  "@agentfw/foundry-state-store":
    "the client of the service, the files that stand in for it and conversations on top; the emulator and the checkpoints " +
    "are entries of their own already, and the files could become one.",
  "@agentfw/history-blob":
    "telling what became of a write whose reply was lost, and reading what a torn or a foreign writer left.",
  "@agentfw/history-file": "the lock, the torn tails and the reading from behind, which elsewhere are a server's work.",
  "@agentfw/history-postgres":
    "two fifths of it is text that no minifier shortens: functions of the database, the schema, and what each SQLSTATE means.",
  "@agentfw/history-redis": "two fifths of it is Lua for the server, text that no minifier shortens.",
  "@agentfw/memory-file": "two things in one package: the tools for the model, and the store on disk under them.",
  "@agentfw/state-postgres":
    "two fifths of it is text that no minifier shortens: functions of the database, the schema, and what each SQLSTATE means.",
  "@agentfw/state-redis": "more than a third of it is Lua for the server, text that no minifier shortens.",
};

/** The limit of an entry in bytes, or `undefined`. Only the main entry of a package is promised to be small. */
export function limitOf({ directory, subpath }) {
  const [group, folder] = directory.split("/");
  return subpath === "." ? byKind[kindOf({ group, folder })] : undefined;
}

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
export const exceptions = {};

/** The limit of an entry in bytes, or `undefined`. Only the main entry of a package is promised to be small. */
export function limitOf({ directory, subpath }) {
  const [group, folder] = directory.split("/");
  return subpath === "." ? byKind[kindOf({ group, folder })] : undefined;
}

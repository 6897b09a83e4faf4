import { scope } from "../rules/kinds.mjs";

/**
 * A lockfile without anything that is only true of one machine's registry: our packages are built here, so they have no
 * integrity, and the given versions where there are some.
 */
export function withVersions(lock, versions) {
  const packages = Object.entries(lock.packages).map(([path, entry]) => {
    const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
    const { resolved: _resolved, ...rest } = entry;
    if (!name.startsWith(scope)) return [path, rest];
    const { integrity: _integrity, ...ours } = rest;
    return [path, { ...ours, version: versions.get(name) ?? ours.version }];
  });
  return { ...lock, packages: Object.fromEntries(packages) };
}

export function lockText(lock) {
  return `${JSON.stringify(lock, null, 2)}\n`;
}

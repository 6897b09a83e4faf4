import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Files that two packages have alike. A backend may depend on no other package of ours than core, and core knows no driver, so what
 * two stores of one server have in common is there twice, and a fault that is mended in one is mended in the other.
 */
const twins = [
  {
    packages: ["history-redis", "state-redis"],
    files: [
      "address.ts",
      "borrowed-connection.ts",
      "connection.ts",
      "errors.ts",
      "load-engine.ts",
      "script.ts",
      "script-call.ts",
    ],
  },
  {
    packages: ["history-postgres", "state-postgres"],
    files: [
      "client.ts",
      "connection.ts",
      "connection-options.ts",
      "errors.ts",
      "layout.ts",
      "quoting.ts",
      "store-schema.ts",
      "tables.ts",
    ],
  },
  { packages: ["history-file", "memory-file"], files: ["writer-identity.ts"] },
];

/** The files of a checkout that are not as their twins are. */
export function twinProblems(base) {
  return twins.flatMap(({ packages, files }) => {
    const [first, second] = packages.map((name) => join("packages", name));
    const areThere = [first, second].every((directory) => existsSync(join(base, directory)));
    return areThere
      ? files.flatMap((file) => difference(base, join(first, "src", file), join(second, "src", file)))
      : [];
  });
}

function difference(base, first, second) {
  const [text, other] = [first, second].map((path) => join(base, path)).map(textOf);
  if (text !== undefined && text === other) return [];
  const [wrong, right] = text === undefined ? [first, second] : [second, first];
  return [`${slashes(wrong)}: must have the text of ${slashes(right)}; both stores need what one of them needs`];
}

function textOf(path) {
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}

function slashes(path) {
  return path.replaceAll("\\", "/");
}

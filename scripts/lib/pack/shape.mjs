/**
 * What a tarball must look like, from its manifest and its file list alone. Returns one sentence per problem.
 */
export function shapeProblems(manifest, files) {
  return [
    ...missingTargets(manifest, files),
    ...unresolvedRanges(manifest),
    ...["README.md", "LICENSE"].filter((file) => !files.includes(file)).map((file) => `${file} is not in the tarball`),
    ...files.filter((file) => !isPublished(file, manifest)).map((file) => `${file} should not be in the tarball`),
  ];
}

function missingTargets(manifest, files) {
  return [...exportTargets(manifest.exports), ...binTargets(manifest)]
    .filter(([, path]) => !files.includes(path.replace(/^\.\//, "")))
    .map(([from, path]) => `${from} points to ${path}, which is not in the tarball`);
}

/** Every `[subpath, file]` that an exports field leads to. */
export function exportTargets(exports, from = ".") {
  if (typeof exports === "string") return [[`exports ${from}`, exports]];
  return Object.entries(exports ?? {}).flatMap(([key, value]) =>
    exportTargets(value, key.startsWith(".") ? key : from),
  );
}

/** Every `[command, file]` that a bin field leads to. */
export function binTargets({ name: packageName, bin = {} }) {
  const bins = typeof bin === "string" ? { [packageName]: bin } : bin;
  return Object.entries(bins).map(([name, path]) => [`bin ${name}`, path]);
}

function unresolvedRanges(manifest) {
  const groups = ["dependencies", "peerDependencies", "optionalDependencies"];
  return groups.flatMap((group) =>
    Object.entries(manifest[group] ?? {})
      .filter(([, range]) => /^(workspace|catalog|link|file):/.test(range))
      .map(([name, range]) => `${group}.${name} is still "${range}"`),
  );
}

/** Which folders a package may publish is a rule on its manifest; the build puts nothing else into its own. */
function isPublished(file, { files = ["dist"] }) {
  if (file.startsWith("dist/") && !/\.(js|js\.map|d\.ts)$/.test(file)) return false;
  const isInside = files.some((folder) => file.startsWith(`${folder}/`));
  return isInside || ["package.json", "README.md", "LICENSE", "CHANGELOG.md"].includes(file);
}

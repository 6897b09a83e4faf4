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
  const bins = typeof manifest.bin === "string" ? { [manifest.name]: manifest.bin } : (manifest.bin ?? {});
  const targets = [
    ...exportTargets(manifest.exports),
    ...Object.entries(bins).map(([name, path]) => [`bin ${name}`, path]),
  ];
  return targets
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

function unresolvedRanges(manifest) {
  const groups = ["dependencies", "peerDependencies", "optionalDependencies"];
  return groups.flatMap((group) =>
    Object.entries(manifest[group] ?? {})
      .filter(([, range]) => /^(workspace|catalog|link|file):/.test(range))
      .map(([name, range]) => `${group}.${name} is still "${range}"`),
  );
}

/** Which folders a package may publish is a rule on its manifest. */
function isPublished(file, { files = ["dist"] }) {
  const isInside = files.some((folder) => file.startsWith(`${folder}/`));
  return isInside || ["package.json", "README.md", "LICENSE", "CHANGELOG.md"].includes(file);
}

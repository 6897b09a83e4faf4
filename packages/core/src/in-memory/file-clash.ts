/**
 * The file that keeps a new path from being written: a name, of a file or a directory, has one spelling, and cannot be
 * both at once.
 */
export function clashOf<F extends { readonly path: string }>(
  files: ReadonlyMap<string, F>,
  path: string,
  folded: string,
): F | undefined {
  const [names, folds] = [path.split("/"), folded.split("/")];
  for (const [other, file] of files) {
    const [otherNames, otherFolds] = [file.path.split("/"), other.split("/")];
    // Where they part; -1 where the other begins with all of these.
    const depth = folds.findIndex((fold, at) => fold !== otherFolds[at] || names[at] !== otherNames[at]);
    if (folds[depth] === otherFolds[depth] || depth === otherFolds.length) {
      return file;
    }
  }
  return undefined;
}

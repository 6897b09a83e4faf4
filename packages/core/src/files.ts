/**
 * What every file store needs and must not decide for itself: which paths are allowed, which names clash, and how lines
 * are found in time. An entry of its own, because only file stores load it.
 */
export { assertFilePath, assertSearch, foldFileName } from "./file-path.ts";
export { type FileSearchLimits, type SearchedFile, searchFiles } from "./file-search.ts";

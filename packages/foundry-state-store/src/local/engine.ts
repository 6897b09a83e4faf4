/** What a store in files loads on demand: the file, its lock, and what is in it. */
export { openFiles, openInstead } from "./open-files.ts";

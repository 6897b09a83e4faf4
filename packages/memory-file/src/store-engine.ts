/** What a store needs once it works on its files. Loaded as one part, so that nothing of it can fail to load later. */
export { StoredFiles } from "./stored-files.ts";

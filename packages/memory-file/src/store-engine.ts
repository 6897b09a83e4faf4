/** What a store needs once it works. Loaded as one part, so that nothing of it can fail to load later. */
export { Directories } from "./directories.ts";
export { Reading } from "./reading.ts";
export { Writing } from "./writing.ts";

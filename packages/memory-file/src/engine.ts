/** What a store and a provider need once they work. Loaded as one part, so that nothing of it can fail to load later. */
export { Directories } from "./directories.ts";
export { Memories } from "./memories.ts";
export { Reading } from "./reading.ts";
export { Writing } from "./writing.ts";

/** What a provider needs in a run. Loaded as one part, so that nothing of it can fail to load later. */
export { Memories } from "./memories.ts";

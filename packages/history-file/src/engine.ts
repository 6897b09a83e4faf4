/** What a store needs once it works on its files. Loaded as one part, so that nothing of it can fail to load later. */
export { ConversationFiles } from "./conversation-files.ts";

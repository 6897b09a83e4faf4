/** What a history store loads on demand: everything that asks a state store and reads what it answers. */
export { Conversations } from "./conversations.ts";

/** What a store in the service loads on demand: the HTTP pipeline, the protocol, and what its replies mean. */
export { openStore } from "./open-store.ts";

/*
 * All that talks to the server and understands its answers. A store loads it when it is made, in one piece: what only a
 * failure needs is there when it comes.
 */
export { connectionTo } from "./connection.ts";
export { failureOf } from "./errors.ts";
export { gather } from "./gathering.ts";
export { listPage } from "./listing.ts";
export { pageOf, sliceOf } from "./reading.ts";
export { SCRIPTS } from "./scripts.ts";
export { appendedOf, replacedOf } from "./write-replies.ts";

/*
 * All that talks to the server and understands its answers. A store loads it when it is made, in one piece: what only a
 * failure needs is there when it comes.
 */
export { borrow } from "./borrowed-connection.ts";
export { OwnConnection } from "./connection.ts";
export { answerWord, isAnswer, isConnectionLost, isUnsent, toFrameworkError } from "./errors.ts";
export { listPage } from "./listing.ts";
export { pageOf, sliceOf } from "./reading.ts";
export { SCRIPTS } from "./scripts.ts";
export { appendedOf, replacedOf } from "./write-replies.ts";

/*
 * All that talks to the server and understands its answers. A store loads it when it is made, in one piece: what only a
 * failure needs is there when it comes.
 */
export { borrow } from "./borrowed-connection.ts";
export { OwnConnection } from "./connection.ts";
export { corruptError } from "./corrupt-error.ts";
export { isAnswer, isConnectionLost, isUnsent, RedisProblem, toFrameworkError } from "./errors.ts";
export { deletedOf, itemOf, pageOf, putOf } from "./replies.ts";
export { runScript } from "./script.ts";
export { SCRIPTS } from "./scripts.ts";

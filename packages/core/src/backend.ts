/**
 * What those who write a backend need and must not decide for themselves: what options and arguments are refused, in the
 * same words everywhere; what a connection that cannot be made means; a part that is loaded on demand; calls that wait for
 * each other; calls to a server with lost answers and lost connections. An entry of its own, because an agent needs none of it.
 */

export { type ConnectionFailure, connectionFailure, systemCode } from "./backend/connection-failure.ts";
export { assertCallSize, assertIfVersion, assertRange, type CallSize } from "./backend/history-input.ts";
export { KeyedQueue } from "./backend/keyed-queue.ts";
export { type CallLimits, OnDemand } from "./backend/on-demand.ts";
export { assertOptions, assertTtlSeconds, assertWithin } from "./backend/option-input.ts";
export { type Connector, OwnConnection } from "./backend/own-connection.ts";
export { assertRecords } from "./backend/record-input.ts";
export { ServerCalls } from "./backend/server-calls.ts";
export type {
  OpenCall,
  ServerConnection,
  ServerEngine,
  ServerFailure,
  ServerRequest,
} from "./backend/server-engine.ts";
export { ServerProblem } from "./backend/server-problem.ts";
export { assertIfMatch } from "./backend/state-conditions.ts";
export { assertStateText, assertTags, isObjectText } from "./backend/state-input.ts";
export { assertTagLimits, type TagLimits } from "./backend/tag-limits.ts";
export { assertByteLength, assertOneOf, assertOwner } from "./store-input.ts";

/**
 * What those who write a backend need and must not decide for themselves: what options and arguments are refused, in the
 * same words everywhere; what a connection that cannot be made or a file system that refuses means; a part that is loaded on
 * demand; calls, with their deadlines, lost answers and further tries. An entry of its own, because an agent needs none of it.
 */

export { type ConnectionFailure, connectionFailure, systemCode } from "./backend/connection-failure.ts";
export { CallProgress, EngineCalls, type EngineCallsOptions } from "./backend/engine-calls.ts";
export { ownerToErase } from "./backend/erase-filter.ts";
export { escapeText, unescapeText } from "./backend/escaped-text.ts";
export { type FileFailure, fileFailure } from "./backend/file-failure.ts";
export { FileProblem } from "./backend/file-problem.ts";
export {
  ownHistoryKey,
  ownHistoryRecords,
  ownListFilter,
  ownListOptions,
  ownReadOptions,
} from "./backend/history-copies.ts";
export { assertCallSize, assertIfVersion, assertRange, type CallSize } from "./backend/history-input.ts";
export { parseHistoryKeyText } from "./backend/history-key-text.ts";
export { KeyedQueue } from "./backend/keyed-queue.ts";
export {
  type Lease,
  type LeasedAnswer,
  type LeasedCall,
  LeasedCalls,
  type LeasedFailure,
  type LeasingConnection,
} from "./backend/leased-calls.ts";
export { type CallLimits, OnDemand } from "./backend/on-demand.ts";
export { withDefaults } from "./backend/option-defaults.ts";
export { assertOptions, assertTtlSeconds, assertWithin } from "./backend/option-input.ts";
export { type Connector, OwnConnection } from "./backend/own-connection.ts";
export { assertPath } from "./backend/path-input.ts";
export { ProviderErrors } from "./backend/provider-errors.ts";
export { RecentlyUsed } from "./backend/recently-used.ts";
export { assertRecords } from "./backend/record-input.ts";
export { retryAfterMs } from "./backend/retry-after.ts";
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
export { parseObject, parseTags } from "./backend/stored-json.ts";
export { assertTagLimits, type TagLimits } from "./backend/tag-limits.ts";
export { isWholeJson } from "./backend/whole-json.ts";
/** Also in the entry for file stores, which loads the search with them: whoever only checks needs these alone. */
export { assertFilePath, assertSearch, foldFileName } from "./file-path.ts";
export { assertByteLength, assertContractVersion, assertOneOf, assertOwner } from "./store-input.ts";

/**
 * What those who write a backend need and must not decide for themselves: what options and arguments are refused, in the
 * same words everywhere; what a connection that cannot be made or a file system that refuses means; a part that is loaded on demand and
 * calls that are made to it; calls that wait for each other. An entry of its own, because an agent needs none of it.
 */

export { type ConnectionFailure, connectionFailure, systemCode } from "./backend/connection-failure.ts";
export { CallProgress, EngineCalls, type EngineCallsOptions } from "./backend/engine-calls.ts";
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
export { type CallLimits, OnDemand } from "./backend/on-demand.ts";
export { assertOptions, assertTtlSeconds, assertWithin } from "./backend/option-input.ts";
export { assertPath } from "./backend/path-input.ts";
export { assertIfMatch } from "./backend/state-conditions.ts";
export { assertStateText, assertTags, isObjectText } from "./backend/state-input.ts";
export { assertTagLimits, type TagLimits } from "./backend/tag-limits.ts";
/** Also in the entry for file stores, which loads the search with them: whoever only checks needs these alone. */
export { assertFilePath, assertSearch, foldFileName } from "./file-path.ts";
export { assertByteLength, assertContractVersion, assertOneOf, assertOwner } from "./store-input.ts";

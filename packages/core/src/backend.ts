/**
 * What those who write a backend need and must not decide for themselves: what options and arguments are refused, in the
 * same words everywhere; what a connection that cannot be made means; a part that is loaded on demand; calls that wait for
 * each other; writes of several steps. An entry of its own, because an agent needs none of it.
 */

export { type ConnectionFailure, connectionFailure, systemCode } from "./backend/connection-failure.ts";
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
export { inParallel } from "./backend/in-parallel.ts";
export { compactJson, memberTexts } from "./backend/json-text.ts";
export { KeyedQueue } from "./backend/keyed-queue.ts";
export { type CallLimits, OnDemand } from "./backend/on-demand.ts";
export { assertOptions, assertTtlSeconds, assertWithin } from "./backend/option-input.ts";
export { Progress, runWithProgress } from "./backend/progress.ts";
export { assertIfMatch } from "./backend/state-conditions.ts";
export { assertStateText, assertTags, isObjectText } from "./backend/state-input.ts";
export { parseObject, parseTags } from "./backend/stored-json.ts";
export { assertTagLimits, type TagLimits } from "./backend/tag-limits.ts";
export { assertByteLength, assertContractVersion, assertOneOf, assertOwner } from "./store-input.ts";

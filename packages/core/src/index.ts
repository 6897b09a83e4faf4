export { assertTimeout, type DeadlineOptions, withDeadline } from "./deadline.ts";
export {
  AgentFrameworkError,
  type AgentFrameworkErrorOptions,
  configurationError,
  type ErrorCode,
  isAbortError,
  isAgentFrameworkError,
} from "./errors.ts";
export { assertFilePath, foldFileName } from "./file-path.ts";
export { InMemoryFileStore } from "./in-memory/in-memory-file-store.ts";
export { InMemoryHistoryStore, type InMemoryHistoryStoreOptions } from "./in-memory/in-memory-history-store.ts";
export { InMemoryStateStore, type InMemoryStateStoreOptions } from "./in-memory/in-memory-state-store.ts";
export { isPlainObject, type Json, toJson } from "./json.ts";
export type { FileMatch, FileSearchOptions, FileStore, FileWriteOptions } from "./ports/file-store.ts";
export type { HistoryStore } from "./ports/history-store.ts";
export type {
  AppendOptions,
  CallOptions,
  HistoryCapabilities,
  HistoryKey,
  HistoryKeyInfo,
  HistoryList,
  HistoryListFilter,
  HistoryListOptions,
  HistoryPage,
  HistoryRecord,
  ReadOptions,
} from "./ports/history-types.ts";
export type { StateStore } from "./ports/state-store.ts";
export type { Scope, StateCapabilities, StateItem, StateKey, StateListOptions, Tags } from "./ports/state-types.ts";
export {
  assertContractVersion,
  assertCount,
  assertHistoryKey,
  assertHistoryRecords,
  assertListFilter,
  assertName,
  assertReadOptions,
  historyKeyText,
  utf8Length,
} from "./store-input.ts";

export { chatClientContract } from "./chat/contract.ts";
export type { ChatAnswer, ChatFailure, ChatInterruption, RequestTally, ScriptedCall } from "./chat/script.ts";
export type { ChatClause } from "./chat/support.ts";
export type {
  ClauseRequirements,
  ContractClause,
  ContractPort,
  HookName,
  Trial,
} from "./clause.ts";
export { contextProviderContract } from "./context/contract.ts";
export type { ContextClause } from "./context/support.ts";
export { fileStoreContract } from "./file/contract.ts";
export type { FileClause } from "./file/support.ts";
export { historyStoreContract } from "./history/contract.ts";
export type { HistoryClause } from "./history/support.ts";
export type {
  BackendHooks,
  ContractSuite,
  HookReasons,
  Opened,
  OpenedChatClient,
  OpenedContextProvider,
  OpenedFileStore,
  OpenedHistoryStore,
  OpenedStateStore,
  OpenedSubject,
  OpenOptions,
  PlantedLink,
  SharedClient,
  WrongOptions,
} from "./opened.ts";
export {
  type ClauseOutcome,
  type ClauseReport,
  type ClauseResult,
  type ContractReport,
  clauseLine,
  report,
  summary,
} from "./report.ts";
export { type RunOptions, runClause, runContract } from "./run.ts";
export { stateStoreContract } from "./state/contract.ts";
export type { StateClause } from "./state/support.ts";

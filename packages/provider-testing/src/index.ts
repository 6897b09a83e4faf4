export type {
  ClauseRequirements,
  ContractClause,
  ContractPort,
  HookName,
  Trial,
} from "./clause.ts";
export { fileStoreContract } from "./file/contract.ts";
export type { FileClause } from "./file/support.ts";
export { historyStoreContract } from "./history/contract.ts";
export type { HistoryClause } from "./history/support.ts";
export type {
  ContractSuite,
  Opened,
  OpenedFileStore,
  OpenedHistoryStore,
  OpenedStateStore,
  OpenOptions,
  PlantedLink,
  SharedClient,
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

import { basicClauses } from "./basic-clauses.ts";
import { historyClauses } from "./history-clauses.ts";
import { outageClauses } from "./outage-clauses.ts";
import { runClauses } from "./run-clauses.ts";
import { sessionClauses } from "./session-clauses.ts";
import type { ContextClause } from "./support.ts";

/** Every clause of the contract of ContextProvider, in the order of their ids. */
export const contextProviderContract: readonly ContextClause[] = [
  ...basicClauses,
  ...historyClauses,
  ...outageClauses,
  ...runClauses,
  ...sessionClauses,
].sort((left, right) => (left.id < right.id ? -1 : 1));

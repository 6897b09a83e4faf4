import { argumentClauses } from "./argument-clauses.ts";
import { basicClauses } from "./basic-clauses.ts";
import { boundaryClauses } from "./boundary-clauses.ts";
import { clearClauses } from "./clear-clauses.ts";
import { concurrencyClauses } from "./concurrency-clauses.ts";
import { corruptClauses } from "./corrupt-clauses.ts";
import { costClauses } from "./cost-clauses.ts";
import { dataClauses } from "./data-clauses.ts";
import { expiryClauses } from "./expiry-clauses.ts";
import { idempotencyClauses } from "./idempotency-clauses.ts";
import { inputClauses } from "./input-clauses.ts";
import { limitClauses } from "./limit-clauses.ts";
import { listClauses } from "./list-clauses.ts";
import { lostReplyClauses } from "./lost-reply-clauses.ts";
import { outageClauses } from "./outage-clauses.ts";
import { readClauses } from "./read-clauses.ts";
import { replaceClauses } from "./replace-clauses.ts";
import { replaceConditionClauses } from "./replace-condition-clauses.ts";
import type { HistoryClause } from "./support.ts";
import { versionClauses } from "./version-clauses.ts";

/** Every clause of the contract of HistoryStore, in the order of their ids. */
export const historyStoreContract: readonly HistoryClause[] = [
  ...argumentClauses,
  ...basicClauses,
  ...boundaryClauses,
  ...clearClauses,
  ...concurrencyClauses,
  ...corruptClauses,
  ...costClauses,
  ...dataClauses,
  ...expiryClauses,
  ...idempotencyClauses,
  ...inputClauses,
  ...limitClauses,
  ...listClauses,
  ...lostReplyClauses,
  ...outageClauses,
  ...readClauses,
  ...replaceClauses,
  ...replaceConditionClauses,
  ...versionClauses,
].sort((left, right) => (left.id < right.id ? -1 : 1));

import { argumentClauses } from "./argument-clauses.ts";
import { basicClauses } from "./basic-clauses.ts";
import { boundaryClauses } from "./boundary-clauses.ts";
import { conditionClauses } from "./condition-clauses.ts";
import { isolationClauses } from "./isolation-clauses.ts";
import { listClauses } from "./list-clauses.ts";
import { lostReplyClauses } from "./lost-reply-clauses.ts";
import type { StateClause } from "./support.ts";

/** Every clause of the contract of StateStore, in the order of their ids. */
export const stateStoreContract: readonly StateClause[] = [
  ...argumentClauses,
  ...basicClauses,
  ...boundaryClauses,
  ...conditionClauses,
  ...isolationClauses,
  ...listClauses,
  ...lostReplyClauses,
].sort((left, right) => (left.id < right.id ? -1 : 1));

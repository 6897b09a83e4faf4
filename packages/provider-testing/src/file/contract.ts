import { argumentClauses } from "./argument-clauses.ts";
import { basicClauses } from "./basic-clauses.ts";
import { boundaryClauses } from "./boundary-clauses.ts";
import { conditionClauses } from "./condition-clauses.ts";
import { pathClauses } from "./path-clauses.ts";
import { searchClauses } from "./search-clauses.ts";
import type { FileClause } from "./support.ts";

/** Every clause of the contract of FileStore, in the order of their ids. */
export const fileStoreContract: readonly FileClause[] = [
  ...argumentClauses,
  ...basicClauses,
  ...boundaryClauses,
  ...conditionClauses,
  ...pathClauses,
  ...searchClauses,
].sort((left, right) => (left.id < right.id ? -1 : 1));

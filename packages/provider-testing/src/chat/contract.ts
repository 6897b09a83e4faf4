import { answerClauses } from "./answer-clauses.ts";
import { endingClauses } from "./ending-clauses.ts";
import { failureClauses } from "./failure-clauses.ts";
import { requestClauses } from "./request-clauses.ts";
import type { ChatClause } from "./support.ts";

/** Every clause of the contract of ChatClient, in the order of their ids. */
export const chatClientContract: readonly ChatClause[] = [
  ...answerClauses,
  ...endingClauses,
  ...failureClauses,
  ...requestClauses,
].sort((left, right) => (left.id < right.id ? -1 : 1));

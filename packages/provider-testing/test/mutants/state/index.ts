import type { OpenedStateStore } from "../../../src/index.ts";
import type { Mutant } from "../../support/mutant.ts";
import { answerMutants } from "./answer-mutants.ts";
import { boundaryMutants } from "./boundary-mutants.ts";
import { halfDoneMutants } from "./half-done-mutants.ts";
import { itemAndConditionMutants } from "./item-mutants.ts";
import { listAndIsolationMutants } from "./list-mutants.ts";
import { lostReplyMutants } from "./lost-reply-mutants.ts";
import { narrowMutants } from "./narrow-mutants.ts";
import { wrongTypeMutants } from "./wrong-type-mutants.ts";

/** Every defective StateStore. */
export const stateMutants: readonly Mutant<OpenedStateStore>[] = [
  ...answerMutants,
  ...boundaryMutants,
  ...halfDoneMutants,
  ...lostReplyMutants,
  ...narrowMutants,
  ...itemAndConditionMutants,
  ...listAndIsolationMutants,
  ...wrongTypeMutants,
];

import type { OpenedStateStore } from "../../../src/index.ts";
import type { Mutant } from "../../support/mutant.ts";
import { argumentMutants } from "./argument-mutants.ts";
import { boundaryMutants } from "./boundary-mutants.ts";
import { itemAndConditionMutants } from "./item-mutants.ts";
import { listAndIsolationMutants } from "./list-mutants.ts";
import { lostReplyMutants } from "./lost-reply-mutants.ts";
import { wrongTypeMutants } from "./wrong-type-mutants.ts";

/** Every defective StateStore. */
export const stateMutants: readonly Mutant<OpenedStateStore>[] = [
  ...argumentMutants,
  ...boundaryMutants,
  ...lostReplyMutants,
  ...itemAndConditionMutants,
  ...listAndIsolationMutants,
  ...wrongTypeMutants,
];

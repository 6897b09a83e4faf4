import type { OpenedStateStore } from "../../../src/index.ts";
import type { Mutant } from "../../support/mutant.ts";
import { argumentMutants } from "./argument-mutants.ts";
import { boundaryDetailMutants } from "./boundary-detail-mutants.ts";
import { boundaryMutants } from "./boundary-mutants.ts";
import { closingMutants } from "./closing-mutants.ts";
import { conditionDetailMutants } from "./condition-detail-mutants.ts";
import { itemDetailMutants } from "./item-detail-mutants.ts";
import { itemAndConditionMutants } from "./item-mutants.ts";
import { listDetailMutants } from "./list-detail-mutants.ts";
import { listAndIsolationMutants } from "./list-mutants.ts";
import { lostReplyMutants } from "./lost-reply-mutants.ts";
import { refusalDetailMutants } from "./refusal-detail-mutants.ts";
import { scopeDetailMutants } from "./scope-detail-mutants.ts";
import { wrongTypeMutants } from "./wrong-type-mutants.ts";

/** Every defective StateStore. */
export const stateMutants: readonly Mutant<OpenedStateStore>[] = [
  ...argumentMutants,
  ...boundaryMutants,
  ...closingMutants,
  ...boundaryDetailMutants,
  ...conditionDetailMutants,
  ...itemDetailMutants,
  ...listDetailMutants,
  ...lostReplyMutants,
  ...itemAndConditionMutants,
  ...listAndIsolationMutants,
  ...refusalDetailMutants,
  ...scopeDetailMutants,
  ...wrongTypeMutants,
];

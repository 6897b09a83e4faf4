import type { OpenedFileStore } from "../../../src/index.ts";
import type { Mutant } from "../../support/mutant.ts";
import { argumentMutants } from "./argument-mutants.ts";
import { boundaryDetailMutants } from "./boundary-detail-mutants.ts";
import { boundaryMutants } from "./boundary-mutants.ts";
import { closingMutants } from "./closing-mutants.ts";
import { conditionDetailMutants } from "./condition-detail-mutants.ts";
import { fileAndConditionMutants } from "./file-mutants.ts";
import { itemDetailMutants } from "./item-detail-mutants.ts";
import { pathDetailMutants } from "./path-detail-mutants.ts";
import { searchDetailMutants } from "./search-detail-mutants.ts";
import { pathAndSearchMutants } from "./search-mutants.ts";
import { wrongTypeMutants } from "./wrong-type-mutants.ts";

/** Every defective FileStore. */
export const fileMutants: readonly Mutant<OpenedFileStore>[] = [
  ...argumentMutants,
  ...boundaryMutants,
  ...closingMutants,
  ...boundaryDetailMutants,
  ...fileAndConditionMutants,
  ...itemDetailMutants,
  ...conditionDetailMutants,
  ...pathAndSearchMutants,
  ...pathDetailMutants,
  ...searchDetailMutants,
  ...wrongTypeMutants,
];

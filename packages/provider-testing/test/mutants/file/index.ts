import type { OpenedFileStore } from "../../../src/index.ts";
import type { Mutant } from "../../support/mutant.ts";
import { argumentMutants } from "./argument-mutants.ts";
import { boundaryMutants } from "./boundary-mutants.ts";
import { closingMutants } from "./closing-mutants.ts";
import { fileAndConditionMutants } from "./file-mutants.ts";
import { pathAndSearchMutants } from "./search-mutants.ts";
import { wrongTypeMutants } from "./wrong-type-mutants.ts";

/** Every defective FileStore. */
export const fileMutants: readonly Mutant<OpenedFileStore>[] = [
  ...argumentMutants,
  ...boundaryMutants,
  ...closingMutants,
  ...fileAndConditionMutants,
  ...pathAndSearchMutants,
  ...wrongTypeMutants,
];

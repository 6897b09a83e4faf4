import type { OpenedHistoryStore } from "../../../src/index.ts";
import type { Mutant } from "../../support/mutant.ts";
import { answerDetailMutants } from "./answer-detail-mutants.ts";
import { argumentMutants } from "./argument-mutants.ts";
import { backendDetailMutants } from "./backend-detail-mutants.ts";
import { boundaryMutants } from "./boundary-mutants.ts";
import { callerDetailMutants } from "./caller-detail-mutants.ts";
import { closingMutants } from "./closing-mutants.ts";
import { keyMutants } from "./key-mutants.ts";
import { lifetimeMutants } from "./lifetime-mutants.ts";
import { lostDetailMutants } from "./lost-detail-mutants.ts";
import { lostReplyMutants } from "./lost-reply-mutants.ts";
import { pageDetailMutants } from "./page-detail-mutants.ts";
import { readMutants } from "./read-mutants.ts";
import { refusalDetailMutants } from "./refusal-detail-mutants.ts";
import { replaceMutants } from "./replace-mutants.ts";
import { versionMutants } from "./version-mutants.ts";
import { writeDetailMutants } from "./write-detail-mutants.ts";
import { writeMutants } from "./write-mutants.ts";
import { wrongTypeMutants } from "./wrong-type-mutants.ts";

/** Every defective HistoryStore. */
export const historyMutants: readonly Mutant<OpenedHistoryStore>[] = [
  ...answerDetailMutants,
  ...argumentMutants,
  ...backendDetailMutants,
  ...boundaryMutants,
  ...closingMutants,
  ...callerDetailMutants,
  ...lostDetailMutants,
  ...lostReplyMutants,
  ...pageDetailMutants,
  ...keyMutants,
  ...lifetimeMutants,
  ...readMutants,
  ...refusalDetailMutants,
  ...replaceMutants,
  ...versionMutants,
  ...writeDetailMutants,
  ...writeMutants,
  ...wrongTypeMutants,
];

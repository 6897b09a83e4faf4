import type { OpenedChatClient } from "../../../src/index.ts";
import type { Mutant } from "../../support/mutant.ts";
import { answerMutants } from "./answer-mutants.ts";
import { endingMutants } from "./ending-mutants.ts";

/** Every defective ChatClient. */
export const chatMutants: readonly Mutant<OpenedChatClient>[] = [...answerMutants, ...endingMutants];

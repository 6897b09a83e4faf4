import type { OpenedContextProvider } from "../../../src/index.ts";
import type { Mutant } from "../../support/mutant.ts";
import { additionMutants } from "./addition-mutants.ts";
import { keepingMutants } from "./keeping-mutants.ts";

/** Every defective ContextProvider. */
export const contextMutants: readonly Mutant<OpenedContextProvider>[] = [...additionMutants, ...keepingMutants];

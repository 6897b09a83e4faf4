import { stateStoreContract } from "../src/index.ts";
import { stateMutants } from "./mutants/state/index.ts";
import { expectMutants } from "./support/expect-mutants.ts";
import { openStateWith, referenceStateStore } from "./support/reference-state.ts";

expectMutants(stateStoreContract, openStateWith(referenceStateStore), stateMutants, { alone: [] });

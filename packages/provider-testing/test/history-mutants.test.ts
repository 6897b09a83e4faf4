import { historyStoreContract } from "../src/index.ts";
import { historyMutants } from "./mutants/history/index.ts";
import { expectMutants } from "./support/expect-mutants.ts";
import { openHistoryWith, referenceHistoryStore } from "./support/reference-history.ts";

expectMutants(historyStoreContract, openHistoryWith(referenceHistoryStore), historyMutants, { alone: ["H87"] });

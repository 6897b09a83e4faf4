import { contextProviderContract } from "../src/index.ts";
import { contextMutants } from "./mutants/context/index.ts";
import { expectMutants } from "./support/expect-mutants.ts";
import { openContextWith, referenceContextProvider } from "./support/reference-context.ts";

expectMutants(contextProviderContract, openContextWith(referenceContextProvider), contextMutants, {
  alone: [],
  noun: "provider",
});

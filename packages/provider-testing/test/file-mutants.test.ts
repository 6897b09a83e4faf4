import { fileStoreContract } from "../src/index.ts";
import { fileMutants } from "./mutants/file/index.ts";
import { expectMutants } from "./support/expect-mutants.ts";
import { openFileWith, referenceFileStore } from "./support/reference-file.ts";

expectMutants(fileStoreContract, openFileWith(referenceFileStore), fileMutants, { alone: ["F27", "F28", "F29"] });

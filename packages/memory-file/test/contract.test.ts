import { testFileStoreOnDisk } from "./support/contract.ts";

testFileStoreOnDisk("memory-file");

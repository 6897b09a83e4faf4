import fs from "node:fs";
import { vi } from "vitest";
import { testFileStoreOnDisk } from "./support/contract.ts";

// As on systems that offer no paths through open files: directories are reached by their names.
vi.spyOn(fs, "existsSync").mockReturnValue(false);

testFileStoreOnDisk("memory-file, by name");

import { testFileStore } from "@agentfw/provider-testing/vitest";
import { cannot, name, openFileStore } from "./open.ts";

testFileStore({ name, cannot, open: openFileStore });

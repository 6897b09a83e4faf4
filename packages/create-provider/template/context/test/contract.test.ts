import { testContextProvider } from "@agentfw/provider-testing/vitest";
import { cannot, name, openContextProvider } from "./open.ts";

testContextProvider({ name, cannot, open: openContextProvider });

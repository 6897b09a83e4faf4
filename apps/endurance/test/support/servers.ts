import { type ServerSetup, testServers } from "@agentfw/test-servers/vitest";

export const setup: ServerSetup = testServers("redis", "postgres", "azurite");

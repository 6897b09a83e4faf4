import { testChatClient } from "@agentfw/provider-testing/vitest";
import { cannot, name, openChatClient } from "./open.ts";

testChatClient({ name, cannot, open: openChatClient });

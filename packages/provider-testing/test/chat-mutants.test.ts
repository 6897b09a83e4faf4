import { chatClientContract } from "../src/index.ts";
import { chatMutants } from "./mutants/chat/index.ts";
import { expectMutants } from "./support/expect-mutants.ts";
import { openChatWith, referenceChatClient } from "./support/reference-chat.ts";

expectMutants(chatClientContract, openChatWith(referenceChatClient), chatMutants, { alone: [], noun: "client" });

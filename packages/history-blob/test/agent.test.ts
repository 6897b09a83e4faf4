import { Agent } from "@agentfw/agent";
import { type ChatClient, HistoryProvider, type Message, messageText } from "@agentfw/core";
import { expect, test } from "vitest";
import { conversation } from "./support/conversation.ts";
import { openContainer, openStore } from "./support/storage.ts";

/** Answers with how much it was given, so that a test can see what came out of the store. */
function echo(): ChatClient & { readonly seen: string[][] } {
  const seen: string[][] = [];
  return {
    contractVersion: 1,
    storesByDefault: false,
    seen,
    async *stream(messages: readonly Message[]) {
      seen.push(messages.map((message) => `${message.role}: ${messageText(message)}`));
      yield { contents: [{ type: "text", text: `answer ${messages.length}` }], finishReason: "stop" };
    },
  };
}

test("an agent in another process goes on with the conversation, and a retried run is stored once", async () => {
  const container = await openContainer();
  const owner = "user-42";
  const first = new Agent({ client: echo(), contextProviders: [new HistoryProvider(openStore(container))] });
  await first.run("I like pasta.", { session: first.createSession({ sessionId: "s-1", owner }) });

  const later = openStore(container);
  const client = echo();
  const second = new Agent({ client, contextProviders: [new HistoryProvider(later, { maxMessages: 10 })] });
  const session = second.createSession({ sessionId: "s-1", owner });
  await second.run("What do I like?", { session, runId: "run-2" });
  await second.run("What do I like?", { session, runId: "run-2" });
  expect(client.seen[0]).toEqual(["user: I like pasta.", "assistant: answer 1", "user: What do I like?"]);
  const { records } = await later.read(conversation("s-1", { owner, source: "history" }));
  expect(records.map(({ data }) => JSON.parse(data).role)).toEqual(["user", "assistant", "user", "assistant"]);
});

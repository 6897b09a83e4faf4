import { Agent } from "@agentfw/agent";
import {
  type ChatClient,
  type ChatUpdate,
  HistoryProvider,
  InMemoryHistoryStore,
  type Message,
  messageText,
} from "@agentfw/core";
import { expect, test } from "vitest";
import { FileMemoryProvider } from "../src/index.ts";
import { openStore } from "./support/store.ts";

/** A model that writes down what it is told as a memory, and reads it when it is asked. */
function rememberingModel(): ChatClient & { readonly seen: string[][] } {
  const seen: string[][] = [];
  const call = (name: string, args: object): ChatUpdate => ({
    contents: [{ type: "function_call", callId: `call-${seen.length}`, name, arguments: JSON.stringify(args) }],
    finishReason: "tool_calls",
  });
  return {
    contractVersion: 1,
    storesByDefault: false,
    seen,
    async *stream(messages: readonly Message[]) {
      seen.push(messages.map((message) => `${message.role}: ${messageText(message)}`));
      const last = messages.at(-1);
      const [result] = last?.contents.filter((content) => content.type === "function_result") ?? [];
      if (result !== undefined) {
        yield { contents: [{ type: "text", text: `I have: ${JSON.stringify(result.result)}` }] };
      } else if (last !== undefined && messageText(last).startsWith("I like")) {
        yield call("file_memory_write", { file_name: "likes.md", content: messageText(last), description: "likes" });
      } else {
        yield call("file_memory_read", { file_name: "likes.md" });
      }
    },
  };
}

test("an agent in another session and process recalls what an earlier one wrote as a memory", async () => {
  const { store, root } = await openStore();
  const agentOver = (files: typeof store, client: ChatClient) =>
    new Agent({
      client,
      contextProviders: [
        new HistoryProvider(new InMemoryHistoryStore()),
        new FileMemoryProvider(files, { scope: ({ owner }) => `users/${owner}` }),
      ],
    });
  const first = agentOver(store, rememberingModel());
  const told = await first.run("I like pasta.", { session: first.createSession({ owner: "ann" }) });
  expect(told.text).toContain('Saved \\"likes.md\\".');

  const { store: later } = await openStore({ root });
  const client = rememberingModel();
  const second = agentOver(later, client);
  const answer = await second.run("What do I like?", { session: second.createSession({ owner: "ann" }) });
  expect(answer.text).toBe('I have: "I like pasta."');
  expect(client.seen[0]?.[0]).toMatch(/^user: <memory_index>[\s\S]*- "likes.md": "likes"/);
  const other = await second.run("What do I like?", { session: second.createSession({ owner: "bob" }) });
  expect(other.text).toContain("there is no memory file");
});

test("a run without a session is refused before the model is called, unless there is a scope", async () => {
  const { store } = await openStore();
  const client = rememberingModel();
  const isolated = new Agent({ client, contextProviders: [new FileMemoryProvider(store)] });
  await expect(isolated.run("I like pasta.")).rejects.toMatchObject({ code: "configuration" });
  expect(client.seen).toEqual([]);
  const shared = new Agent({ client, contextProviders: [new FileMemoryProvider(store, { scope: "all" })] });
  await shared.run("I like pasta.");
  expect(await store.list("")).toEqual(["all/likes.md"]);
});

test("an agent with two memories, whose tools would have the same names, is refused and neither is written to", async () => {
  const { store } = await openStore();
  const client = rememberingModel();
  const contextProviders = [
    new FileMemoryProvider(store, { scope: "users/42" }),
    new FileMemoryProvider(store, { scope: "team", sourceId: "team_memory" }),
  ];
  await expect(new Agent({ client, contextProviders }).run("I like pasta.")).rejects.toMatchObject({
    code: "configuration",
    message: expect.stringContaining("file_memory_write"),
  });
  expect(client.seen).toEqual([]);
  expect(await store.list("")).toEqual([]);
});

test("the list of memories is not stored in the history", async () => {
  const { store } = await openStore();
  const history = new InMemoryHistoryStore();
  const memory = new FileMemoryProvider(store, { scope: "all" });
  const agent = new Agent({ client: rememberingModel(), contextProviders: [new HistoryProvider(history), memory] });
  const session = agent.createSession({ owner: "ann" });
  await agent.run("I like pasta.", { session });
  await agent.run("What do I like?", { session });
  const { records } = await history.read({ owner: "ann", source: "history", session: session.sessionId });
  expect(records).toHaveLength(8);
  expect(JSON.stringify(records)).not.toContain("memory_index");
});

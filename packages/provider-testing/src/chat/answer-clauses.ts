import { toJson } from "@agentfw/core";
import { all, ensure, same, sameList } from "../expect.ts";
import type { ChatAnswer } from "./script.ts";
import { ask, type ChatClause, fold, message, QUESTION, sameCalls } from "./support.ts";

const SCRIPTED = { hooks: ["answerNext"] } as const;

const TEXT = "Zürich 😀 is fine;\n 12°, e\u0301t \u2028 voilà. ";

const CALLS: ChatAnswer["calls"] = [
  { callId: "call-1", name: "weather", arguments: '{"city":"Zürich","days":[1,2],"note":"a \\"quoted\\" {word}"}' },
  { callId: "call-2", name: "weather", arguments: '{"city":"Genève 😀"}' },
  { callId: "call-3", name: "clock", arguments: "{}" },
];

const TOOLS = ["weather", "clock"].map((name) => ({
  name,
  description: `Tells the ${name}.`,
  parameters: { type: "object", properties: { city: { type: "string" } } },
}));

/** What an answer looks like. */
export const answerClauses: readonly ChatClause[] = [
  {
    id: "M01",
    title: "the contract version is 1, storesByDefault is a boolean, and there is a method to ask with",
    contract: "ChatClient",
    reason: "An agent decides by them how it drives the client, and where the history is.",
    async run(trial) {
      const { client } = await trial.open();
      same(client.contractVersion, 1, "contractVersion");
      same(typeof client.storesByDefault, "boolean", "the type of storesByDefault");
      const methods = [client.stream, client.complete].filter((method) => method !== undefined);
      ensure(methods.length > 0, "the client has stream, complete or both");
      ensure(
        methods.every((method) => typeof method === "function"),
        "stream and complete are functions",
      );
    },
  },
  {
    id: "M02",
    title: "the text pieces of an answer come to its text, character by character",
    contract: "ChatClient",
    reason: "Pieces that are cut inside of a character, repeated at the end or trimmed change what was said.",
    requires: SCRIPTED,
    async run(trial) {
      const opened = await trial.open();
      for (const text of [TEXT, "a", "x".repeat(20_000)]) {
        await opened.answerNext?.({ text });
        same((await ask(opened.client)).text, text, "the text of the answer");
      }
    },
  },
  {
    id: "M03",
    title: "complete gives what the pieces of stream come to",
    contract: "ChatClient",
    reason: "Whoever turns streaming off must not get another answer.",
    requires: SCRIPTED,
    async run(trial) {
      const opened = await trial.open();
      const { client } = opened;
      const { complete } = client;
      if (complete === undefined || typeof client.stream !== "function") {
        return trial.notCovered("the client has one of the two methods only");
      }
      for (const answer of [{ text: TEXT, usage: { inputTokens: 5, outputTokens: 7 } }, { calls: CALLS }]) {
        await opened.answerNext?.(answer);
        const streamed = await ask(client, QUESTION, { tools: TOOLS });
        await opened.answerNext?.(answer);
        const whole = fold([await complete.call(client, QUESTION, { tools: TOOLS })]);
        same(whole.text, streamed.text, "the text of complete");
        sameCalls(whole.calls, streamed.calls, "the calls of complete");
        same(whole.finishReason, streamed.finishReason, "the finish reason of complete");
        same(whole.inputTokens, streamed.inputTokens, "the input tokens of complete");
        same(whole.outputTokens, streamed.outputTokens, "the output tokens of complete");
      }
    },
  },
  {
    id: "M04",
    title: "tool calls come whole: a name, an id of their own, and arguments that are the JSON of the service",
    contract: "ChatClient",
    reason: "A call whose arguments are mixed with another's, or cut, runs a tool with what nobody asked for.",
    requires: SCRIPTED,
    async run(trial) {
      const opened = await trial.open();
      await opened.answerNext?.({ calls: CALLS });
      sameCalls((await ask(opened.client, QUESTION, { tools: TOOLS })).calls, CALLS, "an answer of three calls");
      await opened.answerNext?.({ text: "Let me see.", calls: CALLS?.slice(0, 1) });
      const both = await ask(opened.client, QUESTION, { tools: TOOLS });
      same(both.text, "Let me see.", "the text beside a call");
      sameCalls(both.calls, CALLS?.slice(0, 1), "a call beside a text");
    },
  },
  {
    id: "M05",
    title: "one answer has one response id, and its text is one message of the assistant",
    contract: "ChatClient",
    reason: "A new id or role begins a new message: a sentence would be stored in pieces.",
    requires: SCRIPTED,
    async run(trial) {
      const opened = await trial.open();
      await opened.answerNext?.({ text: TEXT });
      const { updates } = await ask(opened.client);
      for (const member of ["messageId", "responseId"] as const) {
        const ids = new Set(updates.map((update) => update[member]).filter((id) => id !== undefined));
        ensure(ids.size <= 1, `the pieces of one answer carry at most one ${member}`, [...ids]);
        ensure(
          [...ids].every((id) => typeof id === "string" && id !== ""),
          `a ${member} is a text that says something`,
          [...ids],
        );
      }
      for (const { role } of updates) {
        ensure(role === undefined || role === "assistant", "the role of an answer is assistant", role);
      }
    },
  },
  {
    id: "M06",
    title: "the usage that the service counts is told once",
    contract: "ChatClient",
    reason: "Usage is summed up: a count that is repeated with each piece is a bill that nobody owes.",
    requires: SCRIPTED,
    async run(trial) {
      const opened = await trial.open();
      await opened.answerNext?.({ text: TEXT, usage: { inputTokens: 21, outputTokens: 34 } });
      const { inputTokens, outputTokens } = await ask(opened.client);
      same(inputTokens, 21, "the sum of the input tokens");
      same(outputTokens, 34, "the sum of the output tokens");
    },
  },
  {
    id: "M07",
    title: "the finish reason tells a whole answer, calls, and an answer that was cut short apart",
    contract: "ChatClient",
    reason: "An answer that ends in the middle of a sentence must not be taken for one that does not.",
    requires: SCRIPTED,
    async run(trial) {
      const opened = await trial.open();
      await opened.answerNext?.({ text: "Done." });
      same((await ask(opened.client)).finishReason, "stop", "the finish reason of a whole answer");
      await opened.answerNext?.({ calls: CALLS?.slice(0, 1) });
      const called = await ask(opened.client, QUESTION, { tools: TOOLS });
      same(called.finishReason, "tool_calls", "the finish reason of an answer of calls");
      await opened.answerNext?.({ text: "And then", isCutShort: true });
      same((await ask(opened.client)).finishReason, "length", "the finish reason of an answer that was cut short");
    },
  },
  {
    id: "M08",
    title: "an answer can be stored as JSON, and approves nothing",
    contract: "ChatClient; JSON",
    reason: "What JSON cannot hold fails after the model was paid for; to approve is the user's.",
    requires: SCRIPTED,
    async run(trial) {
      const opened = await trial.open();
      for (const answer of [{ text: TEXT }, { calls: CALLS }]) {
        await opened.answerNext?.(answer);
        for (const update of (await ask(opened.client, QUESTION, { tools: TOOLS })).updates) {
          toJson(update, "update");
          for (const content of update.contents ?? []) {
            same(typeof content.type, "string", "the type of a content's type");
            ensure(content.type !== "function_approval_response", "an answer holds no approval");
          }
        }
      }
    },
  },
  {
    id: "M09",
    title: "32 calls at once each get one whole answer",
    contract: "ChatClient",
    reason: "A client is shared by all runs; a buffer of its own would mix what two users are told.",
    requires: SCRIPTED,
    async run(trial) {
      const opened = await trial.open();
      const texts = Array.from({ length: 32 }, (_, index) => `answer ${index} `.repeat(20));
      for (const text of texts) {
        await opened.answerNext?.({ text });
      }
      const asked = texts.map((_, index) => [message("user", `question-${index}`, `Question ${index}?`)]);
      const found = await all(asked.map(async (messages) => (await ask(opened.client, messages)).text));
      sameList([...found].sort(), [...texts].sort(), "the answers");
      await opened.answerNext?.({ text: "one more" });
      same((await ask(opened.client)).text, "one more", "an answer afterwards");
    },
  },
];

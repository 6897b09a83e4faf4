import type { ChatRequestOptions, Message } from "@agentfw/core";
import { ensure, same } from "../expect.ts";
import { ask, type ChatClause, message } from "./support.ts";

const SEEN = { hooks: ["lastRequest"] } as const;

const TOOL = {
  name: "weather",
  description: "Tells the weather of a city.",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

/** A conversation with a call and its results, as an agent sends it back to the model. */
const CONVERSATION: readonly Message[] = [
  message("user", "m-1", "How is the weather in Bern and in Chur?"),
  message(
    "assistant",
    "m-2",
    { type: "function_call", callId: "call-bern", name: "weather", arguments: '{"city":"Bern"}' },
    { type: "function_call", callId: "call-chur", name: "weather", arguments: '{"city":"Chur"}' },
  ),
  message("tool", "m-2/call-bern", {
    type: "function_result",
    callId: "call-bern",
    result: { sky: "clear-over-bern", degrees: 21 },
  }),
  message("tool", "m-2/call-chur", {
    type: "function_result",
    callId: "call-chur",
    result: null,
    exception: "station-of-chur-is-closed",
  }),
  message("assistant", "m-3", "Bern is clear; Chur does not answer."),
  message("user", "m-4", "And tomorrow?"),
];

const PRIVATE = "c0ffee-private-c0ffee";

/** What is sent. */
export const requestClauses: readonly ChatClause[] = [
  {
    id: "M10",
    title: "a conversation with calls and their results is taken, and reaches the service whole",
    contract: "ChatClient",
    reason: "A model that does not see the result of its call asks again, for ever.",
    requires: SEEN,
    async run(trial) {
      const opened = await trial.open();
      await ask(opened.client, CONVERSATION, { tools: [TOOL] });
      const sent = (await opened.lastRequest?.()) ?? "";
      const parts = ["Bern and in Chur?", "call-bern", "call-chur", "clear-over-bern", "does not answer", "tomorrow?"];
      for (const part of parts) {
        ensure(sent.includes(part), `the request holds ${JSON.stringify(part)}`);
      }
    },
  },
  {
    id: "M11",
    title: "a result of a tool that failed says so to the model",
    contract: "ChatClient",
    reason: "A model that is told nothing takes the failure for an empty answer.",
    requires: SEEN,
    async run(trial) {
      const opened = await trial.open();
      await ask(opened.client, CONVERSATION, { tools: [TOOL] });
      const sent = (await opened.lastRequest?.()) ?? "";
      ensure(sent.includes("station-of-chur-is-closed"), "the request holds the exception of the failed call");
    },
  },
  {
    id: "M12",
    title: "instructions, tools and the model that a call names reach the service",
    contract: "ChatClient",
    reason: "An option that is dropped silently changes what the model does.",
    requires: SEEN,
    async run(trial) {
      const opened = await trial.open();
      const instructions = "Answer in one sentence, please.";
      await ask(opened.client, CONVERSATION.slice(0, 1), { instructions, tools: [TOOL], model: "model-of-the-call" });
      const sent = (await opened.lastRequest?.()) ?? "";
      for (const part of [instructions, TOOL.name, TOOL.description, "city", "model-of-the-call"]) {
        ensure(sent.includes(part), `the request holds ${JSON.stringify(part)}`);
      }
    },
  },
  {
    id: "M13",
    title: "additional properties are not sent",
    contract: "Secrets and trust",
    reason: "They are the application's own notes, about users and tenants for example.",
    requires: SEEN,
    async run(trial) {
      const opened = await trial.open();
      const additionalProperties = { note: PRIVATE };
      const messages: readonly Message[] = [
        {
          role: "user",
          messageId: "m-1",
          contents: [{ type: "text", text: "What is new?", additionalProperties }],
          additionalProperties,
        },
      ];
      await ask(opened.client, messages);
      const sent = (await opened.lastRequest?.()) ?? "";
      ensure(sent.includes("What is new?"), "the request holds the text of the message");
      ensure(!sent.includes(PRIVATE), "the request holds no additional property of a message or content");
    },
  },
  {
    id: "M14",
    title: "the messages and options that are passed stay as they are",
    contract: "ChatClient",
    reason: "They are stored after the call, and shared by calls that run at once.",
    async run(trial) {
      const { client } = await trial.open();
      const messages = structuredClone(CONVERSATION);
      const options: ChatRequestOptions = { tools: [structuredClone(TOOL)], instructions: "Be brief." };
      const before = JSON.stringify([messages, options]);
      await ask(client, deepFreeze(messages), deepFreeze(options));
      same(JSON.stringify([messages, options]), before, "messages and options after a call");
    },
  },
];

/** Frozen at every level, so that a change throws in the code that makes it. */
function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) {
      deepFreeze(member);
    }
  }
  return value;
}

import type { OpenedChatClient } from "../../../src/index.ts";
import { chatMutant, type Mutant } from "../../support/mutant.ts";
import { turn } from "../../support/world.ts";
import { withContents, withRequests, withUpdates } from "./helpers.ts";

/** Defects in answers and in what is sent. */
export const answerMutants: readonly Mutant<OpenedChatClient>[] = [
  chatMutant("declares the version of another contract", ["M01"], () => ({ contractVersion: JSON.parse("2") }), {
    rejects: "contract version 2",
  }),
  chatMutant("does not say whether the service keeps conversations", ["M01"], () => ({
    storesByDefault: JSON.parse("null"),
  })),
  chatMutant("trims the pieces of its text", ["M02"], (client) =>
    withContents(client, (content) => [content.type === "text" ? { ...content, text: content.text.trim() } : content]),
  ),
  chatMutant("repeats the whole text at the end of its pieces", ["M02"], (client) => ({
    async *stream(messages, options) {
      let text = "";
      for await (const update of client.stream(messages, options)) {
        for (const content of update.contents ?? []) {
          text += content.type === "text" ? content.text : "";
        }
        yield update;
      }
      yield { contents: [{ type: "text", text }] };
    },
  })),
  chatMutant("leaves calls out of an answer in one piece", ["M03"], (client) => ({
    complete: async (messages, options) => {
      const whole = await client.complete(messages, options);
      return { ...whole, contents: whole.contents?.filter(({ type }) => type !== "function_call") };
    },
  })),
  chatMutant("gives calls that are made at once one id", ["M04"], (client) =>
    withContents(client, (content) => [content.type === "function_call" ? { ...content, callId: "call" } : content]),
  ),
  chatMutant("loses the last piece of the arguments", ["M04"], (client) =>
    withContents(client, (content) =>
      content.type === "function_call" && content.arguments.endsWith("}") && content.name === "" ? [] : [content],
    ),
  ),
  chatMutant("gives each piece a message id of its own", ["M05"], (client) => {
    let pieces = 0;
    return withUpdates(client, (update) => {
      pieces += 1;
      return { ...update, messageId: `piece-${pieces}` };
    });
  }),
  chatMutant("speaks as the user", ["M05"], (client) => withUpdates(client, (update) => ({ ...update, role: "user" }))),
  chatMutant("tells the usage with every piece", ["M06"], (client) =>
    withContents(client, (content) => [
      content,
      ...(content.type === "text"
        ? [{ type: "usage", details: { inputTokenCount: 21, outputTokenCount: 34 } } as const]
        : []),
    ]),
  ),
  chatMutant("always gives the reason of a whole answer", ["M07"], (client) =>
    withUpdates(client, (update) => (update.finishReason === undefined ? update : { ...update, finishReason: "stop" })),
  ),
  chatMutant(
    "puts the driver's own object into its answer",
    ["M08"],
    (client) => withUpdates(client, (update) => ({ ...update, additionalProperties: { raw: new Map() } })),
    { rejects: "cannot be stored as JSON" },
  ),
  chatMutant("gathers an answer in a buffer on the instance", ["M09"], (client) => {
    let buffer = "";
    return {
      async *stream(messages, options) {
        buffer = "";
        for await (const { contents = [], ...rest } of client.stream(messages, options)) {
          await turn();
          buffer += contents.map((content) => (content.type === "text" ? content.text : "")).join("");
          yield { ...rest, contents: contents.filter(({ type }) => type !== "text") };
        }
        yield { contents: [{ type: "text", text: buffer }] };
      },
    };
  }),
  chatMutant("leaves tool results out of its requests", ["M10"], (client) =>
    withRequests(client, (messages) => ({ messages: messages.filter(({ role }) => role !== "tool") })),
  ),
  chatMutant(
    "sends a tool's failure as an empty result",
    ["M11"],
    (client) =>
      withRequests(client, (messages) => ({
        messages: messages.map((message) => ({
          ...message,
          contents: message.contents.map((content) =>
            content.type === "function_result" ? { ...content, exception: undefined } : content,
          ),
        })),
      })),
    { spares: ["M10"] },
  ),
  chatMutant("drops the instructions of a call", ["M12"], (client) =>
    withRequests(client, (_, options) => ({ options: { ...options, instructions: undefined } })),
  ),
  chatMutant("asks one model, whichever a call names", ["M12"], (client) =>
    withRequests(client, (_, options) => ({ options: { ...options, model: "model-of-the-client" } })),
  ),
  chatMutant("sends additional properties along with the text", ["M13"], (client) =>
    withRequests(client, (messages) => ({
      messages: messages.map((message) => ({
        ...message,
        contents: [...message.contents, { type: "text", text: JSON.stringify(message.additionalProperties ?? {}) }],
      })),
    })),
  ),
  chatMutant(
    "marks the messages that it has sent",
    ["M14"],
    (client) =>
      withRequests(client, (messages) => {
        for (const message of messages) {
          Object.assign(message, { isSent: true });
        }
        return {};
      }),
    { rejects: "object is not extensible" },
  ),
];

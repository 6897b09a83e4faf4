import { messageFromJson, messageToJson } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { toWireMessages } from "../src/chat-messages.ts";
import { collect, connect, fold } from "./helpers.ts";
import { type Recorded, recordedCalls, recordings, toMessage } from "./recordings.ts";

const FORMAT = { systemRole: "system", joinTexts: false, reasoningField: undefined } as const;

/** Recordings name the tool beside its result; requests do not. */
function withoutName({ name: _, ...recorded }: Recorded & { name?: unknown }): Recorded {
  return recorded;
}

describe.each(recordings().map((recording) => [recording.id, recording.messages] as const))(
  "recording %s",
  (_, recorded) => {
    const messages = recorded.map(toMessage);

    it("goes to the service as it was recorded, message by message, also after it was stored", () => {
      const expected = recorded.map(withoutName);
      expect(toWireMessages(messages, FORMAT)).toEqual(expected);
      const stored = messages.map((message) => messageFromJson(JSON.parse(JSON.stringify(messageToJson(message)))));
      expect(toWireMessages(stored, FORMAT)).toEqual(expected);
    });

    it("comes from the service as it was recorded, answer by answer, on top of what the service was told", async () => {
      const { client, server } = await connect();
      for (const [index, answer] of recorded.entries()) {
        if (answer["role"] === "assistant") {
          const toolCalls = recordedCalls(answer).map(({ callId, name, arguments: text }) => ({
            id: callId,
            name,
            arguments: text,
          }));
          const text = typeof answer["content"] === "string" ? answer["content"] : undefined;
          server.reply({ answer: { text, toolCalls }, delivery: { splitBytes: 1000 } });
          const folded = fold(await collect(client.stream(messages.slice(0, index))));
          expect(folded.text).toBe(text ?? "");
          expect(folded.calls).toEqual(recordedCalls(answer));
          expect(server.requests.at(-1)?.body["messages"]).toEqual(recorded.slice(0, index).map(withoutName));
        }
      }
    });
  },
);

import { type Content, type Message, openConversation } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { call, dataOf, Stage, WAYS } from "./support/stage.ts";

/** Six turns of a reasoning model: it thinks, asks, is answered, thinks again and says something. */
function sixTurns(): Message[] {
  return [1, 2, 3, 4, 5, 6].flatMap((turn): Message[] => {
    const thought = (step: number): Content => {
      const reasoning = { type: "text_reasoning" as const };
      if (turn === 3) {
        return { ...reasoning, additionalProperties: { itemId: `r${turn}${step}` } };
      }
      return turn === 4 ? { ...reasoning, protectedData: `opaque+${step}/==` } : { ...reasoning, text: `hm ${step}` };
    };
    const says = (name: string, content: Content, role: Message["role"] = "assistant"): Message => ({
      role,
      messageId: `${turn}${name}`,
      contents: [content],
    });
    return [
      says("u", { type: "text", text: "q" }, "user"),
      says("r", thought(1)),
      says("c", call(`call-${turn}`, "look")),
      {
        role: "tool",
        messageId: `${turn}c/call-${turn}`,
        contents: [{ type: "function_result", callId: `call-${turn}`, result: 1 }],
      },
      says("s", thought(2)),
      says("t", { type: "text", text: "a" }),
    ];
  });
}

/** What a service that ties reasoning to what follows it would refuse in a request. */
function reasoningFault(request: readonly Message[]): string | undefined {
  const whole = sixTurns();
  const ids = request.map(({ messageId }) => messageId);
  for (const [index, { messageId }] of whole.entries()) {
    const partner = whole[index + 1]?.messageId ?? "";
    const isReasoning = /^\d[rs]$/.test(messageId);
    if (isReasoning && ids.includes(messageId) !== ids.includes(partner)) {
      return `${messageId} and ${partner} are parted`;
    }
    if (isReasoning && ids.includes(messageId) && ids.indexOf(partner) !== ids.indexOf(messageId) + 1) {
      return `${messageId} does not stand before ${partner}`;
    }
  }
  return undefined;
}

const LIMITS = Array.from({ length: 36 }, (_, index) => index + 1);

describe.each(WAYS)("Reasoning in a window ($backend, streamed: $isStreamed)", (way) => {
  it("is sent with what it led to or not at all, whatever the limit, and as it was stored", async () => {
    const open = await dataOf(way);
    await openConversation(open(), { owner: "ann", sessionId: "s" }).append(sixTurns());
    const store = open();
    for (const maxMessages of LIMITS) {
      const stage = new Stage(store, way, ["fine"], {
        history: { maxMessages, storeInputs: false, storeOutputs: false },
      });
      await stage.run("now");
      const request = stage.model.calls[0]?.messages ?? [];
      expect(reasoningFault(request), `limit ${maxMessages}`).toBeUndefined();
      expect(request.length).toBeGreaterThan(1);
      const known = new Map(sixTurns().map((message) => [message.messageId, message.contents]));
      for (const { messageId, contents } of request.slice(0, -1)) {
        expect(contents).toStrictEqual(known.get(messageId));
      }
    }
  });
});

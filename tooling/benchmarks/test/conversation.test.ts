import { messageText } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { ASSISTANT_CHARACTERS, messages, prose, TurnSource, turn, USER_CHARACTERS } from "../src/conversation.ts";
import { seededRandom } from "../src/random.ts";

describe("the conversations that are measured", () => {
  it("have questions and answers of the lengths that are said, in turns", () => {
    const list = messages(200);
    expect(list.length).toBe(200);
    for (const [index, message] of list.entries()) {
      expect(message.role).toBe(index % 2 === 0 ? "user" : "assistant");
      expect(messageText(message).length).toBe(index % 2 === 0 ? USER_CHARACTERS : ASSISTANT_CHARACTERS);
    }
  });

  it("are the same in every process", () => {
    expect(messages(3)).toEqual(messages(3));
    expect(turn(3).user.messageId).toBe("00000000-0000-4000-8000-000000000003:i0");
    expect(prose(40, seededRandom(1))).toBe(prose(40, seededRandom(1)));
  });

  it("have texts that differ and words that look like language", () => {
    const texts = messages(20).map(messageText);
    expect(new Set(texts).size).toBe(20);
    expect(texts[0]).toMatch(/^[A-Z][a-z]*( [a-z]+)+\.? /);
  });

  it("never repeat an id, also when a source goes on behind them", () => {
    const source = new TurnSource();
    const added = [source.next(), source.next()].flatMap(({ user, assistant }) => [user, assistant]);
    const ids = [...messages(101), ...added].map(({ messageId }) => messageId);
    expect(new Set(ids).size).toBe(105);
  });
});

import { describe, expect, test } from "vitest";
import { isOurs } from "../src/history-ownership.ts";
import { InMemoryHistoryStore, type Message, openConversation } from "../src/index.ts";

const said = (id: string, role: Message["role"] = "assistant"): Message => ({
  role,
  messageId: id,
  contents: [{ type: "text", text: id }],
});

/** A conversation, and what an append to it says afterwards. */
function open(maxRecords?: number) {
  const store = new InMemoryHistoryStore({ maxRecords });
  const log = openConversation(store, { owner: "ann", sessionId: "s" });
  const append = async (messages: readonly Message[], produced: readonly Message[]) => {
    const { appended } = await log.append(messages);
    return { appended, isOurs: () => isOurs(log, messages, appended, produced) };
  };
  return { log, append };
}

describe("what the model said is this run's", () => {
  test("when it was added, whatever was skipped before it", async () => {
    const { log, append } = open();
    await log.append([said("old", "user"), said("old answer")]);
    const answer = said("r:o0");
    const { appended, isOurs } = await append([said("old", "user"), said("new", "user"), answer], [answer]);
    expect(appended).toBe(2);
    expect(await isOurs()).toBe(true);
  });

  test("also when others have written many messages behind it", async () => {
    const { log, append } = open();
    await log.append([said("old", "user")]);
    const answer = said("r:o0");
    const { isOurs } = await append([said("old", "user"), answer], [answer]);
    for (let turn = 0; turn < 30; turn += 1) {
      await log.append([said(`other-${turn}`)]);
    }
    expect(await isOurs()).toBe(true);
  });

  test("and not when another attempt's is there under its id, however much else was new", async () => {
    const { log, append } = open();
    await log.append([said("r:o0")]);
    const answers = [said("r:o0"), said("r:o1")];
    const { appended, isOurs } = await append([said("a repair", "tool"), said("r:i0", "user"), ...answers], answers);
    expect(appended).toBe(3);
    expect(await isOurs()).toBe(false);
  });

  test("as far as anybody can tell, when the store keeps less than the run had to say", async () => {
    for (const maxRecords of [0, 2]) {
      const { log, append } = open(maxRecords);
      await log.append([said("old", "user")]);
      const answers = [said("r:o0"), said("r:o0/c", "tool"), said("r:o1")];
      const { appended, isOurs } = await append([said("old", "user"), ...answers], answers);
      expect(appended).toBe(3);
      expect(await isOurs()).toBe(true);
    }
  });

  test("and nothing is read where the model said nothing", async () => {
    const log = { append: () => Promise.reject(new Error("no")), read: () => Promise.reject(new Error("no")) };
    expect(await isOurs(log, [said("a", "user"), said("b", "tool")], 1, [said("b", "tool")])).toBe(true);
  });
});

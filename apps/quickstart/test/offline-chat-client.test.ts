import type { Message } from "@agentfw/core";
import { expect, test } from "vitest";
import { OfflineChatClient } from "../src/offline-chat-client.ts";

const user = (text: string): Message => ({ role: "user", messageId: text, contents: [{ type: "text", text }] });

async function answer(...texts: string[]): Promise<string> {
  let answered = "";
  for await (const update of new OfflineChatClient().stream(texts.map(user), {})) {
    for (const content of update.contents ?? []) {
      answered += content.type === "text" ? content.text : "";
    }
  }
  return answered;
}

test("answers from what the user said earlier, and always alike", async () => {
  const said = ["My name is Ada.", "I like Italian food.", "What is my name?", "I have two cats"];
  expect(await answer(...said, "What is my name?")).toBe('You told me: "My name is Ada."');
  expect(await answer(...said, "which foods do I like")).toBe('You told me: "I like Italian food."');
  expect(await answer(...said, "How many cats?")).toBe('You told me: "I have two cats"');
});

test("of several statements the latest counts", async () => {
  expect(await answer("I live in Rome", "I live in Oslo", "Where do I live?")).toContain("Oslo");
});

test("says that it found nothing when nothing fits", async () => {
  expect(await answer("What is my name?")).toContain("I find nothing about that");
  expect(await answer("I like tea.", "What is my name?")).toContain("1 message that");
});

test("gives up when it is told to", async () => {
  const signal = AbortSignal.abort(new Error("enough"));
  const updates = new OfflineChatClient().stream([user("hello")], { signal });
  await expect(updates.next()).rejects.toThrow("enough");
});

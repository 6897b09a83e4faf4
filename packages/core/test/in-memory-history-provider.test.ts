import { describe, expect, test } from "vitest";
import {
  AgentSession,
  InMemoryHistoryProvider,
  isAgentFrameworkError,
  type Message,
  RunContext,
} from "../src/index.ts";
import { assistant, ids, user } from "./support/messages.ts";
import { load, newRun, newSession } from "./support/runs.ts";

async function turn(provider: InMemoryHistoryProvider, session: AgentSession, input: Message, answer: Message) {
  const { run } = newRun(session, [input]);
  const context = new RunContext(run, provider);
  await provider.beforeRun(context);
  run.produced = [answer];
  await provider.afterRun(context);
}

describe("history in the session", () => {
  test("travels with the session's JSON, bytes included", async () => {
    const provider = new InMemoryHistoryProvider();
    const session = newSession();
    const image: Message = {
      ...user("u1"),
      contents: [{ type: "data", data: Uint8Array.of(0, 255, 254, 128), mediaType: "image/png" }],
    };
    await turn(provider, session, image, assistant("a1"));
    const restored = AgentSession.fromJSON(JSON.stringify(session), { owner: "owner" });
    const { messages } = await load(provider, restored);
    expect(ids(messages)).toEqual(["u1", "a1"]);
    expect(messages[0]?.contents).toEqual(image.contents);
  });

  test("is copied out: changing what was read changes nothing", async () => {
    const provider = new InMemoryHistoryProvider();
    const session = newSession();
    provider.setMessages(session, [user("u1")]);
    const [read] = await provider.getMessages(session);
    (read?.contents as unknown[]).length = 0;
    expect((await provider.getMessages(session))[0]?.contents).toHaveLength(1);
  });

  test("can be replaced, but not by messages without an id of their own", async () => {
    const provider = new InMemoryHistoryProvider();
    const session = newSession();
    provider.setMessages(session, [user("u1"), assistant("a1")]);
    expect(() => provider.setMessages(session, [user("x"), user("x")])).toThrow("messages");
    expect(() => provider.setMessages(session, [user("")])).toThrow("messages");
    expect(ids(await provider.getMessages(session))).toEqual(["u1", "a1"]);
  });

  test("stores a message once, also when the list was changed behind its back", async () => {
    const provider = new InMemoryHistoryProvider();
    const session = newSession();
    await turn(provider, session, user("u1"), assistant("a1"));
    await expect(turn(provider, session, user("u1"), assistant("a1"))).rejects.toMatchObject({ code: "conflict" });
    provider.setMessages(session, [user("u0")]);
    await turn(provider, session, user("u1"), assistant("a1"));
    expect(ids(await provider.getMessages(session))).toEqual(["u0", "u1", "a1"]);
  });

  test("that is no list, or holds what is no message, is corrupt and left as it is", async () => {
    const provider = new InMemoryHistoryProvider();
    const noList = newSession();
    noList.state["in_memory"] = { messages: "none" };
    await expect(load(provider, noList)).rejects.toSatisfy((error) => isAgentFrameworkError(error, "corrupt"));
    const noMessage = newSession();
    noMessage.state["in_memory"] = { messages: [{ role: "user" }] };
    await expect(load(provider, noMessage)).rejects.toMatchObject({
      code: "corrupt",
      position: "state.in_memory.messages[0]",
    });
    expect(noMessage.state["in_memory"]).toEqual({ messages: [{ role: "user" }] });
  });

  test("has no other writers to be conditional on", () => {
    expect(() => new InMemoryHistoryProvider({ conditionalAppend: true })).toThrow("conditionalAppend");
  });
});

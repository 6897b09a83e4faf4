import { InMemoryHistoryProvider, type MessageInput } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { Agent } from "../src/index.ts";
import { open, reopen } from "./fixture.ts";
import { call, ScriptedClient, shape } from "./scripted-client.ts";

function text(role: "user" | "assistant", value: string, messageId?: string): MessageInput {
  return { role, contents: value, ...(messageId === undefined ? {} : { messageId }) };
}

describe("A conversation over several turns", () => {
  it("shows the model every message of the turns before exactly once and in order", async () => {
    const { agent, client, session } = open(["one", "two", "three"]);
    for (const input of ["a", "b", "c"]) {
      await agent.run(input, { session: session() });
    }
    expect(client.calls.map(({ messages }) => shape(messages))).toEqual([
      ["user: a"],
      ["user: a", "assistant: one", "user: b"],
      ["user: a", "assistant: one", "user: b", "assistant: two", "user: c"],
    ]);
  });

  it("goes on in a new process with every object made anew", async () => {
    const first = open(["Noted."]);
    await first.agent.run("My name is Ann.", { session: first.session() });
    const second = reopen(first, ["Ann."]);
    await second.agent.run("What is my name?", { session: second.session() });
    expect(shape(second.client.calls[0]?.messages ?? [])).toEqual([
      "user: My name is Ann.",
      "assistant: Noted.",
      "user: What is my name?",
    ]);
    expect(await second.stored()).toHaveLength(4);
  });

  it("is loaded with one read of a page, however long it is and whether the run has a name or not", async () => {
    const look = { name: "look", parameters: { type: "object" }, execute: () => 1 };
    const script = Array.from({ length: 15 }, (_, index) => [[call(`c${index}`, "look")], `answer ${index}`]).flat();
    const { agent, session, store } = open([...script, "named", "unnamed"], {
      tools: [look],
      history: { maxMessages: 4 },
    });
    for (let turn = 0; turn < 15; turn += 1) {
      await agent.run(`turn ${turn}`, { session: session() });
    }
    store.calls.length = 0;
    await agent.run("x", { session: session(), runId: "named" });
    await agent.run(text("user", "y", "client-id"), { session: session() });
    expect(store.calls.map(({ name }) => name)).toEqual(["read", "append", "read", "append"]);
  });

  it("keeps every repetition of a text that has no id of its own", async () => {
    const { agent, client, session, stored } = open(["one", "two", "three", "four"]);
    await agent.run("yes", { session: session() });
    await agent.run("yes", { session: session() });
    await agent.run([text("user", "yes"), text("assistant", "one"), text("user", "yes")], { session: session() });
    expect(shape(client.calls[2]?.messages ?? [])).toEqual([
      "user: yes",
      "assistant: one",
      "user: yes",
      "assistant: two",
      "user: yes",
      "assistant: one",
      "user: yes",
    ]);
    expect(await stored()).toHaveLength(8);
    expect(new Set((await stored()).map(({ messageId }) => messageId)).size).toBe(8);
  });

  it("takes a transcript that is sent again with its ids as history, whatever objects it is made of", async () => {
    const { agent, client, session, stored } = open(["one", "two", "three"]);
    const sendAll = async (transcript: MessageInput[]) => {
      const { messages } = await agent.run(JSON.parse(JSON.stringify(transcript)), { session: session() });
      return [...transcript, ...messages.map(({ role, contents, messageId }) => ({ role, contents, messageId }))];
    };
    let transcript: MessageInput[] = [];
    for (const [index, input] of ["yes", "no", "yes"].entries()) {
      transcript = await sendAll([...transcript, text("user", input, `client-${index}`)]);
    }
    const expected = ["user: yes", "assistant: one", "user: no", "assistant: two", "user: yes"];
    expect(shape(client.calls[2]?.messages ?? [])).toEqual(expected);
    expect(shape(await stored())).toEqual([...expected, "assistant: three"]);
  });

  it("takes a transcript with tool calls that is sent again as history", async () => {
    const lookUp = { name: "look_up", parameters: { type: "object" }, execute: () => "found" };
    const { agent, client, session, stored } = open([[call("c", "look_up")], "here", "again"], { tools: [lookUp] });
    const first = await agent.run(text("user", "find", "u1"), { session: session() });
    await agent.run(
      [text("user", "find", "u1"), ...first.messages, text("user", "more", "u2")].map((message) => ({ ...message })),
      { session: session() },
    );
    expect(client.calls[2]?.messages).toHaveLength(5);
    expect(shape(await stored())).toEqual([
      "user: find",
      "assistant: call c look_up {}",
      'tool: result c "found"',
      "assistant: here",
      "user: more",
      "assistant: again",
    ]);
  });

  it("keeps the results of calls in a transcript of the caller's, also when a call in the history had the same id", async () => {
    const lookUp = { name: "look_up", parameters: { type: "object" }, execute: () => "ours" };
    const { agent, client, session } = open([[call("c", "look_up")], "here", "again"], { tools: [lookUp] });
    await agent.run("find", { session: session() });
    await agent.run(
      [
        { role: "assistant", contents: [call("c", "look_up")] },
        { role: "tool", contents: [{ type: "function_result", callId: "c", result: "theirs" }] },
        "more",
      ],
      { session: session() },
    );
    expect(shape(client.calls[2]?.messages ?? []).slice(4)).toEqual([
      "assistant: call c look_up {}",
      'tool: result c "theirs"',
      "user: more",
    ]);
  });

  it("stores nothing twice when the same message is sent in two turns under one id", async () => {
    const { agent, session, stored } = open(["one", "two"]);
    await agent.run(text("user", "hello", "m"), { session: session() });
    await agent.run(text("user", "hello", "m"), { session: session() });
    expect(shape(await stored())).toEqual(["user: hello", "assistant: one", "assistant: two"]);
  });

  it("keeps the conversations of two sessions apart when their callers use the same message ids", async () => {
    const { agent, store } = open(["one", "two"]);
    const sessions = ["s", "t"].map((sessionId) => agent.createSession({ sessionId, owner: "ann" }));
    for (const session of sessions) {
      await agent.run(text("user", session.sessionId, "m1"), { session });
    }
    expect(store.calls.filter(({ name }) => name === "append").map(({ key }) => key.session)).toEqual(["s", "t"]);
    expect(store.calls.filter(({ name }) => name === "append").map(({ records }) => records.length)).toEqual([2, 2]);
  });

  it("gives the model's messages ids of its own, because services repeat theirs", async () => {
    const repeated = { pieces: [{ messageId: "msg_1", contents: [{ type: "text" as const, text: "hi" }] }] };
    const { agent, session, stored } = open([repeated, repeated]);
    await agent.run("a", { session: session() });
    await agent.run("b", { session: session() });
    const answers = (await stored()).filter(({ role }) => role === "assistant");
    expect(answers).toHaveLength(2);
    expect(answers.map(({ additionalProperties }) => additionalProperties?.["serviceMessageId"])).toEqual([
      "msg_1",
      "msg_1",
    ]);
  });

  it("carries on in a session that was serialized between the turns, when the session holds the history", async () => {
    const client = new ScriptedClient(["one", "two"]);
    const agent = new Agent({ client });
    const session = agent.createSession({ owner: "ann" });
    await agent.run("a", { session });
    const { AgentSession } = await import("@agentfw/core");
    const restored = AgentSession.fromJSON(JSON.stringify(session), { owner: "ann" });
    await agent.run("b", { session: restored });
    expect(shape(client.calls[1]?.messages ?? [])).toEqual(["user: a", "assistant: one", "user: b"]);
  });

  it("keeps a write-only provider in the session apart from the one that loads", async () => {
    const client = new ScriptedClient(["one", "two"]);
    const audit = new InMemoryHistoryProvider({ load: false, storeInputs: false });
    const agent = new Agent({ client, contextProviders: [audit] });
    const session = agent.createSession();
    await agent.run("a", { session });
    await agent.run("b", { session });
    expect(shape(client.calls[1]?.messages ?? [])).toEqual(["user: a", "assistant: one", "user: b"]);
    expect(shape(await audit.getMessages(session))).toEqual(["assistant: one", "assistant: two"]);
  });

  it("drops nothing of what surrounds a tool result in one message of the caller", async () => {
    const ask = { name: "ask", parameters: { type: "object" } };
    const { agent, client, session } = open([[call("c", "ask")], "thanks"], { tools: [ask] });
    await agent.run("go", { session: session() });
    await agent.run(
      { role: "user", contents: [{ type: "function_result", callId: "c", result: 42 }, "and hurry, please"] },
      { session: session() },
    );
    expect(shape(client.calls[1]?.messages ?? [])).toEqual([
      "user: go",
      "assistant: call c ask {}",
      expect.stringContaining("result c 42"),
      "user: and hurry, please",
    ]);
  });
});

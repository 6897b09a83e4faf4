import { HistoryProvider, InMemoryFileStore, InMemoryHistoryStore, InMemoryStateStore, type Tool } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import type { TelemetryOptions } from "../src/index.ts";
import { agentOf, call, failureOf, model, piece, useAsyncContext, Watch } from "./support.ts";

useAsyncContext();

const secrets = [
  "ASKED",
  "ANSWERED",
  "REASONED",
  "ARGUMENT",
  "RESULT",
  "INSTRUCTED",
  "OWNER",
  "SESSION",
  "RUN-ID",
  "STATE-KEY",
  "FILE-PATH",
  "STORED",
  "FAILED",
  "SOURCE",
  "SEARCHED",
  "MESSAGE-ID",
];

/** Runs, tools, failures and stores, all full of what nobody is to see. */
async function everything(options: TelemetryOptions): Promise<Watch> {
  const watch = new Watch(options);
  const { telemetry } = watch;
  const look: Tool = { name: "look", parameters: { type: "object" }, execute: () => "RESULT" };
  const reasoning = { type: "text_reasoning", text: "REASONED" } as const;
  const client = model(
    [reasoning, call("1", "look", { place: "ARGUMENT" }), call("2", "fails")],
    [piece("ANSW"), piece("ERED")],
    new Error("FAILED"),
  );
  const fails: Tool = {
    ...look,
    name: "fails",
    execute: () => {
      throw new Error("FAILED");
    },
  };
  const history = telemetry.historyStore(new InMemoryHistoryStore());
  const onDiagnostic = telemetry.onDiagnostic();
  const agent = agentOf(watch, client, {
    instructions: "INSTRUCTED",
    tools: [look, fails],
    contextProviders: [new HistoryProvider(history, { sourceId: "SOURCE", onDiagnostic })],
    onDiagnostic,
  });
  const session = agent.createSession({ sessionId: "SESSION", owner: "OWNER" });
  await agent.run({ role: "user", contents: "ASKED", messageId: "MESSAGE-ID" }, { session, runId: "RUN-ID" });
  await failureOf(agent.run("ASKED", { session }));
  await history.list?.({ owner: "OWNER" });
  const state = telemetry.stateStore(new InMemoryStateStore());
  await state.create("STATE-KEY", '{"a":"STORED"}', { owner: "OWNER", tags: { STORED: "STORED" } });
  await state.get("STATE-KEY", { owner: "OWNER" });
  const files = telemetry.fileStore(new InMemoryFileStore());
  await files.write("FILE-PATH", "SEARCHED STORED", { owner: "OWNER" });
  await files.search("SEARCHED", { owner: "OWNER" });
  return watch;
}

/** Which of the secrets are in the spans, and which in the metrics. */
async function shown(options: TelemetryOptions): Promise<{ spans: string[]; metrics: string[] }> {
  const watch = await everything(options);
  expect(watch.spans.length).toBeGreaterThan(10);
  const spans = JSON.stringify(
    watch.spans.map(({ name, attributes, events, status }) => ({ name, attributes, events, status })),
  );
  const metrics = JSON.stringify(await watch.metrics());
  return {
    spans: secrets.filter((secret) => spans.includes(secret)),
    metrics: secrets.filter((secret) => metrics.includes(secret)),
  };
}

describe("what is told of people and of what they said", () => {
  it("is nothing by default", async () => {
    expect(await shown({})).toEqual({ spans: [], metrics: [] });
  });

  it("is what was asked for, and never in metrics", async () => {
    const content = ["ASKED", "ANSWERED", "REASONED", "ARGUMENT", "RESULT", "INSTRUCTED"];
    expect(await shown({ captureContent: true })).toEqual({ spans: content, metrics: [] });
    expect(await shown({ captureErrors: true })).toEqual({ spans: ["FAILED"], metrics: [] });
    expect(await shown({ captureIds: true })).toEqual({
      spans: ["SESSION", "RUN-ID", "STATE-KEY", "FILE-PATH", "SOURCE"],
      metrics: [],
    });
    expect(await shown({ captureOwner: true })).toEqual({ spans: ["OWNER"], metrics: [] });
  });

  it("is not what is stored, whatever was asked for", async () => {
    const all = { captureContent: true, captureErrors: true, captureIds: true, captureOwner: true };
    expect((await shown(all)).spans).not.toContain("STORED");
  });
});

describe("what was asked for", () => {
  it("stands where the conventions put it", async () => {
    const watch = await everything({ captureContent: true, captureErrors: true, captureIds: true, captureOwner: true });
    const [first, second] = watch.spans.filter(({ name }) => name === "chat");
    const run = watch.spans.find(({ name }) => name === "invoke_agent");
    const text = (content: string) => ({ type: "text", content });
    const asked = { role: "user", parts: [text("ASKED")] };
    const calls = [
      { type: "tool_call", id: "1", name: "look", arguments: { place: "ARGUMENT" } },
      { type: "tool_call", id: "2", name: "fails", arguments: {} },
    ];
    const firstAnswer = { role: "assistant", parts: [{ type: "reasoning", content: "REASONED" }, ...calls] };
    expect(read(first?.attributes["gen_ai.system_instructions"])).toEqual([text("INSTRUCTED")]);
    expect(read(first?.attributes["gen_ai.input.messages"])).toEqual([asked]);
    expect(read(first?.attributes["gen_ai.output.messages"])).toEqual([firstAnswer]);
    expect(read(first?.attributes["gen_ai.tool.definitions"])).toEqual([
      { type: "function", name: "look", parameters: { type: "object" } },
      { type: "function", name: "fails", parameters: { type: "object" } },
    ]);
    const results = [
      { role: "tool", parts: [{ type: "tool_call_response", id: "1", response: "RESULT" }] },
      { role: "tool", parts: [{ type: "tool_call_response", id: "2", response: "Error: fails failed." }] },
    ];
    expect(read(second?.attributes["gen_ai.input.messages"])).toEqual([asked, firstAnswer, ...results]);
    const answer = { role: "assistant", parts: [text("ANSWERED")] };
    expect(read(second?.attributes["gen_ai.output.messages"])).toEqual([answer]);
    expect(read(run?.attributes["gen_ai.input.messages"])).toEqual([asked]);
    expect(read(run?.attributes["gen_ai.output.messages"])).toEqual([firstAnswer, ...results, answer]);
    expect(run?.attributes).toMatchObject({
      "gen_ai.conversation.id": "SESSION",
      "agentfw.run.id": "RUN-ID",
      "enduser.id": "OWNER",
    });
    expect(watch.span("execute_tool look").attributes).toMatchObject({
      "gen_ai.tool.call.arguments": '{"place":"ARGUMENT"}',
      "gen_ai.tool.call.result": '"RESULT"',
    });
    expect(watch.span("execute_tool fails")).toMatchObject({
      status: { message: "FAILED" },
      events: [{ name: "exception", attributes: { "exception.message": "FAILED" } }],
    });
    expect(watch.span("history_store.list").attributes).toMatchObject({ "enduser.id": "OWNER" });
    expect(watch.span("state_store.get").attributes).toMatchObject({
      "agentfw.store.key": "STATE-KEY",
      "enduser.id": "OWNER",
    });
    expect(watch.span("file_store.write").attributes).toMatchObject({ "agentfw.store.key": "FILE-PATH" });
    expect(watch.spans.find(({ name }) => name === "history_store.read")?.attributes).toMatchObject({
      "gen_ai.conversation.id": "SESSION",
      "agentfw.store.key": "SOURCE",
      "enduser.id": "OWNER",
    });
  });

  it("shows contents of every kind, but no bytes", async () => {
    const watch = new Watch({ captureContent: true });
    await agentOf(watch, model("hi")).run({
      role: "user",
      contents: [
        { type: "data", data: new Uint8Array(3), mediaType: "image/png" },
        { type: "uri", uri: "data:image/gif;base64,R0lGODlhAQABAAAAACw=", mediaType: "image/gif" },
        { type: "uri", uri: "https://example.com/a.wav", mediaType: "audio/wav" },
        { type: "uri", uri: "https://example.com/a" },
        { type: "hosted_file", fileId: "file-1" },
        { type: "error", message: "broken" },
      ],
    });
    const [message] = read(watch.span("invoke_agent").attributes["gen_ai.input.messages"]) as { parts: unknown }[];
    expect(message?.parts).toEqual([
      { type: "blob", modality: "image", mime_type: "image/png", byte_count: 3 },
      { type: "blob", modality: "image", mime_type: "image/gif" },
      { type: "uri", modality: "audio", mime_type: "audio/wav", uri: "https://example.com/a.wav" },
      { type: "uri", modality: "document", uri: "https://example.com/a" },
      { type: "file", modality: "document", file_id: "file-1" },
      { type: "error" },
    ]);
  });

  it("joins the pieces of calls and texts that come one by one", async () => {
    const watch = new Watch({ captureContent: true });
    const look: Tool = { name: "look", parameters: { type: "object" }, execute: () => "seen" };
    const part = (name: string, text: string) =>
      ({ type: "function_call", callId: "1", name, arguments: text }) as const;
    const client = model(
      [piece("a"), piece("b"), { contents: [part("look", '{"x"')] }, { contents: [part("", ":1}")] }],
      "done",
    );
    await agentOf(watch, client, { tools: [look] }).run("go");
    const [chat] = watch.spans;
    expect(read(chat?.attributes["gen_ai.output.messages"])).toEqual([
      {
        role: "assistant",
        parts: [
          { type: "text", content: "ab" },
          { type: "tool_call", id: "1", name: "look", arguments: { x: 1 } },
        ],
      },
    ]);
  });
});

function read(value: unknown): unknown {
  return JSON.parse(String(value));
}

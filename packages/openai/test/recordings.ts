import { readFileSync } from "node:fs";
import type { FunctionCallContent, Message } from "@agentfw/core";
import { isFields } from "@agentfw/test-servers/openai";

/** A message as Chat Completions records it. */
export type Recorded = Readonly<Record<string, unknown>>;

/** A recorded conversation. */
export interface Recording {
  readonly id: string;
  readonly messages: readonly Recorded[];
}

/** A conversation of our own making, with everything that real ones hold: repeated ids, odd spacing, empty results. */
const SAMPLE: Recording = {
  id: "sample",
  messages: [
    { role: "system", content: "# Library desk\n\n- Lend at most \"three\" books.\n- Say 'yes' or \\no\\.\n" },
    { role: "user", content: "Hi! Do you have “Der Zauberberg”? 📚 " },
    {
      role: "assistant",
      content: null,
      tool_calls: [recordedCall("call_a", "find_book", '{"title":"Der Zauberberg","limit":12345678901234567890}')],
    },
    { role: "tool", tool_call_id: "call_a", name: "find_book", content: '{"copies": 2, "shelf":"Ü-4"}' },
    { role: "assistant", content: "Yes, two copies.\n\nShall I reserve one?" },
    { role: "user", content: "yes" },
    {
      role: "assistant",
      content: "",
      tool_calls: [
        recordedCall("call_a", "reserve", "{ }"),
        recordedCall("call_b", "notify", '{"text":"a\\nb\\u0000"}'),
      ],
    },
    { role: "tool", tool_call_id: "call_a", name: "reserve", content: "" },
    { role: "tool", tool_call_id: "call_b", name: "notify", content: "Error: user not found" },
    { role: "assistant", content: "Reserved, but I could not notify you." },
    { role: "user", content: "" },
    { role: "assistant", content: "Anything else?" },
  ],
};

function recordedCall(id: string, name: string, text: string): object {
  return { id, type: "function", function: { name, arguments: text } };
}

/** Our own sample, and the recordings in the JSON Lines file that `AGENTFW_TRANSCRIPTS` names, if it does. */
export function recordings(): Recording[] {
  const file = process.env["AGENTFW_TRANSCRIPTS"];
  const lines = file ? readFileSync(file, "utf8").split("\n") : [];
  return [SAMPLE, ...lines.filter((line) => line !== "").map(recordingOf)];
}

function recordingOf(line: string): Recording {
  const recording: unknown = JSON.parse(line);
  if (!isFields(recording) || !Array.isArray(recording["messages"])) {
    throw new Error("the file of recordings holds something else");
  }
  return { id: String(recording["id"]), messages: recording["messages"].filter(isFields) };
}

/** A recorded message in the framework's form. */
export function toMessage(recorded: Recorded, index: number): Message {
  const messageId = `m${index}`;
  const { content } = recorded;
  switch (recorded["role"]) {
    case "tool": {
      const callId = String(recorded["tool_call_id"]);
      return { role: "tool", messageId, contents: [{ type: "function_result", callId, result: String(content) }] };
    }
    case "assistant":
      return { role: "assistant", messageId, contents: [...texts(content), ...recordedCalls(recorded)] };
    case "system":
    case "user":
      return { role: recorded["role"], messageId, contents: texts(content) };
    default:
      throw new Error(`a recorded message of the role ${recorded["role"]}`);
  }
}

/** The tool calls of a recorded message. */
export function recordedCalls(recorded: Recorded): FunctionCallContent[] {
  const calls: readonly unknown[] = Array.isArray(recorded["tool_calls"]) ? recorded["tool_calls"] : [];
  return calls.map((entry) => {
    const called = isFields(entry) && isFields(entry["function"]) ? entry["function"] : {};
    return {
      type: "function_call",
      callId: isFields(entry) ? String(entry["id"]) : "",
      name: String(called["name"]),
      arguments: String(called["arguments"]),
    };
  });
}

function texts(content: unknown): { type: "text"; text: string }[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : [];
}

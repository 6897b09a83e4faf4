import type { ChatUpdate, Content, FunctionCallContent, Message, Role, UsageDetails } from "@agentfw/core";
import { type StrictServer, type StrictServerOptions, startStrictServer } from "@agentfw/test-servers/openai";
import { onTestFinished } from "vitest";
import { OpenAIChatClient, type OpenAIChatSettings } from "../src/index.ts";

let messageCount = 0;

/** A message with an id of its own; a string stands for text. */
export function message(role: Role, ...contents: readonly (Content | string)[]): Message {
  messageCount += 1;
  return {
    role,
    messageId: `m${messageCount}`,
    contents: contents.map((content) => (typeof content === "string" ? { type: "text", text: content } : content)),
  };
}

export function call(callId: string, name: string, text: string): FunctionCallContent {
  return { type: "function_call", callId, name, arguments: text };
}

/** A server for this test and a client that talks to it, without retries. */
export async function connect(
  settings: Partial<OpenAIChatSettings> = {},
  serverOptions: StrictServerOptions = {},
): Promise<{ server: StrictServer; client: OpenAIChatClient }> {
  const server = await startStrictServer(serverOptions);
  onTestFinished(() => server.close());
  const { baseURL, apiKey } = server;
  const client = new OpenAIChatClient({ model: "test-model", apiKey, baseURL, maxRetries: 0, ...settings });
  return { server, client };
}

export async function collect(updates: AsyncIterable<ChatUpdate>): Promise<ChatUpdate[]> {
  const all: ChatUpdate[] = [];
  for await (const update of updates) {
    all.push(update);
  }
  return all;
}

/** What the pieces of an answer come to. */
export interface Folded {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly FunctionCallContent[];
  readonly usage: readonly UsageDetails[];
  readonly finishReason: string | undefined;
}

/** Puts an answer together by the rules of the port: an empty name continues the call with the same id. */
export function fold(updates: readonly ChatUpdate[]): Folded {
  const calls: FunctionCallContent[] = [];
  const usage: UsageDetails[] = [];
  let text = "";
  let reasoning = "";
  for (const content of updates.flatMap((update) => update.contents ?? [])) {
    if (content.type === "text") {
      text += content.text;
    } else if (content.type === "text_reasoning") {
      reasoning += content.text ?? "";
    } else if (content.type === "usage") {
      usage.push(content.details);
    } else if (content.type === "function_call") {
      addCall(calls, content);
    }
  }
  return { text, reasoning, calls, usage, finishReason: updates.at(-1)?.finishReason };
}

function addCall(calls: FunctionCallContent[], piece: FunctionCallContent): void {
  const index = calls.findLastIndex(({ callId }) => callId === piece.callId);
  const open = calls[index];
  if (piece.name !== "") {
    calls.push(piece);
  } else if (open !== undefined) {
    calls[index] = { ...open, arguments: open.arguments + piece.arguments };
  } else {
    throw new Error("a continuation of no call");
  }
}

/** What a promise was rejected with. */
export async function rejection(promise: PromiseLike<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("it was expected to fail");
}

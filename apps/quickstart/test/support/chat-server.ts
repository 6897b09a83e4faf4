import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { onTestFinished } from "vitest";

/** A message as it came in. */
export interface WireMessage {
  readonly role: string;
  readonly content: unknown;
}

/** What the server is to do with a request. */
export type Behavior = "answer" | "hang" | "refuse";

/** A server of Chat Completions and Responses. */
export interface ChatServer {
  /** The variables that lead the app to it. */
  readonly environment: Readonly<Record<string, string>>;
  /** The messages of each request. */
  readonly requests: readonly (readonly WireMessage[])[];
  behavior: Behavior;
}

/**
 * Starts a server that streams one answer in two pieces: how many messages it was given, and the last of them but one.
 * It takes nothing but a well-formed request with the right key.
 */
export async function startChatServer(): Promise<ChatServer> {
  const requests: (readonly WireMessage[])[] = [];
  const state = { behavior: "answer" as Behavior };
  const server = createServer((incoming, outgoing) => {
    void respond(incoming, outgoing, requests, () => state.behavior);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return Object.assign(state, {
    requests,
    environment: {
      OPENAI_API_KEY: "test-key",
      OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
      OPENAI_MODEL: "test-model",
    },
  });
}

async function respond(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  requests: (readonly WireMessage[])[],
  behavior: () => Behavior,
): Promise<void> {
  const isResponses = incoming.url === "/v1/responses";
  const messages = messagesOf(await json(incoming), isResponses ? "input" : "messages");
  const isAddress = isResponses || incoming.url === "/v1/chat/completions";
  const isKnown = isAddress && incoming.headers.authorization === "Bearer test-key";
  if (messages === undefined || !isKnown || behavior() === "refuse") {
    outgoing.writeHead(400, { "content-type": "application/json" });
    outgoing.end(JSON.stringify({ error: { message: "This server refuses.", type: "invalid_request_error" } }));
    return;
  }
  requests.push(messages);
  outgoing.writeHead(200, { "content-type": "text/event-stream" });
  if (isResponses) {
    outgoing.end(responseOf(`Before this: ${JSON.stringify(messages.at(-3)?.content ?? null)}`));
    return;
  }
  outgoing.write(event({ role: "assistant", content: `I was given ${messages.length} messages. ` }, null));
  if (behavior() === "hang") {
    return;
  }
  outgoing.write(event({ content: `Before this: ${JSON.stringify(messages.at(-3)?.content ?? null)}` }, null));
  outgoing.end(`${event({}, "stop")}data: [DONE]\n\n`);
}

function event(delta: object, finishReason: string | null): string {
  const choices = [{ index: 0, delta, finish_reason: finishReason }];
  const chunk = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "test-model", choices };
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

/** A response that the service does not keep. */
function responseOf(text: string): string {
  const item = { type: "message", role: "assistant", content: [{ type: "output_text", text }] };
  const response = { id: "resp_1", status: "completed", model: "test-model", output: [item] };
  return `data: ${JSON.stringify({ type: "response.completed", response })}\n\n`;
}

function messagesOf(body: unknown, member: "input" | "messages"): WireMessage[] | undefined {
  if (typeof body !== "object" || body === null || !("model" in body)) {
    return undefined;
  }
  const messages: unknown = Reflect.get(body, member);
  const { model } = body;
  return Array.isArray(messages) && messages.every(isMessage) && model === "test-model" ? messages : undefined;
}

function isMessage(value: unknown): value is WireMessage {
  return typeof value === "object" && value !== null && "role" in value && "content" in value;
}

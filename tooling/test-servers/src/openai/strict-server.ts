import type { ServerResponse } from "node:http";
import {
  checkKey,
  checkModel,
  checkPost,
  deliver,
  type LocalServer,
  type ReceivedRequest,
  receive,
  startLocalServer,
} from "./http.ts";
import { type Fields, isFields } from "./refusal.ts";
import { completionBody, type Reply, streamOf } from "./replies.ts";
import { checkRequest, type Leniency } from "./request-rules.ts";

/** Options of {@link startStrictServer}. */
export interface StrictServerOptions extends Leniency {
  /** The key that requests must carry. Default: `test-key`; `null` wants no Authorization header at all. */
  readonly apiKey?: string | null;
  /** The models that exist. Default: all. */
  readonly models?: readonly string[];
  /** Decides on replies that were not queued. Default: `{ answer: { text: "Hello." } }`. */
  readonly respond?: (request: ReceivedRequest, count: number) => Reply | Promise<Reply>;
}

/** A Chat Completions server for tests that refuses what the real one refuses. */
export interface StrictServer extends LocalServer {
  readonly apiKey: string;
  /** Every request with a readable body, in order, refused ones too. */
  readonly requests: readonly ReceivedRequest[];
  /** Queues replies; each is used once, before `respond` is asked. */
  reply(...replies: Reply[]): void;
}

/** Starts a server on a free local port. */
export async function startStrictServer(options: StrictServerOptions = {}): Promise<StrictServer> {
  const requests: ReceivedRequest[] = [];
  const queue: Reply[] = [];
  const nextReply = (request: ReceivedRequest) =>
    queue.shift() ?? options.respond?.(request, requests.length) ?? { answer: { text: "Hello." } };
  const server = await startLocalServer(async (incoming, outgoing) => {
    const request = await receive(incoming, outgoing);
    requests.push(request);
    checkKey(incoming, options.apiKey);
    checkPost(incoming, "/v1/chat/completions");
    checkRequest(request.body, options);
    checkModel(request.body["model"], options.models);
    await send(outgoing, await nextReply(request), request.body, `chatcmpl-${requests.length}`);
  });
  return {
    ...server,
    apiKey: options.apiKey ?? "test-key",
    requests,
    reply: (...replies) => void queue.push(...replies),
  };
}

async function send(outgoing: ServerResponse, reply: Reply, body: Fields, id: string): Promise<void> {
  const model = String(body["model"]);
  if (reply === "silence") {
    return;
  }
  if ("status" in reply) {
    const text = typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body);
    outgoing.writeHead(reply.status, { "content-type": "application/json", ...reply.headers });
    await deliver(outgoing, text, reply.delivery);
  } else if ("stream" in reply || body["stream"] === true) {
    const usage = isFields(body["stream_options"]) && body["stream_options"]["include_usage"] === true;
    const stream = "stream" in reply ? reply.stream : streamOf(reply.answer, id, model, usage);
    const text = stream.map((piece) => (typeof piece === "string" ? piece : `data: ${JSON.stringify(piece)}\n\n`));
    outgoing.writeHead(200, { "content-type": "text/event-stream" });
    await deliver(outgoing, text.join(""), reply.delivery);
  } else {
    outgoing.writeHead(200, { "content-type": "application/json" });
    await deliver(outgoing, JSON.stringify(completionBody(reply.answer, id, model)), reply.delivery);
  }
}

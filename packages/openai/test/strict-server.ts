import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { type Fields, isFields, Refusal } from "./strict/refusal.ts";
import { completionBody, type Delivery, type Reply, streamOf } from "./strict/replies.ts";
import { checkRequest, type Leniency } from "./strict/request-rules.ts";

/** A request that reached the server. */
export interface ReceivedRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body: Fields;
  /** Settles when the exchange is over: `cancelled` when the client went away before the reply was out. */
  readonly outcome: Promise<"replied" | "cancelled">;
}

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
export interface StrictServer {
  /** What clients take as their `baseURL`. */
  readonly baseURL: string;
  readonly apiKey: string;
  /** Every request with a readable body, in order, refused ones too. */
  readonly requests: readonly ReceivedRequest[];
  /** Queues replies; each is used once, before `respond` is asked. */
  reply(...replies: Reply[]): void;
  close(): Promise<void>;
}

/** Starts a server on a free local port. */
export async function startStrictServer(options: StrictServerOptions = {}): Promise<StrictServer> {
  const requests: ReceivedRequest[] = [];
  const queue: Reply[] = [];
  const nextReply = (request: ReceivedRequest) =>
    queue.shift() ?? options.respond?.(request, requests.length) ?? { answer: { text: "Hello." } };
  const server = createServer((incoming, outgoing) => {
    void exchange(incoming, outgoing, options, requests, nextReply);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    baseURL: `http://127.0.0.1:${port}/v1`,
    apiKey: options.apiKey ?? "test-key",
    requests,
    reply: (...replies) => void queue.push(...replies),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function exchange(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  options: StrictServerOptions,
  requests: ReceivedRequest[],
  nextReply: (request: ReceivedRequest) => Reply | Promise<Reply>,
): Promise<void> {
  const outcome = new Promise<"replied" | "cancelled">((resolve) => {
    outgoing.on("close", () => resolve(outgoing.writableFinished ? "replied" : "cancelled"));
  });
  try {
    const body = await readBody(incoming);
    const request = { headers: incoming.headers, body, outcome };
    requests.push(request);
    checkAddress(incoming, options);
    checkRequest(body, options);
    checkModel(body["model"], options);
    await send(outgoing, await nextReply(request), body, `chatcmpl-${requests.length}`);
  } catch (error) {
    const refusal = error instanceof Refusal ? error : new Refusal(null, `Server error: ${error}`, null, 500);
    outgoing.writeHead(refusal.status, { "content-type": "application/json" });
    outgoing.end(JSON.stringify(refusal.body));
  }
}

async function readBody(incoming: IncomingMessage): Promise<Fields> {
  const pieces: Buffer[] = [];
  for await (const piece of incoming) {
    pieces.push(Buffer.from(piece));
  }
  try {
    const body: unknown = JSON.parse(Buffer.concat(pieces).toString("utf8"));
    if (isFields(body)) {
      return body;
    }
  } catch {
    // Refused below, as a body of another kind is.
  }
  throw new Refusal(null, "We could not parse the JSON body of your request.");
}

function checkAddress({ method, url, headers }: IncomingMessage, { apiKey = "test-key" }: StrictServerOptions): void {
  if (method !== "POST" || url !== "/v1/chat/completions") {
    throw new Refusal(null, `Unknown request URL: ${method} ${url}.`, "unknown_url", 404);
  }
  if (headers.authorization !== (apiKey === null ? undefined : `Bearer ${apiKey}`)) {
    throw new Refusal(null, `Incorrect API key provided: ${headers.authorization}.`, "invalid_api_key", 401);
  }
  if (headers["content-type"] !== "application/json") {
    throw new Refusal(null, "Expected a JSON body.", "invalid_content_type");
  }
}

function checkModel(model: unknown, { models }: StrictServerOptions): void {
  if (models !== undefined && !models.some((name) => name === model)) {
    throw new Refusal(null, `The model '${model}' does not exist.`, "model_not_found", 404);
  }
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

async function deliver(outgoing: ServerResponse, text: string, delivery: Delivery = {}): Promise<void> {
  const { cutAfterBytes, stallAfterBytes, pauseMs = 0 } = delivery;
  const bytes = Buffer.from(text, "utf8");
  const end = Math.min(bytes.length, cutAfterBytes ?? bytes.length, stallAfterBytes ?? bytes.length);
  const step = delivery.splitBytes ?? bytes.length;
  outgoing.socket?.setNoDelay(true);
  outgoing.flushHeaders();
  for (let start = 0; start < end && !outgoing.destroyed; start += step) {
    await (pauseMs > 0 ? pause(pauseMs) : new Promise(setImmediate));
    await new Promise((resolve) => outgoing.write(bytes.subarray(start, Math.min(end, start + step)), resolve));
  }
  if (cutAfterBytes !== undefined) {
    outgoing.destroy();
  } else if (stallAfterBytes === undefined) {
    outgoing.end();
  }
}

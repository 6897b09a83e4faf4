import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { type Fields, isFields, Refusal } from "./refusal.ts";
import type { Delivery } from "./replies.ts";

/** A request that reached the server. */
export interface ReceivedRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body: Fields;
  /** Settles when the exchange is over: `cancelled` when the client went away before the reply was out. */
  readonly outcome: Promise<"replied" | "cancelled">;
}

/** A server on a free local port. */
export interface LocalServer {
  /** What clients take as their `baseURL`. */
  readonly baseURL: string;
  close(): Promise<void>;
}

/** Answers one request; what it throws becomes the refusal. */
export type Handler = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

/** Starts a server. */
export async function startLocalServer(handler: Handler): Promise<LocalServer> {
  const server = createServer((incoming, outgoing) => {
    handler(incoming, outgoing).catch((error: unknown) => refuse(outgoing, error));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    baseURL: `http://127.0.0.1:${port}/v1`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function refuse(outgoing: ServerResponse, error: unknown): void {
  const refusal = error instanceof Refusal ? error : new Refusal(null, `Server error: ${error}`, null, 500);
  outgoing.writeHead(refusal.status, { "content-type": "application/json" });
  outgoing.end(JSON.stringify(refusal.body));
}

/** Reads a request with a JSON object in it. */
export async function receive(incoming: IncomingMessage, outgoing: ServerResponse): Promise<ReceivedRequest> {
  const outcome = new Promise<"replied" | "cancelled">((resolve) => {
    outgoing.on("close", () => resolve(outgoing.writableFinished ? "replied" : "cancelled"));
  });
  const pieces: Buffer[] = [];
  for await (const piece of incoming) {
    pieces.push(Buffer.from(piece));
  }
  try {
    const body: unknown = JSON.parse(Buffer.concat(pieces).toString("utf8"));
    if (isFields(body)) {
      return { headers: incoming.headers, body, outcome };
    }
  } catch {
    // Refused below, as a body of another kind is.
  }
  throw new Refusal(null, "We could not parse the JSON body of your request.");
}

/** Refuses a wrong key; `null` wants no Authorization header at all. */
export function checkKey({ headers }: IncomingMessage, apiKey: string | null = "test-key"): void {
  if (headers.authorization !== (apiKey === null ? undefined : `Bearer ${apiKey}`)) {
    throw new Refusal(null, `Incorrect API key provided: ${headers.authorization}.`, "invalid_api_key", 401);
  }
}

/** Refuses a request to another address. */
export function checkPost({ method, url, headers }: IncomingMessage, path: string): void {
  if (method !== "POST" || url !== path) {
    throw new Refusal(null, `Unknown request URL: ${method} ${url}.`, "unknown_url", 404);
  }
  if (headers["content-type"] !== "application/json") {
    throw new Refusal(null, "Expected a JSON body.", "invalid_content_type");
  }
}

/** Refuses a model that is not among those that exist. */
export function checkModel(model: unknown, models: readonly string[] | undefined): void {
  if (models !== undefined && !models.some((name) => name === model)) {
    throw new Refusal(null, `The model '${model}' does not exist.`, "model_not_found", 404);
  }
}

/** Writes a reply as it is to reach the client; `onLast` hears of the last of its bytes before they are written. */
export async function deliver(
  outgoing: ServerResponse,
  text: string,
  delivery: Delivery = {},
  onLast?: () => void,
): Promise<void> {
  const { cutAfterBytes, stallAfterBytes, pauseMs = 0 } = delivery;
  const bytes = Buffer.from(text, "utf8");
  const end = Math.min(bytes.length, cutAfterBytes ?? bytes.length, stallAfterBytes ?? bytes.length);
  const step = delivery.splitBytes ?? bytes.length;
  outgoing.socket?.setNoDelay(true);
  outgoing.flushHeaders();
  for (let start = 0; start < end && !outgoing.destroyed; start += step) {
    await (pauseMs > 0 ? pause(pauseMs) : new Promise(setImmediate));
    if (start + step >= bytes.length && end === bytes.length && !outgoing.destroyed) {
      onLast?.();
    }
    await new Promise((resolve) => outgoing.write(bytes.subarray(start, Math.min(end, start + step)), resolve));
  }
  if (cutAfterBytes !== undefined) {
    outgoing.destroy();
  } else if (stallAfterBytes === undefined) {
    outgoing.end();
  }
}

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { maskedUrl } from "../masked-url.ts";
import { assertToken } from "./identity.ts";
import { itemOperation } from "./item-operations.ts";
import { invalid, Refusal, type Reply } from "./replies.ts";
import { type EmulatorRequest, MAX_BODY_BYTES } from "./request.ts";
import { routeOf } from "./routes.ts";
import { storeOperation } from "./store-operations.ts";
import type { World } from "./world.ts";

/** A line of the emulator's log. It names no token, value, key, store or call id. */
export interface EmulatorLogEntry {
  readonly level: "debug" | "info" | "warning" | "error";
  readonly text: string;
}

/** Takes what the emulator logs. */
export type EmulatorLog = (entry: EmulatorLogEntry) => void;

/** A server over a world; not listening yet. */
export function emulatorServer(world: World, log: EmulatorLog): Server {
  const tell: EmulatorLog = (entry) => {
    try {
      log(entry);
    } catch {
      // Whoever takes the log may fail; requests are answered all the same.
    }
  };
  return createServer((request, response) => {
    void serve(world, tell, request, response);
  });
}

async function serve(
  world: World,
  log: EmulatorLog,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const start = performance.now();
  const name = `${request.method} ${maskedUrl(request.url ?? "")}`;
  log({ level: "debug", text: name });
  let reply: Reply;
  try {
    reply = await answer(world, request);
  } catch (error) {
    if (request.errored !== null) {
      log({ level: "debug", text: `${name} was given up by the client` });
      return;
    }
    if (!(error instanceof Refusal)) {
      // What a driver or the file system says may name files; it is told by its kind alone.
      log({ level: "error", text: `${name} failed: ${error instanceof Error ? error.name : "unknown"}` });
    }
    const refusal = error instanceof Refusal ? error : new Refusal(500, "internal_error", "the emulator failed");
    reply = refusal.toReply();
  }
  send(response, reply);
  const level = reply.status < 400 ? "info" : "warning";
  log({ level, text: `${name} ${reply.status} ${(performance.now() - start).toFixed(1)} ms` });
}

async function answer(world: World, incoming: IncomingMessage): Promise<Reply> {
  const body = await readBody(incoming);
  const header = (name: string) => {
    const value = incoming.headers[name];
    return Array.isArray(value) ? value[0] : value;
  };
  assertToken({ header });
  const [path = "", ...query] = (incoming.url ?? "").split("?");
  const request: EmulatorRequest = {
    method: incoming.method ?? "",
    route: routeOf(path),
    query: new URLSearchParams(query.join("?")),
    body,
    header,
  };
  assertVersion(world, request);
  const isStore = request.route.resource === "stores" || request.route.resource === "store";
  const reply = await (isStore ? storeOperation(world, request) : itemOperation(world, request));
  if (reply === undefined) {
    throw new Refusal(405, "invalid_request", "the method is not allowed here");
  }
  return reply;
}

function assertVersion({ settings }: World, { query, route, header }: EmulatorRequest): void {
  if (query.get("api-version") !== "v1") {
    throw invalid("api-version", 'must be "v1"');
  }
  const features = (header("foundry-features") ?? "").split(",").map((feature) => feature.trim());
  if (route.surface === "agent" && settings.requirePreviewHeader && !features.includes("StateStores=V1Preview")) {
    throw invalid("Foundry-Features", "must hold StateStores=V1Preview");
  }
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming) {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
    size += bytes.length;
    if (size <= MAX_BODY_BYTES) {
      chunks.push(bytes);
    }
  }
  if (size > MAX_BODY_BYTES) {
    throw new Refusal(413, "invalid_request", "the body is too large", { param: "value" });
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new Refusal(400, "invalid_request", "the body must be UTF-8");
  }
}

function send(response: ServerResponse, { status, body, etag }: Reply): void {
  response.writeHead(status, {
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(body),
    ...(etag === undefined ? {} : { etag }),
  });
  response.end(body);
}

import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { inject, onTestFinished } from "vitest";

/** A request on its way to the service. */
export interface ProxiedRequest {
  /** What is asked for. */
  readonly kind: "append" | "create" | "read" | "list" | "delete" | "create container" | "other";
  readonly method: string;
  readonly path: string;
  readonly range: string | undefined;
  /** How much was sent with it, and how much the service answered. */
  readonly sentBytes: number;
  answeredBytes: number;
}

/** What is done to a request in place of passing it on. */
export type Fault =
  /** The connection ends before the service hears of it. */
  | { readonly kind: "drop" }
  /** The service does it, and the connection ends before its answer. */
  | { readonly kind: "lose" }
  /** An answer that the service did not give; with `isDone` it has done it all the same. */
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly code?: string;
      readonly body?: string;
      readonly isDone?: boolean;
      readonly retryAfter?: string;
    }
  /** A listing gives one blob, and says that there are more where there are. */
  | { readonly kind: "shorten" }
  /** The answer does not say which range it is, as if it were all of the blob. */
  | { readonly kind: "unranged" }
  /** Half of the answer's body comes. */
  | { readonly kind: "cut" }
  /** Nothing comes, with `isDone` after the service has done it. */
  | { readonly kind: "stall"; readonly isDone?: boolean }
  /** Passed on when this resolves; with a code, answered by a 404 in place of that. */
  | { readonly kind: "wait"; readonly until: Promise<void>; readonly code?: string };

/** An HTTP proxy in front of the service, which counts requests and injects faults. */
export interface ServiceProxy {
  readonly connectionString: string;
  /** What came since the last reset, in order. */
  readonly requests: readonly ProxiedRequest[];
  reset(): void;
  /** Asked for each request what is to happen to it; undefined passes it on. */
  onRequest: (request: ProxiedRequest) => Fault | undefined;
}

/** Makes the first requests for which it holds fail, and passes the others on. */
export function failing(
  kind: ProxiedRequest["kind"],
  fault: Fault,
  times = 1,
): (request: ProxiedRequest) => Fault | undefined {
  let left = times;
  return (asked) => {
    if (asked.kind !== kind || left === 0) {
      return undefined;
    }
    left -= 1;
    return fault;
  };
}

/** Starts a proxy, which ends with the test. */
export async function startServiceProxy(): Promise<ServiceProxy> {
  const target = inject("storageConnectionString");
  const endpoint = new URL(/BlobEndpoint=([^;]+)/.exec(target)?.[1] ?? "");
  const agent = new Agent({ keepAlive: true });
  const requests: ProxiedRequest[] = [];
  const server = createServer((incoming, outgoing) => {
    void handle(incoming, outgoing).catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    agent.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const proxy: ServiceProxy = {
    connectionString: target.replace(endpoint.host, `127.0.0.1:${port}`),
    requests,
    reset: () => requests.splice(0),
    onRequest: () => undefined,
  };
  return proxy;

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body: Buffer[] = [];
    for await (const piece of incoming) {
      body.push(piece);
    }
    const asked = describe(incoming, Buffer.concat(body).length);
    requests.push(asked);
    const fault = proxy.onRequest(asked);
    if (fault?.kind === "drop") {
      outgoing.destroy();
      return;
    }
    if (fault?.kind === "wait") {
      await fault.until;
      if (fault.code !== undefined) {
        respond(outgoing, { kind: "answer", status: 404, code: fault.code }, undefined);
        return;
      }
    }
    if (fault?.kind === "shorten") {
      incoming.url = (incoming.url ?? "").replace(/maxresults=\d+/, "maxresults=1");
    }
    const isHeldBack = fault?.kind === "answer" || fault?.kind === "stall";
    const answer = isHeldBack && !fault.isDone ? undefined : await pass(incoming, Buffer.concat(body));
    asked.answeredBytes = answer?.body.length ?? 0;
    respond(outgoing, fault, answer);
  }

  function pass(incoming: IncomingMessage, body: Buffer): Promise<{ message: IncomingMessage; body: Buffer }> {
    return new Promise((resolve, reject) => {
      const { method, url: path, headers } = incoming;
      const options = { host: endpoint.hostname, port: endpoint.port, method, path, headers, agent };
      const passed = request(options, (message) => {
        const pieces: Buffer[] = [];
        message.on("data", (piece: Buffer) => pieces.push(piece));
        message.on("end", () => resolve({ message, body: Buffer.concat(pieces) }));
        message.on("error", reject);
      });
      passed.on("error", reject);
      passed.end(body);
    });
  }
}

function respond(
  outgoing: ServerResponse,
  fault: Fault | undefined,
  answer: { message: IncomingMessage; body: Buffer } | undefined,
): void {
  if (fault?.kind === "stall") {
    return;
  }
  if (fault?.kind === "lose") {
    outgoing.destroy();
    return;
  }
  if (fault?.kind === "answer") {
    const { status, code, body, retryAfter } = fault;
    if (body !== undefined) {
      outgoing.writeHead(status, { "content-type": "application/xml" });
      outgoing.end(body);
      return;
    }
    outgoing.writeHead(status, {
      ...(code === undefined ? {} : { "x-ms-error-code": code, "content-type": "application/xml" }),
      ...(retryAfter === undefined ? {} : { "retry-after": retryAfter }),
    });
    outgoing.end(
      code === undefined ? "" : `<?xml version="1.0"?><Error><Code>${code}</Code><Message>no</Message></Error>`,
    );
    return;
  }
  const { message, body } = answer!;
  const headers = { ...message.headers };
  delete headers["transfer-encoding"];
  const method = message.statusCode === 304 ? {} : { "content-length": String(body.length) };
  if (fault?.kind === "unranged") {
    message.statusCode = 200;
    delete headers["content-range"];
  }
  outgoing.writeHead(message.statusCode ?? 500, { ...headers, ...method });
  if (fault?.kind === "cut") {
    outgoing.write(body.subarray(0, Math.floor(body.length / 2)), () => outgoing.destroy());
  } else {
    outgoing.end(body);
  }
}

function describe({ method = "", url = "", headers }: IncomingMessage, sentBytes: number): ProxiedRequest {
  const { pathname, searchParams } = new URL(url, "http://localhost");
  const path = decodeURIComponent(pathname);
  const range = headers["x-ms-range"] ?? headers["range"];
  const asked = { method, path, range: Array.isArray(range) ? range[0] : range, sentBytes, answeredBytes: 0 };
  return { kind: kindOf(method, searchParams), ...asked };
}

function kindOf(method: string, query: URLSearchParams): ProxiedRequest["kind"] {
  const comp = query.get("comp");
  if (query.get("restype") === "container") {
    return comp === "list" ? "list" : method === "PUT" ? "create container" : "other";
  }
  if (method === "PUT") {
    return comp === "appendblock" ? "append" : comp === null ? "create" : "other";
  }
  return method === "GET" ? "read" : method === "DELETE" ? "delete" : "other";
}

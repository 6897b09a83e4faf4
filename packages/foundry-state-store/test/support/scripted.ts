import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { FoundryStateStore, type FoundryStateStoreOptions } from "../../src/index.ts";

/** A request as the server saw it. */
export interface SeenRequest {
  readonly method: string;
  /** With the query. */
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  /** On the clock of `performance.now()`. */
  readonly at: number;
  /** The other end of the connection, which tells connections apart. */
  readonly port: number | undefined;
}

/** What the server answers: a reply, or what to do with the connection. */
export type Scripted =
  | {
      readonly status: number;
      readonly body?: unknown;
      /** The body as it goes out, where it is no JSON. */
      readonly raw?: string | Buffer;
      readonly headers?: Readonly<Record<string, string>>;
      /** Break the connection off behind the body. */
      readonly end?: "reset";
    }
  | "reset"
  | "hang";

/** A server that answers what the test says, and remembers what it was asked. */
export interface ScriptedServer {
  readonly endpoint: string;
  readonly seen: SeenRequest[];
  /** Answers to come, in order. */
  answer(...replies: Scripted[]): void;
  /** Answers by what is asked, where nothing else is to come. */
  otherwise(reply: (request: SeenRequest) => Scripted): void;
}

export const STORE: Readonly<Record<string, unknown>> = {
  id: "ss_1",
  object: "state_store",
  name: "checkpoints",
  user_isolation: false,
  item_ttl_seconds: -1,
  tags: {},
  created_at: 1_700_000_000,
  updated_at: 1_700_000_000,
};

export const REFERENCE: Readonly<Record<string, unknown>> = {
  id: "it_1",
  object: "state_store.item",
  key: "k",
  etag: '"e1"',
  created_at: 1_700_000_000,
  updated_at: 1_700_000_000,
};

export const ITEM: Readonly<Record<string, unknown>> = { ...REFERENCE, value: { a: 1 }, tags: {} };

export async function scriptedServer(): Promise<ScriptedServer> {
  const seen: SeenRequest[] = [];
  const coming: Scripted[] = [];
  let otherwise: (request: SeenRequest) => Scripted = () => ({ status: 500, body: {} });
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) {
      chunks.push(Buffer.from(chunk));
    }
    const { method = "", url = "", headers } = incoming;
    const request = {
      method,
      url,
      headers,
      body: Buffer.concat(chunks).toString("utf8"),
      at: performance.now(),
      port: incoming.socket.remotePort,
    };
    seen.push(request);
    reply(coming.shift() ?? otherwise(request), response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}/p`,
    seen,
    answer: (...replies) => void coming.push(...replies),
    otherwise: (given) => {
      otherwise = given;
    },
  };
}

function reply(scripted: Scripted, response: ServerResponse): void {
  if (scripted === "hang") {
    return;
  }
  if (scripted === "reset") {
    response.socket?.resetAndDestroy();
    return;
  }
  const { status, body, raw, headers, end } = scripted;
  response.writeHead(status, { "content-type": "application/json", ...headers });
  const text = raw ?? (body === undefined ? "" : JSON.stringify(body));
  if (end === "reset") {
    response.write(text, () => response.socket?.destroy());
  } else {
    response.end(text);
  }
}

/** A store on a scripted server; what opening it asked is forgotten. */
export async function openScripted(
  options: FoundryStateStoreOptions = {},
  properties: object = {},
): Promise<{ server: ScriptedServer; store: FoundryStateStore }> {
  const server = await scriptedServer();
  server.answer({ status: 200, body: { ...STORE, ...properties } });
  const store = await FoundryStateStore.getOrCreate("checkpoints", { endpoint: server.endpoint, ...options });
  server.seen.length = 0;
  return { server, store };
}

/** A credential that remembers what it is asked. */
export interface AskedCredential {
  readonly asked: { readonly scopes: string | string[]; readonly claims: string | undefined }[];
  getToken(
    scopes: string | string[],
    options?: { claims?: string },
  ): Promise<{ token: string; expiresOnTimestamp: number }>;
}

/** A credential that gives these tokens one after another, and then the last one. */
export function credentialOf(...tokens: { readonly token: string; readonly expiresInMs?: number }[]): AskedCredential {
  const asked: AskedCredential["asked"] = [];
  return {
    asked: asked,
    getToken: async (scopes, options = {}) => {
      asked.push({ scopes, claims: options.claims });
      const { token, expiresInMs = 3_600_000 } = tokens[Math.min(asked.length, tokens.length) - 1]!;
      return { token, expiresOnTimestamp: Date.now() + expiresInMs };
    },
  };
}

/** The error that a call rejects with. */
export async function failure(
  call: Promise<unknown>,
): Promise<Error & { code?: string; currentVersion?: string; cause?: unknown }> {
  return call.then(
    () => {
      throw new Error("the call succeeded");
    },
    (error: Error) => error,
  );
}

import { onTestFinished } from "vitest";
import {
  type EmulatorLogEntry,
  type EmulatorOptions,
  type StateStoreEmulator,
  startEmulator,
} from "../../src/emulator.ts";

/** A reply, with its body as text and parsed. */
export interface HttpReply {
  readonly status: number;
  readonly etag: string | null;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of many shapes.
  readonly body: any;
}

/** What a request may carry beside its path. */
export interface HttpOptions {
  readonly body?: unknown;
  /** The body's text, where it is not what JSON.stringify gives. */
  readonly text?: string;
  readonly callId?: string;
  readonly ifMatch?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** In place of `?api-version=v1`. */
  readonly query?: string;
  /** The path below the host, in place of one in the project. */
  readonly path?: string;
}

/** An emulator under test, spoken to by plain HTTP. */
export interface Emulator extends StateStoreEmulator {
  readonly log: EmulatorLogEntry[];
  send(method: string, path: string, options?: HttpOptions): Promise<HttpReply>;
}

/** A name as a path segment. */
export function segment(name: string): string {
  return Buffer.from(name).toString("base64url");
}

/** Starts an emulator for the running test. */
export async function openEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const log: EmulatorLogEntry[] = [];
  const emulator = await startEmulator({ log: (entry) => void log.push(entry), ...options });
  onTestFinished(() => emulator.close());
  return { ...emulator, log, send: (method, path, given) => send(emulator, method, path, given) };
}

async function send(
  { endpoint }: StateStoreEmulator,
  method: string,
  path: string,
  options: HttpOptions = {},
): Promise<HttpReply> {
  const { body, text = body === undefined ? undefined : JSON.stringify(body), callId, ifMatch } = options;
  const base =
    options.path === undefined ? `${endpoint}/storage/state_stores${path}` : new URL(options.path, endpoint).href;
  const response = await fetch(`${base}?${options.query ?? "api-version=v1"}`, {
    method,
    headers: {
      authorization: "Bearer test-token",
      ...(text === undefined ? {} : { "content-type": "application/json" }),
      ...(callId === undefined ? {} : { "x-agent-foundry-call-id": callId }),
      ...(ifMatch === undefined ? {} : { "if-match": ifMatch }),
      ...options.headers,
    },
    ...(text === undefined ? {} : { body: text }),
  });
  const reply = await response.text();
  return { status: response.status, etag: response.headers.get("etag"), text: reply, body: JSON.parse(reply) };
}

/** Starts an emulator that has the store `checkpoints`. */
export async function openCheckpoints(
  options: EmulatorOptions = {},
  store: Readonly<Record<string, unknown>> = {},
): Promise<
  Emulator & { item(method: string, key: string, options?: HttpOptions): Promise<HttpReply>; at(rest: string): string }
> {
  const emulator = await openEmulator(options);
  const { status } = await emulator.send("POST", "", { body: { name: "checkpoints", ...store } });
  if (status !== 201) {
    throw new Error(`the store was not created: ${status}`);
  }
  const at = (rest: string) => `/${segment("checkpoints")}${rest}`;
  return {
    ...emulator,
    at,
    item: (method, key, given) => emulator.send(method, at(`/items/${segment(key)}`), given),
  };
}

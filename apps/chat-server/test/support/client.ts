import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { type Replica, USER_HEADER } from "./replica.ts";

/** An answer of the server. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // The tests look into it freely.
  readonly body: Record<string, unknown>;
}

/** How to send a request. */
export interface RequestOptions {
  readonly body?: unknown;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** A user with nothing stored yet. */
export function newUser(name = "user"): string {
  return `${name}-${randomUUID()}`;
}

/** Sends a request as a user, and reads the answer as JSON. */
export async function send(
  { url }: Pick<Replica, "url">,
  user: string,
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<Answer> {
  const response = await rawSend({ url }, user, method, path, options);
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === "" ? {} : JSON.parse(text) };
}

/** Sends a request as a user. */
export function rawSend(
  { url }: Pick<Replica, "url">,
  user: string,
  method: string,
  path: string,
  { body, key, headers, signal }: RequestOptions = {},
): Promise<Response> {
  return fetch(`${url}${path}`, {
    method,
    headers: {
      [USER_HEADER]: user,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(key === undefined ? {} : { "idempotency-key": key }),
      ...headers,
    },
    body: body === undefined ? null : JSON.stringify(body),
    signal: signal ?? null,
  });
}

/** As clients should: sends again, under the same key, what may be sent again. Goes from replica to replica. */
export async function sendUntilAnswered(
  replicas: readonly Pick<Replica, "url">[],
  user: string,
  path: string,
  options: RequestOptions & { readonly key: string },
): Promise<Answer> {
  for (let attempt = 0; ; attempt += 1) {
    const replica = replicas[attempt % replicas.length] ?? { url: "" };
    const answer = await send(replica, user, "POST", path, options);
    if (!answer.headers.has("retry-after") || attempt >= 100) {
      return answer;
    }
    // Retry-After counts whole seconds, which is long for a test.
    await pause(Math.random() * 200);
  }
}

/** Makes a chat and gives its id. */
export async function newChat(replica: Pick<Replica, "url">, user: string): Promise<string> {
  const { body } = await send(replica, user, "POST", "/chats");
  return String(body["id"]);
}

/** Says something in a chat. */
export function say(
  replica: Pick<Replica, "url">,
  user: string,
  chat: string,
  text: string,
  options: RequestOptions = {},
): Promise<Answer> {
  return send(replica, user, "POST", `/chats/${chat}/messages`, { ...options, body: { text } });
}

/** A stored message. */
export interface StoredMessage {
  readonly id: string;
  readonly role: string;
  readonly contents: readonly Record<string, unknown>[];
}

/** All stored messages of a chat, page by page. */
export async function messagesIn(replica: Pick<Replica, "url">, user: string, chat: string): Promise<StoredMessage[]> {
  const messages: StoredMessage[] = [];
  for (let cursor = ""; ; ) {
    const query = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const { status, body } = await send(replica, user, "GET", `/chats/${chat}/messages?limit=15${query}`);
    if (status !== 200 || !Array.isArray(body["messages"])) {
      throw new Error(`the messages were answered with ${status}`);
    }
    messages.unshift(...body["messages"]);
    if (typeof body["cursor"] !== "string") {
      return messages;
    }
    cursor = body["cursor"];
  }
}

/** The texts of messages, with who said them. */
export function spoken(messages: readonly StoredMessage[]): string[] {
  return messages.map(({ role, contents }) => `${role}: ${contents.map(({ text, type }) => text ?? type).join(" ")}`);
}

/** How often the model was asked for a chat, as its session has it. */
export async function modelCallsOf(replica: Pick<Replica, "url">, user: string, chat: string): Promise<unknown> {
  const { body } = await send(replica, user, "GET", "/chats?limit=100");
  const chats = Array.isArray(body["chats"]) ? body["chats"] : [];
  return chats.find(({ id }) => id === chat)?.modelCalls;
}

/** An event of a stream. */
export interface StreamEvent {
  readonly event: string;
  readonly data: Record<string, unknown>;
}

/** The events of an answer that is a stream, as they come. */
export async function* eventsOf(response: Response): AsyncGenerator<StreamEvent, void> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const piece of response.body ?? []) {
    text += decoder.decode(piece, { stream: true });
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const [, event = "", data = "{}"] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? [];
      yield { event, data: JSON.parse(data) };
    }
  }
}

/** Says something in a chat and reads the whole stream. */
export async function stream(
  replica: Pick<Replica, "url">,
  user: string,
  chat: string,
  text: string,
  options: RequestOptions = {},
): Promise<StreamEvent[]> {
  const response = await rawSend(replica, user, "POST", `/chats/${chat}/messages`, {
    ...options,
    body: { text },
    headers: { accept: "text/event-stream", ...options.headers },
  });
  const events: StreamEvent[] = [];
  for await (const event of eventsOf(response)) {
    events.push(event);
  }
  return events;
}

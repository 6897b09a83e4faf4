import type {
  ChatClient,
  ChatRequestOptions,
  ChatUpdate,
  Content,
  FunctionCallContent,
  Message,
  Role,
} from "@agentfw/core";
import type { ContractClause, Trial } from "../clause.ts";
import { ensure, fail, present, same } from "../expect.ts";
import type { OpenedChatClient } from "../opened.ts";
import { SOON_MS } from "../soon.ts";
import type { ChatAnswer } from "./script.ts";

/** A clause of the contract of ChatClient. */
export type ChatClause = ContractClause<OpenedChatClient>;

/** What a clause on ChatClient works with. */
export type ChatTrial = Trial<OpenedChatClient>;

/** A message; a string stands for text. */
export function message(role: Role, messageId: string, ...contents: readonly (Content | string)[]): Message {
  const parts = contents.map(
    (content): Content => (typeof content === "string" ? { type: "text", text: content } : content),
  );
  return { role, messageId, contents: parts };
}

/** One short question. */
export const QUESTION: readonly Message[] = [message("user", "question-1", "What is new?")];

/** One answer, piece by piece, from whichever of the two methods the client has. Nothing is sent before it is read. */
export async function* answers(
  client: ChatClient,
  messages: readonly Message[] = QUESTION,
  options: ChatRequestOptions = {},
): AsyncGenerator<ChatUpdate, void> {
  if (typeof client.stream === "function") {
    yield* client.stream(messages, options);
  } else {
    yield await present(client.complete, "stream or complete").call(client, messages, options);
  }
}

/** All pieces of one answer. */
export async function ask(
  client: ChatClient,
  messages: readonly Message[] = QUESTION,
  options: ChatRequestOptions = {},
): Promise<Folded> {
  const updates: ChatUpdate[] = [];
  for await (const update of answers(client, messages, options)) {
    updates.push(update);
  }
  return fold(updates);
}

/** What the pieces of an answer come to. */
export interface Folded {
  readonly updates: readonly ChatUpdate[];
  readonly contents: readonly Content[];
  readonly text: string;
  readonly calls: readonly FunctionCallContent[];
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly finishReason: string | undefined;
}

/** Puts an answer together by the rules of the port: text is joined, a call without a name continues an open one. */
export function fold(updates: readonly ChatUpdate[]): Folded {
  const contents = updates.flatMap((update) => update.contents ?? []);
  const calls: FunctionCallContent[] = [];
  let text = "";
  const usage: { input: number | undefined; output: number | undefined } = { input: undefined, output: undefined };
  for (const content of contents) {
    if (content.type === "text") {
      text += content.text;
    } else if (content.type === "function_call") {
      addCall(calls, content);
    } else if (content.type === "usage") {
      usage.input = sum(usage.input, content.details.inputTokenCount);
      usage.output = sum(usage.output, content.details.outputTokenCount);
    }
  }
  const finishReason = updates.map((update) => update.finishReason).findLast((reason) => reason !== undefined);
  return { updates, contents, text, calls, inputTokens: usage.input, outputTokens: usage.output, finishReason };
}

function addCall(calls: FunctionCallContent[], piece: FunctionCallContent): void {
  if (piece.name !== "") {
    calls.push(piece);
    return;
  }
  const index = calls.findLastIndex(({ callId }) => callId === piece.callId);
  const open = calls[index];
  if (open === undefined) {
    fail(`a piece of a call without a name continues one with the same id; none is open with ${piece.callId}`);
  }
  calls[index] = { ...open, arguments: open.arguments + piece.arguments };
}

function sum(total: number | undefined, count: number | undefined): number | undefined {
  return count === undefined ? total : (total ?? 0) + count;
}

/** Fails unless the calls are these, with arguments that say the same as JSON. */
export function sameCalls(
  actual: readonly FunctionCallContent[],
  expected: ChatAnswer["calls"],
  guarantee: string,
): void {
  const wanted = expected ?? [];
  same(actual.length, wanted.length, `${guarantee}: the number of calls`);
  for (const [index, { name, arguments: text }] of wanted.entries()) {
    const call = actual[index];
    same(call?.name, name, `${guarantee}: the name of call ${index}`);
    same(canonical(call?.arguments), canonical(text), `${guarantee}: the arguments of call ${index}`);
  }
  const ids = actual.map(({ callId }) => callId);
  ensure(
    ids.every((id) => typeof id === "string" && id !== ""),
    `${guarantee}: every call has an id`,
    ids,
  );
  same(new Set(ids).size, ids.length, `${guarantee}: the number of different call ids`);
}

function canonical(text: string | undefined): string {
  try {
    return JSON.stringify(JSON.parse(text ?? ""));
  } catch {
    return fail(`the arguments of a call must be JSON; got ${text}`);
  }
}

/** What a call rejected with; fails when it ends like an answer. */
export async function rejectionOf(call: Promise<unknown>, guarantee: string): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    return error;
  }
  return fail(`${guarantee}: it must reject, and ended like an answer`);
}

/** Waits until the service has received so many requests. */
export async function received(opened: OpenedChatClient, count: number): Promise<void> {
  await until(
    async () => ((await opened.requests?.())?.received ?? count) >= count,
    `${count} requests reach the service`,
  );
}

/** Waits until the service answers nobody any more. */
export async function allReleased(opened: OpenedChatClient, guarantee: string): Promise<void> {
  await until(async () => ((await opened.requests?.())?.open ?? 0) === 0, `${guarantee}: the request is given up`);
}

async function until(holds: () => Promise<boolean>, guarantee: string): Promise<void> {
  const end = performance.now() + SOON_MS;
  while (!(await holds())) {
    ensure(performance.now() < end, guarantee);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

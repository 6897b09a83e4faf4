import {
  AgentSession,
  type ChatClient,
  type ChatRequestOptions,
  type ChatUpdate,
  type Content,
  type Message,
} from "@agentfw/core";
import { shape } from "./scripted-client.ts";

/** One scripted answer of a {@link KeepingService}: text, contents, or a failure in place of it. */
export type KeptAnswer = string | readonly Content[] | Error;

/** What a request was. */
export interface KeptRequest {
  readonly conversationId: string | undefined;
  readonly lines: readonly string[];
  readonly options: ChatRequestOptions;
}

type Line = { readonly callId: string; readonly kind: "call" | "result" } | { readonly kind: "asked" | "said" };

/**
 * A model that keeps conversations and refuses what a strict one refuses: results without calls, calls without results,
 * calls that come again, a conversation that it does not know. Every answer gets an id of its own to continue with, or
 * with `isOne` they all get one. With `isForgiving` a result that comes again is left out, as clients do that repair what
 * was refused. Shared by the processes of a test, as a service is.
 */
export class KeepingService implements ChatClient {
  readonly contractVersion = 1 as const;
  readonly storesByDefault = true;
  readonly requests: KeptRequest[] = [];
  readonly #next: () => KeptAnswer;
  readonly #isOne: boolean;
  readonly #isForgiving: boolean;
  readonly #kept = new Map<string, readonly Line[]>();

  constructor(script: readonly KeptAnswer[] | (() => KeptAnswer), isOne: boolean, isForgiving = false) {
    const answers = typeof script === "function" ? [] : [...script];
    this.#next = typeof script === "function" ? script : () => answers.shift() ?? "the script is over";
    this.#isOne = isOne;
    this.#isForgiving = isForgiving;
  }

  /** The lines of each request. */
  get lines(): (readonly string[])[] {
    return this.requests.map(({ lines }) => lines);
  }

  async *stream(messages: readonly Message[], options: ChatRequestOptions): AsyncGenerator<ChatUpdate> {
    const { conversationId, store = true } = options;
    this.requests.push({ conversationId, lines: shape(messages), options });
    const before = conversationId === undefined ? [] : this.#kept.get(conversationId);
    const known = new Set(before?.filter(({ kind }) => kind === "result"));
    const isAgain = (line: Line): boolean => this.#isForgiving && [...known].some((other) => isSameResult(other, line));
    const lines = [...(before ?? []), ...messages.flatMap(linesOf).filter((line) => !isAgain(line))];
    const fault = before === undefined ? "there is no such conversation" : faultOf(lines);
    if (fault !== undefined || messages.length === 0) {
      throw new Error(`400 invalid request: ${fault ?? "nothing is said"}`);
    }
    const answer = this.#next();
    if (answer instanceof Error) {
      throw answer;
    }
    const contents: readonly Content[] = typeof answer === "string" ? [{ type: "text", text: answer }] : answer;
    for (const content of contents) {
      yield { contents: [content] };
      options.signal?.throwIfAborted();
    }
    const id = this.#isOne ? "conv_1" : `resp_${this.requests.length}`;
    if (store) {
      this.#kept.set(id, [...lines, ...linesOf({ role: "assistant", messageId: "", contents })]);
    }
    yield { ...(store ? { conversationId: id } : {}), finishReason: "stop" };
  }
}

function isSameResult(one: Line, other: Line): boolean {
  return one.kind === "result" && other.kind === "result" && one.callId === other.callId;
}

function linesOf({ role, contents }: Message): Line[] {
  return contents.map((content): Line => {
    switch (content.type) {
      case "function_call":
        return { kind: "call", callId: content.callId };
      case "function_result":
        return { kind: "result", callId: content.callId };
      default:
        return { kind: role === "assistant" ? "said" : "asked" };
    }
  });
}

function faultOf(lines: readonly Line[]): string | undefined {
  const open = new Set<string>();
  const seen = new Set<string>();
  for (const line of lines) {
    if (line.kind === "call") {
      if (seen.has(line.callId)) {
        return `call ${line.callId} came before`;
      }
      seen.add(line.callId);
      open.add(line.callId);
    } else if (line.kind === "result" && !open.delete(line.callId)) {
      return `result ${line.callId} has no call`;
    } else if (line.kind === "asked" && open.size > 0) {
      return "something stands between a call and its result";
    }
  }
  const [first] = open;
  return first === undefined ? undefined : `call ${first} has no result`;
}

/** A session as the next process gets it. */
export function restored(session: AgentSession): AgentSession {
  return AgentSession.fromJSON(JSON.stringify(session), { owner: session.owner });
}

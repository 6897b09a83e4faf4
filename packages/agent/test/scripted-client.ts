import type { ChatClient, ChatRequestOptions, ChatUpdate, Content, Message } from "@agentfw/core";
import { requestFault } from "./valid-request.ts";

/** One scripted answer: contents in one piece, pieces one after another, or a function that makes them. */
export type Answer =
  | string
  | readonly Content[]
  | { readonly pieces: readonly (string | ChatUpdate)[]; readonly throws?: unknown }
  | ((messages: readonly Message[], options: ChatRequestOptions) => AsyncIterable<ChatUpdate>);

/** What a model call was given. */
export interface RecordedCall {
  readonly messages: readonly Message[];
  readonly options: ChatRequestOptions;
}

/** Options of {@link ScriptedClient}. */
export interface ScriptedClientOptions {
  readonly storesByDefault?: boolean;
  /** Refuse requests that a strict service refuses. A service that keeps the conversation sees parts of it only. */
  readonly isStrict?: boolean;
}

/** A model that answers from a script and keeps what it was asked. Not a mock of a service: it implements the port. */
export class ScriptedClient implements ChatClient {
  readonly contractVersion = 1 as const;
  readonly storesByDefault: boolean;
  readonly calls: RecordedCall[] = [];
  readonly #script: Answer[];
  readonly #isStrict: boolean;

  constructor(script: readonly Answer[], options: ScriptedClientOptions = {}) {
    this.#script = [...script];
    this.storesByDefault = options.storesByDefault ?? false;
    this.#isStrict = options.isStrict ?? !this.storesByDefault;
  }

  async *stream(messages: readonly Message[], options: ChatRequestOptions): AsyncGenerator<ChatUpdate> {
    this.calls.push({ messages: structuredClone([...messages]), options });
    const fault = this.#isStrict ? requestFault(messages) : undefined;
    if (fault !== undefined) {
      throw new Error(`400 invalid request: ${fault}`);
    }
    const answer = this.#script.shift();
    if (answer === undefined) {
      throw new Error("the script has no further answer");
    }
    if (typeof answer === "function") {
      yield* answer(messages, options);
    } else if (typeof answer === "string") {
      yield { contents: [{ type: "text", text: answer }], finishReason: "stop" };
    } else if ("pieces" in answer) {
      for (const piece of answer.pieces) {
        options.signal?.throwIfAborted();
        yield typeof piece === "string" ? { contents: [{ type: "text", text: piece }] } : piece;
      }
      if ("throws" in answer) {
        throw answer.throws;
      }
    } else {
      yield { contents: answer };
    }
  }
}

/** A call of a tool, as a model asks for it. */
export function call(callId: string, name: string, args: unknown = {}): Content {
  return { type: "function_call", callId, name, arguments: JSON.stringify(args) };
}

/** Messages as `role: text or contents`, without ids and times, to compare whole conversations. */
export function shape(messages: readonly Message[]): string[] {
  return messages.map(({ role, contents }) => `${role}: ${contents.map(contentShape).join(" | ")}`);
}

function contentShape(content: Content): string {
  switch (content.type) {
    case "text":
      return content.text;
    case "function_call":
      return `call ${content.callId} ${content.name} ${content.arguments}`;
    case "function_result":
      return `result ${content.callId} ${JSON.stringify(content.result)}`;
    default:
      return content.type;
  }
}

import { AgentFrameworkError, type ChatClient, type ChatUpdate, type ErrorCode, type Message } from "@agentfw/core";
import type {
  ChatAnswer,
  ChatFailure,
  ChatInterruption,
  OpenedChatClient,
  OpenOptions,
  WrongOptions,
} from "../../src/index.ts";
import { turn } from "./world.ts";

const CODES: Readonly<Record<ChatFailure, ErrorCode>> = {
  unauthorized: "unauthorized",
  busy: "unavailable",
  failed: "unavailable",
  refused: "configuration",
  too_long: "too_large",
};

/** What the service is told to do with one request. */
type Script = { readonly answer: ChatAnswer } | { readonly failure: ChatFailure } | { readonly how: ChatInterruption };

/** A model service in the process: answers as it is told, or with a greeting. */
export class ChatService {
  readonly scripts: Script[] = [];
  received = 0;
  open = 0;
  lastRequest = "";
  isBroken = false;
  timeoutMs = 5_000;

  /** The pieces of the answer to one request. */
  async *answer(request: string, signal: AbortSignal): AsyncGenerator<ChatUpdate, void> {
    await turn();
    if (this.isBroken) {
      throw new AgentFrameworkError("unavailable", "connection refused", { provider: "reference" });
    }
    this.received += 1;
    this.open += 1;
    this.lastRequest = request;
    const number = this.received;
    try {
      const script = this.scripts.shift() ?? { answer: { text: "Hello." } };
      if ("failure" in script) {
        throw new AgentFrameworkError(CODES[script.failure], "the service refused", { provider: "reference" });
      }
      yield* "answer" in script ? pieces(script.answer, number) : this.#interrupted(script.how, signal);
    } finally {
      this.open -= 1;
    }
  }

  async *#interrupted(how: ChatInterruption, signal: AbortSignal): AsyncGenerator<ChatUpdate, void> {
    if (how !== "silent") {
      yield { role: "assistant", contents: [{ type: "text", text: "and" }] };
    }
    if (how === "cut") {
      throw new AgentFrameworkError("unavailable", "the answer broke off", { provider: "reference" });
    }
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  }
}

async function* pieces(answer: ChatAnswer, number: number): AsyncGenerator<ChatUpdate, void> {
  const { text, calls = [], usage, isCutShort } = answer;
  const head = { role: "assistant", messageId: `message-${number}`, responseId: `response-${number}` } as const;
  for (const part of slices(text)) {
    await turn();
    yield { ...head, contents: [{ type: "text", text: part }] };
  }
  for (const { callId, name } of calls) {
    yield { ...head, contents: [{ type: "function_call", callId, name, arguments: "" }] };
  }
  for (const { callId, arguments: json } of calls) {
    for (const part of slices(json)) {
      yield { ...head, contents: [{ type: "function_call", callId, name: "", arguments: part }] };
    }
  }
  const { inputTokens = 1, outputTokens = 1 } = usage ?? {};
  yield {
    ...head,
    contents: [{ type: "usage", details: { inputTokenCount: inputTokens, outputTokenCount: outputTokens } }],
    finishReason: isCutShort ? "length" : calls.length > 0 ? "tool_calls" : "stop",
  };
}

function slices(text = ""): string[] {
  const characters = Array.from(text);
  const size = Math.max(3, Math.ceil(characters.length / 20));
  return Array.from({ length: Math.ceil(characters.length / size) }, (_, index) =>
    characters.slice(index * size, (index + 1) * size).join(""),
  );
}

/** A client that does all that the contract asks for. */
export function referenceChatClient(service: ChatService): Required<ChatClient> {
  const stream: ChatClient["stream"] = async function* (messages, options) {
    const { signal, ...rest } = options;
    signal?.throwIfAborted();
    const controller = new AbortController();
    const onAbort = () => controller.abort(signal?.reason);
    signal?.addEventListener("abort", onAbort);
    const late = () => controller.abort(new AgentFrameworkError("timeout", "no answer", { provider: "reference" }));
    const timer = setTimeout(late, service.timeoutMs);
    try {
      for await (const update of service.answer(JSON.stringify([messages.map(wire), rest]), controller.signal)) {
        yield update;
        controller.signal.throwIfAborted();
      }
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    }
  };
  return {
    contractVersion: 1,
    storesByDefault: false,
    stream,
    complete: async (messages, options) => {
      const updates: ChatUpdate[] = [];
      for await (const update of stream(messages, options)) {
        updates.push(update);
      }
      return Object.assign({}, ...updates, { contents: updates.flatMap(({ contents = [] }) => contents) });
    },
  };
}

function wire({ role, contents }: Message): object {
  return {
    role,
    contents: contents.map(
      ({ additionalProperties: _, ...content }: object & { additionalProperties?: unknown }) => content,
    ),
  };
}

/** Opens clients that `make` builds over a service of their own. */
export function openChatWith(
  make: (service: ChatService) => ChatClient,
  wrongOptions: () => WrongOptions = refused,
): (options?: OpenOptions) => Promise<OpenedChatClient> {
  return async ({ timeoutMs = 5_000 } = {}) => {
    const service = new ChatService();
    service.timeoutMs = timeoutMs;
    return {
      client: make(service),
      answerNext: (answer) => void service.scripts.push({ answer }),
      failNext: (failure) => void service.scripts.push({ failure }),
      interruptNext: (how) => void service.scripts.push({ how }),
      lastRequest: () => service.lastRequest,
      requests: () => ({ received: service.received, open: service.open }),
      breakBackend: async () => {
        service.isBroken = true;
      },
      healBackend: async () => {
        service.isBroken = false;
      },
      wrongOptions,
    };
  };
}

function refused(): WrongOptions {
  return {
    "no model": () => {
      throw new AgentFrameworkError("configuration", "model: must be a text");
    },
  };
}

/** A tool call that the server answers with. */
export interface AnsweredCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** An answer as the real service would give it, streamed or whole, as the request asks. */
export interface Answer {
  readonly text?: string | undefined;
  readonly reasoning?: string | undefined;
  readonly refusal?: string | undefined;
  readonly toolCalls?: readonly AnsweredCall[] | undefined;
  readonly finishReason?: string | undefined;
  readonly usage?: Usage | undefined;
}

/** Token counts in the service's own form. */
export interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details?: { readonly cached_tokens: number };
  readonly completion_tokens_details?: { readonly reasoning_tokens: number };
}

/** How the bytes of a reply reach the client. */
export interface Delivery {
  /** Writes this many bytes at a time, wherever that cuts lines and characters. Default: all at once. */
  readonly splitBytes?: number | undefined;
  /** Waits before each write. */
  readonly pauseMs?: number | undefined;
  /** Destroys the connection after so many bytes. */
  readonly cutAfterBytes?: number | undefined;
  /** Stays silent after so many bytes, with the connection open. */
  readonly stallAfterBytes?: number | undefined;
}

/** What the server does with a request that passed its rules. */
export type Reply =
  | { readonly answer: Answer; readonly delivery?: Delivery | undefined }
  /** A stream of one's own: objects become data lines, strings are sent as they are. Nothing is added. */
  | { readonly stream: readonly (object | string)[]; readonly delivery?: Delivery | undefined }
  | {
      readonly status: number;
      readonly body: unknown;
      readonly headers?: Readonly<Record<string, string>>;
      readonly delivery?: Delivery | undefined;
    }
  /** Takes the request and never says anything. */
  | "silence";

export const DEFAULT_USAGE: Usage = { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 };

/** The end of every stream of the real service. */
export const DONE = "data: [DONE]\n\n";

const CREATED = 1_700_000_000;
const PIECE_LENGTH = 5;

function head(id: string, model: string, object: string): object {
  return { id, object, created: CREATED, model, system_fingerprint: "fp_test" };
}

/** The answer as one JSON body. */
export function completionBody(answer: Answer, id: string, model: string): object {
  const { text, reasoning, refusal, toolCalls = [], usage = DEFAULT_USAGE } = answer;
  const message = {
    role: "assistant",
    content: text ?? null,
    refusal: refusal ?? null,
    ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls.map(wireCall) }),
  };
  const choice = { index: 0, message, logprobs: null, finish_reason: finishReason(answer) };
  return { ...head(id, model, "chat.completion"), choices: [choice], usage };
}

/** The answer as the chunks of a stream, the last text being the end mark. */
export function streamOf(answer: Answer, id: string, model: string, includeUsage: boolean): (object | string)[] {
  const { text, reasoning, refusal, toolCalls = [], usage = DEFAULT_USAGE } = answer;
  const chunk = (delta: object, finish: string | null = null): object => ({
    ...head(id, model, "chat.completion.chunk"),
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    ...(includeUsage ? { usage: null } : {}),
  });
  return [
    chunk({ role: "assistant", content: toolCalls.length > 0 && text === undefined ? null : "", refusal: null }),
    ...slices(reasoning).map((piece) => chunk({ reasoning_content: piece })),
    ...slices(text).map((piece) => chunk({ content: piece })),
    ...slices(refusal).map((piece) => chunk({ refusal: piece })),
    ...interleaved(toolCalls).map((piece) => chunk({ tool_calls: [piece] })),
    chunk({}, finishReason(answer)),
    ...(includeUsage ? [{ ...head(id, model, "chat.completion.chunk"), choices: [], usage }] : []),
    DONE,
  ];
}

function finishReason({ finishReason: given, toolCalls = [] }: Answer): string {
  return given ?? (toolCalls.length > 0 ? "tool_calls" : "stop");
}

function wireCall({ id, name, arguments: text }: AnsweredCall): object {
  return { id, type: "function", function: { name, arguments: text } };
}

/** Opens every call first and then alternates between them, which the numbers must tell apart. */
function interleaved(calls: readonly AnsweredCall[]): object[] {
  const openings = calls.map((call, index) => ({ index, ...wireCall({ ...call, arguments: "" }) }));
  const rounds = calls.map((call) => slices(call.arguments));
  const longest = Math.max(0, ...rounds.map((pieces) => pieces.length));
  const rest: object[] = [];
  for (let round = 0; round < longest; round += 1) {
    for (const [index, pieces] of rounds.entries()) {
      const piece = pieces[round];
      if (piece !== undefined) {
        rest.push({ index, function: { arguments: piece } });
      }
    }
  }
  return [...openings, ...rest];
}

/** Pieces of a few characters, never through the middle of one. */
function slices(text = ""): string[] {
  const characters = Array.from(text);
  const pieces: string[] = [];
  for (let start = 0; start < characters.length; start += PIECE_LENGTH) {
    pieces.push(characters.slice(start, start + PIECE_LENGTH).join(""));
  }
  return pieces;
}

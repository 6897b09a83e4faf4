import type { Fields } from "./refusal.ts";
import type { Delivery } from "./replies.ts";

/** An item that the service answers with, without its id. */
export type AnswerItem =
  | { readonly reasoning: string | readonly string[] }
  | { readonly text: string | readonly string[] }
  | { readonly refusal: string }
  | { readonly call: { readonly id: string; readonly name: string; readonly arguments: string } }
  /** An item of a tool of the service's own. */
  | { readonly other: Fields };

/** An answer as the real service would give it, streamed or whole, as the request asks. */
export interface ResponsesAnswer {
  readonly items: readonly AnswerItem[];
  /** Why it is not complete. Default: it is. */
  readonly incomplete?: string;
  /** In place of an answer. */
  readonly failed?: { readonly code: string; readonly message: string };
}

/** What the server does with a request that passed its rules. */
export type ResponsesReply =
  | ResponsesAnswer
  | { readonly answer: ResponsesAnswer; readonly delivery: Delivery }
  /** A stream of one's own: objects become events, strings are sent as they are. Nothing is added, nothing is kept. */
  | { readonly stream: readonly (Fields | string)[]; readonly delivery?: Delivery }
  | { readonly status: number; readonly body: unknown; readonly headers?: Readonly<Record<string, string>> }
  /** Takes the request and never says anything. */
  | "silence";

/** A text as an answer. */
export function says(...texts: string[]): ResponsesAnswer {
  return { items: texts.map((text) => ({ text })) };
}

/** Calls as an answer, after reasoning if there is any. */
export function asks(
  calls: Readonly<Record<string, readonly [name: string, args: string]>>,
  reasoning?: string,
): ResponsesAnswer {
  const items = Object.entries(calls).map(([id, [name, args]]) => ({ call: { id, name, arguments: args } }));
  return { items: [...(reasoning === undefined ? [] : [{ reasoning }]), ...items] };
}

const CREATED = 1_700_000_000;
const PIECE_LENGTH = 5;
const USAGE = {
  input_tokens: 12,
  input_tokens_details: { cached_tokens: 4 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 3 },
  total_tokens: 19,
};

/** The items of an answer, with the ids of the `count`th response; `encrypt` is asked for reasoning that travels. */
export function outputItems(
  answer: ResponsesAnswer,
  count: number,
  encrypt: ((id: string) => string) | undefined,
): Fields[] {
  return answer.items.map((item, index): Fields => {
    const number = `${count}_${index}`;
    if ("reasoning" in item) {
      const id = `rs_${number}`;
      const parts = [item.reasoning].flat().filter((text) => text !== "");
      const summary = parts.map((text) => ({ type: "summary_text", text }));
      return { id, type: "reasoning", summary, ...(encrypt === undefined ? {} : { encrypted_content: encrypt(id) }) };
    }
    if ("call" in item) {
      const { id: callId, name, arguments: text } = item.call;
      return { id: `fc_${number}`, type: "function_call", status: "completed", call_id: callId, name, arguments: text };
    }
    if ("other" in item) {
      return { id: `ot_${number}`, ...item.other };
    }
    const texts = "refusal" in item ? [{ type: "refusal", refusal: item.refusal }] : [item.text].flat().map(outputText);
    return { id: `msg_${number}`, type: "message", status: "completed", role: "assistant", content: texts };
  });
}

function outputText(text: string): Fields {
  return { type: "output_text", text, annotations: [] };
}

/** A response as one JSON body. */
export function responseBody(answer: ResponsesAnswer, id: string, request: Fields, output: readonly Fields[]): Fields {
  const { incomplete, failed } = answer;
  const status = failed === undefined ? (incomplete === undefined ? "completed" : "incomplete") : "failed";
  const conversation = request["conversation"];
  return {
    id,
    object: "response",
    created_at: CREATED,
    status,
    model: request["model"],
    error: failed ?? null,
    incomplete_details: incomplete === undefined ? null : { reason: incomplete },
    output: failed === undefined ? output : [],
    previous_response_id: request["previous_response_id"] ?? null,
    ...(typeof conversation === "string" ? { conversation: { id: conversation } } : {}),
    store: request["store"] !== false,
    usage: failed === undefined ? USAGE : null,
  };
}

/** The events of a streamed response. */
export function eventsOf(response: Fields, output: readonly Fields[]): Fields[] {
  const begun = { ...response, status: "in_progress", output: [], usage: null };
  const end = response["status"] === "completed" ? "completed" : response["status"];
  return [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    ...output.flatMap(itemEvents),
    { type: `response.${end}`, response },
  ];
}

function itemEvents(item: Fields, index: number): Fields[] {
  const place = { output_index: index, item_id: item["id"] };
  const opened = { ...item, ...opening(item) };
  return [
    { type: "response.output_item.added", output_index: index, item: opened },
    ...deltas(item).flatMap((delta) => ({ ...place, ...delta })),
    { type: "response.output_item.done", output_index: index, item },
  ];
}

function opening({ type }: Fields): Fields {
  switch (type) {
    case "message":
      return { status: "in_progress", content: [] };
    case "reasoning":
      return { summary: [] };
    case "function_call":
      return { status: "in_progress", arguments: "" };
    default:
      return {};
  }
}

function deltas(item: Fields): Fields[] {
  const parts = [item["content"] ?? item["summary"] ?? []].flat().filter((part): part is Fields => part !== null);
  switch (item["type"]) {
    case "message":
      return parts.flatMap((part, content) => [
        { type: "response.content_part.added", content_index: content, part },
        ...slices(part["text"]).map((delta) => ({ type: "response.output_text.delta", content_index: content, delta })),
        ...slices(part["refusal"]).map((delta) => ({ type: "response.refusal.delta", content_index: content, delta })),
        { type: "response.content_part.done", content_index: content, part },
      ]);
    case "reasoning":
      return parts.flatMap((part, summary) => [
        { type: "response.reasoning_summary_part.added", summary_index: summary, part },
        ...slices(part["text"]).map((delta) => ({
          type: "response.reasoning_summary_text.delta",
          summary_index: summary,
          delta,
        })),
      ]);
    case "function_call":
      return [
        ...slices(item["arguments"]).map((delta) => ({ type: "response.function_call_arguments.delta", delta })),
        { type: "response.function_call_arguments.done", arguments: item["arguments"] },
      ];
    default:
      return [];
  }
}

/** Pieces of a few characters, never through the middle of one. */
function slices(text: unknown): string[] {
  const characters = typeof text === "string" ? Array.from(text) : [];
  const pieces: string[] = [];
  for (let start = 0; start < characters.length; start += PIECE_LENGTH) {
    pieces.push(characters.slice(start, start + PIECE_LENGTH).join(""));
  }
  return pieces;
}

import type { ChatUpdate, Content } from "@agentfw/core";
import { type Fields, fields, text } from "./answer-fields.ts";
import type { StreamReader } from "./endpoint.ts";
import { brokenAnswer, failedAnswer } from "./errors.ts";
import {
  type FinishedResponse,
  finishedResponse,
  functionCall,
  messageText,
  otherItem,
  reasoningText,
  responseHead,
} from "./responses-answer.ts";

/** What has been handed on of an item. */
interface OpenItem {
  text: string;
  /** The service's name for the call, once its opening has been handed on. */
  callId: string | undefined;
  /** The number of the paragraph of a summary that came last. */
  part: number;
  isDone: boolean;
}

/** What of the request matters to the reading of its answer. */
export interface AskedFor {
  readonly operation: string;
  /** Whether the service keeps the response. */
  readonly store: boolean;
  /** The conversation that the request named; not the response that it continued. */
  readonly conversation: string | undefined;
  /** What was changed in the request so that the service took it. */
  readonly repairs: readonly string[];
}

/**
 * Turns the events of one response into updates. All items make one message, in their order; a text that follows another
 * text without anything in between begins a message of its own, so that the two stay apart.
 *
 * The id to continue with comes with the closing update: what breaks off before it is not there to be continued.
 */
export class ResponsesReader implements StreamReader {
  readonly #asked: AskedFor;
  readonly #items = new Map<number, OpenItem>();
  readonly #callIds = new Set<string>();
  #head: Partial<ChatUpdate> | undefined = { role: "assistant" };
  #lastKind: string | undefined;
  #isOver = false;

  constructor(asked: AskedFor) {
    this.#asked = asked;
    if (asked.repairs.length > 0) {
      this.#head = { role: "assistant", additionalProperties: { requestRepairs: asked.repairs } };
    }
  }

  read(piece: unknown): readonly ChatUpdate[] {
    const event = fields(piece, "an event is no object");
    switch (event["type"]) {
      case "response.created":
      case "response.in_progress":
        this.#noteHead(event);
        return [];
      case "response.output_item.added":
        return this.#added(indexOf(event), fields(event["item"], "an item is no object"));
      case "response.output_item.done":
        return this.#done(indexOf(event), fields(event["item"], "an item is no object"));
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
        return this.#ended(event["response"]);
      case "error":
        throw failedAnswer(event, this.#asked.operation);
      default:
        return this.#delta(event);
    }
  }

  /** The service has said its end; what comes behind it changes nothing. */
  get isOver(): boolean {
    return this.#isOver;
  }

  end(): undefined {
    if (!this.#isOver) {
      throw brokenAnswer("it ended before the service had completed it, so it may be incomplete");
    }
  }

  /** A response in one piece; its closing update goes with the last of its messages. */
  whole(response: unknown): ChatUpdate[] {
    const updates: ChatUpdate[] = [];
    for (const update of this.#ended(response)) {
      const last = updates.at(-1);
      if (last === undefined || update.messageId !== undefined) {
        updates.push(update);
      } else {
        updates[updates.length - 1] = { ...last, ...update, contents: [...contentsOf(last), ...contentsOf(update)] };
      }
    }
    return updates;
  }

  #noteHead(event: Fields): void {
    const response = fields(event["response"], "an event is about no response");
    if (this.#head !== undefined) {
      this.#head = { ...this.#head, ...responseHead(response) };
    }
  }

  #added(index: number, item: Fields): ChatUpdate[] {
    const open = this.#open(index);
    if (item["type"] !== "function_call" || text(item["name"]) === undefined) {
      return [];
    }
    const call = functionCall(item);
    this.#openCall(open, call.callId);
    open.text = call.arguments;
    return [this.#update("function_call", item, [call])];
  }

  #delta(event: Fields): ChatUpdate[] {
    const delta = text(event["delta"]);
    if (delta === undefined) {
      return [];
    }
    switch (event["type"]) {
      case "response.output_text.delta":
        return this.#piece(event, "message", { type: "text", text: delta });
      case "response.refusal.delta":
        return this.#piece(event, "refusal", { type: "text", text: delta });
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        return this.#reasoning(event, delta);
      case "response.function_call_arguments.delta": {
        const open = this.#open(indexOf(event));
        if (open.callId === undefined) {
          return [];
        }
        open.text += delta;
        return [
          this.#update("function_call", event, [
            { type: "function_call", callId: open.callId, name: "", arguments: delta },
          ]),
        ];
      }
      default:
        return [];
    }
  }

  #piece(event: Fields, kind: "message" | "refusal", content: Content & { type: "text" }): ChatUpdate[] {
    const open = this.#open(indexOf(event));
    const isFirst = open.text === "";
    open.text += content.text;
    return [this.#update(kind, event, [content], isFirst)];
  }

  /** Parts of a summary are paragraphs. */
  #reasoning(event: Fields, delta: string): ChatUpdate[] {
    const open = this.#open(indexOf(event));
    const index = event["summary_index"];
    const part = typeof index === "number" ? index : open.part;
    const added = part !== open.part && open.text !== "" ? `\n\n${delta}` : delta;
    open.part = part;
    open.text += added;
    return [this.#update("reasoning", event, [{ type: "text_reasoning", text: added }])];
  }

  /** Hands on what of an item has not been streamed. */
  #done(index: number, item: Fields): ChatUpdate[] {
    const open = this.#open(index);
    if (open.isDone) {
      return [];
    }
    open.isDone = true;
    switch (item["type"]) {
      case "message":
        return this.#messageDone(open, item);
      case "reasoning":
        return this.#reasoningDone(open, item);
      case "function_call":
        return this.#callDone(open, item);
      default:
        return [this.#update("other", item, [otherItem(item)])];
    }
  }

  #messageDone(open: OpenItem, item: Fields): ChatUpdate[] {
    const { text: whole, isRefusal } = messageText(item);
    const rest = whole.startsWith(open.text) ? whole.slice(open.text.length) : "";
    const content: Content = { type: "text", text: rest };
    return rest === "" ? [] : [this.#update(isRefusal ? "refusal" : "message", item, [content], open.text === "")];
  }

  #reasoningDone(open: OpenItem, item: Fields): ChatUpdate[] {
    const protectedData = text(item["encrypted_content"]);
    const whole = open.text === "" ? reasoningText(item) : "";
    if (protectedData === undefined && whole === "") {
      return [];
    }
    const content: Content = {
      type: "text_reasoning",
      ...(whole === "" ? {} : { text: whole }),
      ...(protectedData === undefined ? {} : { protectedData }),
    };
    return [this.#update("reasoning", item, [content])];
  }

  #callDone(open: OpenItem, item: Fields): ChatUpdate[] {
    const call = functionCall(item);
    if (open.callId === undefined) {
      this.#openCall(open, call.callId);
      return [this.#update("function_call", item, [call])];
    }
    if (open.callId !== call.callId || !call.arguments.startsWith(open.text)) {
      throw brokenAnswer("a function call is another one at its end than in its pieces");
    }
    const rest = call.arguments.slice(open.text.length);
    return rest === "" ? [] : [this.#update("function_call", item, [{ ...call, name: "", arguments: rest }])];
  }

  #ended(value: unknown): ChatUpdate[] {
    if (this.#isOver) {
      return [];
    }
    const finished = finishedResponse(value, this.#asked.operation);
    if (this.#head !== undefined) {
      this.#head = { ...this.#head, ...finished.head };
    }
    const rest = finished.output.flatMap((item, index) => this.#done(index, item));
    this.#isOver = true;
    return [...rest, this.#closing(finished)];
  }

  #closing({ id, usage, finishReason, conversationId: given }: FinishedResponse): ChatUpdate {
    const contents: Content[] = usage === undefined ? [] : [{ type: "usage", details: usage }];
    const conversationId = this.#asked.store ? (given ?? this.#asked.conversation ?? id) : undefined;
    return {
      ...this.#headOnce(),
      contents,
      finishReason,
      responseId: id,
      ...(conversationId === undefined ? {} : { conversationId }),
    };
  }

  #update(kind: string, item: Fields, contents: readonly Content[], isFirst = false): ChatUpdate {
    const isText = kind === "message" || kind === "refusal";
    const isApart = isText && isFirst && (this.#lastKind === "message" || this.#lastKind === "refusal");
    this.#lastKind = kind;
    const messageId = text(item["item_id"]) ?? text(item["id"]);
    const head = this.#headOnce();
    // The mark is the message's: text with marks of its own would stay in pieces.
    const mark = kind === "refusal" ? { additionalProperties: { ...head.additionalProperties, refusal: true } } : {};
    return {
      ...head,
      ...mark,
      contents,
      ...(isApart && messageId !== undefined ? { messageId } : {}),
    };
  }

  #headOnce(): Partial<ChatUpdate> {
    const head = this.#head ?? {};
    this.#head = undefined;
    return head;
  }

  #open(index: number): OpenItem {
    const open = this.#items.get(index) ?? { text: "", callId: undefined, part: 0, isDone: false };
    this.#items.set(index, open);
    return open;
  }

  /** Results name calls by this id alone. */
  #openCall(open: OpenItem, callId: string): void {
    if (this.#callIds.has(callId)) {
      throw brokenAnswer("two function calls have one id");
    }
    this.#callIds.add(callId);
    open.callId = callId;
  }
}

function contentsOf({ contents = [] }: ChatUpdate): readonly Content[] {
  return contents;
}

function indexOf(event: Fields): number {
  const index = event["output_index"];
  if (typeof index !== "number") {
    throw brokenAnswer("an event is about no item");
  }
  return index;
}

import type { ChatUpdate, Content, UsageDetails } from "@agentfw/core";
import type { AnswerPiece } from "./chat-answer.ts";
import { brokenAnswer } from "./errors.ts";
import { ToolCallReader } from "./tool-calls.ts";

type Head = Pick<ChatUpdate, "createdAt" | "messageId" | "model" | "responseId" | "role">;

/** Turns the pieces of one answer into updates. The first update says whose answer it is, the last one how it ended. */
export class AnswerReader {
  readonly #calls = new ToolCallReader();
  #head: Head | undefined;
  #finishReason: string | undefined;
  #usage: UsageDetails | undefined;

  /** What a piece adds; `undefined` when it adds nothing that can be handed on yet. */
  read(piece: AnswerPiece): ChatUpdate | undefined {
    this.#finishReason = piece.finishReason ?? this.#finishReason;
    // Some servers count with every piece, always from the start: the last count holds.
    this.#usage = piece.usage ?? this.#usage;
    const calls = piece.toolCalls.map((call) => this.#calls.read(call)).filter((call) => call !== undefined);
    const contents = [...piece.contents, ...calls];
    if (contents.length === 0) {
      return undefined;
    }
    // The mark is the message's: text with marks of its own would stay in pieces.
    const mark = piece.isRefusal ? { additionalProperties: { refusal: true } } : {};
    return { ...this.#headOnce(piece), contents, ...mark };
  }

  /**
   * The closing update, with the finish reason and the usage.
   *
   * @throws `unavailable` when the answer broke off: the service ends every answer with a finish reason.
   */
  end(lastPiece?: AnswerPiece): ChatUpdate {
    if (this.#finishReason === undefined) {
      throw brokenAnswer("it ended without a finish reason, so it may be incomplete");
    }
    this.#calls.end();
    const contents: Content[] = this.#usage === undefined ? [] : [{ type: "usage", details: this.#usage }];
    return { ...this.#headOnce(lastPiece), contents, finishReason: this.#finishReason };
  }

  /** Handed on once only: servers that change the id on the way would seem to begin another message. */
  #headOnce(piece: AnswerPiece | undefined): Head {
    if (this.#head !== undefined) {
      return {};
    }
    const { id, model, createdAt } = piece ?? {};
    this.#head = {
      role: "assistant",
      ...(id === undefined ? {} : { messageId: id, responseId: id }),
      ...(model === undefined ? {} : { model }),
      ...(createdAt === undefined ? {} : { createdAt }),
    };
    return this.#head;
  }
}

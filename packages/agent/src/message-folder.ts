import type { Content, FinishReason, Message, Role, UsageDetails } from "@agentfw/core";

/** A piece of a message, as {@link MessageFolder} takes it. */
export interface MessagePiece {
  readonly messageId: string;
  readonly role: Role;
  readonly contents: readonly Content[];
  readonly authorName?: string | undefined;
  readonly createdAt?: string | undefined;
  readonly finishReason?: FinishReason | undefined;
  readonly additionalProperties?: Readonly<Record<string, unknown>> | undefined;
}

interface Draft {
  readonly messageId: string;
  readonly role: Role;
  readonly contents: Content[];
  authorName: string | undefined;
  createdAt: string | undefined;
  additionalProperties: Record<string, unknown> | undefined;
}

const USAGE_COUNTS = [
  "inputTokenCount",
  "outputTokenCount",
  "totalTokenCount",
  "cachedInputTokenCount",
  "reasoningTokenCount",
] as const;

/** Puts the pieces of messages together. Usage is summed up beside them and is in no message. */
export class MessageFolder {
  readonly #drafts = new Map<string, Draft>();
  #usage: Record<string, number> | undefined;

  /** The sum of the usage seen so far. */
  get usage(): UsageDetails | undefined {
    return this.#usage;
  }

  add(piece: MessagePiece): void {
    const draft = this.#drafts.get(piece.messageId) ?? this.#begin(piece);
    draft.authorName ??= piece.authorName;
    draft.createdAt ??= piece.createdAt;
    if (piece.additionalProperties !== undefined) {
      draft.additionalProperties = { ...draft.additionalProperties, ...piece.additionalProperties };
    }
    for (const content of piece.contents) {
      if (content.type === "usage") {
        this.#usage = addUsage(this.#usage, content.details);
      } else if (!isNothing(content) && !mergeIntoLast(draft.contents, content)) {
        // A copy: the client may use its object again, and a reader of the stream may change it.
        draft.contents.push({ ...content });
      }
    }
  }

  /** The messages that have any contents, in the order in which they began. */
  messages(): Message[] {
    const messages: Message[] = [];
    for (const { role, messageId, contents, createdAt, authorName, additionalProperties } of this.#drafts.values()) {
      if (contents.length > 0) {
        const message: { -readonly [K in keyof Message]: Message[K] } = { role, messageId, contents: [...contents] };
        if (createdAt !== undefined) {
          message.createdAt = createdAt;
        }
        if (authorName !== undefined) {
          message.authorName = authorName;
        }
        if (additionalProperties !== undefined) {
          message.additionalProperties = additionalProperties;
        }
        messages.push(message);
      }
    }
    return messages;
  }

  #begin(piece: MessagePiece): Draft {
    const draft: Draft = {
      messageId: piece.messageId,
      role: piece.role,
      contents: [],
      authorName: undefined,
      createdAt: undefined,
      additionalProperties: undefined,
    };
    this.#drafts.set(piece.messageId, draft);
    return draft;
  }
}

function addUsage(sum: Record<string, number> | undefined, details: UsageDetails): Record<string, number> {
  const total = { ...sum };
  for (const name of USAGE_COUNTS) {
    const count = details[name];
    if (count !== undefined) {
      total[name] = (total[name] ?? 0) + count;
    }
  }
  return total;
}

/** Joins a piece with what it continues; false when it begins something new. */
function mergeIntoLast(contents: Content[], piece: Content): boolean {
  const last = contents.at(-1);
  const position = contents.length - 1;
  if (piece.type === "text" && last?.type === "text" && isBare(piece) && isBare(last)) {
    contents[position] = { ...last, text: last.text + piece.text };
    return true;
  }
  if (piece.type === "text_reasoning" && last?.type === "text_reasoning" && last.protectedData === undefined) {
    const text =
      last.text === undefined && piece.text === undefined ? {} : { text: (last.text ?? "") + (piece.text ?? "") };
    contents[position] = { ...last, ...piece, ...text };
    return true;
  }
  if (piece.type === "function_call" && piece.name === "") {
    const index = contents.findLastIndex(
      (content) => content.type === "function_call" && content.callId === piece.callId,
    );
    const call = contents[index];
    if (call?.type === "function_call") {
      contents[index] = { ...call, arguments: call.arguments + piece.arguments };
      return true;
    }
  }
  return false;
}

/** Many services open or close an answer with a piece that says nothing; stored, it would be refused in later calls. */
function isNothing(content: Content): boolean {
  return content.type === "text" && content.text === "" && isBare(content);
}

/** Text with marks of its own stays apart, so that the marks keep their meaning. */
function isBare(content: { readonly annotations?: unknown; readonly additionalProperties?: unknown }): boolean {
  return content.annotations === undefined && content.additionalProperties === undefined;
}

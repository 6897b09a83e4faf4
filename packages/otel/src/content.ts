import type { Content, FunctionCallContent, Message, ToolDefinition } from "@agentfw/core";

/** A part of a message as the conventions write it. */
type Part = { readonly type: string; readonly [member: string]: unknown };

/** Messages in the form of `gen_ai.input.messages`, as JSON text. */
export function messagesText(messages: readonly Pick<Message, "role" | "contents">[]): string {
  return JSON.stringify(messages.map(({ role, contents }) => ({ role, parts: contents.map(part) })));
}

/** Instructions in the form of `gen_ai.system_instructions`. */
export function instructionsText(instructions: string): string {
  return JSON.stringify([{ type: "text", content: instructions }]);
}

/** Tools in the form of `gen_ai.tool.definitions`. */
export function toolsText(tools: readonly ToolDefinition[]): string {
  return JSON.stringify(
    tools.map(({ name, description, parameters }) => ({ type: "function", name, description, parameters })),
  );
}

function part(content: Content): Part {
  switch (content.type) {
    case "text":
      return { type: "text", content: content.text };
    case "text_reasoning":
      return { type: "reasoning", content: content.text ?? "" };
    case "function_call":
      return {
        type: "tool_call",
        id: content.callId,
        name: content.name,
        arguments: jsonOrText(content.arguments),
      };
    case "function_result":
      return { type: "tool_call_response", id: content.callId, response: content.result };
    case "data":
      return { ...blob(content.mediaType), byte_count: content.data.length };
    case "uri":
      return content.uri.startsWith("data:")
        ? blob(content.mediaType)
        : { type: "uri", modality: modality(content.mediaType), mime_type: content.mediaType, uri: content.uri };
    case "hosted_file":
      return { type: "file", modality: modality(content.mediaType), file_id: content.fileId };
    default:
      // What the conventions have no form for is named only.
      return { type: content.type };
  }
}

/** Bytes would fill a trace: that they were there says enough. */
function blob(mediaType: string | undefined): Part {
  return { type: "blob", modality: modality(mediaType), mime_type: mediaType };
}

function modality(mediaType = ""): string {
  const [kind = ""] = mediaType.split("/");
  return ["image", "audio", "video"].includes(kind) ? kind : "document";
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

interface Draft {
  readonly messageId: string | undefined;
  readonly role: Message["role"];
  readonly contents: Content[];
}

/** A piece of an answer or a run. */
export interface Piece {
  readonly messageId?: string | undefined;
  readonly role?: Message["role"] | undefined;
  readonly contents?: readonly Content[] | undefined;
}

/** Puts the pieces of messages together again, for a span that shows them. */
export class PieceFolder {
  readonly #drafts: Draft[] = [];

  add({ messageId, role, contents = [] }: Piece): void {
    const last = this.#drafts.at(-1);
    const id = messageId ?? last?.messageId;
    const isSame = last !== undefined && last.messageId === id && (role ?? last.role) === last.role;
    const draft = isSame ? last : { messageId: id, role: role ?? "assistant", contents: [] };
    if (!isSame) {
      this.#drafts.push(draft);
    }
    for (const content of contents) {
      if (content.type !== "usage" && !continues(draft.contents, content)) {
        draft.contents.push(content);
      }
    }
  }

  text(): string {
    return messagesText(this.#drafts.filter(({ contents }) => contents.length > 0));
  }
}

/** Joins a piece with the text, the reasoning or the call that it goes on with. */
function continues(contents: Content[], piece: Content): boolean {
  const last = contents.at(-1);
  if (piece.type === "text" && last?.type === "text") {
    contents[contents.length - 1] = { type: "text", text: last.text + piece.text };
    return true;
  }
  if (piece.type === "text_reasoning" && last?.type === "text_reasoning") {
    contents[contents.length - 1] = { type: "text_reasoning", text: (last.text ?? "") + (piece.text ?? "") };
    return true;
  }
  return piece.type === "function_call" && piece.name === "" && continuesCall(contents, piece);
}

function continuesCall(contents: Content[], piece: FunctionCallContent): boolean {
  const index = contents.findLastIndex((entry) => entry.type === "function_call" && entry.callId === piece.callId);
  const call = contents[index];
  if (call?.type !== "function_call") {
    return false;
  }
  contents[index] = { ...call, arguments: call.arguments + piece.arguments };
  return true;
}

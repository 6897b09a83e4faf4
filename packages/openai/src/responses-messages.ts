import type { Content, FunctionResultContent, Message, TextReasoningContent } from "@agentfw/core";
import { isForTheModel, type Refuse, refusalsOf, resultText } from "./message-contents.ts";
import { ofType, userMedia } from "./user-media.ts";

/** A part of a user message as a request carries it. */
export type InputPart =
  | { readonly type: "input_text"; readonly text: string }
  | { readonly type: "input_image"; readonly detail: "auto"; readonly image_url: string }
  | { readonly type: "input_image"; readonly detail: "auto"; readonly file_id: string }
  | { readonly type: "input_file"; readonly file_id: string }
  | { readonly type: "input_file"; readonly file_url: string }
  | { readonly type: "input_file"; readonly file_data: string; readonly filename: string };

/** An item of a request's input. None has an id: what the service does not keep it cannot find by its id. */
export type InputItem =
  | {
      readonly type: "message";
      readonly role: "system" | "developer" | "user" | "assistant";
      readonly content: string | readonly InputPart[];
    }
  | {
      readonly type: "reasoning";
      readonly summary: readonly { readonly type: "summary_text"; readonly text: string }[];
      readonly encrypted_content: string;
    }
  | { readonly type: "function_call"; readonly call_id: string; readonly name: string; readonly arguments: string }
  | { readonly type: "function_call_output"; readonly call_id: string; readonly output: string };

/** What the service did itself and cannot be sent back: reasoning before it has lost its partner. */
const LEFT_OUT = "left out";

type Item = InputItem | typeof LEFT_OUT;

/**
 * The input items for messages, in order. A content that is not for the model is left out.
 *
 * Reasoning goes back in its encrypted form only, and only right before the text or call that it led to: the service
 * refuses encrypted reasoning without its partner, and finds plain reasoning by an id only, if it kept it.
 *
 * @throws `unsupported` naming the message and the content that the Responses API has no place for.
 */
export function toInputItems(messages: readonly Message[], systemRole: "system" | "developer"): InputItem[] {
  const items = messages.flatMap((message, index) =>
    itemsOf(message, systemRole, refusalsOf(message, index, "the Responses API")),
  );
  const kept: InputItem[] = [];
  let next: Item = LEFT_OUT;
  for (const item of items.reverse()) {
    const isAlone = item !== LEFT_OUT && item.type === "reasoning" && !isPartner(next);
    if (item === LEFT_OUT || !isAlone) {
      next = item;
    }
    if (item !== LEFT_OUT && !isAlone) {
      kept.push(item);
    }
  }
  return kept.reverse();
}

/** True for what reasoning leads to, further reasoning included. */
function isPartner(item: Item): boolean {
  return (
    item !== LEFT_OUT &&
    (item.type === "reasoning" ||
      item.type === "function_call" ||
      (item.type === "message" && item.role === "assistant"))
  );
}

function itemsOf(message: Message, systemRole: "system" | "developer", refuse: Refuse): Item[] {
  switch (message.role) {
    case "system":
      return spoken(
        systemRole,
        message.contents.filter(isForTheModel).map((content) => textOf(content, refuse)),
      );
    case "user":
      return userItems(message.contents.filter(isForTheModel), refuse);
    case "assistant":
      return message.contents.flatMap((content) => assistantItems(content, refuse));
    case "tool":
      return message.contents
        .filter(isForTheModel)
        .map((content) =>
          content.type === "function_result" ? output(content) : refuse(content, " in a tool message"),
        );
  }
}

function textOf(content: Content, refuse: Refuse): string {
  return content.type === "text" ? content.text : refuse(content);
}

/** The service refuses empty content. */
function spoken(role: "system" | "developer" | "assistant", texts: readonly string[]): Item[] {
  const content = texts.filter((text) => text !== "").join("\n");
  return content === "" ? [] : [{ type: "message", role, content }];
}

function userItems(contents: readonly Content[], refuse: Refuse): Item[] {
  const parts = contents
    .filter((content) => content.type !== "text" || content.text !== "")
    .map((content) => inputPart(content, refuse));
  const [first] = parts;
  if (first === undefined) {
    return [];
  }
  const content = parts.length === 1 && first.type === "input_text" ? first.text : parts;
  return [{ type: "message", role: "user", content }];
}

function inputPart(content: Content, refuse: Refuse): InputPart {
  const media = userMedia(content, refuse);
  switch (media.kind) {
    case "text":
      return { type: "input_text", text: media.text };
    case "image":
      return { type: "input_image", detail: "auto", image_url: media.url };
    case "audio":
      return refuse(content, ofType(`audio/${media.format}`));
    case "file":
      return { type: "input_file", file_data: media.url, filename: media.name };
    case "file_address":
      return { type: "input_file", file_url: media.url };
    case "hosted_file":
      return media.isImage
        ? { type: "input_image", detail: "auto", file_id: media.fileId }
        : { type: "input_file", file_id: media.fileId };
  }
}

function assistantItems(content: Content, refuse: Refuse): Item[] {
  switch (content.type) {
    case "text":
      return spoken("assistant", [content.text]);
    case "text_reasoning":
      return reasoning(content);
    case "function_call":
      return [{ type: "function_call", call_id: content.callId, name: content.name, arguments: content.arguments }];
    case "unknown":
      return [LEFT_OUT];
    default:
      return isForTheModel(content) ? refuse(content, " in an assistant message") : [];
  }
}

function reasoning({ text, protectedData }: TextReasoningContent): Item[] {
  if (protectedData === undefined || protectedData === "") {
    return [];
  }
  const summary = text === undefined || text === "" ? [] : [{ type: "summary_text", text } as const];
  return [{ type: "reasoning", summary, encrypted_content: protectedData }];
}

function output(content: FunctionResultContent): InputItem {
  return { type: "function_call_output", call_id: content.callId, output: resultText(content) };
}

import { contentFromInput, contentFromJson, contentToStored, firstMisfit } from "./content-codec.ts";
import { AgentFrameworkError, configurationError } from "./errors.ts";
import { isPlainObject, type Json, toJson } from "./json.ts";
import type { Message, MessageInput, Role } from "./message.ts";
import type { HistoryKey } from "./ports/history-types.ts";
import { assertName } from "./store-input.ts";

/** What a codec is told about the record: enough to bind a ciphertext to its place. */
export interface MessageCodecContext {
  readonly key: HistoryKey;
  readonly recordId: string;
}

/**
 * How a message becomes the `data` of a record: encryption, compression and foreign layouts live here.
 *
 * `encode` must give one well-formed JSON text on one line; `decode` throws on text it cannot read, which is then
 * reported as `corrupt`. Both may be called concurrently.
 */
export interface MessageCodec {
  encode(message: Message, context: MessageCodecContext): string | Promise<string>;
  decode(data: string, context: MessageCodecContext): Message | Promise<Message>;
}

const ROLES: ReadonlySet<unknown> = new Set<Role>(["system", "user", "assistant", "tool"]);

function isRole(value: unknown): value is Role {
  return ROLES.has(value);
}

/**
 * The stored form of a message: a copy that is JSON only, bytes as base64, without its attribution.
 *
 * @throws `configuration` naming the path of what JSON cannot hold.
 */
export function messageToJson(message: Message, path = "message"): Json {
  return toJson(storedForm(message), path);
}

/** What is written for a message, as it stands in memory: not copied, not checked. */
export function storedForm(message: Message): Record<string, unknown> {
  return withContents(message, message.contents.map(contentToStored));
}

/** A shallow copy with other contents and without attribution, which is rarely there and would be dear to add as a member. */
function withContents(message: object, contents: unknown): Record<string, unknown> {
  const copy: Record<string, unknown> = { ...message, contents };
  if (copy["attribution"] !== undefined) {
    copy["attribution"] = undefined;
  }
  return copy;
}

/**
 * Reads a message from its stored form. Members and contents that this version does not know are kept. The value
 * becomes part of the message.
 *
 * @throws `corrupt` when it is not a message at all.
 */
export function messageFromJson(value: unknown): Message {
  if (!isPlainObject(value) || !isStoredMessage(value)) {
    throw new AgentFrameworkError("corrupt", "the stored text is not a message");
  }
  if (value["attribution"] !== undefined) {
    // Only a run says where a message came from; what a store says about it is not to be believed.
    const { attribution: _, ...rest } = value;
    return messageFromJson(rest);
  }
  return { ...value, contents: value.contents.map(contentFromJson) };
}

function isStoredMessage(
  value: Record<string, unknown>,
): value is Record<string, unknown> & Omit<Message, "contents"> & { contents: Json[] } {
  return isRole(value["role"]) && Array.isArray(value["contents"]) && firstMisfit(value, "message") === undefined;
}

/** The codec that is used when none is given: the message's JSON. */
export const jsonMessageCodec: MessageCodec = {
  encode: (message) => JSON.stringify(messageToJson(message)),
  decode: messageFromText,
};

/** The message whose JSON a text is. @throws when it is something else. */
export function messageFromText(data: string): Message {
  return messageFromJson(JSON.parse(data));
}

/** What `run` and `append` take: one text or message, or several. */
export type MessagesInput = string | MessageInput | readonly (string | MessageInput)[];

/**
 * Checked copies of what a caller passed, each with an id; a string is a user message.
 *
 * @param makeId Gives the id of the message at an index that has none.
 * @throws `configuration` naming the path of what does not fit.
 */
export function messagesFromInput(
  input: MessagesInput,
  makeId: (index: number) => string,
  path = "messages",
): Message[] {
  const list: readonly unknown[] = Array.isArray(input) ? input : [input];
  const seen = new Set<string>();
  return [...list].map((value, index) => {
    const message = messageFromInput(value, makeId, index, `${path}[${index}]`);
    if (seen.has(message.messageId)) {
      throw configurationError(`${path}[${index}].messageId`, "must not repeat within one input");
    }
    seen.add(message.messageId);
    return message;
  });
}

function messageFromInput(value: unknown, makeId: (index: number) => string, index: number, path: string): Message {
  if (typeof value === "string") {
    return { role: "user", contents: [{ type: "text", text: value }], messageId: makeId(index) };
  }
  if (!isPlainObject(value)) {
    throw configurationError(path, "must be a string or a message object");
  }
  const { role, contents, messageId = makeId(index) } = value;
  if (!isRole(role)) {
    throw configurationError(`${path}.role`, "must be system, user, assistant or tool");
  }
  assertName(messageId, `${path}.messageId`);
  if (typeof contents !== "string" && !Array.isArray(contents)) {
    throw configurationError(`${path}.contents`, "must be a string or an array of contents");
  }
  const parts: readonly unknown[] = typeof contents === "string" ? [contents] : contents;
  const json = toJson(withContents(value, undefined), path);
  const others = isPlainObject(json) ? json : {};
  const misfit = firstMisfit({ messageId, ...others }, "message");
  if (misfit !== undefined) {
    throw configurationError(path + misfit.member, misfit.rule);
  }
  return {
    role,
    messageId,
    contents: [...parts].map((part, position) => contentFromInput(part, `${path}.contents[${position}]`)),
    ...others,
  };
}

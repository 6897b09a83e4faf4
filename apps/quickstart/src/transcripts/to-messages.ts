import type { Content, FunctionCallContent, Json, MessageInput, Role } from "@agentfw/core";
import { type ContentMarks, type MessageMarks, marked } from "./marks.ts";
import { type Members, membersOf, type RecordedMessage } from "./recording.ts";

/** A recorded message as the framework's own; it has no id yet. */
export interface PreparedMessage {
  readonly role: Role;
  /** Never empty, and no text in it is blank: the framework leaves such messages out. */
  readonly contents: readonly Content[];
  readonly authorName: string | undefined;
  readonly marks: MessageMarks;
}

/** What a recorded message becomes. {@link fromMessages} is the way back. */
export function prepare({ role, members }: RecordedMessage): PreparedMessage {
  if (role === "tool") {
    return prepareResult(members);
  }
  const { role: _, content, name, refusal, tool_calls: calls, ...others } = members;
  const hasCalls = Array.isArray(calls) && calls.length > 0;
  const hasRefusal = typeof refusal === "string" && !isBlank(refusal);
  // What is no name, refusal or list of calls is a member like any other.
  const rest = {
    ...others,
    ...(name === undefined || typeof name === "string" ? {} : { name }),
    ...(refusal === undefined || hasRefusal ? {} : { refusal }),
    ...(calls === undefined || hasCalls ? {} : { tool_calls: calls }),
  };
  const contents = [
    ...contentsOf(content),
    ...(hasRefusal ? [refusalContent(refusal)] : []),
    ...(hasCalls ? calls.map(callContent) : []),
  ];
  return {
    role: role === "developer" ? "system" : role,
    contents: contents.length === 0 ? [NOTHING] : contents,
    authorName: typeof name === "string" ? name : undefined,
    marks: {
      ...(role === "developer" ? { role } : {}),
      ...formOf(content),
      ...(Object.keys(rest).length === 0 ? {} : { members: rest }),
    },
  };
}

/** The message as input of a run. */
export function asInput({ role, contents, authorName, marks }: PreparedMessage): MessageInput {
  return { role, contents, ...(authorName === undefined ? {} : { authorName }), ...marked(marks) };
}

/** True when every call in the message is one that the framework can make. */
export function hasOnlyFunctionCalls({ contents }: PreparedMessage): boolean {
  return contents.every((content) => content.type !== "unknown" || membersOf(content.raw)?.["call"] === undefined);
}

export function callsOf({ contents }: PreparedMessage): FunctionCallContent[] {
  return contents.filter((content) => content.type === "function_call");
}

/** Stands for nothing in a message that has nothing else. */
const NOTHING: Content = { type: "unknown", raw: { nothing: true } };

function isBlank(text: string): boolean {
  return text.trim() === "";
}

function formOf(content: Json | undefined): MessageMarks {
  if (typeof content === "string") {
    return isBlank(content) ? { blank: content } : {};
  }
  if (content === undefined) {
    return { content: "absent" };
  }
  return content === null ? { content: "null" } : Array.isArray(content) ? { content: "parts" } : {};
}

/** The results of a tool: any JSON. */
function prepareResult(members: Members): PreparedMessage {
  const { role: _, tool_call_id: callId, content, ...others } = members;
  const marks: MessageMarks = {
    ...(content === undefined ? { content: "absent" } : {}),
    ...(Object.keys(others).length === 0 ? {} : { members: others }),
  };
  // A tool message without an id is refused when the recording is read.
  const result = { type: "function_result", callId: String(callId), result: content ?? null } as const;
  return { role: "tool", contents: [result], authorName: undefined, marks };
}

function contentsOf(content: Json | undefined): Content[] {
  if (typeof content === "string") {
    return isBlank(content) ? [] : [{ type: "text", text: content }];
  }
  return Array.isArray(content) ? content.map(partContent) : [];
}

function partContent(part: Json): Content {
  const members = membersOf(part);
  if (members !== undefined) {
    const { text, ...rest } = members;
    if (members["type"] === "text" && typeof text === "string" && !isBlank(text)) {
      return { type: "text", text, ...marked({ part: rest }) };
    }
    const image = imageContent(members);
    if (image !== undefined) {
      return image;
    }
  }
  return { type: "unknown", raw: { part } };
}

function imageContent(members: Members): Content | undefined {
  const { image_url: image, ...rest } = members;
  const { url, ...imageRest } = membersOf(image) ?? {};
  if (members["type"] !== "image_url" || typeof url !== "string") {
    return undefined;
  }
  const mediaType = /^data:([^;,]+)/.exec(url)?.[1] ?? "image/*";
  return { type: "uri", uri: url, mediaType, ...marked({ part: { ...rest, image_url: imageRest } }) };
}

/** What a model says in place of an answer is text; the mark tells it apart. */
function refusalContent(text: string): Content {
  return { type: "text", text, additionalProperties: { refusal: true } };
}

function callContent(entry: Json): Content {
  const { id, function: called, ...rest } = membersOf(entry) ?? {};
  const { name, arguments: given, ...calledRest } = membersOf(called) ?? {};
  if (typeof id !== "string" || typeof name !== "string") {
    return { type: "unknown", raw: { call: entry } };
  }
  const isUsual = Object.keys(calledRest).length === 0 && Object.keys(rest).length === 1 && rest["type"] === "function";
  const form = given === undefined ? "absent" : "json";
  const marks: ContentMarks = {
    ...(isUsual ? {} : { call: { ...rest, function: calledRest } }),
    ...(typeof given === "string" ? {} : { arguments: form }),
  };
  return {
    type: "function_call",
    callId: id,
    name,
    arguments: typeof given === "string" ? given : given === undefined ? "" : JSON.stringify(given),
    ...marked(marks),
  };
}

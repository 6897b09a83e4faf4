import { type Json, toJson } from "@agentfw/core";
import { ExplainedError } from "../errors.ts";

/** A JSON object. */
export type Members = Readonly<Record<string, Json>>;

/** One message as it was recorded, in Chat Completions form, with all of its members. */
export interface RecordedMessage {
  readonly role: RecordedRole;
  readonly members: Members;
}

/** `developer` is what newer models call `system`. */
export type RecordedRole = "system" | "developer" | "user" | "assistant" | "tool";

/** One line of a file of recordings. */
export interface Recording {
  /** For people only: it may be missing, and several recordings may share one. */
  readonly id: string | undefined;
  readonly messages: readonly RecordedMessage[];
}

const ROLES: readonly string[] = ["system", "developer", "user", "assistant", "tool"] satisfies RecordedRole[];

/** Reads one line. @throws ExplainedError naming what is not as it must be. */
export function parseRecording(line: string): Recording {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw new ExplainedError("the line is not JSON", { cause });
  }
  const recording = membersOf(toJson(value, "recording"));
  if (recording === undefined) {
    throw new ExplainedError("the line must be an object with messages");
  }
  const { id, messages } = recording;
  if (!Array.isArray(messages)) {
    throw new ExplainedError("messages must be an array");
  }
  return {
    id: id === undefined ? undefined : typeof id === "string" ? id : JSON.stringify(id),
    messages: messages.map((message: Json, index) => recordedMessage(message, `messages[${index}]`)),
  };
}

/** A JSON object with its members; `undefined` for every other value. */
export function membersOf(value: unknown): Members | undefined {
  return isMembers(value) ? value : undefined;
}

function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function recordedMessage(value: Json, path: string): RecordedMessage {
  const members = membersOf(value);
  if (members === undefined) {
    throw new ExplainedError(`${path} must be an object`);
  }
  const { role, content = null, tool_calls: calls = null } = members;
  if (!isRole(role)) {
    throw new ExplainedError(`${path}.role must be ${ROLES.slice(0, -1).join(", ")} or ${ROLES.at(-1)}`);
  }
  const isContent = content === null || typeof content === "string" || Array.isArray(content);
  if (!isContent && role !== "tool") {
    throw new ExplainedError(`${path}.content must be a string, an array of parts or null`);
  }
  if (calls !== null && !Array.isArray(calls)) {
    throw new ExplainedError(`${path}.tool_calls must be an array`);
  }
  if (role === "tool" && typeof members["tool_call_id"] !== "string") {
    throw new ExplainedError(`${path}.tool_call_id must be a string`);
  }
  return { role, members };
}

function isRole(value: unknown): value is RecordedRole {
  return typeof value === "string" && ROLES.includes(value);
}

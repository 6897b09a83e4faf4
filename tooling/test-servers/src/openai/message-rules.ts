import { type Fields, fieldsOf, listOf, onlyMembers, Refusal, textOf } from "./refusal.ts";

const LONGEST_CALL_ID = 40;
const BASE64 =
  /^(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$|^[A-Za-z0-9+/]{2}==$|^[A-Za-z0-9+/]{3}=$/;

/** Checks the messages of a request: roles, shapes, parts, and that each tool call has its answer right behind it. */
export function checkMessages(value: unknown, extraMembers: readonly string[] = []): void {
  const messages = listOf(value, "messages");
  if (messages.length === 0) {
    throw new Refusal("messages", "Expected an array with at least one message.", "empty_array");
  }
  let open: string[] = [];
  for (const [index, entry] of messages.entries()) {
    const path = `messages.[${index}]`;
    const message = fieldsOf(entry, path);
    const role = textOf(message["role"], `${path}.role`);
    if (role === "tool") {
      open = withoutAnswered(open, checkToolMessage(message, path), path);
    } else {
      refuseUnanswered(open, path);
      open = checkSpoken(message, role, path, extraMembers);
    }
  }
  refuseUnanswered(open, `messages.[${messages.length - 1}]`);
}

function withoutAnswered(open: readonly string[], id: string, path: string): string[] {
  if (!open.includes(id)) {
    const rule = "messages with role 'tool' must be a response to a preceding message with 'tool_calls'";
    throw new Refusal(`${path}.role`, `Invalid parameter: ${rule}.`);
  }
  return open.filter((other) => other !== id);
}

function refuseUnanswered(open: readonly string[], path: string): void {
  if (open.length > 0) {
    const rule = "An assistant message with 'tool_calls' must be followed by tool messages responding to each of them";
    throw new Refusal(`${path}.role`, `${rule}; without response: ${open.join(", ")}`);
  }
}

function checkToolMessage(message: Fields, path: string): string {
  onlyMembers(message, ["role", "content", "tool_call_id"], path);
  checkContent(message["content"], ["text"], `${path}.content`);
  return textOf(message["tool_call_id"], `${path}.tool_call_id`);
}

function checkSpoken(message: Fields, role: string, path: string, extraMembers: readonly string[]): string[] {
  switch (role) {
    case "system":
    case "developer":
      onlyMembers(message, ["role", "content", "name"], path);
      checkContent(message["content"], ["text"], `${path}.content`);
      return [];
    case "user":
      onlyMembers(message, ["role", "content", "name"], path);
      checkContent(message["content"], ["text", "image_url", "input_audio", "file"], `${path}.content`);
      return [];
    case "assistant":
      return checkAssistant(message, path, extraMembers);
    default:
      throw new Refusal(`${path}.role`, `Invalid value: '${role}'.`, "invalid_value");
  }
}

function checkAssistant(message: Fields, path: string, extraMembers: readonly string[]): string[] {
  onlyMembers(message, ["role", "content", "name", "refusal", "tool_calls", ...extraMembers], path);
  const { content, tool_calls: calls } = message;
  if (content !== null && content !== undefined) {
    checkContent(content, ["text", "refusal"], `${path}.content`);
  } else if (calls === undefined) {
    throw new Refusal(`${path}.content`, "Expected content or tool calls, got null.", "invalid_type");
  }
  return calls === undefined ? [] : checkCalls(listOf(calls, `${path}.tool_calls`), `${path}.tool_calls`);
}

function checkCalls(calls: readonly unknown[], path: string): string[] {
  if (calls.length === 0) {
    throw new Refusal(path, "Expected an array with at least one tool call.", "empty_array");
  }
  const ids = calls.map((entry, index) => {
    const at = `${path}[${index}]`;
    const call = fieldsOf(entry, at);
    onlyMembers(call, ["id", "type", "function"], at);
    if (call["type"] !== "function") {
      throw new Refusal(`${at}.type`, "Expected 'function'.", "invalid_value");
    }
    const called = fieldsOf(call["function"], `${at}.function`);
    onlyMembers(called, ["name", "arguments"], `${at}.function`);
    textOf(called["arguments"], `${at}.function.arguments`);
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(textOf(called["name"], `${at}.function.name`))) {
      throw new Refusal(`${at}.function.name`, "The name does not match '^[a-zA-Z0-9_-]+$'.", "invalid_value");
    }
    return checkCallId(call["id"], `${at}.id`);
  });
  if (new Set(ids).size < ids.length) {
    throw new Refusal(path, "Duplicate tool call ids in one message.", "invalid_value");
  }
  return ids;
}

function checkCallId(value: unknown, path: string): string {
  const id = textOf(value, path);
  if (id === "" || id.length > LONGEST_CALL_ID) {
    throw new Refusal(path, `Expected 1 to ${LONGEST_CALL_ID} characters.`, "string_above_max_length");
  }
  return id;
}

function checkContent(content: unknown, allowed: readonly string[], path: string): void {
  if (typeof content === "string") {
    return;
  }
  const parts = listOf(content, path);
  if (parts.length === 0) {
    throw new Refusal(path, "Expected an array with at least one part.", "empty_array");
  }
  for (const [index, entry] of parts.entries()) {
    const at = `${path}[${index}]`;
    const part = fieldsOf(entry, at);
    const type = textOf(part["type"], `${at}.type`);
    if (!allowed.includes(type)) {
      throw new Refusal(`${at}.type`, `Invalid content type: '${type}' is not allowed here.`, "invalid_value");
    }
    onlyMembers(part, ["type", type], at);
    checkPart(type, part[type], `${at}.${type}`);
  }
}

function checkPart(type: string, value: unknown, path: string): void {
  if (type === "text" || type === "refusal") {
    textOf(value, path);
    return;
  }
  const part = fieldsOf(value, path);
  if (type === "image_url") {
    checkImage(part, path);
  } else if (type === "input_audio") {
    onlyMembers(part, ["data", "format"], path);
    checkBase64(part["data"], `${path}.data`);
    if (part["format"] !== "wav" && part["format"] !== "mp3") {
      throw new Refusal(`${path}.format`, "Expected 'wav' or 'mp3'.", "invalid_value");
    }
  } else {
    checkFile(part, path);
  }
}

function checkImage(image: Fields, path: string): void {
  onlyMembers(image, ["url", "detail"], path);
  const url = textOf(image["url"], `${path}.url`);
  const inline = /^data:image\/(?:png|jpeg|gif|webp);base64,(.*)$/s.exec(url);
  if (inline !== null) {
    checkBase64(inline[1], `${path}.url`);
  } else if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw new Refusal(`${path}.url`, "Expected a web address or an inline image.", "invalid_image_url");
  }
}

function checkFile(file: Fields, path: string): void {
  onlyMembers(file, ["file_id", "file_data", "filename"], path);
  if (file["file_id"] !== undefined) {
    if (!textOf(file["file_id"], `${path}.file_id`).startsWith("file-") || file["file_data"] !== undefined) {
      throw new Refusal(`${path}.file_id`, "Expected the id of a file, and no data beside it.", "invalid_value");
    }
    return;
  }
  textOf(file["filename"], `${path}.filename`);
  const data = /^data:[a-z0-9.+-]+\/[a-z0-9.+-]+;base64,(.*)$/s.exec(textOf(file["file_data"], `${path}.file_data`));
  checkBase64(data?.[1], `${path}.file_data`);
}

function checkBase64(value: unknown, path: string): void {
  if (!BASE64.test(textOf(value, path))) {
    throw new Refusal(path, "Expected base64.", "invalid_base64");
  }
}

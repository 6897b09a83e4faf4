import { type Fields, fieldsOf, listOf, onlyMembers, Refusal, textOf } from "./refusal.ts";

const LONGEST_CALL_ID = 64;

const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  message: ["id", "type", "role", "content", "status"],
  reasoning: ["id", "type", "summary", "content", "encrypted_content", "status"],
  function_call: ["id", "type", "call_id", "name", "arguments", "status"],
  function_call_output: ["id", "type", "call_id", "output", "status"],
};

/** What the server remembers of what it has made, beside the conversations themselves. */
export interface Memory {
  /** True for an item that it keeps. */
  isKept(id: string): boolean;
  /** The reasoning that an encrypted text holds and the item behind it; `undefined` for what it did not make. */
  partnerOf(encrypted: string): Fields | undefined;
  /** The encrypted reasoning that it made before a call or a message, if it did. */
  reasoningOf(item: Fields): string | undefined;
}

/** The input as a list of items. @throws a refusal for what is none, and for a list with nothing in it. */
export function inputItems(value: unknown): Fields[] {
  const entries = typeof value === "string" ? [{ role: "user", content: value }] : listOf(value, "input");
  if (entries.length === 0) {
    throw new Refusal("input", "Expected at least one item in 'input'.", "empty_array");
  }
  return entries.map((entry, index) => {
    const item = fieldsOf(entry, `input[${index}]`);
    return { type: "message", ...item };
  });
}

/** Checks the shape of each item, and that what refers to another item is right. */
export function checkItems(items: readonly Fields[], before: readonly Fields[], memory: Memory): void {
  for (const [index, item] of items.entries()) {
    const path = `input[${index}]`;
    checkShape(item, path);
    checkId(item, before, path, memory);
  }
  checkRepeats(items, before);
  checkCalls([...before, ...items], before.length);
  checkReasoning(items, memory);
}

function checkShape(item: Fields, path: string): void {
  const type = textOf(item["type"], `${path}.type`);
  const members = MEMBERS[type];
  if (members === undefined) {
    throw new Refusal(`${path}.type`, `Invalid value: '${type}'.`, "invalid_value");
  }
  onlyMembers(item, members, path);
  switch (type) {
    case "message":
      checkMessage(item, path);
      break;
    case "reasoning":
      listOf(item["summary"], `${path}.summary`);
      break;
    default:
      checkCallId(item["call_id"], `${path}.call_id`);
      textOf(item[type === "function_call" ? "arguments" : "output"], path);
  }
  if (type === "function_call" && !/^[a-zA-Z0-9_-]{1,64}$/.test(textOf(item["name"], `${path}.name`))) {
    throw new Refusal(`${path}.name`, "The name does not match '^[a-zA-Z0-9_-]+$'.", "invalid_value");
  }
}

function checkCallId(value: unknown, path: string): void {
  const id = textOf(value, path);
  if (id === "" || id.length > LONGEST_CALL_ID) {
    throw new Refusal(path, `Expected 1 to ${LONGEST_CALL_ID} characters.`, "string_above_max_length");
  }
}

function checkMessage(message: Fields, path: string): void {
  const role = textOf(message["role"], `${path}.role`);
  if (!["system", "developer", "user", "assistant"].includes(role)) {
    throw new Refusal(`${path}.role`, `Invalid value: '${role}'.`, "invalid_value");
  }
  const { content } = message;
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : listOf(content, `${path}.content`);
  if (parts.length === 0 || content === "") {
    throw new Refusal(`${path}.content`, "Expected content that is not empty.", "empty_array");
  }
  if (typeof content !== "string") {
    parts.forEach((part, index) => {
      checkPart(fieldsOf(part, `${path}.content[${index}]`), role, `${path}.content[${index}]`);
    });
  }
}

const PARTS: Readonly<Record<string, readonly string[]>> = {
  input_text: ["type", "text"],
  input_image: ["type", "detail", "image_url", "file_id"],
  input_file: ["type", "file_id", "file_url", "file_data", "filename"],
  output_text: ["type", "text", "annotations", "logprobs"],
  refusal: ["type", "refusal"],
};

function checkPart(part: Fields, role: string, path: string): void {
  const type = textOf(part["type"], `${path}.type`);
  const allowed = role === "assistant" ? ["output_text", "refusal"] : ["input_text", "input_image", "input_file"];
  if (!allowed.includes(type)) {
    throw new Refusal(`${path}.type`, `Invalid value: '${type}' is not allowed here.`, "invalid_value");
  }
  onlyMembers(part, PARTS[type] ?? [], path);
  if (type === "input_text" || type === "output_text") {
    if (textOf(part["text"], `${path}.text`) === "") {
      throw new Refusal(`${path}.text`, "Expected text that is not empty.", "invalid_value");
    }
    return;
  }
  const sources = ["image_url", "file_id", "file_url", "file_data", "refusal"].filter(
    (name) => part[name] !== undefined,
  );
  if (sources.length !== 1) {
    throw new Refusal(path, "Expected exactly one source.", "invalid_value");
  }
  if (part["file_data"] !== undefined) {
    textOf(part["filename"], `${path}.filename`);
  }
}

function checkId(item: Fields, before: readonly Fields[], path: string, memory: Memory): void {
  const { id } = item;
  if (id === undefined) {
    return;
  }
  const name = textOf(id, `${path}.id`);
  if (before.some((other) => other["id"] === name)) {
    throw new Refusal("input", `Duplicate item found with id ${name}. Remove duplicate items and try again.`);
  }
  if (!memory.isKept(name)) {
    throw new Refusal("input", `Item with id '${name}' not found. Items are not persisted without 'store'.`, null, 404);
  }
}

/** What the conversation holds must not come again: not what the model said, and not two items in a row. */
function checkRepeats(items: readonly Fields[], before: readonly Fields[]): void {
  const known = before.map(likeness);
  const pairs = new Set(known.map((text, index) => text + (known[index + 1] ?? "")));
  for (const [index, item] of items.entries()) {
    const isMade = item["type"] === "reasoning" || item["role"] === "assistant" || item["type"] === "function_call";
    const next = items[index + 1];
    const isPair = next !== undefined && pairs.has(likeness(item) + likeness(next));
    if ((isMade && known.includes(likeness(item))) || isPair) {
      throw new Refusal("input", "Duplicate item found: the conversation holds it already.");
    }
  }
}

function likeness({ id: _, status: __, ...item }: Fields): string {
  return JSON.stringify(item["type"] === "message" ? [item["role"], spokenText(item["content"])] : item);
}

/** Every text of a message. */
export function spokenText(content: unknown): string {
  const parts: readonly unknown[] = Array.isArray(content) ? content : [{ text: content }];
  return parts.map((part) => JSON.stringify(fieldsOf(part, "content")["text"] ?? part)).join();
}

/** Every call has one result, behind it and before the next message, and every result a call. */
function checkCalls(items: readonly Fields[], start: number): void {
  const open = new Set<unknown>();
  const seen = new Set<unknown>();
  for (const [index, item] of items.entries()) {
    const callId = item["call_id"];
    if (item["type"] === "function_call") {
      if (seen.has(callId)) {
        throw new Refusal("input", `Duplicate function call with call_id ${callId}.`);
      }
      seen.add(callId);
      open.add(callId);
    } else if (item["type"] === "function_call_output") {
      if (!open.delete(callId)) {
        throw new Refusal("input", `No tool call found for function call output with call_id ${callId}.`);
      }
    } else if (item["type"] === "message" && index >= start) {
      refuseOpen(open);
    }
  }
  refuseOpen(open);
}

function refuseOpen(open: ReadonlySet<unknown>): void {
  for (const callId of open) {
    throw new Refusal("input", `No tool output found for function call ${callId}.`);
  }
}

function checkReasoning(items: readonly Fields[], memory: Memory): void {
  for (const [index, item] of items.entries()) {
    if (item["type"] === "reasoning") {
      checkPartner(item, items[index + 1], memory);
      continue;
    }
    const reasoning = memory.reasoningOf(item);
    if (reasoning !== undefined && items[index - 1]?.["encrypted_content"] !== reasoning) {
      const what = `Item of type '${item["type"]}' was provided without its required 'reasoning' item.`;
      throw new Refusal("input", what);
    }
  }
}

function checkPartner(item: Fields, next: Fields | undefined, memory: Memory): void {
  const encrypted = item["encrypted_content"];
  if (typeof encrypted !== "string") {
    throw new Refusal("input", "Reasoning without its encrypted content cannot be taken back.");
  }
  const partner = memory.partnerOf(encrypted);
  if (partner === undefined) {
    throw new Refusal("input", "The encrypted content could not be verified.", "invalid_encrypted_content");
  }
  if (next === undefined || likeness(next) !== likeness(partner)) {
    throw new Refusal("input", "Item of type 'reasoning' was provided without its required following item.");
  }
}

import { assertObject, type ChatUpdate, type Content, configurationError, toJson } from "@agentfw/core";
import { assertList } from "./checks.ts";

/** The members without which a content of an answer cannot be worked with. */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  text: ["text"],
  function_call: ["callId", "name"],
  function_result: ["callId"],
};

/**
 * A piece of an answer that can be worked with. Arguments that a client did not write as text are written so, and where
 * JSON cannot hold them, as a text that is no JSON: the call then fails, and the model is told. Answers to approval
 * requests are left out.
 *
 * @throws `configuration` naming what a client or a chat middleware may not give.
 */
export function checkedUpdate(update: ChatUpdate): ChatUpdate {
  assertObject(update, "answer");
  const { role = "assistant", contents } = update;
  if (role !== "assistant" && role !== "tool") {
    throw configurationError("answer.role", "must be assistant or tool");
  }
  if (contents === undefined) {
    return update;
  }
  assertList(contents, "answer.contents");
  for (const content of contents) {
    assertContent(content);
  }
  return contents.some(needsChange) ? { ...update, contents: contents.flatMap(changed) } : update;
}

function assertContent(content: Content): void {
  assertObject(content, "answer.contents");
  const { type } = content;
  if (type === "usage") {
    assertObject(content.details, "answer.contents.details");
  }
  for (const name of TEXTS[type] ?? []) {
    if (typeof Reflect.get(content, name) !== "string") {
      throw configurationError(`answer.contents.${name}`, `must be a string in a ${type}`);
    }
  }
}

function needsChange(content: Content): boolean {
  return (
    content.type === "function_approval_response" ||
    (content.type === "function_call" && typeof content.arguments !== "string")
  );
}

/** To approve is the user's; a model that does it says nothing. */
function changed(content: Content): Content[] {
  if (content.type === "function_call" && needsChange(content)) {
    return [{ ...content, arguments: argumentsText(content.arguments) }];
  }
  return needsChange(content) ? [] : [content];
}

function argumentsText(value: unknown): string {
  try {
    return value === undefined ? "" : JSON.stringify(toJson(value, "arguments"));
  } catch (error) {
    return error instanceof Error ? error.message : "arguments: cannot be written as JSON";
  }
}

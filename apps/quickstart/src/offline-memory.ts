import { type Content, functionResults, type Message, messageText, type ToolDefinition } from "@agentfw/core";

/** What the stand-in does about its memory: calls a tool, says something, or nothing. */
export interface MemoryStep {
  readonly call?: Content;
  readonly text?: string;
}

/**
 * What the offline stand-in does with file memory, in place of a model's judgement: it saves what it is told about the
 * user, and looks for the words of a question before it answers. Without the tools it does nothing.
 */
export function memoryStep(
  messages: readonly Message[],
  tools: readonly ToolDefinition[],
  {
    isQuestion,
    words,
  }: { readonly isQuestion: (text: string) => boolean; readonly words: (text: string) => Set<string> },
): MemoryStep {
  const last = messages.at(-1);
  if (last === undefined || !tools.some(({ name }) => name === "file_memory_write")) {
    return {};
  }
  const [result] = functionResults(last);
  if (result !== undefined) {
    return textFor(result.result);
  }
  const said = messageText(last);
  const about = [...words(said)];
  if (last.role !== "user" || about.length === 0) {
    return {};
  }
  const callId = `call-${messages.length}`;
  if (isQuestion(said)) {
    return { call: calling(callId, "file_memory_grep", { regex_pattern: about.join("|").slice(0, 256) }) };
  }
  if (!/^\s*(remember|i|my|we|our)\b/i.test(said)) {
    return {};
  }
  const args = { file_name: `${about.slice(0, 3).join("-")}.md`, content: `${said}\n`, description: said };
  return { call: calling(callId, "file_memory_write", args) };
}

function calling(callId: string, name: string, args: object): Content {
  return { type: "function_call", callId, name, arguments: JSON.stringify(args) };
}

function textFor(result: unknown): MemoryStep {
  if (typeof result === "string") {
    return { text: result.startsWith("Saved") ? "Noted, in a memory file of my own." : result };
  }
  const line = firstLine(result);
  return line === undefined ? {} : { text: `My memory says: "${line}"` };
}

/** The first line that a search found. */
function firstLine(result: unknown): string | undefined {
  const lines = JSON.stringify(result).match(/"line":"(?:[^"\\]|\\.)*"/g) ?? [];
  const [found] = lines.map((text): unknown => JSON.parse(text.slice('"line":'.length)));
  return typeof found === "string" ? found : undefined;
}

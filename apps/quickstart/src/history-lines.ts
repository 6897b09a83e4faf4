import type { Content, Message } from "@agentfw/core";
import { oneLine, printable } from "./terminal.ts";

/** Stored messages as lines for people. */
export function historyLines(messages: readonly Message[]): string[] {
  const lines = messages.flatMap((message, index) =>
    message.contents.map((content) => `${index + 1}. ${message.role}: ${contentText(content)}`),
  );
  return lines.length === 0 ? ["Nothing is stored."] : lines;
}

function contentText(content: Content): string {
  switch (content.type) {
    case "text":
      return printable(content.text);
    case "function_call":
      return `calls ${oneLine(content.name, 64)} with ${oneLine(content.arguments, 200)}`;
    case "function_result":
      return `gives ${oneLine(JSON.stringify(content.result), 200)}`;
    default:
      return `(${content.type})`;
  }
}

import { type AgentResponse, chatMiddleware, functionMiddleware } from "@agentfw/agent";
import type { Message } from "@agentfw/core";
import { count, printable } from "./terminal.ts";
import type { Workplace } from "./workplace.ts";

/** One turn: runs the agent and shows its answer as it comes. */
export async function takeTurn(
  { agent, session, model }: Workplace,
  text: string,
  options: { readonly signal?: AbortSignal; readonly showLoaded?: boolean } = {},
): Promise<AgentResponse> {
  let isAtLineStart = true;
  const write = (piece: string) => {
    process.stdout.write(piece);
    isAtLineStart = piece.endsWith("\n");
  };
  let isFirst = true;
  const showLoaded = chatMiddleware((invocation, next) => {
    if (options.showLoaded && isFirst) {
      write(`  (${loadedText(invocation.messages)})\n`);
    }
    isFirst = false;
    write(isAtLineStart ? `  ${model.speaker}: ` : "");
    return next();
  });
  const showCall = functionMiddleware((invocation, next) => {
    write(`(calls ${invocation.tool.name}) `);
    return next();
  });
  try {
    const stream = agent.runStream(text, { session, signal: options.signal, middleware: [showLoaded, showCall] });
    for await (const update of stream) {
      if (update.text !== "") {
        write(printable(update.text));
      }
    }
    return await stream.finalResponse();
  } finally {
    if (!isAtLineStart) {
      write("\n");
    }
  }
}

function loadedText(messages: readonly Message[]): string {
  const loaded = messages.filter(({ attribution }) => attribution?.sourceType === "history");
  const memories = messages.some(({ attribution }) => attribution?.sourceId === "file_memory");
  const list = memories ? " and the list of its memories" : "";
  return `the model is given ${count(loaded.length, "message")} from the history${list}, then this one`;
}

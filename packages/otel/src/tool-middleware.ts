import type { FunctionInvocation, FunctionMiddleware } from "@agentfw/core";
import { ATTRIBUTE } from "./attributes.ts";
import { type Operation, quietly } from "./operation.ts";
import type { Recorder } from "./recorder.ts";
import { currentRun } from "./run-state.ts";

/** Watches tool calls: a span `execute_tool` for each, inside of which the tool runs. */
export function toolMiddleware(recorder: Recorder): FunctionMiddleware {
  return {
    kind: "function",
    handle: (invocation, next) => {
      const operation = quietly(() => beginTool(recorder, invocation));
      return operation === undefined ? next() : watched(recorder, operation, next);
    },
  };
}

function beginTool(recorder: Recorder, { tool, call, context }: FunctionInvocation): Operation | undefined {
  const run = currentRun();
  const operation = recorder.begin({
    name: `execute_tool ${tool.name}`,
    kind: "internal",
    attributes: { [ATTRIBUTE.operationName]: "execute_tool", [ATTRIBUTE.toolName]: tool.name },
    signal: context.signal,
    measure: ({ seconds, errorType, instruments }) =>
      instruments.toolDuration.record(seconds, {
        [ATTRIBUTE.toolName]: tool.name,
        [ATTRIBUTE.agentName]: run?.agentName,
        [ATTRIBUTE.errorType]: errorType,
      }),
  });
  if (operation?.isRecording) {
    operation.set({
      [ATTRIBUTE.toolType]: "function",
      [ATTRIBUTE.toolCallId]: call.callId,
      [ATTRIBUTE.toolDescription]: tool.description,
      ...(recorder.settings.captureContent ? { [ATTRIBUTE.toolArguments]: call.arguments } : {}),
    });
  }
  return operation;
}

async function watched(recorder: Recorder, operation: Operation, next: () => Promise<unknown>): Promise<unknown> {
  const open = currentRun()?.openTools;
  open?.add(operation);
  try {
    const result = await operation.run(next);
    if (recorder.settings.captureContent && operation.isRecording) {
      quietly(() => operation.set({ [ATTRIBUTE.toolResult]: JSON.stringify(result ?? null) }));
    }
    operation.end();
    return result;
  } catch (error) {
    operation.fail(error);
    throw error;
  } finally {
    open?.delete(operation);
  }
}

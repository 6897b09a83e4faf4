import {
  type CallSlot,
  callSlots,
  configurationError,
  type FunctionInvocation,
  type Json,
  type Message,
  type Run,
  type Tool,
  type ToolContext,
  toJson,
} from "@agentfw/core";
import { assertList } from "./checks.ts";
import { compose } from "./middleware.ts";
import type { RunScope } from "./run-scope.ts";
import { assertTool, ToolArgumentsError } from "./tool.ts";

/** A call, the tool that it names, and its place in the run. */
export interface PlannedCall {
  readonly slot: CallSlot;
  readonly tool: Tool | undefined;
  readonly context: ToolContext;
  /** What it came to without its tool: it was refused, or an earlier attempt began it. */
  readonly settled?: CallOutcome | undefined;
}

/** What one call came to. `exception` is set when the tool did not do its work. */
export interface CallOutcome {
  readonly result: Json;
  readonly exception?: string | undefined;
}

/** True for a call of a tool that only the caller can run. */
export function isDeclaration({ tool }: PlannedCall): boolean {
  return tool !== undefined && tool.execute === undefined;
}

/** What a batch of calls came to. */
export interface BatchOutcome {
  /** One message for each call, in the order of the calls. */
  readonly messages: readonly Message[];
  readonly allFailed: boolean;
  readonly terminated: boolean;
}

/** Finds the tool of each call of a message that has no result yet, and says in which place of the run it stands. */
export function planCalls(message: Message, slots: readonly CallSlot[], scope: RunScope): PlannedCall[] {
  const { runId, session, ephemeral } = scope.run.options;
  const places = callSlots(message).map(({ resultId }) => resultId);
  return slots.map((slot) => ({
    slot,
    tool: scope.tools.get(slot.call.name),
    context: {
      runId,
      callId: slot.call.callId,
      idempotencyKey: idempotencyKey(scope.run, message.messageId, places.indexOf(slot.resultId)),
      session: ephemeral ? undefined : session,
      owner: session.owner,
      signal: scope.run.signal,
    },
  }));
}

/**
 * Which call of which message, in which conversation: callers number the runs of every conversation alike. Not the call
 * id, because a model that is asked again makes up another. Hashed, because tools hand it to services of others.
 */
function idempotencyKey({ options }: Run, messageId: string, place: number): string {
  const { session, ephemeral } = options;
  const conversation = ephemeral ? [] : [session.owner, session.sessionId];
  // Asked for only here, because it would be a good part of what an import of the package takes.
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha256")
    .update(JSON.stringify([messageId, place, ...conversation]))
    .digest("base64url");
}

/**
 * Runs the calls of one message side by side. What a tool throws becomes an error result; only an abort of the run gets
 * through. `onResult` is told of each result as it is there.
 */
export async function runCalls(
  calls: readonly PlannedCall[],
  scope: RunScope,
  onResult: (message: Message) => Promise<void>,
): Promise<BatchOutcome> {
  let terminated = false;
  const outcomes = await Promise.all(
    calls.map(async (call) => {
      let isLast = false;
      const { result, exception } = await outcomeOf(call, scope, () => {
        isLast = true;
        terminated = true;
      });
      const message: Message = {
        role: "tool",
        messageId: call.slot.resultId,
        createdAt: new Date().toISOString(),
        contents: [
          {
            type: "function_result",
            callId: call.slot.call.callId,
            result,
            ...(exception === undefined ? {} : { exception }),
          },
        ],
        // A retry must see that the model was not to be asked again.
        ...(isLast ? { additionalProperties: { terminated: true } } : {}),
      };
      await onResult(message);
      return { message, failed: exception !== undefined };
    }),
  );
  return {
    messages: outcomes.map(({ message }) => message),
    allFailed: outcomes.length > 0 && outcomes.every(({ failed }) => failed),
    terminated,
  };
}

async function outcomeOf(planned: PlannedCall, scope: RunScope, terminate: () => void): Promise<CallOutcome> {
  const { tool, slot, settled } = planned;
  if (settled !== undefined) {
    return settled;
  }
  if (tool?.execute === undefined) {
    return { result: `Error: there is no tool named ${slot.call.name}.`, exception: "unknown_tool" };
  }
  let value: unknown;
  try {
    value = await scope.interruption.race(() => invoke(planned, tool, scope, terminate));
  } catch (error) {
    scope.interruption.throwIfAborted();
    return failure(error, planned, scope);
  }
  try {
    return { result: toJson(value ?? null, "result") };
  } catch (error) {
    const rule = error instanceof Error ? error.message : "result: cannot be stored as JSON";
    return {
      result: `Error: ${slot.call.name} answered with something that is not JSON: ${rule}`,
      exception: "invalid_result",
    };
  }
}

async function invoke(planned: PlannedCall, tool: Tool, scope: RunScope, terminate: () => void): Promise<unknown> {
  const { slot, context } = planned;
  const parsed = parseArguments(slot.call.arguments);
  const invocation: FunctionInvocation = { tool, call: slot.call, args: parsed.value, context, terminate };
  return compose(scope.functionMiddleware(), invocation, async () => {
    if (parsed.error !== undefined && invocation.args === undefined) {
      throw new ToolArgumentsError("they are not well-formed JSON");
    }
    const args = tool.parse === undefined ? invocation.args : await tool.parse(invocation.args);
    return tool.execute?.(args, context);
  });
}

/** Parses arguments as the model wrote them; models write nothing at all for a tool without parameters. */
export function parseArguments(text: string): { value?: unknown; error?: unknown } {
  if (text.trim() === "") {
    return { value: {} };
  }
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { error };
  }
}

function failure(error: unknown, planned: PlannedCall, scope: RunScope): CallOutcome {
  const { name, callId } = planned.slot.call;
  if (error instanceof ToolArgumentsError) {
    return { result: `Error: the arguments of ${name} do not fit: ${error.message}`, exception: "invalid_arguments" };
  }
  scope.report({ type: "tool_failed", message: "a tool call failed", callId, cause: error });
  const detail = scope.settings.includeToolErrors && error instanceof Error ? ` ${error.message}` : "";
  return { result: `Error: ${name} failed.${detail}`, exception: "failed" };
}

/**
 * Collects tools by name; one object under one name may come twice, two objects may not.
 *
 * @throws `configuration` naming the tool.
 */
export function collectTools(sources: readonly (readonly Tool[])[]): Map<string, Tool> {
  const tools = new Map<string, Tool>();
  for (const source of sources) {
    assertList(source, "tools");
    for (const tool of source) {
      assertTool(tool);
      const other = tools.get(tool.name);
      if (other !== undefined && other !== tool) {
        throw configurationError("tools", `two different tools are named ${tool.name}`);
      }
      tools.set(tool.name, tool);
    }
  }
  return tools;
}

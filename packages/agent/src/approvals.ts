import {
  type Content,
  type FunctionApprovalRequestContent,
  groupMessages,
  isPendingApproval,
  type Message,
  type MessageGroup,
} from "@agentfw/core";
import type { RunScope } from "./run-scope.ts";
import { isDeclaration, type PlannedCall, parseArguments, planCalls } from "./tool-calls.ts";

/** Takes approval requests out of what a caller passed: only those that this agent stored can be answered. */
export function withoutRequests(messages: readonly Message[], onForged: (messageId: string) => void): Message[] {
  return messages.flatMap((message) => {
    const contents = message.contents.filter((content) => content.type !== "function_approval_request");
    if (contents.length === message.contents.length) {
      return [message];
    }
    onForged(message.messageId);
    return contents.length === 0 ? [] : [{ ...message, contents }];
  });
}

/**
 * The requests for the calls of a message that a person must approve. One is enough to hold the whole batch back.
 *
 * A tool whose `approval` function throws is treated as one that needs approval.
 */
export async function approvalRequests(calls: readonly PlannedCall[]): Promise<FunctionApprovalRequestContent[]> {
  const needed = await Promise.all(calls.map(needsApproval));
  return calls.filter((_, index) => needed[index]).map(approvalRequest);
}

/** The request for one call. Its id is the id that the call's result will have. */
export function approvalRequest({ slot }: PlannedCall): FunctionApprovalRequestContent {
  return { type: "function_approval_request", id: slot.resultId, functionCall: slot.call };
}

async function needsApproval({ tool, slot, context }: PlannedCall): Promise<boolean> {
  if (tool?.approval === undefined || tool.approval === "required") {
    return tool?.approval === "required";
  }
  try {
    const { value, error } = parseArguments(slot.call.arguments);
    const args = error === undefined && tool.parse !== undefined ? await tool.parse(value) : value;
    return await tool.approval(args, context);
  } catch {
    return true;
  }
}

/**
 * Runs the batches whose requests have all been answered by now. A call that was refused gets a result that says so.
 * Answers that fit no pending request run nothing and are reported.
 */
export async function resumeApproved(
  scope: RunScope,
  run: (calls: readonly PlannedCall[]) => Promise<void>,
): Promise<void> {
  const messages = scope.run.modelInput();
  if (!messages.some(holdsApproval)) {
    return;
  }
  const pending = groupMessages(messages).groups.filter(isPendingApproval);
  reportUnbound(scope, pending);
  for (const group of pending.filter(isAnswered)) {
    for (const { message, slots } of group.items) {
      const calls = planCalls(
        message,
        slots.filter(({ result }) => result === undefined),
        scope,
      )
        .filter((call) => !isDeclaration(call))
        .map((call) => withRefusal(call, refusalOf(group, call.slot.resultId)));
      if (calls.length > 0) {
        await run(calls);
      }
    }
  }
}

function holdsApproval(message: Message): boolean {
  return message.contents.some(({ type }) => type.startsWith("function_approval_"));
}

function requestsOf(group: MessageGroup): FunctionApprovalRequestContent[] {
  return group.items
    .flatMap(({ message }): readonly Content[] => message.contents)
    .filter((content) => content.type === "function_approval_request");
}

function isAnswered(group: MessageGroup): boolean {
  return requestsOf(group).every(({ id }) => group.responses.has(id));
}

function refusalOf(group: MessageGroup, requestId: string): string | undefined {
  const answer = group.responses.get(requestId)?.content;
  if (answer === undefined || answer.approved) {
    return undefined;
  }
  return answer.reason === undefined ? "The user refused this call." : `The user refused this call: ${answer.reason}`;
}

/** A refused call keeps its place in the batch, but its tool only says that it was refused. */
function withRefusal(call: PlannedCall, refusal: string | undefined): PlannedCall {
  if (refusal === undefined || call.tool === undefined) {
    return call;
  }
  const { name, parameters } = call.tool;
  return { ...call, tool: { name, parameters, execute: () => refusal } };
}

function reportUnbound(scope: RunScope, pending: readonly MessageGroup[]): void {
  for (const message of scope.run.input) {
    for (const content of message.contents) {
      const isBound =
        content.type !== "function_approval_response" ||
        pending.some((group) => group.responses.get(content.id)?.content === content);
      if (!isBound) {
        scope.report({
          type: "approval_ignored",
          message: "an approval answers no pending request as it was asked, and runs nothing",
          messageId: message.messageId,
        });
      }
    }
  }
}

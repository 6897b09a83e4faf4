import {
  type Content,
  type FunctionApprovalRequestContent,
  groupMessages,
  interruptedResult,
  isPendingApproval,
  type Message,
  type MessageGroup,
} from "@agentfw/core";
import type { RunScope } from "./run-scope.ts";
import { type CallOutcome, isDeclaration, type PlannedCall, parseArguments, planCalls } from "./tool-calls.ts";

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

/** True for input that answers approval requests and says nothing else. */
export function isAnswersOnly(input: readonly Message[]): boolean {
  return (
    input.length > 0 &&
    input.every(({ contents }) => contents.every(({ type }) => type === "function_approval_response"))
  );
}

/**
 * The requests for the calls of a message that a person must approve. One is enough to hold the whole batch back.
 *
 * A tool whose `approval` function throws is treated as one that needs approval.
 */
export async function approvalRequests(
  calls: readonly PlannedCall[],
  scope: RunScope,
): Promise<FunctionApprovalRequestContent[]> {
  const needed = await Promise.all(calls.map((call) => scope.interruption.race(() => needsApproval(call))));
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

/** The calls of one message that were held back until a person had answered. */
export interface ReleasedBatch {
  readonly calls: readonly PlannedCall[];
  /** The message reduced to the calls in it that the caller has yet to answer, if there are any. */
  readonly left: Message | undefined;
}

/** What the answers that there are by now come to. */
export interface Approvals {
  readonly batches: readonly ReleasedBatch[];
  /** Messages with requests that nobody has answered, reduced to these requests. */
  readonly waiting: readonly Message[];
  /** Ids of the requests whose last answer this run brings. */
  readonly settledNow: ReadonlySet<string>;
}

/**
 * Finds the batches whose requests have all been answered. A call that was refused is settled with a result that says
 * so; answers that fit no pending request release nothing and are reported.
 */
export function findApprovals(scope: RunScope): Approvals {
  const messages = scope.run.modelInput();
  if (!messages.some(holdsApproval)) {
    return { batches: [], waiting: [], settledNow: new Set() };
  }
  const pending = groupMessages(messages).groups.filter(isPendingApproval);
  reportUnbound(scope, pending);
  const answered = pending.filter(isAnswered);
  const fresh = answered.filter((group) => isFresh(group, scope));
  return {
    batches: answered.flatMap((group) => released(group, fresh.includes(group), scope)),
    waiting: pending.flatMap(unanswered),
    settledNow: new Set(fresh.flatMap(({ responses }) => [...responses.keys()])),
  };
}

function holdsApproval(message: Message): boolean {
  return message.contents.some(({ type }) => type.startsWith("function_approval_"));
}

function requestsOf({ contents }: Message): FunctionApprovalRequestContent[] {
  return contents.filter((content) => content.type === "function_approval_request");
}

function isAnswered(group: MessageGroup): boolean {
  return group.items.every(({ message }) => requestsOf(message).every(({ id }) => group.responses.has(id)));
}

function unanswered(group: MessageGroup): Message[] {
  return group.items.flatMap(({ message }) => {
    const contents: Content[] = requestsOf(message).filter(({ id }) => !group.responses.has(id));
    return contents.length === 0 ? [] : [{ ...message, contents }];
  });
}

/** A batch starts in the run that brings its last answer. When all of them are stored, an earlier run started it. */
function isFresh(group: MessageGroup, scope: RunScope): boolean {
  const given = scope.run.input.flatMap(({ contents }) => contents);
  return [...group.responses.values()].some(({ content }) => given.includes(content));
}

function released(group: MessageGroup, isStarting: boolean, scope: RunScope): ReleasedBatch[] {
  return group.items.flatMap(({ message, slots }) => {
    const open = slots.filter(({ result }) => result === undefined);
    const planned = planCalls(message, open, scope);
    const calls = planned
      .filter((call) => !isDeclaration(call))
      .map((call) => ({ ...call, settled: isStarting ? refusalOf(group, call.slot.resultId) : interruptionOf(call) }));
    const contents = planned.filter(isDeclaration).map(({ slot }) => slot.call);
    return open.length === 0 ? [] : [{ calls, left: contents.length === 0 ? undefined : { ...message, contents } }];
  });
}

function refusalOf(group: MessageGroup, requestId: string): CallOutcome | undefined {
  const answer = group.responses.get(requestId)?.content;
  if (answer === undefined || answer.approved) {
    return undefined;
  }
  const reason = answer.reason === undefined ? "." : `: ${answer.reason}`;
  return { result: `The user refused this call${reason}`, exception: "refused" };
}

/** What a call comes to that was begun and of which nothing more is known. */
export function interruptionOf({ slot }: PlannedCall): CallOutcome {
  const [content] = interruptedResult(slot).contents;
  return content?.type === "function_result" ? content : { result: null, exception: "interrupted" };
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

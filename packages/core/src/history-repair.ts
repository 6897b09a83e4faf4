import type { HistoryWindow } from "./history-window.ts";
import type { Message } from "./message.ts";
import {
  type CallSlot,
  groupMessages,
  groupToMessages,
  interruptedResult,
  isDangling,
  isPendingApproval,
  type MessageGroup,
  openCalls,
  standsAlone,
} from "./message-groups.ts";
import type { RunContext } from "./run-context.ts";

/** What the input answers: approval requests, and calls that were left to the caller. */
export function openEndsOf(input: readonly Message[]): { needed: Set<string>; answered: Map<string, number> } {
  const tied = input.filter((message) => !standsAlone(message));
  const { groups, orphans } = groupMessages(tied);
  const answered = new Map<string, number>();
  const needed = new Set(orphans.map(({ callId }) => callId));
  for (const content of tied.flatMap((message) => message.contents)) {
    if (content.type === "function_result") {
      answered.set(content.callId, (answered.get(content.callId) ?? 0) + 1);
    } else if (content.type === "function_approval_response") {
      needed.add(content.id);
    }
  }
  // A transcript that is sent again holds old calls with their results: nothing has to be loaded for them.
  for (const { result, resultId } of groups.flatMap(slotsOf)) {
    if (result !== undefined) {
      needed.delete(resultId);
    }
  }
  return { needed, answered };
}

function slotsOf(group: MessageGroup): CallSlot[] {
  return group.items.flatMap(({ slots }) => slots);
}

/**
 * The ids under which the results that the input holds are stored or are to be, by call id: those of the newest open
 * calls with that id, in order; where fewer are open, those of the newest calls.
 */
export function resultIds(
  groups: readonly MessageGroup[],
  answered: ReadonlyMap<string, number>,
): Map<string, string[]> {
  const slots = groups.flatMap(slotsOf);
  return new Map(
    [...answered].map(([callId, count]) => {
      const called = slots.filter(({ call }) => call.callId === callId);
      const open = called.filter(({ result }) => result === undefined);
      const chosen = open.length < count ? called : open;
      return [callId, chosen.slice(-count).map(({ result, resultId }) => result?.messageId ?? resultId)];
    }),
  );
}

/** The messages of a window, valid for a model: open calls closed, results without a call and lost reasoning dropped. */
export function repair(
  window: HistoryWindow,
  staysOpen: (slot: CallSlot) => boolean,
  repairs: Message[],
  context: RunContext,
): readonly Message[] {
  for (const { message, callId } of window.orphans) {
    context.report({
      type: "orphan_result_dropped",
      message: "a stored result without a call is left out",
      messageId: message.messageId,
      callId,
    });
  }
  for (const group of window.groups.filter((group) => !isPendingApproval(group))) {
    for (const slot of openCalls(group).filter((slot) => !staysOpen(slot))) {
      slot.result = interruptedResult(slot);
      repairs.push(slot.result);
      context.report({
        type: "open_call_closed",
        message: "a stored call without a result was closed",
        messageId: slot.resultId,
        callId: slot.call.callId,
      });
    }
  }
  const whole = window.groups.filter((group) => !isDangling(group));
  const messages = window.groups.length === 0 ? window.messages : whole.flatMap(groupToMessages);
  return window.first === undefined ? messages : [window.first, ...messages];
}

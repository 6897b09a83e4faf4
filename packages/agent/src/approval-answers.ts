import {
  type CallSlot,
  type FunctionApprovalResponseContent,
  groupMessages,
  isAnswerTo,
  type Message,
  type MessageGroup,
  type Run,
} from "@agentfw/core";

/** The id under which every process stores the answer to a request, so that the first one stored is the one that counts. */
function answerId(requestId: string): string {
  return `${requestId}/#answer`;
}

/** What the answers in an input come to. */
export interface BoundAnswers {
  /** New answers, each in a message of its own, behind what else the input says. */
  readonly answers: readonly Message[];
  /** Ids of the messages that repeated an answer, which is left out. */
  readonly repeated: readonly string[];
}

/**
 * Puts each new answer to a call of this conversation into a message of its own, under the id that the answer has in
 * every process. An answer that the history holds, or to a call that has its result, is history and left out. What
 * answers no call, or another one than it was asked about, stays as it was said.
 */
export function bindAnswers(run: Run): BoundAnswers {
  if (!run.input.some(({ contents }) => contents.some(isResponse))) {
    return { answers: [], repeated: [] };
  }
  const calls = callsOf(run);
  const answers: Message[] = [];
  const repeated: string[] = [];
  const rest = run.input.flatMap((message) => {
    const contents = message.contents.filter((content) => {
      const known = isResponse(content) ? calls.get(content.id) : undefined;
      if (!isResponse(content) || known === undefined || !isAnswerTo(content, known.slot.call)) {
        return true;
      }
      if (known.isAnswered) {
        repeated.push(message.messageId);
      } else {
        answers.push({ ...message, role: "user", messageId: answerId(content.id), contents: [content] });
      }
      // What is answered twice has its first answer.
      known.isAnswered = true;
      return false;
    });
    const isWhole = contents.length === message.contents.length;
    return contents.length === 0 ? [] : [isWhole ? message : { ...message, contents }];
  });
  run.input = [...rest, ...answers];
  return { answers, repeated };
}

interface KnownCall {
  readonly slot: CallSlot;
  isAnswered: boolean;
}

/** The calls that there are, by the ids of their requests, and whether each is settled already. */
function callsOf(run: Run): Map<string, KnownCall> {
  const given = new Set(run.input.flatMap(({ contents }) => contents));
  const isStored = ({ responses }: MessageGroup, requestId: string): boolean => {
    const response = responses.get(requestId);
    return response !== undefined && !given.has(response.content);
  };
  const calls = groupMessages(run.modelInput()).groups.flatMap((group) =>
    group.items.flatMap(({ slots }) =>
      slots.map((slot): [string, KnownCall] => [
        slot.resultId,
        { slot, isAnswered: slot.result !== undefined || isStored(group, slot.resultId) },
      ]),
    ),
  );
  return new Map(calls);
}

function isResponse(content: Message["contents"][number]): content is FunctionApprovalResponseContent {
  return content.type === "function_approval_response";
}

import {
  type FunctionApprovalResponseContent,
  type FunctionCallContent,
  groupMessages,
  isAnswerTo,
  type Message,
  type Run,
} from "@agentfw/core";

/** The id under which every process stores the answer to a request, so that the first one stored is the one that counts. */
function answerId(requestId: string): string {
  return `${requestId}/#answer`;
}

/**
 * Puts each answer to a call of this conversation into a message of its own, in front of what else the input says, under
 * the id that the answer has in every process. Gives these messages. What answers no call stays as it was said.
 */
export function bindAnswers(run: Run): Message[] {
  if (!run.input.some(({ contents }) => contents.some(isResponse))) {
    return [];
  }
  const calls = callsOf(run);
  const bound = new Map<FunctionApprovalResponseContent, Message>();
  const rest = run.input.flatMap((message) => {
    const contents = message.contents.filter((content) => {
      const call = isResponse(content) ? calls.get(content.id) : undefined;
      if (!isResponse(content) || call === undefined || !isAnswerTo(content, call)) {
        return true;
      }
      // What is answered twice has its first answer.
      calls.delete(content.id);
      bound.set(content, { ...message, messageId: answerId(content.id), contents: [content] });
      return false;
    });
    const isWhole = contents.length === message.contents.length;
    return contents.length === 0 ? [] : [isWhole ? message : { ...message, contents }];
  });
  const answers = [...bound.values()];
  run.input = [...answers, ...rest];
  return answers;
}

/** The calls that there are, by the ids of their requests. */
function callsOf(run: Run): Map<string, FunctionCallContent> {
  const slots = groupMessages(run.modelInput()).groups.flatMap(({ items }) => items.flatMap((item) => item.slots));
  return new Map(slots.map(({ resultId, call }) => [resultId, call]));
}

function isResponse(content: Message["contents"][number]): content is FunctionApprovalResponseContent {
  return content.type === "function_approval_response";
}

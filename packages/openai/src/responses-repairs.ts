import { type AgentFrameworkError, interruptedResult, isPlainObject } from "@agentfw/core";
import { list } from "./answer-fields.ts";
import { resultText } from "./message-contents.ts";
import type { InputItem } from "./responses-messages.ts";
import { ENCRYPTED_REASONING, type ResponsesBody } from "./responses-request.ts";

/** A request, and what was changed in it so that the service takes it. */
export interface ResponsesCall {
  readonly body: ResponsesBody;
  readonly repairs: readonly string[];
}

/** Not every server names the parameter. */
const NO_ENCRYPTION_TEXT = /encrypted (?:reasoning )?content is not supported/i;

/** True when the service refused the request for asking for encrypted reasoning, which the model does not have. */
export function isEncryptionRefused({ cause }: AgentFrameworkError, { body }: ResponsesCall): boolean {
  const isAboutIt =
    parameterOf(cause)?.startsWith("include") || NO_ENCRYPTION_TEXT.test(String(memberOf(cause, "message")));
  return isAboutIt && memberOf(cause, "status") === 400 && body.include?.includes(ENCRYPTED_REASONING) === true;
}

/** The request without asking for encrypted reasoning. Nothing of the conversation is lost, so it is no repair. */
export function withoutEncryption({ body, repairs }: ResponsesCall): ResponsesCall {
  const { include = [], ...rest } = body;
  const left = include.filter((entry) => entry !== ENCRYPTED_REASONING);
  return { body: { ...rest, ...(left.length === 0 ? {} : { include: left }) }, repairs };
}

/** True when the service cannot read reasoning in the request, which another account or key may have encrypted. */
export function isReasoningRefused({ cause }: AgentFrameworkError, { body }: ResponsesCall): boolean {
  return memberOf(cause, "code") === "invalid_encrypted_content" && body.input.some(isReasoning);
}

/** The request without reasoning, so that a conversation does not end with the key that its reasoning was made with. */
export function withoutReasoning({ body, repairs }: ResponsesCall): ResponsesCall {
  const input = body.input.filter((item) => !isReasoning(item));
  return { body: { ...body, input }, repairs: [...repairs, "reasoning_dropped"] };
}

/** True when the service refused the input of a request that continues a conversation. */
export function isInputRefused({ code, cause }: AgentFrameworkError, { body, repairs }: ResponsesCall): boolean {
  const parameter = parameterOf(cause);
  return (
    code === "configuration" &&
    memberOf(cause, "status") === 400 &&
    (parameter === undefined || parameter.startsWith("input")) &&
    (body.conversation ?? body.previous_response_id) !== undefined &&
    !repairs.some((repair) => repair.endsWith("_call_closed") || repair.endsWith("_result_dropped"))
  );
}

/**
 * The request with a result for every call that the conversation waits for, and without results that it does not wait
 * for. A process that died with its calls open, or after their results were taken, leaves both.
 *
 * @param found The newest items of the conversation, or the response that is continued.
 */
export function withConversationEnds({ body, repairs }: ResponsesCall, found: unknown): ResponsesCall | undefined {
  const data = list(memberOf(found, "data") ?? memberOf(found, "output"), "the items of the conversation are no list");
  const answered = new Set(data.filter(isOfType("function_call_output")).map((item) => item["call_id"]));
  const open = data.filter(isOfType("function_call")).filter((item) => !answered.has(item["call_id"]));
  const waiting = new Set(open.map((item) => item["call_id"]));
  const own = new Set(body.input.flatMap((item) => (item.type === "function_call" ? [item.call_id] : [])));
  const kept = body.input.filter(
    (item) => item.type !== "function_call_output" || waiting.has(item.call_id) || own.has(item.call_id),
  );
  const given = new Set(kept.flatMap((item) => (item.type === "function_call_output" ? [item.call_id] : [])));
  const closing = open.flatMap(closed).filter(({ call_id }) => !given.has(call_id));
  const input = [...closing, ...kept];
  if (input.length === 0 || (closing.length === 0 && kept.length === body.input.length)) {
    return undefined;
  }
  const made = [
    ...(closing.length === 0 ? [] : ["open_call_closed"]),
    ...(kept.length === body.input.length ? [] : ["orphan_result_dropped"]),
  ];
  return { body: { ...body, input }, repairs: [...repairs, ...made] };
}

function closed(item: Record<string, unknown>): (InputItem & { readonly type: "function_call_output" })[] {
  const callId = item["call_id"];
  if (typeof callId !== "string") {
    return [];
  }
  const call = { type: "function_call", callId, name: "", arguments: "" } as const;
  const message = { role: "assistant", messageId: "", contents: [call] } as const;
  const [content] = interruptedResult({ message, call, resultId: "", result: undefined }).contents;
  const output = content?.type === "function_result" ? resultText(content) : "";
  return [{ type: "function_call_output", call_id: callId, output }];
}

function isReasoning({ type }: InputItem): boolean {
  return type === "reasoning";
}

function isOfType(type: string): (item: unknown) => item is Record<string, unknown> {
  return (item): item is Record<string, unknown> => isPlainObject(item) && item["type"] === type;
}

function parameterOf(cause: unknown): string | undefined {
  const parameter = memberOf(cause, "param");
  return typeof parameter === "string" ? parameter : undefined;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && name in value ? Reflect.get(value, name) : undefined;
}

import type { Content, FunctionResultContent, Message } from "@agentfw/core";
import { unsupported } from "./errors.ts";

/**
 * Contents that are never for the model: what it thought or used, what went wrong, what was asked of the user, and what
 * this version does not know. They stay in the history and are left out of requests.
 */
const NOT_FOR_THE_MODEL: ReadonlySet<Content["type"]> = new Set<Content["type"]>([
  "text_reasoning",
  "usage",
  "error",
  "function_approval_request",
  "function_approval_response",
  "oauth_consent_request",
  "unknown",
]);

/** True for a content that a model may be shown. */
export function isForTheModel({ type }: Content): boolean {
  return !NOT_FOR_THE_MODEL.has(type);
}

/** Refuses a content that an API has no place for. @throws `unsupported` naming the message and the content. */
export type Refuse = (content: Content, detail?: string) => never;

/** The refusals of one message. */
export function refusalsOf({ role, messageId }: Message, index: number, api: string): Refuse {
  return (content, detail = "") => {
    const place = `messages[${index}] (${role}, id ${JSON.stringify(messageId)})`;
    throw unsupported(`${place}: a ${content.type} content${detail} cannot be sent through ${api}`);
  };
}

/** A tool's result as the model reads it. */
export function resultText({ result, exception }: FunctionResultContent): string {
  if (typeof result === "string") {
    return result;
  }
  // A call that failed without a result must not look like one that gave null.
  return result === null && exception !== undefined ? `Error: ${exception}` : JSON.stringify(result);
}

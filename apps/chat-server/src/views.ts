import type { AgentResponse } from "@agentfw/agent";
import { type AgentSession, type Content, isPlainObject, type Message } from "@agentfw/core";

/** A chat as clients see it. */
export interface ChatView {
  readonly id: string;
  readonly title: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** How often the model was asked, for answers that were not stored too. */
  readonly modelCalls: number;
}

/** What the session's state holds of a chat, under the key `chat`. */
export type ChatState = Omit<ChatView, "id">;

/** Reads the state of a chat. What is missing, in sessions of an older version for example, gets a value. */
export function chatState({ state }: AgentSession): ChatState {
  const chat = isPlainObject(state["chat"]) ? state["chat"] : {};
  const text = (name: string) => (typeof chat[name] === "string" ? chat[name] : "");
  return {
    title: text("title"),
    createdAt: text("createdAt"),
    updatedAt: text("updatedAt"),
    modelCalls: typeof chat["modelCalls"] === "number" ? chat["modelCalls"] : 0,
  };
}

export function chatView(session: AgentSession): ChatView {
  return { id: session.sessionId, ...chatState(session) };
}

/** A part of a message as clients see it. Reasoning, usage and what only the program needs stays here. */
export type ContentView =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "tool_call"; readonly name: string; readonly arguments: string }
  | { readonly type: "tool_result"; readonly failed: boolean }
  | ApprovalView
  | { readonly type: "approval_answer"; readonly id: string; readonly approved: boolean };

/** A question to the user; `id` names it in the answer. */
export interface ApprovalView {
  readonly type: "approval_request";
  readonly id: string;
  readonly tool: string;
  readonly arguments: string;
}

/** A message as clients see it. */
export interface MessageView {
  readonly id: string;
  readonly role: string;
  readonly contents: readonly ContentView[];
}

export function messageView({ messageId, role, contents }: Message): MessageView {
  return { id: messageId, role, contents: contents.flatMap(contentView) };
}

function contentView(content: Content): ContentView[] {
  switch (content.type) {
    case "text":
      return [{ type: "text", text: content.text }];
    case "function_call":
      return [{ type: "tool_call", name: content.name, arguments: content.arguments }];
    case "function_result":
      return [{ type: "tool_result", failed: content.exception !== undefined }];
    case "function_approval_request":
      return [approvalView(content)];
    case "function_approval_response":
      return [{ type: "approval_answer", id: content.id, approved: content.approved }];
    default:
      return [];
  }
}

function approvalView({ id, functionCall }: AgentResponse["approvalRequests"][number]): ApprovalView {
  return { type: "approval_request", id, tool: functionCall.name, arguments: functionCall.arguments };
}

/** What a run came to. */
export interface AnswerView {
  readonly text: string;
  /** What the user must decide before the rest happens. */
  readonly approvals: readonly ApprovalView[];
}

export function answerView(response: AgentResponse): AnswerView {
  return {
    text: response.text,
    approvals: response.approvalRequests.map(approvalView),
  };
}

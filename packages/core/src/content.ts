import type { Json } from "./json.ts";

/** What every content may carry beside its own members. Unknown members travel along and come back as they were. */
export interface ContentExtras {
  /** Citations and other marks on the content, as the service gave them. */
  readonly annotations?: readonly Json[] | undefined;
  /** Never sent to the model service. JSON only. */
  readonly additionalProperties?: Readonly<Record<string, unknown>> | undefined;
}

/** Text of the conversation. */
export interface TextContent extends ContentExtras {
  readonly type: "text";
  readonly text: string;
}

/** The model's own reasoning. `protectedData` is opaque to us and comes back byte-equal. */
export interface TextReasoningContent extends ContentExtras {
  readonly type: "text_reasoning";
  readonly text?: string | undefined;
  readonly protectedData?: string | undefined;
}

/** Bytes, stored as base64. */
export interface DataContent extends ContentExtras {
  readonly type: "data";
  readonly data: Uint8Array;
  readonly mediaType: string;
  readonly name?: string | undefined;
}

/** A reference to something elsewhere, an image for example. */
export interface UriContent extends ContentExtras {
  readonly type: "uri";
  readonly uri: string;
  readonly mediaType?: string | undefined;
}

/** An error that the service reported in place of an answer. */
export interface ErrorContent extends ContentExtras {
  readonly type: "error";
  readonly message?: string | undefined;
  readonly errorCode?: string | undefined;
  readonly details?: string | undefined;
}

/** The model asks for a tool. `arguments` is the JSON text as the model wrote it. */
export interface FunctionCallContent extends ContentExtras {
  readonly type: "function_call";
  readonly callId: string;
  readonly name: string;
  readonly arguments: string;
}

/** What a tool answered. `exception` is set when the tool did not do its work. */
export interface FunctionResultContent extends ContentExtras {
  readonly type: "function_result";
  readonly callId: string;
  readonly result: Json;
  readonly exception?: string | undefined;
}

/** Asks the user whether a call may run. */
export interface FunctionApprovalRequestContent extends ContentExtras {
  readonly type: "function_approval_request";
  readonly id: string;
  readonly functionCall: FunctionCallContent;
}

/** The user's answer, bound to the request by `id`; `functionCall`, when given, must be the one that was asked for. */
export interface FunctionApprovalResponseContent extends ContentExtras {
  readonly type: "function_approval_response";
  readonly id: string;
  readonly approved: boolean;
  readonly functionCall?: FunctionCallContent | undefined;
  readonly reason?: string | undefined;
}

/** Counts of tokens. Absent means that the service did not say. */
export interface UsageDetails {
  readonly inputTokenCount?: number | undefined;
  readonly outputTokenCount?: number | undefined;
  readonly totalTokenCount?: number | undefined;
  readonly cachedInputTokenCount?: number | undefined;
  readonly reasoningTokenCount?: number | undefined;
}

/** Token usage. Summed up in the response, never stored in a message. */
export interface UsageContent extends ContentExtras {
  readonly type: "usage";
  readonly details: UsageDetails;
}

/** A file that the model service keeps. */
export interface HostedFileContent extends ContentExtras {
  readonly type: "hosted_file";
  readonly fileId: string;
  readonly mediaType?: string | undefined;
  readonly name?: string | undefined;
}

/** A vector store that the model service keeps. */
export interface HostedVectorStoreContent extends ContentExtras {
  readonly type: "hosted_vector_store";
  readonly vectorStoreId: string;
}

/** What the service's own tools did. Members beside `callId` are the service's. */
export interface HostedToolContent extends ContentExtras {
  readonly type:
    | "code_interpreter_tool_call"
    | "code_interpreter_tool_result"
    | "image_generation_tool_call"
    | "image_generation_tool_result"
    | "mcp_server_tool_call"
    | "mcp_server_tool_result"
    | "search_tool_call"
    | "search_tool_result"
    | "shell_tool_call"
    | "shell_tool_result"
    | "shell_command_output";
  readonly callId?: string | undefined;
  readonly name?: string | undefined;
  readonly serverName?: string | undefined;
  readonly arguments?: Json | undefined;
  readonly outputs?: Json | undefined;
}

/** The service asks the user to consent at a link. */
export interface OAuthConsentRequestContent extends ContentExtras {
  readonly type: "oauth_consent_request";
  readonly consentLink: string;
}

/** A content that this version does not know, kept as it was read and written back unchanged. */
export interface UnknownContent {
  readonly type: "unknown";
  readonly raw: Json;
}

/** One part of a message. Closed: narrow on `type`. */
export type Content =
  | TextContent
  | TextReasoningContent
  | DataContent
  | UriContent
  | ErrorContent
  | FunctionCallContent
  | FunctionResultContent
  | FunctionApprovalRequestContent
  | FunctionApprovalResponseContent
  | UsageContent
  | HostedFileContent
  | HostedVectorStoreContent
  | HostedToolContent
  | OAuthConsentRequestContent
  | UnknownContent;

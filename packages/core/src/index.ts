export type {
  Content,
  ContentExtras,
  DataContent,
  ErrorContent,
  FunctionApprovalRequestContent,
  FunctionApprovalResponseContent,
  FunctionCallContent,
  FunctionResultContent,
  HostedFileContent,
  HostedToolContent,
  HostedVectorStoreContent,
  OAuthConsentRequestContent,
  TextContent,
  TextReasoningContent,
  UnknownContent,
  UriContent,
  UsageContent,
  UsageDetails,
} from "./content.ts";
export type { ContextProvider, ConversationPlace } from "./context-provider.ts";
export {
  Conversation,
  type ConversationReadOptions,
  type ConversationSettings,
  type OpenConversationOptions,
  openConversation,
} from "./conversation.ts";
export { assertTimeout, type DeadlineOptions, withDeadline } from "./deadline.ts";
export { type DiagnosticEvent, type DiagnosticHandler, report } from "./diagnostics.ts";
export {
  AgentFrameworkError,
  type AgentFrameworkErrorOptions,
  configurationError,
  type ErrorCode,
  isAbortError,
  isAgentFrameworkError,
} from "./errors.ts";
export { HistoryProvider, type HistoryProviderOptions } from "./history-provider.ts";
export { InMemoryFileStore } from "./in-memory/in-memory-file-store.ts";
export {
  InMemoryHistoryProvider,
  type InMemoryHistoryProviderOptions,
} from "./in-memory/in-memory-history-provider.ts";
export { InMemoryHistoryStore, type InMemoryHistoryStoreOptions } from "./in-memory/in-memory-history-store.ts";
export { InMemoryStateStore, type InMemoryStateStoreOptions } from "./in-memory/in-memory-state-store.ts";
export { isPlainObject, type Json, toJson } from "./json.ts";
export {
  type Attribution,
  functionResults,
  type Message,
  type MessageInput,
  messageText,
  type Role,
  resultMessageId,
} from "./message.ts";
export {
  jsonMessageCodec,
  type MessageCodec,
  type MessageCodecContext,
  type MessagesInput,
  messageFromJson,
  messagesFromInput,
  messageToJson,
} from "./message-codec.ts";
export {
  type CallSlot,
  callSlots,
  type GroupedMessages,
  groupMessages,
  groupToMessages,
  interruptedResult,
  isAnswerTo,
  isDangling,
  isPendingApproval,
  type MessageGroup,
  openCalls,
  standsAlone,
} from "./message-groups.ts";
export {
  type HistoryPolicy,
  type HistoryReducer,
  MessageHistoryProvider,
  messageCountReducer,
} from "./message-history-provider.ts";
export type { MessageLog, MessageLogPage, MessageLogReadOptions } from "./message-log.ts";
export type { ChatInvocation, ChatMiddleware, ContextMiddleware, FunctionMiddleware } from "./middleware.ts";
export type { ChatClient } from "./ports/chat-client.ts";
export type {
  ChatOptions,
  ChatRequestOptions,
  ChatUpdate,
  FinishReason,
  ResponseFormat,
  ToolChoice,
  ToolDefinition,
} from "./ports/chat-types.ts";
export type { FileEntry, FileMatch, FileSearchOptions, FileStore, FileWriteOptions } from "./ports/file-store.ts";
export type { HistoryStore } from "./ports/history-store.ts";
export type {
  AppendOptions,
  CallOptions,
  HistoryCapabilities,
  HistoryKey,
  HistoryKeyInfo,
  HistoryList,
  HistoryListFilter,
  HistoryListOptions,
  HistoryPage,
  HistoryRecord,
  ReadOptions,
} from "./ports/history-types.ts";
export type { StateStore } from "./ports/state-store.ts";
export type { Scope, StateCapabilities, StateItem, StateKey, StateListOptions, Tags } from "./ports/state-types.ts";
export type { Run, RunOptions, ToolSource } from "./run.ts";
export { RunContext, type RunMessagesFilter } from "./run-context.ts";
export {
  AgentSession,
  type AgentSessionJson,
  type AgentSessionOptions,
  ProviderSessionState,
  type ProviderSessionStateOptions,
  type StateCodec,
} from "./session.ts";
export { type SessionList, type SessionScope, SessionStore } from "./session-store.ts";
export {
  assertCallOptions,
  assertCount,
  assertHistoryKey,
  assertHistoryRecords,
  assertListFilter,
  assertName,
  assertObject,
  assertReadOptions,
  historyKeyText,
  utf8Length,
} from "./store-input.ts";
export type { FunctionInvocation, Tool, ToolContext } from "./tool.ts";

export { Agent, type ProviderClass } from "./agent.ts";
export type {
  AgentOptions,
  AgentRunOptions,
  CreateSessionOptions,
  GetSessionOptions,
  VerifyServiceSession,
} from "./agent-options.ts";
export type { AsToolOptions } from "./as-tool.ts";
export {
  type AgentInvocation,
  type AgentMiddleware,
  agentMiddleware,
  chatMiddleware,
  functionMiddleware,
  type Middleware,
} from "./middleware.ts";
export { AgentResponse, AgentResponseStream, AgentUpdate, type AgentUpdateInit } from "./response.ts";
export type { SchemaConverter, SchemaIssue, SchemaResult, ToolSchema } from "./standard-schema.ts";
export {
  type JsonSchema,
  type JsonSchemaToolOptions,
  type SchemaToolOptions,
  ToolArgumentsError,
  tool,
} from "./tool.ts";

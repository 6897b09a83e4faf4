import {
  AgentFrameworkError,
  AgentSession,
  assertName,
  assertObject,
  configurationError,
  isPlainObject,
  type Tool,
  type ToolContext,
} from "@agentfw/core";
import type { Agent } from "./agent.ts";
import { assertOptional } from "./checks.ts";
import { tool } from "./tool.ts";

/** Options of `Agent.asTool`. */
export interface AsToolOptions {
  /** @default the agent's name, with `_` for what a tool name cannot hold */
  readonly name?: string | undefined;
  /** @default the agent's description */
  readonly description?: string | undefined;
  /** The name of the one argument. @default "task" */
  readonly argumentName?: string | undefined;
  /** @default "What the agent is to do." */
  readonly argumentDescription?: string | undefined;
  readonly approval?: "required" | undefined;
  /**
   * Give the agent a conversation of its own that lives in the calling session, so that it remembers earlier calls. Its
   * history never mixes with the caller's. @default false: every call stands by itself
   */
  readonly propagateSession?: boolean | undefined;
}

/**
 * Makes a tool that runs an agent and answers with its text. An agent that asks for approval or leaves a call to its
 * caller has no answer; its call is an error result.
 */
export function agentAsTool(agent: Agent, options: AsToolOptions): Tool {
  assertObject(options, "asTool");
  const { argumentName = "task", argumentDescription = "What the agent is to do.", approval } = options;
  const name = options.name ?? agent.name?.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64);
  if (name === undefined || name === "") {
    throw configurationError("asTool.name", "must be given for an agent without a name");
  }
  assertName(argumentName, "asTool.argumentName");
  assertOptional(argumentDescription, "string", "asTool.argumentDescription");
  assertOptional(options.propagateSession, "boolean", "asTool.propagateSession");
  return tool({
    name,
    description: options.description ?? agent.description,
    approval,
    parameters: {
      type: "object",
      properties: { [argumentName]: { type: "string", description: argumentDescription } },
      required: [argumentName],
    },
    execute: async (args, context) => {
      const task = args[argumentName];
      const child = options.propagateSession ? enterChild(name, context) : undefined;
      try {
        const response = await agent.run(typeof task === "string" ? task : "", {
          session: child?.session,
          runId: context.idempotencyKey,
          signal: context.signal,
        });
        if (response.approvalRequests.length > 0 || response.openCalls.length > 0) {
          throw new AgentFrameworkError("unsupported", `${name}: asks for a person, and a tool cannot wait for one`);
        }
        return response.text;
      } finally {
        child?.leave();
      }
    },
  });
}

interface ChildSession {
  readonly session: AgentSession;
  users: number;
}

/** The children in use, by the calling session: calls side by side share one, so that none overwrites another's turn. */
const children = new WeakMap<AgentSession, Map<string, ChildSession>>();

/** The conversation of a tool agent: in a slice of the calling session's state, under an id derived from its id. */
function enterChild(name: string, context: ToolContext): { session: AgentSession; leave(): void } | undefined {
  const parent = context.session;
  if (parent === undefined) {
    return undefined;
  }
  const key = `as_tool:${name}`;
  const inUse = children.get(parent) ?? new Map<string, ChildSession>();
  children.set(parent, inUse);
  const child = inUse.get(key) ?? { session: restoreChild(parent, name, key), users: 0 };
  inUse.set(key, child);
  child.users += 1;
  return {
    session: child.session,
    leave: () => {
      child.users -= 1;
      const { serviceSessionId, state } = child.session.toJSON();
      parent.state[key] = serviceSessionId === undefined ? { state } : { serviceSessionId, state };
      if (child.users === 0) {
        inUse.delete(key);
      }
    },
  };
}

function restoreChild(parent: AgentSession, name: string, key: string): AgentSession {
  const slice = Object.hasOwn(parent.state, key) ? parent.state[key] : undefined;
  const stored = isPlainObject(slice) ? slice : {};
  return new AgentSession({
    sessionId: `${parent.sessionId}/${name}`,
    owner: parent.owner,
    serviceSessionId: typeof stored["serviceSessionId"] === "string" ? stored["serviceSessionId"] : undefined,
    state: isPlainObject(stored["state"]) ? stored["state"] : {},
  });
}

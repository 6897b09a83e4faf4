import type { Content, FunctionApprovalRequestContent, MessageInput, Tool } from "@agentfw/core";
import type { AgentResponse } from "../src/index.ts";
import { type Fixture, open } from "./fixture.ts";
import { call } from "./scripted-client.ts";

/** Answers requests, `true` for all of them unless told otherwise. */
export function answer(
  requests: readonly FunctionApprovalRequestContent[],
  approved = true,
  more: object = {},
): MessageInput {
  return {
    role: "user",
    contents: requests.map(({ id }) => ({ type: "function_approval_response", id, approved, ...more })),
  };
}

/** Tools that write down when they run: `pay` and `wire` need approval, `look` does not. */
export function bank(): { tools: Tool[]; ran: string[]; keys: string[] } {
  const ran: string[] = [];
  const keys: string[] = [];
  const make = (name: string, approval?: Tool["approval"]): Tool => ({
    name,
    parameters: { type: "object" },
    approval,
    execute: (args, { idempotencyKey }) => {
      ran.push(`${name} ${JSON.stringify(args)}`);
      keys.push(idempotencyKey);
      return `${name} done`;
    },
  });
  return { tools: [make("pay", "required"), make("wire", "required"), make("look")], ran, keys };
}

/** A conversation whose first run has asked. */
export async function asked(
  script: Parameters<typeof open>[0],
  options: Parameters<typeof open>[1] = {},
): Promise<Fixture & { response: AgentResponse; ran: string[]; keys: string[] }> {
  const { tools, ran, keys } = bank();
  const fixture = open(script, { tools, ...options });
  const response = await fixture.agent.run("go", { session: fixture.session() });
  return { ...fixture, response, ran, keys };
}

/** An answer of the model that asks for a payment between two harmless calls. */
export const BATCH: readonly Content[] = [
  call("1", "look", { a: 1 }),
  call("2", "pay", { sum: 5 }),
  call("3", "look", { b: 2 }),
];

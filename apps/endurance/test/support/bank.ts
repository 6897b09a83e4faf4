import type { Content, FunctionApprovalRequestContent, MessageInput, Tool } from "@agentfw/core";
import { call } from "./stage.ts";

/** Tools that write down when they run, and with what: `pay` and `wire` need approval, `look` does not. */
export function bank(): { readonly tools: Tool[]; readonly ran: string[] } {
  const ran: string[] = [];
  const make = (name: string, approval?: "required"): Tool => ({
    ...{ name, approval, parameters: { type: "object" } },
    execute: (args) => {
      ran.push(`${name} ${JSON.stringify(args)}`);
      return `${name} done`;
    },
  });
  return { tools: [make("pay", "required"), make("wire", "required"), make("look")], ran };
}

/** An answer of the model that asks for a payment between two harmless calls. */
export const BATCH: readonly Content[] = [
  call("1", "look", '{"a":1}'),
  call("2", "pay", '{"sum":5}'),
  call("3", "look", '{"b":2}'),
];

/** What a person says to requests. */
export function answer(
  requests: readonly Pick<FunctionApprovalRequestContent, "id">[],
  approved = true,
  more: object = {},
): MessageInput {
  return {
    role: "user",
    contents: requests.map(({ id }) => ({ type: "function_approval_response", id, approved, ...more })),
  };
}

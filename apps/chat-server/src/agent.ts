import { Agent, tool } from "@agentfw/agent";
import type { ChatClient, DiagnosticHandler, HistoryProvider } from "@agentfw/core";
import * as z from "zod";

/** What the agent's tools do outside of the chat. */
export interface Shop {
  /** Pays money back. A key that was seen before must pay nothing again. */
  refund(order: string, cents: number, options: { idempotencyKey: string; signal: AbortSignal }): Promise<void>;
}

/** The agent, which holds no chat: one serves all users of a replica. */
export function makeAgent(
  client: ChatClient,
  history: HistoryProvider,
  shop: Shop,
  onDiagnostic: DiagnosticHandler,
): Agent {
  return new Agent({
    name: "chat-server",
    client,
    instructions: "You help the customers of a shop. Answer in one or two sentences.",
    tools: [refundOrder(shop)],
    contextProviders: [history],
    // Every step is stored as it happens, so that no refund is paid twice, whenever a process dies.
    historyPersistence: "per-service-call",
    // Of two replicas that answer at once, the one that comes second answers again, knowing what was said.
    onConflict: "retry",
    requireOwner: true,
    onDiagnostic,
  });
}

function refundOrder(shop: Shop) {
  return tool({
    name: "refund_order",
    description: "Pays an order back, wholly or in part. The customer is asked before it happens.",
    parameters: z.object({ order: z.string().min(1).max(40), cents: z.int().positive() }),
    approval: "required",
    execute: async ({ order, cents }, { idempotencyKey, signal }) => {
      await shop.refund(order, cents, { idempotencyKey, signal });
      return { order, refundedCents: cents };
    },
  });
}

import { MemorySession } from "@openai/agents-core";

function toItem({ id, role, text }) {
  return role === "user"
    ? { id, type: "message", role, content: text }
    : { id, type: "message", role, status: "completed", content: [{ type: "output_text", text }] };
}

export const openaiAgents = {
  name: "openai-agents",
  kind: "memory",
  async open({ sessions, messages }) {
    const initialItems = messages.map(toItem);
    const bySession = new Map(sessions.map((sessionId) => [sessionId, new MemorySession({ sessionId, initialItems })]));
    return {
      append: (session, turn) => bySession.get(session).addItems(turn.map(toItem)),
      load: async (session, last) => (await bySession.get(session).getItems(last)).length,
    };
  },
};

import { AIMessage, HumanMessage } from "@langchain/core/messages";

export function toLangchain({ id, role, text }) {
  return role === "user" ? new HumanMessage({ id, content: text }) : new AIMessage({ id, content: text });
}

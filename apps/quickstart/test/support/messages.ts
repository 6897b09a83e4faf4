/** A JSON object. */
export type Members = Record<string, unknown>;

export const call = (id: string, name: string, text: unknown = "{}", more: Members = {}): Members => ({
  id,
  type: "function",
  function: { name, arguments: text },
  ...more,
});
export const result = (id: string, content: unknown, more: Members = {}): Members => ({
  role: "tool",
  tool_call_id: id,
  content,
  ...more,
});
export const user = (content: unknown, more: Members = {}): Members => ({ role: "user", content, ...more });
export const system = (content: unknown): Members => ({ role: "system", content });
export const answer = (content: unknown, calls?: readonly unknown[], more: Members = {}): Members => ({
  role: "assistant",
  content,
  ...(calls === undefined ? {} : { tool_calls: calls }),
  ...more,
});

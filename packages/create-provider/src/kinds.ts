import { CreateProviderError } from "./errors.ts";

/** What a provider can be: one of the ports of `@agentfw/core`. */
export type ProviderKind = "history" | "state" | "file" | "context" | "chat-client";

interface KindWords {
  /** The port that the class implements. Its name ends the name of the class. */
  readonly port: string;
  /** What the package is for, in front of "on" and the name of the engine. */
  readonly purpose: string;
}

const KINDS: Readonly<Record<ProviderKind, KindWords>> = {
  history: { port: "HistoryStore", purpose: "Conversation history for agentfw" },
  state: { port: "StateStore", purpose: "Durable state for agentfw" },
  file: { port: "FileStore", purpose: "Text files for agentfw" },
  context: { port: "ContextProvider", purpose: "Context for agentfw runs" },
  "chat-client": { port: "ChatClient", purpose: "A chat client for agentfw" },
};

/** Every kind of provider, in the order in which they are shown. */
export const providerKinds: readonly ProviderKind[] = ["history", "state", "file", "context", "chat-client"];

/** The kind of this name. @throws `configuration` when there is none */
export function providerKind(name: string): ProviderKind {
  const kind = providerKinds.find((one) => one === name);
  if (kind === undefined) {
    throw new CreateProviderError(
      "configuration",
      `kind: must be one of ${providerKinds.join(", ")}; it is ${JSON.stringify(name.slice(0, 60))}`,
    );
  }
  return kind;
}

/** The words of a kind. */
export function kindWords(kind: ProviderKind): KindWords {
  return KINDS[providerKind(kind)];
}

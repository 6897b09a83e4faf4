import type { ChatClient, ChatRequestOptions, ChatUpdate, Content, Message } from "@agentfw/core";

/** A client whose updates are each what `change` makes of a sound one; `undefined` leaves it out. */
export function withUpdates(
  client: Required<ChatClient>,
  change: (update: ChatUpdate) => ChatUpdate | undefined,
): Partial<ChatClient> {
  return {
    async *stream(messages, options) {
      for await (const update of client.stream(messages, options)) {
        const changed = change(update);
        if (changed !== undefined) {
          yield changed;
        }
      }
    },
    complete: async (messages, options) => {
      const whole = await client.complete(messages, options);
      return change(whole) ?? whole;
    },
  };
}

/** A client whose contents are each what `change` makes of a sound one. */
export function withContents(
  client: Required<ChatClient>,
  change: (content: Content) => readonly Content[],
): Partial<ChatClient> {
  return withUpdates(client, (update) => ({ ...update, contents: update.contents?.flatMap(change) }));
}

/** A client that sends something else than it is given. */
export function withRequests(
  client: Required<ChatClient>,
  change: (
    messages: readonly Message[],
    options: ChatRequestOptions,
  ) => { readonly messages?: readonly Message[]; readonly options?: ChatRequestOptions },
): Partial<ChatClient> {
  const changed = (messages: readonly Message[], options: ChatRequestOptions) => ({
    messages,
    options,
    ...change(messages, options),
  });
  return {
    async *stream(given, givenOptions) {
      const { messages, options } = changed(given, givenOptions);
      yield* client.stream(messages, options);
    },
    complete: async (given, givenOptions) => {
      const { messages, options } = changed(given, givenOptions);
      return client.complete(messages, options);
    },
  };
}

/** A client that does something else with what goes wrong; what `onError` returns normally ends the answer. */
export function withFailures(client: Required<ChatClient>, onError: (error: unknown) => void): Partial<ChatClient> {
  return {
    async *stream(messages, options) {
      try {
        yield* client.stream(messages, options);
      } catch (error) {
        onError(error);
      }
    },
  };
}

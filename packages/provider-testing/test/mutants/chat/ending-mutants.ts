import { AgentFrameworkError, type ChatUpdate, isAbortError, isAgentFrameworkError, messageText } from "@agentfw/core";
import type { OpenedChatClient } from "../../../src/index.ts";
import { chatMutant, type Mutant } from "../../support/mutant.ts";
import { withFailures } from "./helpers.ts";

/** Defects in how calls begin, end and fail. */
export const endingMutants: readonly Mutant<OpenedChatClient>[] = [
  chatMutant("sends its request when the stream is made", ["M15"], (client) => ({
    stream(messages, options) {
      const iterator = client.stream(messages, options)[Symbol.asyncIterator]();
      const first = iterator.next();
      first.catch(() => {});
      return (async function* () {
        for (let step = await first; !step.done; step = await iterator.next()) {
          yield step.value;
        }
      })();
    },
  })),
  chatMutant(
    "throws an abort of its own",
    ["M16"],
    (client) =>
      withFailures(client, (error) => {
        throw isAgentFrameworkError(error) ? error : new DOMException("Request was aborted", "AbortError");
      }),
    { rejects: "AbortError: Request was aborted" },
  ),
  chatMutant(
    "does not look at the signal",
    ["M16", "M17", "M18"],
    (client) => ({
      stream: (messages, options) => client.stream(messages, { ...options, signal: undefined }),
    }),
    { rejects: "no answer" },
  ),
  chatMutant(
    "ends an answer that was given up like a whole one",
    ["M17", "M18"],
    (client) =>
      withFailures(client, (error) => {
        if (!isAbortError(error)) {
          throw error;
        }
      }),
    { spares: ["M22"] },
  ),
  chatMutant(
    "keeps its request when the iteration is left",
    ["M19"],
    (client) => ({
      stream: (messages, options) => {
        const iterator = client.stream(messages, options)[Symbol.asyncIterator]();
        const end: IteratorReturnResult<undefined> = { done: true, value: undefined };
        const left: AsyncIterableIterator<ChatUpdate> = {
          next: () => iterator.next(),
          return: async () => end,
          [Symbol.asyncIterator]: () => left,
        };
        return left;
      },
    }),
    { spares: ["M17", "M18"] },
  ),
  chatMutant("leaves its listener on the caller's signal", ["M20"], (client) => ({
    async *stream(messages, options) {
      options.signal?.addEventListener("abort", () => {});
      yield* client.stream(messages, options);
    },
  })),
  chatMutant(
    "calls everything that the service refuses unavailable",
    ["M21"],
    (client) =>
      withFailures(client, (error) => {
        throw isAgentFrameworkError(error) ? new AgentFrameworkError("unavailable", "refused") : error;
      }),
    { rejects: "unavailable (refused)" },
  ),
  chatMutant("ends an answer that broke off like a whole one", ["M22"], (client) =>
    withFailures(client, (error) => {
      if (!(error instanceof Error && error.message.includes("broke off"))) {
        throw error;
      }
    }),
  ),
  chatMutant(
    "waits for a silent service as long as it takes",
    ["M23"],
    (client, service) => ({
      stream: (messages, options) => {
        service.timeoutMs = 2_000_000_000;
        return client.stream(messages, options);
      },
    }),
    { rejects: "it must settle at once" },
  ),
  chatMutant(
    "remembers that its service was down",
    ["M24"],
    (client) => {
      let failure: unknown;
      return {
        async *stream(messages, options) {
          if (failure !== undefined) {
            throw failure;
          }
          try {
            yield* client.stream(messages, options);
          } catch (error) {
            failure = error;
            throw error;
          }
        },
      };
    },
    { rejects: "connection refused" },
  ),
  chatMutant("quotes the messages in its errors", ["M25"], (client) => ({
    async *stream(messages, options) {
      try {
        yield* client.stream(messages, options);
      } catch (error) {
        throw isAgentFrameworkError(error)
          ? new AgentFrameworkError(error.code, `refused: ${messages.map(messageText).join()}`)
          : error;
      }
    },
  })),
  chatMutant(
    "throws where its stream is made",
    ["M26"],
    (client, service) => ({
      stream: (messages, options) => {
        if (service.scripts.some((script) => "failure" in script)) {
          throw new AgentFrameworkError("unavailable", "the service failed");
        }
        return client.stream(messages, options);
      },
    }),
    { spares: ["M25"], rejects: "the service failed" },
  ),
  chatMutant("takes whatever options it is given", ["M27"], () => ({}), {
    wrongOptions: () => ({ "no model": () => ({ model: "" }) }),
  }),
];

import type { Message } from "@agentfw/core";
import type { OpenedContextProvider } from "../../../src/index.ts";
import { contextMutant, type Mutant } from "../../support/mutant.ts";

const EXTRA: Message = { role: "user", messageId: "extra", contents: [{ type: "text", text: "More." }] };

/** Defects in what is added to a run. */
export const additionMutants: readonly Mutant<OpenedContextProvider>[] = [
  contextMutant("has an empty source id", ["P01"], () => ({ sourceId: "" })),
  contextMutant("adds messages in the name of another source", ["P02"], (provider) => ({
    beforeRun: async (context) => {
      await provider.beforeRun(context);
      context.run.addContext("someone_else", [EXTRA]);
    },
  })),
  contextMutant("stamps what it adds with another source", ["P02"], (provider) => ({
    beforeRun: async (context) => {
      await provider.beforeRun(context);
      context.addMessages({ ...EXTRA, ...{ attribution: { sourceId: "someone_else", sourceType: "context" } } });
    },
  })),
  contextMutant("adds one tool twice", ["P03"], (provider) => ({
    beforeRun: async (context) => {
      await provider.beforeRun(context);
      context.addTools([{ name: "recall", parameters: { type: "object" } }]);
    },
  })),
  contextMutant("gives its tool a name with a space", ["P03"], (provider) => ({
    beforeRun: async (context) => {
      await provider.beforeRun(context);
      context.addTools([{ name: "look up", parameters: { type: "object" } }]);
    },
  })),
  contextMutant("adds instructions that say nothing", ["P03"], (provider) => ({
    beforeRun: async (context) => {
      await provider.beforeRun(context);
      context.addInstructions(" ");
    },
  })),
  contextMutant("loads the newest two messages, whatever they belong to", ["P04"], (provider) => ({
    beforeRun: async (context) => {
      await provider.beforeRun(context);
      changeMessages(context.run.contributions, (messages) => messages.slice(-2));
    },
  })),
  contextMutant("takes away what others added in front of it", ["P05"], (provider) => ({
    beforeRun: async (context) => {
      context.run.contributions.splice(0);
      await provider.beforeRun(context);
    },
  })),
  contextMutant("writes its mark into the caller's messages", ["P05"], (provider) => ({
    beforeRun: async (context) => {
      await provider.beforeRun(context);
      for (const message of context.input) {
        Object.assign(message, { additionalProperties: { seen: true } });
      }
    },
  })),
  contextMutant("adds its tools and instructions to the first run only", ["P11"], (provider) => {
    let isDone = false;
    return {
      beforeRun: async (context) => {
        await provider.beforeRun(context);
        if (isDone) {
          context.run.instructions.splice(0);
          context.run.tools.splice(0);
        }
        isDone = true;
      },
    };
  }),
  contextMutant("loads the newest message first", ["P22"], (provider) => ({
    beforeRun: async (context) => {
      await provider.beforeRun(context);
      changeMessages(context.run.contributions, (messages) => [...messages].reverse());
    },
  })),
  contextMutant(
    "adds history as if it were context",
    ["P22"],
    (provider) => ({
      beforeRun: async (context) => {
        await provider.beforeRun(context);
        const messages = context.run.contributions.splice(0).flatMap((contribution) => contribution.messages);
        context.addMessages(messages.map(({ attribution: _, ...message }) => message));
      },
    }),
    { spares: ["P02"] },
  ),
];

function changeMessages<T extends { readonly messages: readonly Message[] }>(
  contributions: T[],
  change: (messages: readonly Message[]) => readonly Message[],
): void {
  const changed = contributions.map((contribution) => ({ ...contribution, messages: change(contribution.messages) }));
  contributions.splice(0, contributions.length, ...changed);
}

import { AgentFrameworkError, isAgentFrameworkError, messageText, RunContext } from "@agentfw/core";
import { Run } from "@agentfw/core/run";
import type { OpenedContextProvider } from "../../../src/index.ts";
import { contextMutant, type Mutant } from "../../support/mutant.ts";
import { noteKeeper } from "./notes.ts";

/** Defects in what is kept, where, and what happens when it cannot be reached. */
export const keepingMutants: readonly Mutant<OpenedContextProvider>[] = [
  contextMutant("keeps state in the session under a name that is not its own", ["P06"], (provider) => ({
    afterRun: async (context) => {
      await provider.afterRun(context);
      context.session.state["last_run"] = context.runId;
    },
  })),
  contextMutant(
    "keeps a Map in the session",
    ["P06"],
    (provider) => ({
      afterRun: async (context) => {
        await provider.afterRun(context);
        context.session.state[provider.sourceId] = new Map([["runs", 1]]);
      },
    }),
    { rejects: "cannot be stored as JSON" },
  ),
  contextMutant("queues the runs of all sessions in one place", ["P07"], (_, world) => ({
    conversationPlace: () => ({ scope: world, key: "" }),
  })),
  contextMutant("takes whatever options it is given", ["P08"], () => ({}), {
    wrongOptions: () => ({ "no window": () => ({ maxMessages: 0 }) }),
  }),
  contextMutant("files what was said under the session that began last", ["P09", "P10"], (_, world) =>
    noteKeeper(world, { underLastSession: true }),
  ),
  contextMutant(
    "keeps the sixteen newest conversations only",
    ["P10"],
    (_, world) => noteKeeper(world, { conversations: 16 }),
    { spares: ["P09"] },
  ),
  contextMutant(
    "keeps the conversations in the instance",
    ["P12"],
    (_, world) => noteKeeper(world, { inInstance: true }),
    { spares: ["P09", "P10"] },
  ),
  contextMutant(
    "throws an error of its own when the run was given up",
    ["P13"],
    (provider) => ({
      beforeRun: async (context) => {
        if (context.signal.aborted) {
          throw new AgentFrameworkError("unavailable", "stopped");
        }
        await provider.beforeRun(context);
      },
    }),
    { rejects: "unavailable (stopped)" },
  ),
  contextMutant(
    "expects a response in every run",
    ["P14"],
    (provider) => ({
      afterRun: async (context) => {
        await provider.afterRun(context);
        if (context.response === undefined) {
          throw new TypeError("cannot read the response");
        }
      },
    }),
    { rejects: "cannot read the response" },
  ),
  contextMutant("loads and stores in runs without a session", ["P15"], (_, world) =>
    noteKeeper(world, { ignoresEphemeral: true }),
  ),
  contextMutant("loads what the service keeps too", ["P16"], (_, world) =>
    noteKeeper(world, { ignoresServiceManaged: true }),
  ),
  contextMutant("reads an outage as an empty history", ["P17"], (provider) => ({
    beforeRun: (context) => provider.beforeRun(context).catch(() => {}),
  })),
  contextMutant("says nothing of a turn that it could not store", ["P17"], (provider) => ({
    afterRun: (context) => provider.afterRun(context).catch(() => {}),
  })),
  contextMutant(
    "throws the error of its driver",
    ["P17"],
    (provider) => ({
      beforeRun: async (context) => {
        try {
          await provider.beforeRun(context);
        } catch {
          throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
        }
      },
    }),
    { rejects: "connect ECONNREFUSED" },
  ),
  contextMutant(
    "remembers that its backend was down",
    ["P18"],
    (provider) => {
      let failure: unknown;
      return {
        beforeRun: async (context) => {
          try {
            await provider.beforeRun(context);
          } catch (error) {
            failure ??= error;
          }
          if (failure !== undefined) {
            throw failure;
          }
        },
      };
    },
    { spares: ["P21"], rejects: "connection refused" },
  ),
  contextMutant("does not look at the signal while it loads", ["P19"], (provider) => ({
    beforeRun: async (context) => {
      const run = new Run({ ...context.run.options, signal: undefined });
      await provider.beforeRun(new RunContext(run, provider));
      context.run.contributions.push(...run.contributions);
      context.run.instructions.push(...run.instructions);
      context.run.tools.push(...run.tools);
    },
  })),
  contextMutant("waits for its backend as long as it takes", ["P20"], (provider, world) => ({
    afterRun: async (context) => {
      while (world.stalled) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      await provider.afterRun(context);
    },
  })),
  contextMutant("quotes the question when it cannot load", ["P21"], (provider) => ({
    beforeRun: async (context) => {
      try {
        await provider.beforeRun(context);
      } catch (error) {
        const code = isAgentFrameworkError(error) ? error.code : "unavailable";
        throw new AgentFrameworkError(code, `no history for ${context.input.map(messageText).join()}`);
      }
    },
  })),
  contextMutant("stores a run again that it has stored", ["P23", "P25"], (_, world) =>
    noteKeeper(world, { ignoresIds: true }),
  ),
  contextMutant("stores what a failed run was asked and produced", ["P24"], (_, world) =>
    noteKeeper(world, { ignoresError: true }),
  ),
  contextMutant("tells every run that its claim was first", ["P26"], (provider) => ({
    claim: async (context, answers) => {
      await provider.claim(context, answers);
      return true;
    },
  })),
];

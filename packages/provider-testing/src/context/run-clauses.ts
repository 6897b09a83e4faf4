import { AgentFrameworkError } from "@agentfw/core";
import { ensure, expectError, sameList } from "../expect.ts";
import { type ContextClause, onlyHistory, rememberedAlone, sayWords, wordsIn, wordsOf } from "./support.ts";
import { fullTurn, sessionOf, Turn } from "./turn.ts";

/** Runs that are given up, fail, or belong to nobody. */
export const runClauses: readonly ContextClause[] = [
  {
    id: "P13",
    title: "in a run that was given up already, beforeRun does its work or throws the reason",
    contract: "ContextProvider",
    reason: "A caller who presses stop looks for the abort, and takes anything else for a failure.",
    async run(trial) {
      const { provider } = await trial.open();
      const session = sessionOf("ann");
      const reason = new DOMException("enough", "AbortError");
      const turn = new Turn([provider], { session, runId: "run-0", signal: AbortSignal.abort(reason) });
      try {
        await turn.begin();
      } catch (error) {
        ensure(error === reason, "what beforeRun throws is the reason of the abort", error);
      }
      await turn.end(reason);
      await fullTurn(provider, { session, runId: "run-1" });
    },
  },
  {
    id: "P14",
    title: "a run that failed is no failure of the provider, which remembers later runs as before",
    contract: "ContextProvider",
    reason: "afterRun is called for every run that began; an answer that is missing must not hide why.",
    async run(trial) {
      const alone = await rememberedAlone(trial, "ann", 1);
      const { provider } = await trial.open();
      const session = sessionOf("ann");
      for (const answer of ["", "half an answer"]) {
        const failed = await new Turn([provider], { session, runId: `failed-${answer.length}` }).begin();
        await failed.answer(answer === "" ? [] : answer);
        await failed.end(new AgentFrameworkError("unavailable", "the model failed"));
      }
      const words = await sayWords(provider, session, "ann", 0);
      const next = await fullTurn(provider, { session, runId: "ann-1" });
      sameList(wordsIn(next, [words]), alone, "what is told of a run that came after failed ones");
    },
  },
  {
    id: "P15",
    title: "a run without a session works or is refused as configuration, and leaves nothing in a history",
    contract: "ContextProvider; HistoryProvider",
    reason: "What nobody gave a session to is to be forgotten.",
    async run(trial) {
      const { provider } = await trial.open();
      const session = sessionOf("ann");
      await sayWords(provider, session, "ann", 0);
      const { question, answer } = wordsOf("nobody", 0);
      const turn = new Turn([provider], { session, runId: "nobody-0", input: question, ephemeral: true });
      let error: unknown;
      try {
        await turn.begin();
        await turn.answer(answer);
      } catch (thrown) {
        error = thrown;
        expectError(thrown, "a run without a session, unless it works", "configuration");
      }
      await turn.end(error);
      if (provider.loadsHistory === true) {
        sameList(wordsIn(turn, [wordsOf("ann", 0)]), [], "the history that is loaded without a session");
        const next = await fullTurn(provider, { session, runId: "ann-1" });
        sameList(wordsIn(next, [{ question, answer }]), [], "what is told of a run without a session");
      }
    },
  },
  {
    id: "P16",
    title: "a history that the model service keeps is not loaded from here",
    contract: "Service-managed sessions",
    reason: "The model would be told everything twice.",
    async run(trial) {
      const { provider } = await trial.open();
      onlyHistory(trial, provider);
      const session = sessionOf("ann");
      const words = await sayWords(provider, session, "ann", 0);
      const turn = await new Turn([provider], { session, runId: "ann-1", serviceManaged: true }).begin();
      sameList(wordsIn(turn, [words]), [], "the history that is loaded beside that of the service");
    },
  },
];

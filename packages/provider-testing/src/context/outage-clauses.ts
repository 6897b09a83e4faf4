import type { ErrorCode } from "@agentfw/core";
import { ensure, expectError, sameList } from "../expect.ts";
import { DEADLINE_MS, duringOutage, openWithDeadline } from "../outage.ts";
import { soon } from "../soon.ts";
import { type ContextClause, rememberedAlone, sayWords, wordsIn, wordsOf } from "./support.ts";
import { fullTurn, sessionOf, Turn } from "./turn.ts";

const BROKEN = { hooks: ["breakBackend", "healBackend"] } as const;
const STALLED = { hooks: ["stallBackend", "healBackend"] } as const;

const OUTAGE_CODES: readonly ErrorCode[] = ["unavailable", "timeout", "outcome_unknown"];

/** What a provider does when what it keeps cannot be reached. */
export const outageClauses: readonly ContextClause[] = [
  {
    id: "P17",
    title: "when its backend is down it throws a typed error or reports, and never acts as if there were nothing",
    contract: "ContextProvider; Errors",
    reason: "A failure that reads as an empty memory is answered by a model that knows nobody.",
    requires: BROKEN,
    async run(trial) {
      const alone = await rememberedAlone(trial, "ann", 1);
      const opened = await openWithDeadline(trial);
      const session = sessionOf("ann");
      const words = await sayWords(opened.provider, session, "ann", 0);
      const begun = new Turn([opened.provider], { session, runId: "ann-1" });
      await duringOutage(opened, "breakBackend", async () => {
        const error = await thrownBy(begun.begin());
        expectOutageError(error);
        const isTold = error !== undefined || begun.events.length > 0;
        sameList(isTold ? alone : wordsIn(begun, [words]), alone, "what a run is told that was told of no failure");
        await thrownBy(begun.end(error));
      });
      const lost = wordsOf("ann", 2);
      const ended = await new Turn([opened.provider], { session, runId: "ann-2", input: lost.question }).begin();
      await ended.answer(lost.answer);
      let failure: unknown;
      await duringOutage(opened, "breakBackend", async () => {
        failure = await thrownBy(ended.end());
      });
      expectOutageError(failure);
      if (failure === undefined && ended.events.length === 0 && alone.length > 0) {
        const next = await fullTurn(opened.provider, { session, runId: "ann-3" });
        const expected = alone.map((word) => word.replace("-0-", "-2-"));
        sameList(wordsIn(next, [lost]), expected, "what is remembered of a run that was told of no failure");
      }
    },
  },
  {
    id: "P18",
    title: "after an outage, also one in its first run, the same instance works again",
    contract: "ContextProvider; HistoryStore 12",
    reason: "Nobody restarts every process because a server was down for a minute.",
    requires: BROKEN,
    async run(trial) {
      const alone = await rememberedAlone(trial, "ann", 1);
      const opened = await openWithDeadline(trial);
      const session = sessionOf("ann");
      await duringOutage(opened, "breakBackend", async () => {
        const turn = new Turn([opened.provider], { session, runId: "early" });
        await turn.end(await thrownBy(turn.begin())).catch(expectOutageError);
      });
      const words = await sayWords(opened.provider, session, "ann", 0);
      const next = await fullTurn(opened.provider, { session, runId: "ann-1" });
      sameList(wordsIn(next, [words]), alone, "what is remembered after the outage");
    },
  },
  {
    id: "P19",
    title: "an abort while its backend is silent ends beforeRun at once",
    contract: "ContextProvider",
    reason: "A user who presses stop must not wait for the deadline of a store.",
    requires: STALLED,
    async run(trial) {
      const opened = await trial.open({ timeoutMs: 60_000 });
      const session = sessionOf("ann");
      await sayWords(opened.provider, session, "ann", 0);
      const controller = new AbortController();
      const turn = new Turn([opened.provider], { session, runId: "ann-1", signal: controller.signal });
      await duringOutage(opened, "stallBackend", async () => {
        const begun = thrownBy(turn.begin());
        await new Promise((resolve) => setTimeout(resolve, 100));
        controller.abort();
        const error = await soon(begun, "beforeRun after an abort");
        ensure(
          error === undefined || error === controller.signal.reason,
          "what beforeRun throws is the reason of the abort",
          error,
        );
      });
    },
  },
  {
    id: "P20",
    title: "a backend that answers nothing makes every hook settle within its deadline",
    contract: "ContextProvider; HistoryStore 13",
    reason: "A blackholed connection must not hang a run.",
    requires: STALLED,
    async run(trial) {
      const opened = await openWithDeadline(trial);
      const session = sessionOf("ann");
      await sayWords(opened.provider, session, "ann", 0);
      const turn = await new Turn([opened.provider], { session, runId: "ann-1" }).begin();
      await turn.answer("Well.");
      await duringOutage(opened, "stallBackend", async () => {
        const ends = soon(thrownBy(turn.end()), `afterRun, with a deadline of ${DEADLINE_MS} ms`);
        const next = new Turn([opened.provider], { session, runId: "ann-2" });
        expectOutageError(await soon(thrownBy(next.begin()), `beforeRun, with a deadline of ${DEADLINE_MS} ms`));
        expectOutageError(await ends);
      });
    },
  },
  {
    id: "P21",
    title: "error messages and reports carry no text of the conversation",
    contract: "Secrets and trust",
    reason: "They go to logs, and to people who must not read what was said.",
    requires: BROKEN,
    async run(trial) {
      const opened = await openWithDeadline(trial);
      const session = sessionOf("ann");
      const secret = wordsOf("secret", 0);
      await sayWords(opened.provider, session, "secret", 0);
      const turn = new Turn([opened.provider], { session, runId: "secret-1", input: secret.question });
      await duringOutage(opened, "breakBackend", async () => {
        const first = await thrownBy(turn.begin());
        await turn.answer(secret.answer);
        const second = await thrownBy(turn.end(first));
        const told = [first, second].map((error) => (error instanceof Error ? error.message : String(error)));
        const messages = [...told, ...turn.events.map(({ message }) => message)];
        for (const word of [secret.question, secret.answer]) {
          ensure(!messages.some((message) => message.includes(word)), "a message carries no text of the conversation");
        }
      });
    },
  },
];

async function thrownBy(call: Promise<unknown>): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    return error;
  }
  return undefined;
}

function expectOutageError(error: unknown): void {
  if (error !== undefined) {
    expectError(error, "what a hook throws during an outage", ...OUTAGE_CODES);
  }
}

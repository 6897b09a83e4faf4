import { AgentFrameworkError, type ContextProvider, type Message } from "@agentfw/core";
import { all, endings, expectError, sameList } from "../expect.ts";
import { type ContextClause, onlyHistory, sayWords, wordsIn, wordsOf } from "./support.ts";
import { fullTurn, sessionOf, Turn, text } from "./turn.ts";

/** What a provider does that loads the history of the session. */
export const historyClauses: readonly ContextClause[] = [
  {
    id: "P22",
    title: "a history brings back the runs before, the newest ones without a gap, in their order and under their ids",
    contract: "HistoryProvider",
    reason: "The model goes on with what was said, and nothing that is loaded is stored again.",
    async run(trial) {
      const { provider } = await trial.open();
      onlyHistory(trial, provider);
      const session = sessionOf("ann");
      const expected: string[] = [];
      for (let turn = 0; turn < 3; turn += 1) {
        const run = await new Turn([provider], { session, runId: `ann-${turn}`, input: `question ${turn}` }).begin();
        expectNewest(run, expected, `the history of run ${turn}`);
        const answer = [text("assistant", `ann-${turn}:o0`, "One."), text("assistant", `ann-${turn}:o1`, "Two.")];
        await run.answer(answer);
        await run.end();
        expected.push(`ann-${turn}:i0`, ...answer.map(({ messageId }) => messageId));
      }
      const last = await new Turn([provider], { session, runId: "ann-3" }).begin();
      expectNewest(last, expected, "the history in the end");
    },
  },
  {
    id: "P23",
    title: "a run that is repeated under its id is stored once",
    contract: "HistoryProvider",
    reason: "A request that is sent again after a lost reply must not be in the conversation twice.",
    async run(trial) {
      const { provider } = await trial.open();
      onlyHistory(trial, provider);
      const session = sessionOf("ann");
      await sayWords(provider, session, "ann", 0);
      for (let attempt = 0; attempt < 2; attempt += 1) {
        // The provider may find that the answer is another one than the stored one: then the run is told.
        const [repeated] = await endings([sayWords(provider, session, "ann", 0)]);
        if (repeated?.error !== undefined) {
          expectError(repeated.error, "a repeated run, unless it is stored already", "conflict");
        }
      }
      const next = await new Turn([provider], { session, runId: "ann-1" }).begin();
      expectLoaded(next, ["ann-0:i0", "ann-0:o0"], "the history of a run that was repeated");
    },
  },
  {
    id: "P24",
    title: "a run that failed, and what it produced, is not in the history",
    contract: "HistoryProvider",
    reason: "A question without an answer confuses the model, and the next attempt asks it again.",
    async run(trial) {
      const { provider } = await trial.open();
      onlyHistory(trial, provider);
      const session = sessionOf("ann");
      await sayWords(provider, session, "ann", 0);
      const lost = wordsOf("ann", 1);
      const failed = await new Turn([provider], { session, runId: "ann-1", input: lost.question }).begin();
      await failed.answer(lost.answer);
      await failed.end(new AgentFrameworkError("unavailable", "the model failed"));
      const next = await fullTurn(provider, { session, runId: "ann-2" });
      sameList(wordsIn(next, [lost]), [], "what is told of the failed run");
      expectLoaded(next, ["ann-0:i0", "ann-0:o0"], "the history after a failed run");
    },
  },
  {
    id: "P25",
    title: "what persist has stored during a run is there at once, and is not stored again at its end",
    contract: "Per-service-call persistence",
    reason: "A crash after a tool ran must not run it again, and no message is there twice.",
    async run(trial) {
      const { provider } = await trial.open();
      onlyHistory(trial, provider);
      if (provider.persist === undefined) {
        return trial.notCovered("the provider has no persist");
      }
      const session = sessionOf("ann");
      const turn = await new Turn([provider], { session, runId: "ann-0", input: "What time is it?" }).begin();
      const [call, result, answer] = steps();
      await turn.answer([call], { persist: true });
      await turn.answer([result], { persist: true });
      expectLoaded(
        await loaded(provider, "early"),
        ["ann-0:i0", "ann-0:o0", "ann-0:o0/call-1"],
        "the history in between",
      );
      await turn.answer([answer], { persist: true });
      await turn.end();
      const ids = ["ann-0:i0", "ann-0:o0", "ann-0:o0/call-1", "ann-0:o1"];
      expectLoaded(await loaded(provider, "late"), ids, "the history after the run");

      async function loaded(from: ContextProvider, runId: string): Promise<Turn> {
        return new Turn([from], { session, runId }).begin();
      }
    },
  },
  {
    id: "P26",
    title: "of two runs that claim the same answer one is told that it was first",
    contract: "HistoryProvider",
    reason: "An approval that two requests carry must run its tool once.",
    async run(trial) {
      const { provider } = await trial.open();
      if (provider.claim === undefined) {
        return trial.notCovered("the provider has no claim");
      }
      const session = sessionOf("ann");
      const answer = text("user", "answer-1", "Yes.");
      const turns = ["one", "two"].map((runId) => new Turn([provider], { session, runId, input: [answer] }));
      await all(turns.map((turn) => turn.begin()));
      const claimed = await all(turns.map((turn) => turn.claim([answer])));
      sameList(claimed.map(String).sort(), ["false", "true"], "what two claims of one answer are told");
    },
  },
];

/** A provider may have a window; the run before is always in it. */
function expectNewest(turn: Turn, expected: readonly string[], guarantee: string): void {
  const count = Math.max(turn.added().length, Math.min(3, expected.length));
  expectLoaded(turn, count === 0 ? [] : expected.slice(-count), guarantee);
}

function expectLoaded(turn: Turn, expected: readonly string[], guarantee: string): void {
  const messages = turn.added();
  sameList(
    messages.map(({ messageId }) => messageId),
    expected,
    guarantee,
  );
  sameList(
    messages.map(({ attribution }) => String(attribution?.sourceType)),
    expected.map(() => "history"),
    `${guarantee}: where the messages are from`,
  );
}

function steps(): [Message, Message, Message] {
  const callId = "call-1";
  return [
    {
      role: "assistant",
      messageId: "ann-0:o0",
      contents: [{ type: "function_call", callId, name: "clock", arguments: "{}" }],
    },
    {
      role: "tool",
      messageId: `ann-0:o0/${callId}`,
      contents: [{ type: "function_result", callId, result: "noon" }],
    },
    text("assistant", "ann-0:o1", "It is noon."),
  ];
}

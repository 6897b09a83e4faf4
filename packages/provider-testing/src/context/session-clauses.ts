import { AgentSession } from "@agentfw/core";
import { all, present, same, sameList } from "../expect.ts";
import { type ContextClause, expectWords, frameOf, rememberedAlone, sayWords, wordsOf } from "./support.ts";
import { fullTurn, sessionOf, Turn } from "./turn.ts";

/** One instance serves all sessions at once. */
export const sessionClauses: readonly ContextClause[] = [
  {
    id: "P09",
    title: "runs of two owners that interleave see what each would see alone, and nothing of each other",
    contract: "ContextProvider",
    reason: "A field that holds the current session gives one user's conversation to another.",
    async run(trial) {
      const alone = { ann: await rememberedAlone(trial, "ann"), bob: await rememberedAlone(trial, "bob") };
      const { provider } = await trial.open();
      const sessions = { ann: sessionOf("ann"), bob: sessionOf("bob") };
      for (const turn of [0, 1]) {
        const [ann, bob] = await all(
          (["ann", "bob"] as const).map((person) =>
            new Turn([provider], {
              session: sessions[person],
              runId: `${person}-${turn}`,
              input: wordsOf(person, turn).question,
            }).begin(),
          ),
        );
        await ann?.answer(wordsOf("ann", turn).answer);
        await bob?.answer(wordsOf("bob", turn).answer);
        await ann?.end();
        await bob?.end();
      }
      const words = ["ann", "bob"].flatMap((person) => [wordsOf(person, 0), wordsOf(person, 1)]);
      for (const person of ["ann", "bob"] as const) {
        const third = await fullTurn(provider, { session: sessions[person], runId: `${person}-2` });
        expectWords(third, words, alone[person], `what ${person} is told of the turns before`);
      }
    },
  },
  {
    id: "P10",
    title: "32 sessions at once each see what they would see alone",
    contract: "ContextProvider",
    reason: "What is shared between runs shows under load, and nowhere else.",
    async run(trial) {
      const people = Array.from({ length: 32 }, (_, index) => `person-${index}-`);
      const [first = ""] = people;
      const alone = await rememberedAlone(trial, first);
      const { provider } = await trial.open();
      const words = people.flatMap((person) => [wordsOf(person, 0), wordsOf(person, 1)]);
      const thirds = await all(
        people.map(async (person) => {
          const session = sessionOf(person);
          for (const turn of [0, 1]) {
            await sayWords(provider, session, person, turn);
          }
          return { person, turn: await fullTurn(provider, { session, runId: `${person}-2` }) };
        }),
      );
      for (const { person, turn } of thirds) {
        const expected = alone.map((word) => word.replace(first, person));
        expectWords(turn, words, expected, `what ${person} is told of the turns before`);
      }
    },
  },
  {
    id: "P11",
    title: "two agents that share an instance both get all that it adds, in every run",
    contract: "ContextProvider",
    reason: "An instance that adds its tools once gives them to whoever ran first.",
    async run(trial) {
      const { provider } = await trial.open();
      const begin = (agent: string, run: number) =>
        new Turn([provider], { session: sessionOf(`${agent} ${run}`), runId: `${agent}-${run}` }).begin();
      const first = await begin("first", 0);
      const frame = frameOf(first);
      const count = first.added().length;
      const turns = [first, ...(await all([begin("second", 0), begin("first", 1), begin("second", 1)]))];
      for (const turn of turns) {
        sameList(frameOf(turn), frame, "the lines of instructions and the tools of a run");
        same(turn.added().length, count, "the number of messages that are added to a first run");
        await turn.end();
      }
      const again = await begin("first", 2);
      sameList(frameOf(again), frame, "the lines of instructions and the tools of a run after others");
    },
  },
  {
    id: "P12",
    title: "another instance goes on with the session where the first one left it",
    contract: "ContextProvider; AgentSession",
    reason: "The next request is often answered by another process; what was kept in the instance is not there.",
    requires: { hooks: ["another"] },
    async run(trial) {
      const alone = await rememberedAlone(trial, "ann");
      const opened = await trial.open();
      const another = async () => present(await opened.another?.(), "another()");
      let session = sessionOf("ann");
      for (const turn of [0, 1]) {
        await sayWords(turn === 0 ? opened.provider : await another(), session, "ann", turn);
        session = AgentSession.fromJSON(JSON.stringify(session), { owner: "ann" });
      }
      const third = await fullTurn(await another(), { session, runId: "ann-2" });
      expectWords(third, [wordsOf("ann", 0), wordsOf("ann", 1)], alone, "what the restored session is told");
    },
  },
];

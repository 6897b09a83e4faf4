import type { AgentSession, ContextProvider } from "@agentfw/core";
import type { ContractClause, Trial } from "../clause.ts";
import { sameList } from "../expect.ts";
import type { OpenedContextProvider } from "../opened.ts";
import { fullTurn, sessionOf, type Turn } from "./turn.ts";

/** A clause of the contract of ContextProvider. */
export type ContextClause = ContractClause<OpenedContextProvider>;

/** What a clause on ContextProvider works with. */
export type ContextTrial = Trial<OpenedContextProvider>;

/** What is said in one turn of one person; no other text holds it. */
export interface Words {
  readonly question: string;
  readonly answer: string;
}

/** The words of one turn of one person. */
export function wordsOf(person: string, turn: number): Words {
  return { question: `question-${turn}-of-${person}.`, answer: `answer-${turn}-to-${person}.` };
}

/** Those of the words that the model was told. */
export function wordsIn(turn: Turn, words: readonly Words[]): string[] {
  const told = turn.told();
  return words.flatMap(({ question, answer }) => [question, answer]).filter((word) => told.includes(word));
}

/**
 * Of what was said in some turns of somebody, what the provider brings into the next one. Whatever it is, it must be
 * the same when others run at the same time.
 */
export async function rememberedAlone(trial: ContextTrial, person: string, turns = 2): Promise<string[]> {
  const { provider } = await trial.open();
  const session = sessionOf(person);
  const words: Words[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    words.push(await sayWords(provider, session, person, turn));
  }
  return wordsIn(await fullTurn(provider, { session, runId: `${person}-${turns}` }), words);
}

/** One whole turn of somebody, with words of its own. */
export async function sayWords(
  provider: ContextProvider,
  session: AgentSession,
  person: string,
  turn: number,
): Promise<Words> {
  const words = wordsOf(person, turn);
  await fullTurn(provider, { session, runId: `${person}-${turn}`, input: words.question }, words.answer);
  return words;
}

/**
 * What a run is given apart from messages: the part that does not depend on what was said before. Lines of instructions
 * are counted and not compared, since they may tell the time.
 */
export function frameOf(turn: Turn): string[] {
  return [
    ...turn.run.instructions.map((_, index) => `instructions: line ${index + 1}`),
    ...turn.tools().map(({ name }) => `tool: ${name}`),
  ];
}

/** Fails unless the provider brings exactly these of all the words into the run. */
export function expectWords(turn: Turn, all: readonly Words[], expected: readonly string[], guarantee: string): void {
  sameList(wordsIn(turn, all).sort(), [...expected].sort(), guarantee);
}

/** Ends the clause as not covered unless the provider loads the history of the session. */
export function onlyHistory(trial: ContextTrial, provider: ContextProvider): void {
  if (provider.loadsHistory !== true) {
    trial.notCovered("the provider loads no history");
  }
}

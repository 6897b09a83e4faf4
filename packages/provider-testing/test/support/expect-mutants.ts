import { describe, expect, test } from "vitest";
import { type ContractClause, type OpenedSubject, runClause } from "../../src/index.ts";
import type { Mutant } from "./mutant.ts";
import { throwingAlways } from "./throwing.ts";
import { isErrorOfStore, textOf, verdict } from "./verdict.ts";

/**
 * Proves a contract: a sound store passes every clause with nothing left uncovered, every defective one fails the
 * clauses that are named for it with what {@link verdict} counts, and every clause fails on at least one of them. Clauses that measure time are named in
 * `alone`; the others wait together.
 */
export function expectMutants<O extends OpenedSubject>(
  contract: readonly ContractClause<O>[],
  sound: (options?: object) => Promise<O>,
  mutants: readonly Mutant<O>[],
  { alone, noun = "store" }: { readonly alone: readonly string[]; readonly noun?: string },
): void {
  const clauseOf = (id: string) => {
    const clause = contract.find((one) => one.id === id);
    if (clause === undefined) {
      throw new Error(`there is no clause ${id}`);
    }
    return clause;
  };
  const throwing = { name: "throws", open: throwingAlways(sound) };
  const texts = new Map<string, Promise<string>>();
  const whenAllThrows = (clause: ContractClause<O>) => {
    const text = texts.get(clause.id) ?? runClause(clause, throwing).then(({ error }) => textOf(error));
    texts.set(clause.id, text);
    return text;
  };
  const outcomes = async (mutant: Mutant<O>, ids: readonly string[]) => {
    const verdicts = [];
    const errors = [];
    for (const id of ids) {
      const clause = clauseOf(id);
      const result = await runClause(clause, mutant);
      verdicts.push(verdict(mutant, result, await whenAllThrows(clause)));
      errors.push(result.error);
    }
    return { verdicts, isErrorSeen: errors.some(isErrorOfStore) };
  };

  for (const concurrent of alone.length > 0 ? [true, false] : [true]) {
    const isNow = (ids: readonly string[]) => ids.some((id) => alone.includes(id)) !== concurrent;

    const clauses = contract.filter(({ id }) => isNow([id]));
    describe(`a sound ${noun}`, { concurrent }, () => {
      test.each(clauses.map((clause) => [clause.id, clause] as const))("passes %s", async (_, clause) => {
        const { outcome, error, reason } = await runClause(clause, { name: "sound", open: sound });
        expect({ outcome, error, reason }).toEqual({ outcome: "passed", error: undefined, reason: undefined });
      });
    });

    const defective = mutants.filter(({ kills, spares }) => isNow([...kills, ...spares]));
    describe(`a ${noun} that`, { concurrent }, () => {
      test.each(defective.map((mutant) => [mutant.name, mutant.kills.join(", "), mutant] as const))(
        "%s fails %s",
        async (_, __, mutant) => {
          const killed = await outcomes(mutant, mutant.kills);
          expect(killed.verdicts).toEqual(mutant.kills.map((id) => `${id} failed`));
          expect(killed.isErrorSeen, "an error that is announced is seen").toBe(mutant.rejects !== undefined);
          const spared = await outcomes(mutant, mutant.spares);
          expect(spared.verdicts).toEqual(mutant.spares.map((id) => `${id} passed`));
        },
      );
    });
  }

  test(`every clause fails on some defective ${noun}`, () => {
    const killing = new Set(mutants.flatMap(({ kills }) => kills));
    expect(contract.map(({ id }) => id).filter((id) => !killing.has(id))).toEqual([]);
  });

  test(`no two defective ${noun}s have one name`, () => {
    expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
  });
}

import { describe, expect, test } from "vitest";
import { type ContractClause, type OpenedSubject, runClause } from "../../src/index.ts";
import type { Mutant } from "./mutant.ts";

/**
 * Proves a contract: a sound store passes every clause with nothing left uncovered, every defective one fails the
 * clauses that are named for it, and every clause fails on at least one of them. Clauses that measure time are named in
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
  const outcomes = async (mutant: Pick<Mutant<O>, "name" | "open">, ids: readonly string[]) => {
    const results = [];
    for (const id of ids) {
      const { outcome, error } = await runClause(clauseOf(id), mutant);
      results.push(
        outcome === "failed" || outcome === "upcoming"
          ? `${id} failed`
          : `${id} ${outcome}${error === undefined ? "" : error}`,
      );
    }
    return results;
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
          expect(await outcomes(mutant, mutant.kills)).toEqual(mutant.kills.map((id) => `${id} failed`));
          expect(await outcomes(mutant, mutant.spares)).toEqual(mutant.spares.map((id) => `${id} passed`));
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

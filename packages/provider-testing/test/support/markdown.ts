import type { ContractClause, ContractPort } from "../../src/index.ts";
import type { Mutant } from "./mutant.ts";

/** One contract as a page: what each clause says, why, what it needs, and the defects that it is proven on. */
export function contractPage(
  port: ContractPort,
  contract: readonly Pick<ContractClause, "id" | "title" | "contract" | "reason" | "requires">[],
  mutants: readonly Pick<Mutant, "name" | "kills">[],
): string {
  const parts = contract.map(({ id, title, contract: cited, reason, requires }) => {
    const proofs = mutants.filter(({ kills }) => kills.includes(id)).map(({ name }) => name);
    return [
      `## ${id} ${capitalized(title)}`,
      reason,
      [
        `- Contract: ${cited}`,
        ...list("Capability", requires?.capabilities),
        ...list("Needs from `open()`", requires?.hooks),
        `- Fails on a store that ${proofs.join("; or that ")}`,
      ].join("\n"),
    ].join("\n\n");
  });
  return `${[head(port, contract.length), ...parts].join("\n\n")}\n`;
}

function head(port: ContractPort, count: number): string {
  return [
    `# The contract of ${port}`,
    [
      `${count} clauses, as \`@agentfw/provider-testing\` runs them. Ids are permanent. A clause with a capability applies`,
      "to stores that declare it; a store that does not must refuse what belongs to it. This page is generated: change the",
      "clauses, then run `npm run pnpm -- --filter @agentfw/provider-testing run docs`.",
    ].join("\n"),
    [
      "The numbers after `HistoryStore` say what a clause is about: 1 whole appends, 2 ids, 3 reading, 4 absence and outages,",
      "5 `clear`, 6 versions, 7 expiry, 8 `maxRecords`, 9 corruption, 10 sizes, 11 `replace`, 12 recovery, 13 deadlines,",
      "14 aborts, 15 `list`, 16 `close`, 17 capabilities.",
    ].join("\n"),
  ].join("\n\n");
}

function list(label: string, names: readonly string[] | undefined): string[] {
  return names === undefined ? [] : [`- ${label}: ${names.map((name) => `\`${name}\``).join(", ")}`];
}

function capitalized(title: string): string {
  return title.charAt(0).toUpperCase() + title.slice(1);
}

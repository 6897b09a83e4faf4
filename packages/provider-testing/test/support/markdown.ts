import type { ContractClause, ContractPort } from "../../src/index.ts";
import type { Mutant } from "./mutant.ts";

/** What the lines of the contract of HistoryStore are about, which the clauses cite by number. */
const NUMBERS = [
  "The numbers after `HistoryStore` say what a clause is about: 1 whole appends, 2 ids, 3 reading, 4 absence and outages,",
  "5 `clear`, 6 versions, 7 expiry, 8 `maxRecords`, 9 corruption, 10 sizes, 11 `replace`, 12 recovery, 13 deadlines,",
  "14 aborts, 15 `list`, 16 `close`, 17 capabilities.",
].join("\n");

/** One contract as a page: what each clause says, why, what it needs, and the defects that it is proven on. */
export function contractPage(
  port: ContractPort,
  contract: readonly Pick<ContractClause, "id" | "title" | "contract" | "reason" | "requires" | "upcoming">[],
  mutants: readonly Pick<Mutant, "name" | "kills">[],
): string {
  const parts = contract.map(({ id, title, contract: cited, reason, requires, upcoming }) => {
    const proofs = mutants.filter(({ kills }) => kills.includes(id)).map(({ name }) => name);
    return [
      `## ${id} ${capitalized(title)}`,
      reason,
      [
        `- Contract: ${cited}`,
        ...(upcoming ? ["- Upcoming: reported now, required from the next major version of the kit on"] : []),
        ...list("Capability", requires?.capabilities),
        ...list("Needs from `open()`", requires?.hooks),
        `- Fails on a ${nounOf(port)} that ${proofs.join("; or that ")}`,
      ].join("\n"),
    ].join("\n\n");
  });
  const isNumbered = contract.some(({ contract: cited }) => /HistoryStore \d/.test(cited));
  return `${[head(port, contract.length, isNumbered), ...parts].join("\n\n")}\n`;
}

function head(port: ContractPort, count: number, isNumbered: boolean): string {
  return [
    `# The contract of ${port}`,
    `${count} clauses, as \`@agentfw/provider-testing\` runs them. Ids are permanent. ${whom(port)}`,
    "This page is generated: change the clauses, then run `npm run docs:contract`.",
    ...(isNumbered ? [NUMBERS] : []),
  ].join("\n\n");
}

function whom(port: ContractPort): string {
  return port.endsWith("Store")
    ? "A clause with a capability applies to stores that declare it; a store that does not must refuse what belongs to it."
    : "A clause that needs something of `open()` is not covered where that is not offered.";
}

function nounOf(port: ContractPort): string {
  return port === "ContextProvider" ? "provider" : port === "ChatClient" ? "client" : "store";
}

function list(label: string, names: readonly string[] | undefined): string[] {
  return names === undefined ? [] : [`- ${label}: ${names.map((name) => `\`${name}\``).join(", ")}`];
}

function capitalized(title: string): string {
  return title.charAt(0).toUpperCase() + title.slice(1);
}

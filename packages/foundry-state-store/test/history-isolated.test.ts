import { historyStoreContract, type OpenOptions, runContract } from "@agentfw/provider-testing";
import { expect, test } from "vitest";
import { openHistoryOnEmulator } from "./support/open-history.ts";

/** Where users are kept apart, appends remember nothing. The rest is the same code as without, where all clauses run. */
const ONLY = "H01 H02 H03 H04 H12 H13 H16 H18 H22 H23 H28 H32 H33 H34 H35 H37 H39 H41 H43 H45 H46 H50 H52 H79";

test("conversations of users who are kept apart hold to the contract", { timeout: 120_000 }, async () => {
  const suite = {
    name: "FoundryHistoryStore with user isolation",
    open: (options: OpenOptions) => openHistoryOnEmulator(options, true),
  };
  const report = await runContract("HistoryStore", historyStoreContract, suite, { only: ONLY.split(" ") });
  expect(report.clauses.filter(({ outcome }) => outcome !== "passed")).toEqual([]);
  expect(report.tally.passed).toBe(ONLY.split(" ").length);
});

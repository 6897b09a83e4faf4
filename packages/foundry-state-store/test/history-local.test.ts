import { historyStoreContract, runContract } from "@agentfw/provider-testing";
import { expect, test } from "vitest";
import { openHistoryLocally } from "./support/open-history.ts";

/** Whatever could differ in files. The rest is the same code on the emulator, where all clauses run. */
const ONLY =
  "H01 H02 H03 H04 H07 H12 H13 H16 H18 H22 H23 H28 H32 H33 H34 H35 H37 H39 H41 H43 H45 H46 H50 H51 H52 H79 H82 H83 H84";

test("conversations in files hold to the contract", { timeout: 120_000 }, async () => {
  const suite = { name: "FoundryHistoryStore on LocalStateStore", open: openHistoryLocally };
  const report = await runContract("HistoryStore", historyStoreContract, suite, { only: ONLY.split(" ") });
  expect(report.clauses.filter(({ outcome }) => outcome !== "passed")).toEqual([]);
  expect(report.tally.passed).toBe(ONLY.split(" ").length);
});

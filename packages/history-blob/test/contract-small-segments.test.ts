import { historyStoreContract, runContract } from "@agentfw/provider-testing";
import { expect, test } from "vitest";
import { openThroughProxy } from "./support/open.ts";

/** What could go wrong at the edges of segments: turns side by side, ids, versions, pages, clearing, damage. */
const CLAUSES = /^H(?:0[1-7]|1[37]|2[4-9]|3[0-9]|4[0-9]|5[0-2]|8[1-4])$/;

test("the contract holds in segments of five blocks, under another prefix", { timeout: 120_000 }, async () => {
  const clauses = historyStoreContract.filter(({ id }) => CLAUSES.test(id));
  const { tally, clauses: results } = await runContract("HistoryStore", clauses, {
    name: "history-blob in small segments",
    open: (options) => openThroughProxy(options, { segmentBlocks: 5, prefix: "agents/history" }),
  });
  expect(results.filter(({ outcome }) => outcome !== "passed")).toEqual([]);
  expect(tally.passed).toBeGreaterThan(40);
});

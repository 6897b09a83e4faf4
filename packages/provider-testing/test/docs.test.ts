import { expect, test } from "vitest";
import { fileStoreContract, historyStoreContract, stateStoreContract } from "../src/index.ts";
import { fileMutants } from "./mutants/file/index.ts";
import { historyMutants } from "./mutants/history/index.ts";
import { stateMutants } from "./mutants/state/index.ts";
import { contractPage } from "./support/markdown.ts";

// `run docs` writes the pages: it runs these tests with --update.
test.each([
  ["history-store", contractPage("HistoryStore", historyStoreContract, historyMutants)],
  ["state-store", contractPage("StateStore", stateStoreContract, stateMutants)],
  ["file-store", contractPage("FileStore", fileStoreContract, fileMutants)],
])("docs/contract/%s.md says what the clauses say", async (name, page) => {
  await expect(page).toMatchFileSnapshot(`../../../docs/contract/${name}.md`);
});

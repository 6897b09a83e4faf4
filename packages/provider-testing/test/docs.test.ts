import { expect, test } from "vitest";
import {
  chatClientContract,
  contextProviderContract,
  fileStoreContract,
  historyStoreContract,
  stateStoreContract,
} from "../src/index.ts";
import { chatMutants } from "./mutants/chat/index.ts";
import { contextMutants } from "./mutants/context/index.ts";
import { fileMutants } from "./mutants/file/index.ts";
import { historyMutants } from "./mutants/history/index.ts";
import { stateMutants } from "./mutants/state/index.ts";
import { contractPage } from "./support/markdown.ts";

// `npm run docs:contract` writes the pages: it runs these tests with --update.
test.each([
  ["history-store", contractPage("HistoryStore", historyStoreContract, historyMutants)],
  ["state-store", contractPage("StateStore", stateStoreContract, stateMutants)],
  ["file-store", contractPage("FileStore", fileStoreContract, fileMutants)],
  ["context-provider", contractPage("ContextProvider", contextProviderContract, contextMutants)],
  ["chat-client", contractPage("ChatClient", chatClientContract, chatMutants)],
])("docs/contract/%s.md says what the clauses say", async (name, page) => {
  await expect(page).toMatchFileSnapshot(`../../../docs/contract/${name}.md`);
});

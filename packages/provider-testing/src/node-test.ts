import { describe, test } from "node:test";
import { chatClientContract } from "./chat/contract.ts";
import { contextProviderContract } from "./context/contract.ts";
import { fileStoreContract } from "./file/contract.ts";
import { historyStoreContract } from "./history/contract.ts";
import type {
  ContractSuite,
  OpenedChatClient,
  OpenedContextProvider,
  OpenedFileStore,
  OpenedHistoryStore,
  OpenedStateStore,
} from "./opened.ts";
import { stateStoreContract } from "./state/contract.ts";
import { type SuiteTests, suiteTests } from "./suite.ts";

/**
 * Declares one test of `node:test` for each clause of the contract of HistoryStore, titled `H06 ...`, and a last one
 * that fails when a declared capability was not covered without a reason. A clause that was not covered, or is upcoming
 * and failed, is a skipped test with the reason, and the last test lists them.
 *
 * @throws `configuration` for names in `cannot` that are no hooks.
 */
export function testHistoryStore(suite: ContractSuite<OpenedHistoryStore>): void {
  declare(suiteTests("HistoryStore", historyStoreContract, suite));
}

/** Declares the contract of StateStore, as {@link testHistoryStore} does that of HistoryStore. */
export function testStateStore(suite: ContractSuite<OpenedStateStore>): void {
  declare(suiteTests("StateStore", stateStoreContract, suite));
}

/** Declares the contract of FileStore, as {@link testHistoryStore} does that of HistoryStore. */
export function testFileStore(suite: ContractSuite<OpenedFileStore>): void {
  declare(suiteTests("FileStore", fileStoreContract, suite));
}

/** Declares the contract of ContextProvider, as {@link testHistoryStore} does that of HistoryStore. */
export function testContextProvider(suite: ContractSuite<OpenedContextProvider>): void {
  declare(suiteTests("ContextProvider", contextProviderContract, suite));
}

/** Declares the contract of ChatClient, as {@link testHistoryStore} does that of HistoryStore. */
export function testChatClient(suite: ContractSuite<OpenedChatClient>): void {
  declare(suiteTests("ChatClient", chatClientContract, suite));
}

function declare(tests: SuiteTests): void {
  describe(tests.title, () => {
    for (const { title, timeoutMs, run } of tests.clauses) {
      test(title, { timeout: timeoutMs }, async (context) => {
        const ended = await run();
        if (ended !== undefined) {
          context.skip(ended.remark);
        }
      });
    }
    test(tests.lastTitle, (context) => {
      for (const line of tests.summary().split("\n")) {
        context.diagnostic(line);
      }
      tests.conclude();
    });
  });
}

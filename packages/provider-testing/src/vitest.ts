import { afterAll, describe, test } from "vitest";
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
 * Declares one Vitest test for each clause of the contract of HistoryStore, titled `H06 ...`, and a last one that
 * fails when a declared capability was not covered without a reason. A clause that was not covered, or is upcoming and
 * failed, is a skipped test with the reason as its note, and its `ClauseReport` is the test's `task.meta.agentfwClause`.
 * What did not pass is listed when the suite ends, also where a filter left tests out. The last test keeps the whole
 * `ContractReport` as `task.meta.agentfw`.
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
          Object.assign(context.task.meta, { agentfwClause: ended.clause });
          context.skip(ended.remark);
        }
      });
    }
    test(tests.lastTitle, (context) => {
      Object.assign(context.task.meta, { agentfw: tests.report() });
      tests.conclude();
    });
    afterAll(() => {
      const { failed, notCovered, upcoming } = tests.report().tally;
      if (failed + notCovered + upcoming > 0) {
        // Runners print the note of a skipped test in few of their reports; this must be seen in every run.
        process.stdout.write(`\n${tests.summary()}\n`);
      }
    });
  });
}

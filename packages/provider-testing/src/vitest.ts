import { describe, type TestContext, test } from "vitest";
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
 * fails when a declared capability was not covered without a reason. A clause that was not covered is annotated on its
 * test and listed by the last one, which also keeps the whole `ContractReport` as `task.meta.agentfw`.
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
        const remark = await run();
        if (remark !== undefined) {
          await note(context, remark);
        }
      });
    }
    test(tests.lastTitle, async (context) => {
      const report = tests.report();
      Object.assign(context.task.meta, { agentfw: report });
      const text = tests.conclude();
      if (report.tally.notCovered > 0 || report.tally.upcoming > 0) {
        // A test that passed says nothing; what was not looked at must be seen in every run.
        process.stdout.write(`\n${text}\n`);
      }
    });
  });
}

/** Annotates the test. The oldest supported Vitest has no annotations; there the last test tells all. */
async function note(context: Pick<TestContext, "annotate">, text: string): Promise<void> {
  const annotate: unknown = context.annotate;
  if (typeof annotate === "function") {
    await Reflect.apply(annotate, context, [text]);
  }
}

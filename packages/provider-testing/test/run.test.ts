import { AgentFrameworkError, InMemoryHistoryStore, isAgentFrameworkError } from "@agentfw/core";
import { describe, expect, test } from "vitest";
import {
  type ContractSuite,
  clauseLine,
  type HistoryClause,
  historyStoreContract,
  type OpenedHistoryStore,
  runClause,
  runContract,
  summary,
} from "../src/index.ts";
import { suiteTests } from "../src/suite.ts";

function suite(over: Partial<ContractSuite<OpenedHistoryStore>> = {}): ContractSuite<OpenedHistoryStore> {
  return { name: "store", open: async () => ({ store: new InMemoryHistoryStore() }), ...over };
}

function clause(over: Partial<HistoryClause> = {}): HistoryClause {
  return {
    id: "X01",
    title: "holds",
    contract: "none",
    reason: "none",
    run: async (trial) => {
      await trial.open();
    },
    ...over,
  };
}

describe("a clause", () => {
  test("passes when it resolves, and what it opened is closed", async () => {
    const closed: string[] = [];
    const open = async () => ({ store: new InMemoryHistoryStore(), close: async () => void closed.push("close") });
    const { outcome } = await runClause(clause(), suite({ open }));
    expect(outcome).toBe("passed");
    // Once for the look at what the store declares, once for the clause.
    expect(closed).toEqual(["close", "close"]);
  });

  test("closes the store itself when open() gave no close()", async () => {
    let closed = 0;
    const close = async () => {
      closed += 1;
    };
    const store = Object.assign(new InMemoryHistoryStore(), { close });
    await runClause(clause(), suite({ open: async () => ({ store }) }));
    expect(closed).toBe(2);
  });

  test("fails when a close fails, and keeps an earlier failure", async () => {
    let opened = 0;
    const open = async () => ({
      store: new InMemoryHistoryStore(),
      close: async () => {
        opened += 1;
        if (opened % 2 === 0) {
          throw new Error("cannot close");
        }
      },
    });
    expect(await runClause(clause(), suite({ open }))).toMatchObject({
      outcome: "failed",
      error: { message: "cannot close" },
    });
    const failing = clause({
      run: async (trial) => {
        await trial.open();
        throw new Error("broken");
      },
    });
    expect(await runClause(failing, suite({ open }))).toMatchObject({
      outcome: "failed",
      error: { message: "broken" },
    });
  });

  test("fails when it does not end in time", async () => {
    const hanging = clause({ run: () => new Promise(() => {}) });
    const { outcome, error } = await runClause(hanging, suite({ clauseTimeoutMs: 30 }));
    expect(outcome).toBe("failed");
    expect(String(error)).toContain("did not end within 30 ms");
  });

  test("fails when open() fails, and passes once open() works again", async () => {
    let isUp = false;
    const flaky = suite({
      open: async () => {
        if (!isUp) {
          throw new AgentFrameworkError("unavailable", "not yet");
        }
        return { store: new InMemoryHistoryStore() };
      },
    });
    const first = await runClause(clause(), flaky);
    expect(first.outcome).toBe("failed");
    expect(isAgentFrameworkError(first.error, "unavailable")).toBe(true);
    isUp = true;
    expect((await runClause(clause(), flaky)).outcome).toBe("passed");
  });

  test("is not covered when its hook is missing, with the reason that the suite gives", async () => {
    const needy = clause({ requires: { hooks: ["corrupt"] }, run: () => Promise.reject(new Error("was run")) });
    expect(await runClause(needy, suite())).toMatchObject({
      outcome: "not covered",
      reason: "open() offers no corrupt()",
      needsReason: false,
    });
    expect(await runClause(needy, suite({ cannot: { corrupt: "sealed" } }))).toMatchObject({
      reason: "open() offers no corrupt(): sealed",
    });
  });

  test("needs a reason when the capability is declared and the hook is missing", async () => {
    const needy = clause({ requires: { capabilities: ["ttl"], hooks: ["another"] } });
    expect(await runClause(needy, suite())).toMatchObject({ outcome: "not covered", needsReason: true });
    expect(await runClause(needy, suite({ cannot: { another: "one process" } }))).toMatchObject({ needsReason: false });
    const soon = clause({ upcoming: true, requires: { capabilities: ["ttl"], hooks: ["another"] } });
    expect(await runClause(soon, suite())).toMatchObject({ outcome: "not covered", needsReason: false });
  });

  test("is not covered when its capability is not declared", async () => {
    const needy = clause({ requires: { capabilities: ["processes"], hooks: ["another"] } });
    expect(await runClause(needy, suite())).toMatchObject({
      outcome: "not covered",
      reason: "the store does not declare processes",
      needsReason: false,
    });
  });

  test("that is not required yet is upcoming when it fails, and passes like any other", async () => {
    const failing = clause({ upcoming: true, run: () => Promise.reject(new Error("not yet")) });
    expect(await runClause(failing, suite())).toMatchObject({ outcome: "upcoming", error: { message: "not yet" } });
    expect((await runClause(clause({ upcoming: true }), suite())).outcome).toBe("passed");
  });

  test("fails on what is made for a later contract, before it is run", async () => {
    const later = suite({
      open: async () => ({ store: Object.assign(new InMemoryHistoryStore(), { contractVersion: JSON.parse("2") }) }),
    });
    const { outcome, error } = await runClause(clause(), later);
    expect(outcome).toBe("failed");
    expect(isAgentFrameworkError(error, "unsupported")).toBe(true);
  });

  test("can say by itself that it cannot tell", async () => {
    const open = clause({ run: async (trial) => trial.notCovered("too large to build") });
    expect(await runClause(open, suite())).toMatchObject({ outcome: "not covered", reason: "too large to build" });
  });
});

describe("a run", () => {
  test("reports each clause in order as plain JSON", async () => {
    const clauses = [
      clause(),
      clause({ id: "X02", run: () => Promise.reject(new AgentFrameworkError("conflict", "came second")) }),
      clause({ id: "X03", requires: { hooks: ["corrupt"] } }),
    ];
    const seen: string[] = [];
    const report = await runContract("HistoryStore", clauses, suite(), { onResult: (one) => seen.push(one.outcome) });
    expect(seen).toEqual(["passed", "failed", "not covered"]);
    expect(JSON.parse(JSON.stringify(report))).toEqual({
      kit: "@agentfw/provider-testing",
      contractVersion: 1,
      port: "HistoryStore",
      name: "store",
      tally: { passed: 1, failed: 1, upcoming: 0, notCovered: 1 },
      clauses: [
        { id: "X01", title: "holds", contract: "none", outcome: "passed" },
        {
          id: "X02",
          title: "holds",
          contract: "none",
          outcome: "failed",
          error: { name: "AgentFrameworkError", message: "came second", code: "conflict" },
        },
        { id: "X03", title: "holds", contract: "none", outcome: "not covered", reason: "open() offers no corrupt()" },
      ],
    });
    expect(summary(report)).toBe(
      [
        "store, HistoryStore: 1 passed, 1 failed, 1 not covered",
        "FAILED      X02 holds (AgentFrameworkError: came second)",
        "not covered X03 holds (open() offers no corrupt())",
      ].join("\n"),
    );
    expect(report.clauses.map(clauseLine)[0]).toBe("ok          X01 holds");
  });

  test("runs only what is asked for, and refuses an id that is not there", async () => {
    const report = await runContract("HistoryStore", historyStoreContract, suite(), { only: ["H02", "H05"] });
    expect(report.clauses.map(({ id, outcome }) => `${id} ${outcome}`)).toEqual(["H02 passed", "H05 passed"]);
    const unknown = runContract("HistoryStore", historyStoreContract, suite(), { only: ["H02", "H999"] });
    await expect(unknown).rejects.toSatisfy((error) => isAgentFrameworkError(error, "configuration"));
  });
});

describe("the tests of a suite", () => {
  test("end with one that fails when a declared capability was not covered without a reason", async () => {
    const needy = clause({ requires: { capabilities: ["ttl"], hooks: ["another"] } });
    const silent = suiteTests("HistoryStore", [needy], suite());
    expect(await silent.clauses[0]?.run()).toMatchObject({
      clause: { id: "X01", outcome: "not covered" },
      remark: "not covered: open() offers no another()",
    });
    expect(silent.summary()).toContain("not covered X01 holds (open() offers no another())");
    expect(() => silent.conclude()).toThrow(/X01: open\(\) offers no another\(\)/);
    const told = suiteTests("HistoryStore", [needy], suite({ cannot: { another: "one process" } }));
    expect(await told.clauses[0]?.run()).toMatchObject({
      remark: "not covered: open() offers no another(): one process",
    });
    expect(told.conclude()).toBeUndefined();
    expect(told.summary()).toContain("0 passed, 0 failed, 1 not covered");
    expect(told.report().tally).toEqual({ passed: 0, failed: 0, upcoming: 0, notCovered: 1 });
  });

  test("pass when an upcoming clause fails, and tell it", async () => {
    const failing = clause({ upcoming: true, run: () => Promise.reject(new Error("not yet")) });
    const tests = suiteTests("HistoryStore", [failing], suite());
    expect(await tests.clauses[0]?.run()).toMatchObject({
      clause: { outcome: "upcoming" },
      remark: "to be required, and fails: not yet",
    });
    expect(tests.conclude()).toBeUndefined();
    expect(tests.summary()).toBe(
      [
        "store, HistoryStore: 0 passed, 0 failed, 0 not covered, 1 to be required",
        "upcoming    X01 holds (Error: not yet)",
      ].join("\n"),
    );
    expect(tests.report().clauses[0]).toMatchObject({ outcome: "upcoming", error: { message: "not yet" } });
  });

  test("fail with what the store did, under the clause's id and title", async () => {
    const broken = clause({ run: () => Promise.reject(new Error("wrong order")) });
    const [one] = suiteTests("HistoryStore", [broken], suite()).clauses;
    expect(one?.title).toBe("X01 holds");
    await expect(one?.run()).rejects.toThrow("wrong order");
  });
});

describe("the contracts", () => {
  test("have ids of the port's letter, in order, without gaps, and say why they are there", async () => {
    const { chatClientContract, contextProviderContract, fileStoreContract, stateStoreContract } = await import(
      "../src/index.ts"
    );
    for (const [letter, contract] of [
      ["H", historyStoreContract],
      ["S", stateStoreContract],
      ["F", fileStoreContract],
      ["P", contextProviderContract],
      ["M", chatClientContract],
    ] as const) {
      const expected = contract.map((_, index) => `${letter}${String(index + 1).padStart(2, "0")}`);
      expect(contract.map(({ id }) => id)).toEqual(expected);
      for (const { title, contract: cited, reason } of contract) {
        expect(title).toMatch(/^[^A-Z].*[^.]$/);
        expect(cited).not.toBe("");
        expect(reason).toMatch(/\.$/);
      }
      expect(new Set(contract.map(({ title }) => title)).size).toBe(contract.length);
    }
  });
});

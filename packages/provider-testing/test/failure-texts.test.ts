import { AssertionError } from "node:assert";
import { AgentFrameworkError, InMemoryHistoryStore } from "@agentfw/core";
import { describe, expect, test } from "vitest";
import { expectCode, expectError, resolvedOrRetryable, resolvedOrUnknown, same, sameList } from "../src/expect.ts";
import { clauseLine, type HistoryClause, historyStoreContract, runClause } from "../src/index.ts";
import { expectOutage } from "../src/outage.ts";
import { clauseReport } from "../src/report.ts";
import { show } from "../src/show.ts";

const RAW = Object.assign(new Error("no such file"), { code: "ENOENT" });

async function textOf(call: () => unknown): Promise<string> {
  try {
    await call();
  } catch (error) {
    return error instanceof AssertionError ? error.message : `not the kit's: ${error}`;
  }
  return "nothing was thrown";
}

function clause(id: string): HistoryClause {
  const found = historyStoreContract.find((one) => one.id === id);
  return found ?? expect.unreachable(id);
}

describe("an error of the driver where one of the framework must be", () => {
  test.each([
    ["by a call that must reject", () => expectCode(Promise.reject(RAW), "append", "unavailable")],
    ["during an outage", () => expectOutage({ append: () => Promise.reject(RAW) })],
    ["after a lost reply", () => resolvedOrUnknown(Promise.reject(RAW), "append")],
    ["after a lost request", () => resolvedOrRetryable(Promise.reject(RAW), "append")],
    ["in a race", () => expectError(RAW, "append", "conflict")],
  ])("is told with what to do about it, when it is thrown %s", async (_, call) => {
    expect(await textOf(call)).toMatch(
      /^append.*: must reject with an AgentFrameworkError.*; rejected with Error ENOENT: no such file: translate .* src\/errors\.ts$/,
    );
  });

  test("is told so by the clause on a first connection that failed", async () => {
    let isBroken = false;
    const open = async () => {
      const store = new InMemoryHistoryStore();
      const append: typeof store.append = (key, records) =>
        isBroken ? Promise.reject(RAW) : store.append(key, records);
      return {
        store: Object.assign(store, { append }),
        breakBackend: async () => {
          isBroken = true;
        },
        healBackend: async () => {
          isBroken = false;
        },
      };
    };
    const { error } = await runClause(clause("H10"), { name: "raw", open });
    expect(String(error)).toContain("append during an outage: must reject with an AgentFrameworkError (unavailable");
  });
});

describe("a value in a text", () => {
  test("is short, on one line, whatever it is", () => {
    const records = Array.from({ length: 9 }, (_, index) => ({ id: `a-${index}`, data: '{"text":"said"}' }));
    expect(show({ records, version: "7" })).toBe('{"records":"9 items","version":"7"}');
    for (const value of ["x".repeat(1_000), records, { data: "😀".repeat(500) }, new Error("line\n".repeat(100)), 5n]) {
      const text = show(value);
      expect(text.length).toBeLessThan(130);
      expect(text).not.toContain("\n");
      expect(text.isWellFormed()).toBe(true);
    }
  });

  test("of a long text shows where it parts from the expected one, and nothing else of it", async () => {
    const [left, right] = [`${"said ".repeat(50)}A${"x".repeat(500)}`, `${"said ".repeat(50)}B${"x".repeat(500)}`];
    const text = await textOf(() => same(left, right, "the text"));
    expect(text).toMatch(
      /^the text: expected a text of 751 characters, .* differ from character 250 on: .*aid B.*aid A/,
    );
    expect(text.length).toBeLessThan(260);
    expect(await textOf(() => sameList([left], [right], "the texts"))).toContain("differ from character 250 on");
    expect(await textOf(() => same("a", "b", "the text"))).toBe('the text: expected "b", got "a"');
  });

  test("keeps a failed clause to one line, also where what was thrown has many", async () => {
    const many: HistoryClause = {
      ...clause("H01"),
      run: () => Promise.reject(new Error(`2 !== 0\n\n${"at somewhere\n".repeat(200)}`)),
    };
    const open = async () => ({ store: new InMemoryHistoryStore() });
    const line = clauseLine(clauseReport(await runClause(many, { name: "many", open })));
    expect(line).toMatch(/^FAILED {6}H01 .* \(Error: 2 !== 0 at somewhere .* characters\)\)$/);
    expect(line).not.toContain("\n");
    expect(line.length).toBeLessThan(800);
  });
});

describe("the message of a difference", () => {
  test("is the same on every Node: nothing is added to it", async () => {
    const error: unknown = await Promise.resolve()
      .then(() => same(2, 0, "appended"))
      .catch((thrown: unknown) => thrown);
    // Node adds `2 !== 0` to messages of its own operators.
    expect(error).toMatchObject({
      message: "appended: expected 0, got 2",
      actual: 2,
      expected: 0,
      operator: undefined,
    });
  });
});

test("a clear that leaves ids behind is told as such, and not as a version that came back", async () => {
  const open = async () => {
    const store = new InMemoryHistoryStore();
    const known = new Set<string>();
    const append: typeof store.append = async (key, records, options) => {
      const fresh = records.filter(({ id }) => !known.has(id));
      for (const { id } of fresh) {
        known.add(id);
      }
      return InMemoryHistoryStore.prototype.append.call(store, key, fresh, options);
    };
    return { store: Object.assign(store, { append }) };
  };
  const { error } = await runClause(clause("H35"), { name: "ids stay", open });
  expect(String(error)).toContain("appended of ids that a clear removed: expected 2, got 0");
  expect(error).not.toBeInstanceOf(AgentFrameworkError);
});

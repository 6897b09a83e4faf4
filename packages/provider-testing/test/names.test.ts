import { AgentFrameworkError, InMemoryHistoryStore } from "@agentfw/core";
import { describe, expect, test } from "vitest";
import {
  type ContractSuite,
  historyStoreContract,
  type OpenedHistoryStore,
  runClause,
  runContract,
} from "../src/index.ts";
import { suiteTests } from "../src/suite.ts";

/** A suite as somebody writes it without a compiler. */
function suite(over: object): ContractSuite<OpenedHistoryStore> {
  return Object.assign({ name: "store", open: async () => ({ store: new InMemoryHistoryStore() }) }, over);
}

/** What a suite is refused with, by each of the ways to run it. */
async function refusals(refused: ContractSuite<OpenedHistoryStore>): Promise<unknown[]> {
  const [clause] = historyStoreContract;
  const one = clause && (await runClause(clause, refused));
  const all = await runContract("HistoryStore", historyStoreContract, refused, { only: ["H01"] }).then(
    ({ clauses }) => clauses[0]?.error,
    (error: unknown) => error,
  );
  return [one?.error, all];
}

describe("a reason in cannot", () => {
  test.each([
    [{ looseNextReply: "there is none" }, /cannot\.looseNextReply: is no hook .* loseNextReply,/],
    [{ another: 7 }, /cannot\.another: must be a text that says why/],
    [{ another: " " }, /cannot\.another: must be a text that says why/],
    [["another"], /cannot: must be an object of reasons/],
  ])("is refused when it is %j", async (cannot, message) => {
    const expected = expect.objectContaining({ code: "configuration", message: expect.stringMatching(message) });
    expect(await refusals(suite({ cannot }))).toEqual([expected, expected]);
    expect(() => suiteTests("HistoryStore", historyStoreContract, suite({ cannot }))).toThrow(message);
  });

  test("may be undefined, and may be about a hook that other ports have", async () => {
    const cannot = { another: undefined, plantLink: "there are no links" };
    expect(await refusals(suite({ cannot }))).toEqual([undefined, undefined]);
  });
});

describe("what open() gives", () => {
  test.each([
    [
      { looseNextReply: () => {} },
      /open\(\)\.looseNextReply: is nothing that the kit uses; known are store, .* loseNextReply,/,
    ],
    [{ folder: "data" }, /open\(\)\.folder: is nothing that the kit uses/],
    [{ another: "a store" }, /open\(\)\.another: must be a function/],
    [{ close: true }, /open\(\)\.close: must be a function/],
  ])("is refused when it holds %s", async (member, message) => {
    const open = async () => ({ store: new InMemoryHistoryStore(), ...member });
    for (const error of await refusals(suite({ open }))) {
      expect(error).toMatchObject({ message: expect.stringMatching(message) });
    }
  });

  test("may hold hooks that are undefined, and hooks of other ports", async () => {
    const open = async () => ({ store: new InMemoryHistoryStore(), another: undefined, plantLink: async () => {} });
    expect(await refusals(suite({ open }))).toEqual([undefined, undefined]);
  });

  test("is closed when it is refused", async () => {
    let closed = 0;
    const open = async () => ({
      store: new InMemoryHistoryStore(),
      folder: "data",
      close: async () => {
        closed += 1;
      },
    });
    const [error] = await refusals(suite({ open }));
    expect(error).toBeInstanceOf(AgentFrameworkError);
    expect(closed).toBe(2);
  });
});

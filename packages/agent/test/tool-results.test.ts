import { describe, expect, it } from "vitest";
import { open, reopen } from "./fixture.ts";
import { call } from "./scripted-client.ts";

class Money {
  readonly amount = 1;
}

const cycle: Record<string, unknown> = {};
cycle["self"] = { cycle };

const PROTOTYPES = '{"__proto__":{"x":1},"constructor":2}';

/** What tools return, and what the model and the store get for it. */
const VALUES: readonly (readonly [name: string, value: unknown, result: unknown])[] = [
  ["text", "x", "x"],
  ["empty text", "", ""],
  ["null", null, null],
  ["nothing", undefined, null],
  ["false", false, false],
  ["a date", new Date(0), "1970-01-01T00:00:00.000Z"],
  ["members that are undefined", { a: undefined, b: [undefined, 1] }, { b: [null, 1] }],
  ["emoji, NUL and a lone surrogate", "\u{1F600}\u0000\uD800", "\u{1F600}\u0000\uD800"],
  ["keys that name prototypes", JSON.parse(PROTOTYPES), JSON.parse(PROTOTYPES)],
  ["a big integer", { n: 10n }, /result\.n: a bigint/],
  ["a cycle", cycle, /result\.self\.cycle: a cycle/],
  ["a map", new Map([[1, 2]]), /result: an instance of Map/],
  ["a set in a list", [new Set()], /result\[0\]: an instance of Set/],
  ["not a number", { list: [Number.NaN] }, /result\.list\[0\]: NaN/],
  ["infinity", Number.POSITIVE_INFINITY, /result: Infinity/],
  ["a function", () => 1, /result: a function/],
  ["a symbol", Symbol("s"), /result: a symbol/],
  ["bytes", { a: [new Uint8Array([1])] }, /result\.a\[0\]: an instance of Uint8Array/],
  ["an instance of a class", new Money(), /result: an instance of Money/],
  ["an invalid date", new Date(Number.NaN), /result: an invalid date/],
  [
    "a member that throws when it is read",
    Object.defineProperty({}, "bad", {
      enumerable: true,
      get: () => {
        throw new Error("getter");
      },
    }),
    /not JSON/,
  ],
];

describe("A tool's result", () => {
  it.each(VALUES)("that is %s is stored with its turn and sent to the model", async (_, value, expected) => {
    const look = { name: "look", parameters: { type: "object" }, execute: () => value };
    const first = open([[call("c", "look")], "done"], { tools: [look] });
    const response = await first.agent.run("go", { session: first.session() });
    expect(response.text).toBe("done");
    const second = reopen(first, ["more"], { tools: [look] });
    await second.agent.run("again", { session: second.session() });
    for (const messages of [response.messages, await first.stored(), second.client.calls[0]?.messages ?? []]) {
      const content = messages.find(({ role }) => role === "tool")?.contents[0];
      const result = content?.type === "function_result" ? content.result : "no result";
      if (expected instanceof RegExp) {
        expect(result).toMatch(expected);
        expect(result).toMatch(/^Error: look /);
      } else {
        expect(result).toEqual(expected);
      }
    }
    expect(Object.getPrototypeOf({})).toBe(Object.prototype);
    expect(({} as { x?: number }).x).toBeUndefined();
  });

  it("is a copy: what the tool does with its object later changes nothing", async () => {
    const shared = { count: 1 };
    const look = { name: "look", parameters: { type: "object" }, execute: () => shared };
    const { agent, session, stored } = open([[call("c", "look")], "done"], { tools: [look] });
    const response = await agent.run("go", { session: session() });
    shared.count = 2;
    expect(response.messages[1]?.contents[0]).toMatchObject({ result: { count: 1 } });
    expect((await stored())[2]?.contents[0]).toMatchObject({ result: { count: 1 } });
  });
});

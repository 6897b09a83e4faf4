import { describe, expect, it } from "vitest";
import {
  assertContractVersion,
  ownHistoryKey,
  ownHistoryRecords,
  ownListFilter,
  ownListOptions,
  ownReadOptions,
  parseHistoryKeyText,
} from "../../src/backend.ts";
import { historyKeyText } from "../../src/index.ts";

const key = { owner: "ann", source: "main", session: "s" };
const configuration = expect.objectContaining({ code: "configuration" });

describe("What a store takes over", () => {
  it("is a copy that no later change of the caller reaches, without what nobody asked for", () => {
    const signal = new AbortController().signal;
    const records = [{ id: "a", data: "{}", more: 1 }];
    const filter = { owner: "ann", source: "main", more: 1 };
    const read = { last: 1, before: "x", withFirst: true, onCorrupt: "skip", signal, more: 1 } as const;
    const list = { limit: 2, cursor: "x", signal, more: 1 };
    const own = [
      ownHistoryKey({ ...key, ...{ more: 1 } }),
      ownHistoryRecords(records, 10),
      ownListFilter(filter),
      ownReadOptions(read),
      ownListOptions(list),
    ];
    Object.assign(records[0] ?? {}, { id: "b" });
    records.push({ id: "c", data: "{}", more: 1 });
    Object.assign(filter, { owner: "bob" });
    Object.assign(list, { limit: 3 });
    expect(own).toEqual([
      key,
      [{ id: "a", data: "{}" }],
      { owner: "ann", source: "main" },
      { last: 1, before: "x", withFirst: true, onCorrupt: "skip", signal },
      { limit: 2, cursor: "x", signal },
    ]);
  });

  it("stays what it is also where it is inherited, and has the default of a listing", () => {
    expect(ownListFilter(Object.create({ owner: "ann" }))).toEqual({ owner: "ann", source: undefined });
    expect(ownListFilter({ allOwners: true })).toEqual({ allOwners: true, source: undefined });
    expect(ownListOptions({})).toEqual({ limit: 100 });
  });

  it.each<[string, () => unknown]>([
    ["a key without a session", () => ownHistoryKey({ ...key, session: "" })],
    ["records that are no JSON", () => ownHistoryRecords([{ id: "a", data: "x" }], 10)],
    ["a filter of nobody", () => ownListFilter({} as never)],
    ["a limit of none", () => ownListOptions({ limit: 0 })],
    ["an empty cursor", () => ownListOptions({ cursor: "" })],
    ["a page of none", () => ownReadOptions({ last: 0 })],
    ["what is no store", () => assertContractVersion({} as never, "store")],
  ])("is refused: %s", (_, take) => {
    expect(take).toThrow(configuration);
  });
});

describe("The text of a key", () => {
  it("gives the key back", () => {
    for (const one of [key, { ...key, owner: null }, { owner: "", source: "\ud800", session: '"],[' }]) {
      expect(parseHistoryKeyText(historyKeyText(one))).toEqual(one);
    }
  });

  it.each(["", "x", "null", "{}", '"abc"', "[]", '["o","s"]', '["o","s",""]', '["o","s","s","t"]', '[1,"s","s"]'])(
    "is not %s",
    (text) => {
      expect(parseHistoryKeyText(text)).toBeUndefined();
    },
  );
});

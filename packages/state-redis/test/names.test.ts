import { isAgentFrameworkError } from "@agentfw/core";
import { describe, expect, test } from "vitest";
import { RedisStateStore } from "../src/index.ts";
import { type ItemKeys, itemKeys, storedName } from "../src/names.ts";
import { nameOf, tagsOf } from "../src/replies.ts";
import { storedTags } from "../src/state-input.ts";
import { openStore } from "./support/redis.ts";
import { freshPrefix, openCluster } from "./support/stores.ts";

const NAMES = [
  ..."a A a:b a/b a_b a~b {x} {} }{ .. * ? [a] % ~ ~~ ~007b ~007B null unowned owner:a".split(" "),
  ...[" ", "a b", "a\tb", "a\nb", "a\u0000b", "\u007f", "\u0085", "\u00a0", "\u2028", "\u3000", "é", "e\u0301", "😀"],
  ...["\ud83d", "\ude00", "\ude00\ud83d", "\ufffd", "作業", `${"x".repeat(255)}1`, `${"x".repeat(255)}2`],
];

describe("names", () => {
  test("are stored under texts that differ, are valid UTF-8 and lead back", () => {
    const stored = NAMES.map(storedName);
    expect(new Set(stored).size).toBe(NAMES.length);
    expect(stored.map(nameOf)).toEqual(NAMES);
    for (const text of stored) {
      expect(text.isWellFormed()).toBe(true);
      expect(text).not.toMatch(/[\s{}\p{Cc}]/u);
    }
  });

  test("stay readable", () => {
    expect(storedName("sessions/user-42.作業@host:1|x")).toBe("sessions/user-42.作業@host:1|x");
    expect(storedName("a {b}\n")).toBe("a~0020~007bb~007d~000a");
  });

  test.each(["", undefined, null, 7])("refuse %j", (name) => {
    expect(() => storedName(name)).toThrow("key");
  });

  test("end at 8,192 bytes, for keys and owners", () => {
    expect(storedName("é".repeat(4_096))).toHaveLength(4_096);
    for (const call of [() => storedName("é".repeat(4_097)), () => itemKeys("p", "é".repeat(4_097), "a")]) {
      expect(codeOfThrown(call)).toBe("too_large");
    }
  });
});

describe("keys in Redis", () => {
  const all = (keys: ItemKeys) => Object.values(keys);

  test("differ for any two owners and names", () => {
    const owners = [null, "", ...NAMES];
    const seen = new Set(
      owners.flatMap((owner) => NAMES.flatMap((name) => all(itemKeys("p", owner, storedName(name))))),
    );
    expect(seen.size).toBe(owners.length * (NAMES.length + 4));
    expect(itemKeys("p", undefined, "a")).toEqual(itemKeys("p", null, "a"));
  });

  test("of one owner have one hash tag, which is the owner", () => {
    for (const owner of [null, "", ...NAMES]) {
      const tags = NAMES.flatMap((name) => all(itemKeys("pre:fix", owner, storedName(name)))).map(
        (key) => /\{([^}]+)\}/.exec(key)?.[1],
      );
      expect(new Set(tags).size).toBe(1);
      expect(tags[0]).toBe(owner === null ? "unowned" : `owner:${owner === "" ? "" : storedName(owner)}`);
    }
  });

  test.each([7, {}, true])("refuse the owner %j", (owner) => {
    expect(codeOfThrown(() => itemKeys("p", owner, "a"))).toBe("configuration");
  });

  test("every call stays within one slot of a cluster, and owners are spread over its nodes", async () => {
    const client = openCluster();
    const keyPrefix = freshPrefix();
    const store = new RedisStateStore({ client }, { keyPrefix, ttlSeconds: 60 });
    const owners = [null, "", ...NAMES];
    for (const owner of owners) {
      const scope = { owner, tags: { kind: "draft" } };
      await store.create("{a}b", '{"a":1}', scope);
      await store.set("}{", '{"a":2}', scope);
      expect((await store.listKeys(scope)).keys.map(({ key }) => key)).toEqual(["{a}b", "}{"]);
      expect((await store.get("}{", { owner }))?.text).toBe('{"a":2}');
      expect(await store.delete("{a}b", { owner })).toBe(true);
    }
    const sizes = await Promise.all(
      client.nodes("master").map(async (node) => (await node.keys(`${keyPrefix}:*`)).length),
    );
    expect(sizes.reduce((sum, size) => sum + size)).toBe(owners.length * 5);
    expect(Math.min(...sizes)).toBeGreaterThan(0);
    client.disconnect();
  });
});

describe("tags", () => {
  test("are stored in one order as texts of which none begins another, and lead back", () => {
    const tags = { b: "2", a: "1", "": "" };
    expect(() => storedTags(tags)).toThrow("tags");
    const hostile = { "a\nb": "c\nd", '"],["': "x", a: "", "\ud83d": "\ude00", __proto__x: "y" };
    const lines = storedTags(hostile);
    expect(lines).toEqual([...lines].sort());
    expect(tagsOf(lines.map((line) => `${line}\n`).join(""))).toEqual(hostile);
    const texts = [..."a ab a0 0 ]".split(" "), 'a"', '"]0'].flatMap((name) => storedTags({ [name]: name, x: name }));
    for (const text of texts) {
      expect(texts.filter((other) => other !== text && other.startsWith(text))).toEqual([]);
    }
  });

  test("may have the names of an object's own members", async () => {
    const tags: Record<string, string> = JSON.parse('{"__proto__":"a","constructor":"b","toString":"c"}');
    const { store } = openStore();
    await store.set("a", "{}", { tags });
    const item = await store.get("a");
    expect(Object.entries(item?.tags ?? {}).sort()).toEqual(Object.entries(tags).sort());
    expect((await store.listKeys({ tags })).keys).toHaveLength(1);
    expect((await store.listKeys({ tags: JSON.parse('{"__proto__":"b"}') })).keys).toHaveLength(0);
  });

  test("end at 64 and at 16,384 bytes", () => {
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`t${index}`, "x"]));
    expect(storedTags(many(64))).toHaveLength(64);
    expect(codeOfThrown(() => storedTags(many(65)))).toBe("configuration");
    expect(storedTags({ a: "x".repeat(16_384 - 8) })).toHaveLength(1);
    expect(codeOfThrown(() => storedTags({ a: "x".repeat(16_384 - 7) }))).toBe("too_large");
  });

  test.each(["", "[1]\n", '["a"]\n', "x"])("that were not stored so are told apart from none: %j", (lines) => {
    const read = () => tagsOf(lines);
    if (lines === "") {
      expect(read()).toEqual({});
    } else {
      expect(read).toThrow("the entry of an item cannot be read");
    }
  });
});

function codeOfThrown(call: () => unknown): string | undefined {
  try {
    call();
  } catch (error) {
    return isAgentFrameworkError(error) ? error.code : String(error);
  }
  return undefined;
}

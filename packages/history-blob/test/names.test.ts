import { createHash } from "node:crypto";
import type { HistoryKey } from "@agentfw/core";
import { parseHistoryKeyText } from "@agentfw/core/backend";
import { expect, test } from "vitest";
import { parseBlobName, segmentName, segmentNumber } from "../src/names.ts";
import { conversationPlace, ownerDirectory } from "../src/places.ts";
import { conversation, records } from "./support/conversation.ts";
import { blobNames, openContainer, openStore } from "./support/storage.ts";

const SESSIONS = [
  "a",
  "A",
  "a:b",
  "a/b",
  "a_b",
  "a=b",
  "a=003db",
  "=",
  "~unowned",
  "~",
  "{x}",
  "{}",
  "}{",
  ".",
  "..",
  "a.",
  ".a",
  "a%2Fb",
  "a b",
  "a+b",
  "a@example.com",
  "a\\b",
  "a?b#c",
  "a\0b",
  "a\nb",
  "é",
  "e\u0301",
  "😀",
  "\ud83d",
  "\ude00",
  "*",
  "x".repeat(239),
  "x".repeat(240),
  "x".repeat(241),
  `${"x".repeat(600)}a`,
  `${"x".repeat(600)}b`,
  "☃".repeat(60),
  "s999999999-0.jsonl",
];

test("every key has a place of its own, which no place of another one begins with", () => {
  const keys = SESSIONS.flatMap((name) => [
    conversation(name),
    conversation("a", { owner: name }),
    conversation("a", { source: name }),
  ]);
  const extra = [conversation("a", { owner: null }), conversation("a", { owner: "" })];
  const directories = [...keys, ...extra].map((key) => conversationPlace("history", key, true).directory);
  expect(new Set(directories).size).toBe(new Set([...keys, ...extra].map((key) => JSON.stringify(key))).size);
  for (const directory of directories) {
    expect(directory.split("/")).toHaveLength(5);
    expect(directory).toMatch(/^history(?:\/[A-Za-z0-9._@+=~-]+){3}\/$/);
    expect(directory.split("/").some((part) => /^\.|\.$/.test(part))).toBe(false);
    expect(segmentName(directory, 999_999_999).length + 200).toBeLessThanOrEqual(1024);
  }
});

test("plain names are readable", () => {
  const { directory } = conversationPlace("history", conversation("support-1.Ann_2+3@x"), true);
  expect(directory).toBe("history/owner-1/main/support-1.Ann_2+3@x/");
  expect(segmentName(directory, 3)).toBe(`${directory}s999999996-3.jsonl`);
  expect(ownerDirectory("history", null)).toBe("history/~unowned/");
  expect(ownerDirectory("history", "ann", "main")).toBe("history/ann/main/");
});

test("a key comes back out of a name, or out of what is kept beside it", () => {
  for (const session of SESSIONS) {
    for (const key of [
      conversation(session),
      conversation("s", { owner: session }),
      conversation("s", { owner: null, source: session }),
    ]) {
      const { directory, names } = conversationPlace("a/b", key, true);
      const place = parseBlobName("a/b", segmentName(directory, 12));
      expect(place).toMatchObject({ directory, segment: 12 });
      expect(place?.key ?? parseHistoryKeyText(Buffer.from(names ?? "", "base64").toString())).toEqual(key);
    }
  }
  expect(conversationPlace("a", conversation("x".repeat(300)), false).names).toBeUndefined();
});

test("what is no name of a segment is none", () => {
  for (const name of [
    "s999999999-0.json",
    "s999999999-1.jsonl",
    "999999999-0.jsonl",
    "s99999999-0.jsonl",
    "s999999999-0.jsonl.bak",
    "",
  ]) {
    expect(segmentNumber(name), name).toBeUndefined();
  }
  for (const name of [
    "a",
    "a/b/c/s999999999-0.jsonl",
    "history/a/b/c/d/s999999999-0.jsonl",
    "history/a/b/s999999999-0.jsonl",
  ]) {
    expect(parseBlobName("history", name), name).toBeUndefined();
  }
});

test("the service takes every name of owners, sources and sessions, keeps them apart, and list gives them back", async () => {
  const container = await openContainer();
  const store = openStore(container);
  const keys = SESSIONS.flatMap((name) => [
    conversation(name),
    conversation("s", { owner: name }),
    conversation("s", { source: name }),
  ]);
  const nameOf = (key: HistoryKey) => createHash("md5").update(JSON.stringify(key)).digest("hex");
  await Promise.all(keys.map((key) => store.append(key, records(nameOf(key), 1))));
  expect(await blobNames(container)).toHaveLength(keys.length);
  const reader = openStore(container);
  for (const key of keys) {
    const page = await reader.read(key);
    expect(page.records.map(({ id }) => id)).toEqual([`${nameOf(key)}-0`]);
  }
  const { items } = await reader.list({ allOwners: true }, { limit: 1_000 });
  const listed = items.map(({ key }) => JSON.stringify(key));
  expect(listed.sort()).toEqual(keys.map((key) => JSON.stringify(key)).sort());

  const [gone, ...others] = keys;
  await store.clear(gone ?? conversation());
  expect(await blobNames(container)).toHaveLength(others.length);
  expect((await reader.list({ allOwners: true }, { limit: 1_000 })).items).toHaveLength(others.length);
});

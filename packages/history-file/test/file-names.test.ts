import { join, relative, sep } from "node:path";
import type { HistoryKey } from "@agentfw/core";
import { describe, expect, test } from "vitest";
import { conversationPath, isConversationFile, isPartition } from "../src/file-names.ts";

const ROOT = join(sep, "data", "history");

function pathOf(owner: string | null, source: string, session: string): string {
  return relative(ROOT, join(ROOT, ...conversationPath({ owner, source, session })));
}

const LONG = "x".repeat(255);
const NAMES: readonly string[] = [
  ...["a", "a:b", "a/b", "a_b", "a b", "a\\b", "{x}", "{}", "}{", ".", "..", "../../etc/x", "A", "😀", "é", "e\u0301"],
  ...[
    "a.",
    "a..",
    "a ",
    " a",
    "con",
    "CON",
    "con.txt",
    "nul.jsonl",
    "com1",
    "lpt9.md",
    "com\u00b9",
    "clock$",
    ".hidden",
  ],
  ...["%2e%2e", "C:\\x", "\\\\host\\x", "/abs", "~", "-rf", "a\0b", "\ud800", "\udfff", "\\ud800", "null", "_unowned"],
  ...["x".repeat(600), `${LONG}1`, `${LONG}2`, "x".repeat(100), "x".repeat(101), "a.jsonl", "a.jsonl.lock", "_writers"],
  ...["ß", "ss", "SS", "ı", "i", "I", "İ", "\u212a", "k", "ﬁ", "fi", `_${"0".repeat(64)}`],
];

describe("a path", () => {
  test("keeps short lower-case names readable", () => {
    expect(pathOf("user-42", "main", "0b3f6c1e-2d5a.v2")).toBe(join("user-42", "main", "0b3f6c1e-2d5a.v2.jsonl"));
    expect(pathOf("ann@example.com", "audit_log", "1")).toBe(join("ann@example.com", "audit_log", "1.jsonl"));
    expect(pathOf(null, "main", "s")).toBe(join("_unowned", "main", "s.jsonl"));
  });

  test("does not change between versions", () => {
    expect(pathOf("", "Main", "a/b")).toBe(
      join(
        "_12ae32cb1ec02d01eda3581b127c1fee3b0dc53572ed6baf239721a03d82e126",
        "_1f46c0f59ce84579193611f1d7e1a965a72a21e71348e6f544bc40c36908dfe9",
        "_f5effa31772a3689cb116700c569f4b72d765290968f099016a899ab6c1e4ee3.jsonl",
      ),
    );
  });

  test("differs for any two names, also where case and Unicode form are ignored", () => {
    const seen = new Map<string, string>();
    for (const name of NAMES) {
      const folded = pathOf("o", "main", name).normalize("NFKC").toLowerCase();
      expect(seen.get(folded), `${JSON.stringify(name)} and ${JSON.stringify(seen.get(folded))}`).toBeUndefined();
      seen.set(folded, name);
    }
  });

  test("differs for any two keys, however their parts are cut", () => {
    const owners: (string | null)[] = [null, "", "null", "a", "a:b", "a/b", "_unowned"];
    const parts = ["a", "b", "a:b", "a/b", "b:c", "main"];
    const keys: HistoryKey[] = owners.flatMap((owner) =>
      parts.flatMap((source) => parts.map((session) => ({ owner, source, session }))),
    );
    expect(new Set(keys.map((key) => pathOf(key.owner, key.source, key.session))).size).toBe(keys.length);
  });

  test("is two directories and a file below the root, of characters that every file system takes", () => {
    for (const name of NAMES) {
      for (const path of [pathOf(name, "s", "s"), pathOf("o", name, "s"), pathOf("o", "s", name)]) {
        const parts = path.split(sep);
        expect(parts).toHaveLength(3);
        for (const part of parts) {
          expect(part).toMatch(/^[a-z0-9_][a-z0-9._@+-]*$/);
          expect(part).not.toMatch(/\.$|^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/);
          // Locks and temporary files add to the name.
          expect(part.length).toBeLessThan(200);
        }
        expect(isPartition(parts[0]!) && isPartition(parts[1]!) && isConversationFile(parts[2]!)).toBe(true);
      }
    }
  });

  test("is the only kind that a listing takes for one", () => {
    for (const name of ["_writers", "A", ".git", "CON", "_abc", `_${"0".repeat(63)}`]) {
      expect(isPartition(name), name).toBe(false);
    }
    for (const name of ["a.jsonl.lock", "a.jsonl.0123456789abcdef.tmp", "a", "_abc.jsonl", "B.jsonl", ".jsonl"]) {
      expect(isConversationFile(name), name).toBe(false);
    }
  });

  test("differs for random names", () => {
    const seen = new Map<string, string>();
    let state = 20_261_130;
    const next = (below: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return state % below;
    };
    for (let round = 0; round < 3000; round += 1) {
      const units = Array.from(
        { length: 1 + next(6) },
        () => [next(128), next(0x3000), 0xd7f0 + next(0x820)][next(3)]!,
      );
      const name = String.fromCharCode(...units);
      const folded = pathOf("o", "main", name).toLowerCase();
      expect(seen.get(folded) ?? name).toBe(name);
      seen.set(folded, name);
    }
  });
});

import { appendFile, cp, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isAgentFrameworkError } from "@agentfw/core";
import { describe, expect, test } from "vitest";
import { codeOf, conversation, fileOf, ids, openStore, record, records, tree } from "./support/store.ts";

async function linesOf(file: string): Promise<string[]> {
  const text = await readFile(file, "utf8");
  expect(text.endsWith("\n")).toBe(true);
  return text.slice(0, -1).split("\n");
}

describe("a file", () => {
  test("is a header and a line for each turn, all JSON, with the records as they came", async () => {
    const { store, directory } = await openStore();
    const odd = record("b", '{ "n": 1.0, "big": 12345678901234567890, "s": "\\u0000 \\ud800 😀" }');
    await store.append(conversation(), [record("a", '"one"'), odd]);
    await store.append(conversation(), [record("c", "[3]")]);
    const lines = await linesOf(fileOf(directory));
    expect(lines).toHaveLength(3);
    expect(JSON.parse(lines[0]!)).toMatchObject({
      format: "agentfw-history",
      version: 1,
      owner: "owner-1",
      source: "main",
      session: "session-1",
    });
    expect(lines[1]).toContain(`"records":["one",${odd.data}]`);
    expect(JSON.parse(lines[1]!)).toMatchObject({ turn: { ids: ["a", "b"] }, records: ["one", {}] });
    expect(JSON.parse(lines[2]!)).toMatchObject({ turn: { ids: ["c"] }, records: [[3]] });
  });

  test("grows by exactly one line for a turn, and not at all for a repeated one", async () => {
    const { store, directory } = await openStore();
    await store.append(conversation(), records("a", 2));
    const before = await readFile(fileOf(directory));
    await store.append(conversation(), records("a", 2));
    expect(await readFile(fileOf(directory))).toEqual(before);
    await store.append(conversation(), records("b", 2));
    const after = await readFile(fileOf(directory));
    expect(after.subarray(0, before.length)).toEqual(before);
    expect(after.subarray(before.length).filter((byte) => byte === 10)).toHaveLength(1);
  });

  test("and its directories are for the owner of the process only", async () => {
    const { store, directory } = await openStore();
    await store.append(conversation(), records("a", 1));
    const file = fileOf(directory);
    for (const path of [directory, dirname(dirname(file)), dirname(file), join(directory, "_writers")]) {
      expect((await stat(path)).mode & 0o777, path).toBe(0o700);
    }
    const writers = await readdir(join(directory, "_writers"));
    for (const path of [file, ...writers.map((name) => join(directory, "_writers", name))]) {
      expect((await stat(path)).mode & 0o777, path).toBe(0o600);
    }
  });

  test("is all there is: no lock, mark or temporary file stays after a write", async () => {
    const { store, directory } = await openStore();
    await store.append(conversation(), records("a", 3));
    await store.replace(conversation(), { fromId: "a-1", throughId: "a-1" }, [record("b")]);
    expect(await tree(directory)).toEqual(["owner-1", "owner-1/main", "owner-1/main/session-1.jsonl"]);
  });

  test("goes with its empty directories when it is cleared, and so does the writer's own file on close", async () => {
    const { store, directory } = await openStore();
    await store.append(conversation("s1"), records("a", 1));
    await store.append(conversation("s2"), records("a", 1));
    await store.clear(conversation("s1"));
    expect(await tree(directory)).toEqual(["owner-1", "owner-1/main", "owner-1/main/s2.jsonl"]);
    await store.clear(conversation("s2"));
    await store.close();
    expect(await readdir(directory, { recursive: true })).toEqual(["_writers"]);
  });

  test("of a replaced run holds nothing of it but the ids", async () => {
    const { store, directory } = await openStore();
    await store.append(conversation(), [record("a"), record("secret-id", '"secret text"'), record("c")]);
    await store.replace(conversation(), { fromId: "secret-id", throughId: "secret-id" }, []);
    const text = await readFile(fileOf(directory), "utf8");
    expect(text).not.toContain("secret text");
    expect(text).toContain("secret-id");
    expect(ids((await store.read(conversation())).records)).toEqual(["a", "c"]);
  });

  test("can be copied to another machine and read there", async () => {
    const { store, directory } = await openStore();
    await store.append(conversation(), records("a", 3));
    await cp(directory, `${directory}-copy`, { recursive: true });
    const { store: other } = await openStore({ directory: `${directory}-copy` });
    expect((await other.read(conversation())).records).toEqual(records("a", 3));
    expect((await other.append(conversation(), records("a", 4))).appended).toBe(1);
  });
});

describe("a file of a later version", () => {
  test("is refused by every call and left as it is", async () => {
    const { store, directory } = await openStore();
    await store.append(conversation(), records("a", 1));
    const file = fileOf(directory);
    const later = `{"format":"agentfw-history","version":2,"everything":"else"}\nin a shape to come`;
    await writeFile(file, later);
    const calls = [
      () => store.read(conversation()),
      () => store.read(conversation(), { onCorrupt: "skip" }),
      () => store.append(conversation(), records("b", 1)),
      () => store.replace(conversation(), { fromId: "a-0", throughId: "a-0" }, []),
      () => store.clear(conversation()),
      () => store.list({ owner: "owner-1" }),
    ];
    for (const call of calls) {
      expect(await codeOf(call())).toBe("unsupported");
    }
    expect(await readFile(file, "utf8")).toBe(later);
  });
});

describe("a file that is no conversation", () => {
  test.each(["hello\n", "{}\n", '{"format":"agentfw-history","version":1}\n', "\n", '{"role":"user"}\n{"role":"x"}\n'])(
    "%j is corrupt, in a list too, and is not written to",
    async (text) => {
      const { store, directory } = await openStore();
      await store.append(conversation("other"), records("a", 1));
      const file = fileOf(directory);
      await writeFile(file, text);
      expect(await codeOf(store.read(conversation()))).toBe("corrupt");
      expect(await codeOf(store.append(conversation(), records("b", 1)))).toBe("corrupt");
      expect(await codeOf(store.list({ owner: "owner-1" }))).toBe("corrupt");
      expect(await readFile(file, "utf8")).toBe(text);
      await store.clear(conversation());
      expect((await store.list({ owner: "owner-1" })).items).toHaveLength(1);
    },
  );

  test("another conversation's file under this name is corrupt", async () => {
    const { store, directory } = await openStore();
    await store.append(conversation("mine"), records("a", 1));
    await store.append(conversation("theirs", { owner: "owner-2" }), [record("secret")]);
    await cp(fileOf(directory, conversation("theirs", { owner: "owner-2" })), fileOf(directory));
    const error = await store.read(conversation()).catch((reason: unknown) => reason);
    expect(isAgentFrameworkError(error, "corrupt")).toBe(true);
    expect(String(error)).not.toMatch(/owner|theirs|secret/);
    expect(await codeOf(store.append(conversation(), records("b", 1)))).toBe("corrupt");
    expect(await codeOf(store.list({ owner: "owner-1" }))).toBe("corrupt");
  });
});

describe("a line that was edited by hand", () => {
  const TURNS = [records("a", 2), records("b", 2), records("c", 2)];

  test.each([
    ["shortened", (line: string) => line.replace("text of b-0", "text")],
    ["cut in two", (line: string) => line.replace(',"records"', ',\n"records"')],
    ["emptied", () => ""],
    ["without its end", (line: string) => line.slice(0, -10)],
    ["with another id", (line: string) => line.replace('"b-0"', '"x-0"')],
  ])("is corrupt where it is %s, wherever it stands, and nothing of it is repaired", async (_, edit) => {
    for (const place of [1, 2, 3]) {
      const { store, directory } = await openStore();
      for (const turn of TURNS) {
        await store.append(conversation(), turn);
      }
      const lines = await linesOf(fileOf(directory));
      const line = lines[place]!.replaceAll(/"text of [abc]-0"/g, '"text of b-0"').replaceAll(/"[abc]-0"/g, '"b-0"');
      const edited = [...lines.slice(0, place), edit(line), ...lines.slice(place + 1)].join("\n");
      await writeFile(fileOf(directory), `${edited}\n`);
      expect(await codeOf(store.read(conversation()))).toBe("corrupt");
      const page = await store.read(conversation(), { onCorrupt: "skip" });
      expect(page.records).toEqual(TURNS.filter((_turn, index) => index !== place - 1).flat());
      expect(page.corrupt?.length).toBeGreaterThan(0);
      expect((await store.append(conversation(), [record("next")])).appended).toBe(1);
      expect(await readFile(fileOf(directory), "utf8")).toContain(edited);
      expect((await store.read(conversation(), { last: 1 })).records).toEqual([record("next")]);
    }
  });

  test("names the byte where it starts", async () => {
    const { store, directory } = await openStore();
    await store.append(conversation(), TURNS[0]!);
    const { size } = await stat(fileOf(directory));
    await appendFile(fileOf(directory), "not a turn\n");
    const error = await store.read(conversation()).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "corrupt", position: `byte ${size}`, provider: "history-file" });
    const page = await store.read(conversation(), { onCorrupt: "skip" });
    expect(page.corrupt).toEqual([`byte ${size}`]);
  });

  test("in the run of a replace stops it; outside of the run it is kept", async () => {
    const { store, directory } = await openStore();
    for (const turn of TURNS) {
      await store.append(conversation(), turn);
    }
    const file = fileOf(directory);
    const damaged = (await readFile(file, "utf8")).replace("text of b-1", "text 0f b-1");
    await writeFile(file, damaged);
    expect(await codeOf(store.replace(conversation(), { fromId: "a-0", throughId: "c-0" }, []))).toBe("corrupt");
    expect(await readFile(file, "utf8")).toBe(damaged);
    await store.replace(conversation(), { fromId: "a-0", throughId: "a-1" }, [record("summary")]);
    expect(await readFile(file, "utf8")).toContain("text 0f b-1");
    const page = await store.read(conversation(), { onCorrupt: "skip" });
    expect(ids(page.records)).toEqual(["summary", "b-0", "c-0", "c-1"]);
    expect(page.corrupt).toHaveLength(1);
  });
});

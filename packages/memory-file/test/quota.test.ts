import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { beginOn } from "./support/memory.ts";
import { codeOf, openStore } from "./support/store.ts";

describe("a limit", () => {
  test("on the bytes of a file refuses larger ones before anything is written, and counts UTF-8", async () => {
    const { store, root } = await openStore({ maxFileBytes: 4 });
    await store.write("a.md", "éé");
    expect(await codeOf(store.write("a.md", "ééx"))).toBe("too_large");
    expect(await codeOf(store.write("b.md", "12345"))).toBe("too_large");
    expect(await store.list("")).toEqual(["a.md"]);
    expect((await store.read("a.md"))?.text).toBe("éé");
    await writeFile(join(root, "b.md"), "12345");
    expect(await codeOf(store.read("b.md"))).toBe("too_large");
  });

  test("on the files of a directory refuses one more, and neither replacing nor other directories", async () => {
    const { store } = await openStore({ maxFiles: 2 });
    await store.write("users/1/a.md", "x");
    await store.write("users/1/b.md", "x");
    expect(await codeOf(store.write("users/1/c.md", "x"))).toBe("too_large");
    await store.write("users/1/b.md", "y");
    await store.write("users/2/c.md", "x");
    await store.write("users/1/c.md", "x", { owner: "ann" });
    await store.delete("users/1/a.md");
    await store.write("users/1/c.md", "x");
    expect(await store.list("users/1")).toEqual(["users/1/b.md", "users/1/c.md"]);
  });

  test("on the bytes of a directory counts what is there, and lets files shrink", async () => {
    const { store, root } = await openStore({ maxTotalBytes: 10 });
    await store.write("a.md", "12345");
    await store.write("b.md", "12345");
    expect(await codeOf(store.write("c.md", "1"))).toBe("too_large");
    expect(await codeOf(store.write("b.md", "123456"))).toBe("too_large");
    await store.write("c.md", "");
    await writeFile(join(root, "by-hand.md"), "123");
    await store.write("a.md", "1234");
    expect(await codeOf(store.write("a.md", "12345"))).toBe("too_large");
    await store.write("d/a.md", "1234567890");
  });

  test("holds for writes at once", async () => {
    const { store } = await openStore({ maxFiles: 5, maxTotalBytes: 1_000 });
    const writes = Array.from({ length: 20 }, (_, index) => store.write(`a-${index}.md`, "x"));
    const ended = await Promise.allSettled(writes);
    expect(ended.filter(({ status }) => status === "fulfilled")).toHaveLength(5);
    expect(await store.list("")).toHaveLength(5);
  });

  test("is told to the model in words that it can act on", async () => {
    const { store } = await openStore({ maxFiles: 2, maxFileBytes: 20, maxTotalBytes: 30 });
    const run = await beginOn(store);
    const write = (file_name: string, content: string) => run.call("write", { file_name, content });
    expect(await write("a.md", "x".repeat(21))).toBe(
      "Error: could not write the file: text: above the limit of 20 bytes.",
    );
    await write("a.md", "x".repeat(20));
    expect(await write("b.md", "x".repeat(11))).toBe(
      "Error: could not write the file: files: 11 bytes beside the others' 20 are above the limit of 30; shorten or delete something first.",
    );
    await write("b.md", "x");
    expect(await write("c.md", "x")).toBe(
      "Error: could not write the file: files: at most 2 are allowed; delete one first.",
    );
    expect(await run.call("ls")).toHaveLength(2);
  });
});

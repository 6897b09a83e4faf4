import type { ChatUpdate } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { tool } from "../src/index.ts";
import { failureOf, open } from "./fixture.ts";
import { call, shape } from "./scripted-client.ts";

function counted() {
  const ran: unknown[] = [];
  const note = tool({
    name: "note",
    parameters: { type: "object" },
    execute: (args) => {
      ran.push(args);
      return "noted";
    },
  });
  return { tools: [note], ran };
}

/** Pieces as a careless client gives them. */
const pieces = (...given: unknown[]) => ({ pieces: given as ChatUpdate[] });

class Raw {}

describe("An answer that no store could hold is refused before its tools run:", () => {
  const CALL = call("1", "note");
  it.each([
    ["an instance of a class", { contents: [CALL], additionalProperties: { raw: new Raw() } }, "raw"],
    ["a bigint", { contents: [{ ...CALL, count: 1n }] }, "count"],
    ["a content of no known type", { contents: [CALL, { type: "hologram" }] }, "contents[1]"],
    ["data without bytes", { contents: [CALL, { type: "data", mediaType: "image/png" }] }, "contents[1].data"],
  ])("%s", async (_, piece, path) => {
    for (const historyPersistence of ["per-run", "per-service-call"] as const) {
      const { tools, ran } = counted();
      const fixture = open([pieces(piece), "never asked"], { tools, historyPersistence });
      const error = await failureOf(fixture.agent.run("go", { session: fixture.session() }));
      expect(error).toMatchObject({ code: "configuration", message: expect.stringContaining(path) });
      expect(ran).toEqual([]);
    }
  });
});

describe("A piece that is none is refused with its member named:", () => {
  it.each([
    ["null", null, "answer"],
    ["a text", "hello", "answer"],
    ["contents that are no list", { contents: "x" }, "answer.contents"],
    ["a content that is null", { contents: [null] }, "answer.contents"],
    ["a text that is a number", { contents: [{ type: "text", text: 5 }] }, "answer.contents.text"],
    ["a call without an id", { contents: [{ type: "function_call", name: "note" }] }, "answer.contents.callId"],
    ["usage without details", { contents: [{ type: "usage" }] }, "answer.contents.details"],
    ["a message of the user", { role: "user", contents: [call("1", "note")] }, "answer.role"],
  ])("%s", async (_, piece, field) => {
    const { tools, ran } = counted();
    const client = {
      contractVersion: 1 as const,
      storesByDefault: false,
      async *stream() {
        yield piece as ChatUpdate;
      },
    };
    const fixture = open([], { tools });
    const { Agent } = await import("../src/index.ts");
    const error = await failureOf(new Agent({ client, tools }).run("go", { session: fixture.session() }));
    expect(error).toMatchObject({ code: "configuration", message: expect.stringContaining(`${field}: `) });
    expect(ran).toEqual([]);
  });
});

describe("Arguments that a client did not write as text", () => {
  it("are the text that the model would have written", async () => {
    const { tools, ran } = counted();
    const asking = { type: "function_call", callId: "1", name: "note", arguments: { a: 1 } };
    const fixture = open([pieces({ contents: [asking] }), "done"], { tools });
    await fixture.agent.run("go", { session: fixture.session() });
    expect(ran).toEqual([{ a: 1 }]);
    expect(shape(await fixture.stored())[1]).toBe('assistant: call 1 note {"a":1}');
  });

  it("and that JSON cannot hold are an error result; the turn goes on and is stored", async () => {
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;
    const { tools, ran } = counted();
    const asking = { type: "function_call", callId: "2", name: "note", arguments: cycle };
    const fixture = open([[call("1", "note")], pieces({ contents: [asking] }), "done"], { tools });
    const response = await fixture.agent.run("go", { session: fixture.session() });
    expect(response.text).toBe("done");
    expect(ran).toHaveLength(1);
    const stored = shape(await fixture.stored());
    expect(stored[3]).toContain("arguments.self: a cycle");
    expect(stored[4]).toContain("the arguments of note do not fit");
  });
});

describe("What the client and the reader do with a piece afterwards", () => {
  it("changes neither the answer nor what is stored", async () => {
    const reused = { type: "text" as const, text: "" };
    const fixture = open([
      () =>
        (async function* () {
          for (const text of ["a", "b", "c"]) {
            reused.text = text;
            yield { contents: [reused] };
          }
        })(),
    ]);
    for await (const { contents } of fixture.agent.runStream("go", { session: fixture.session() })) {
      for (const content of contents) {
        Reflect.set(content, "text", "changed by the reader");
      }
    }
    expect(shape(await fixture.stored()).at(-1)).toBe("assistant: abc");
  });
});

import { describe, expect, it } from "vitest";
import * as z from "zod";
import { Agent, tool } from "../src/index.ts";
import { open } from "./fixture.ts";
import { call, ScriptedClient, shape } from "./scripted-client.ts";

/** Runs one call and gives its result as the model reads it. */
async function resultOf(
  made: ReturnType<typeof tool>,
  args: string,
  options: { includeToolErrors?: boolean } = {},
): Promise<unknown> {
  const client = new ScriptedClient([[{ type: "function_call", callId: "c", name: made.name, arguments: args }], "ok"]);
  const agent = new Agent({ client, tools: [made], ...options });
  const { messages } = await agent.run("go");
  const content = messages[1]?.contents[0];
  return content?.type === "function_result" ? content.result : undefined;
}

describe("Arguments of a tool", () => {
  it("are checked and converted by a zod schema before the tool sees them", async () => {
    const seen: unknown[] = [];
    const book = tool({
      name: "book",
      parameters: z.object({ seats: z.number().int().default(1), name: z.string().trim() }),
      execute: ({ seats, name }) => {
        seen.push({ seats, name });
        return "booked";
      },
    });
    expect(await resultOf(book, '{"name":" Ann "}')).toBe("booked");
    expect(await resultOf(book, '{"name":1}')).toMatch(/^Error: the arguments of book do not fit: name: /);
    expect(seen).toEqual([{ seats: 1, name: "Ann" }]);
  });

  it("are checked by an asynchronous refinement", async () => {
    const book = tool({
      name: "book",
      parameters: z.object({ seat: z.string().refine(async (seat) => seat === "1A", "is taken") }),
      execute: () => "booked",
    });
    expect(await resultOf(book, '{"seat":"1A"}')).toBe("booked");
    expect(await resultOf(book, '{"seat":"2B"}')).toContain("seat: is taken");
  });

  it("are checked by JSON Schema", async () => {
    const book = tool({
      name: "book",
      parameters: { type: "object", properties: { seats: { type: "integer", minimum: 1 } }, required: ["seats"] },
      execute: ({ seats }) => seats,
    });
    expect(await resultOf(book, '{"seats":2}')).toBe(2);
    expect(await resultOf(book, '{"seats":0}')).toMatch(/do not fit: .*seats/);
    expect(await resultOf(book, "{}")).toMatch(/do not fit/);
    expect(await resultOf(book, "[]")).toMatch(/do not fit/);
    expect(await resultOf(book, "7")).toMatch(/do not fit/);
  });

  it("that are not well-formed JSON go back to the model as an error, not to the tool", async () => {
    let ran = 0;
    const look = tool({
      name: "look",
      execute: () => {
        ran += 1;
      },
    });
    expect(await resultOf(look, '{"a":')).toContain("not well-formed JSON");
    expect(ran).toBe(0);
    // Models write nothing at all for a tool without parameters.
    expect(await resultOf(look, "")).toBeNull();
    expect(ran).toBe(1);
  });

  it("keep the model's own text in the history and in every later request", async () => {
    const text = '{"n": 1.0, "id": 12345678901234567890, "__proto__": {"x": 1}, "constructor": 2}';
    const seen: Record<string, unknown>[] = [];
    const look = tool({
      name: "look",
      parameters: { type: "object" },
      execute: (args) => {
        seen.push(args);
      },
    });
    const { agent, client, session, stored } = open(
      [[{ type: "function_call", callId: "c", name: "look", arguments: text }], "ok", "more"],
      { tools: [look] },
    );
    await agent.run("go", { session: session() });
    await agent.run("again", { session: session() });
    const texts = [...(await stored()), ...(client.calls[2]?.messages ?? [])]
      .flatMap(({ contents }) => contents)
      .flatMap((content) => (content.type === "function_call" ? [content.arguments] : []));
    expect(texts).toEqual([text, text]);
    expect(Object.hasOwn(seen[0] ?? {}, "__proto__")).toBe(true);
    expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
  });

  it("reach the model as JSON Schema, without what belongs to the schema library", async () => {
    const { agent, client } = open(["ok"], {
      tools: [tool({ name: "book", parameters: z.object({ seats: z.number() }), execute: () => 1 })],
    });
    await agent.run("go");
    expect(client.calls[0]?.options.tools).toMatchObject([
      { name: "book", parameters: { type: "object", properties: { seats: { type: "number" } }, required: ["seats"] } },
    ]);
    expect(JSON.stringify(client.calls[0]?.options.tools)).not.toContain("$schema");
    expect(Object.keys(client.calls[0]?.options.tools?.[0] ?? {})).toEqual(["name", "parameters"]);
  });
});

describe("A tool that fails", () => {
  const secret = tool({
    name: "secret",
    execute: () => {
      throw new Error("password is hunter2");
    },
  });

  it("tells the model that it failed and not why, unless the agent includes the reason", async () => {
    expect(await resultOf(secret, "{}")).toBe("Error: secret failed.");
    expect(await resultOf(secret, "{}", { includeToolErrors: true })).toBe("Error: secret failed. password is hunter2");
  });

  it("is reported with what it threw", async () => {
    const { agent, diagnostics } = open([[call("1", "secret")], "ok"], { tools: [secret] });
    await agent.run("go");
    expect(diagnostics).toMatchObject([
      { type: "tool_failed", callId: "1", cause: { message: "password is hunter2" }, message: "a tool call failed" },
    ]);
  });

  it("may throw anything, or reject with nothing", async () => {
    for (const thrown of [undefined, null, "text", 0, { code: 1 }]) {
      const odd = tool({ name: "odd", execute: () => Promise.reject(thrown) });
      expect(await resultOf(odd, "{}", { includeToolErrors: true })).toMatch(/^Error: odd failed\./);
    }
  });

  it("marks its result, so that programs need not read the text", async () => {
    const { agent } = open([[call("1", "secret"), call("2", "unknown"), call("3", "typed", { n: "x" })], "ok"], {
      tools: [secret, tool({ name: "typed", parameters: z.object({ n: z.number() }), execute: () => 1 })],
    });
    const { messages } = await agent.run("go");
    const exceptions = messages
      .flatMap(({ contents }) => contents)
      .flatMap((content) => (content.type === "function_result" ? [content.exception] : []));
    expect(exceptions).toEqual(["failed", "unknown_tool", "invalid_arguments"]);
    expect(shape(messages).at(-1)).toBe("assistant: ok");
  });
});

describe("Making a tool", () => {
  it.each([
    ["an empty name", { name: "" }, "tool.name"],
    ["a name with a space", { name: "look up" }, "tool.name"],
    ["a name of 65 characters", { name: "a".repeat(65) }, "tool.name"],
    ["no name", {}, "tool.name"],
    ["nothing", undefined, "tool"],
    ["parameters that are an array", { name: "a", parameters: [] }, "parameters"],
    ["parameters that are a string", { name: "a", parameters: "x" }, "parameters"],
    ["parameters of another type", { name: "a", parameters: { type: "string" } }, "parameters"],
    ["parameters that JSON cannot hold", { name: "a", parameters: { type: "object", max: 1n } }, "parameters.max"],
    ["a schema that JSON Schema cannot describe", { name: "a", parameters: z.object({ at: z.date() }) }, "parameters"],
    ["a description that is no text", { name: "a", description: 7 }, "description"],
    ["an execute that is no function", { name: "a", execute: "run" }, "execute"],
    ["an approval that is not known", { name: "a", approval: "always" }, "approval"],
  ])("refuses %s and names it", (_, options, field) => {
    const make: (options: never) => unknown = tool;
    let error: unknown;
    try {
      make(options as never);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ code: "configuration", message: expect.stringContaining(field) });
  });
});

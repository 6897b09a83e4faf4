import { AgentSession, type Content, type Message, type MessageInput } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { call, dataOf, failureOf, restored, Stage, WAYS } from "./support/stage.ts";

const bytes = new Uint8Array([9, 9, 9, 0, 255, 254, 128]);
const ODD = "emoji 👩‍👩‍👧, NUL \u0000, lone \ud83d";
const ARGUMENTS = '{"n": 1.0, "id": 12345678901234567890}';
const OWN_KEYS: Record<string, unknown> = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"x":2}}');

const CYCLE: unknown[] = [];
CYCLE.push(CYCLE);

const PARTS: readonly Content[] = [
  { type: "text_reasoning", text: "hm", protectedData: "c2ln" },
  call("1", "odd", ARGUMENTS),
  call("2", "odd", "{}"),
  { type: "text_reasoning", text: "well" },
  { type: "text", text: ODD, annotations: [{ range: [1, 2] }], additionalProperties: { absent: null, ...OWN_KEYS } },
  { type: "data", data: bytes.subarray(3), mediaType: "image/png", name: "a.png" },
  { type: "data", data: bytes.subarray(3, 5), mediaType: "image/png" },
  { type: "unknown", raw: { type: "hologram", frames: [{ x: 1 }] } },
];

function bare(messages: readonly Message[]): (readonly [string, readonly Content[]])[] {
  return messages.map(({ role, contents }) => [role, contents]);
}

describe.each(WAYS)("Values in a conversation ($backend, streamed: $isStreamed)", (way) => {
  it("come back as they were said, in their order, and are sent so in the next turn of another process", async () => {
    const open = await dataOf(way);
    const odd = {
      name: "odd",
      parameters: { type: "object" },
      execute: () => ({ when: new Date(0), gone: undefined, list: [undefined, ODD], ...OWN_KEYS }),
    };
    const input: MessageInput = {
      role: "user",
      contents: [
        { type: "data", data: bytes.subarray(3, 5), mediaType: "a/b", name: "f" },
        { type: "text", text: ODD },
      ],
    };
    const first = new Stage(open(), way, [{ pieces: [...PARTS] }, "done"], { tools: [odd] });
    await first.run([input]);
    const second = new Stage(open(), way, ["more"]);
    const stored = await second.stored();
    expect(stored[0]?.contents).toEqual(input.contents);
    expect(stored[1]?.contents).toEqual(PARTS);
    const result = `{"when":"1970-01-01T00:00:00.000Z","list":[null,${JSON.stringify(ODD)}],"__proto__":{"polluted":1},"constructor":{"x":2}}`;
    for (const message of stored.slice(2, 4)) {
      const [content] = message.contents;
      expect(content?.type === "function_result" && JSON.stringify(content.result)).toBe(result);
    }
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
    await second.run("again");
    expect(bare(second.model.calls[0]?.messages ?? []).slice(0, -1)).toEqual(bare(stored));
  });

  it.each([
    ["NaN", Number.NaN],
    ["Infinity", Number.POSITIVE_INFINITY],
    ["a bigint", 1n],
    ["a map", new Map([[1, 2]])],
    ["a set", new Set([1])],
    ["a function", () => 1],
    ["a class instance", new URL("https://example.org")],
    ["a cycle", CYCLE],
  ])(
    "that are %s are refused in input and session before the model is asked, and are an error result of a tool",
    async (_, value) => {
      const open = await dataOf(way);
      const asked = new Stage(open(), way, ["never"]);
      const text: Content = { type: "text", text: "x", additionalProperties: { deep: [value] } };
      expect(await failureOf(asked.run([{ role: "user", contents: [text] }]))).toMatchObject({
        code: "configuration",
        message: expect.stringContaining("deep[0]"),
      });
      const session = new AgentSession({ sessionId: "s", owner: "ann" });
      Object.assign(session.state, { mine: { deep: value } });
      expect(await failureOf(asked.run("x", { session }))).toMatchObject({ code: "configuration" });
      expect(asked.model.calls).toEqual([]);
      expect(await asked.stored()).toEqual([]);
      const odd = { name: "odd", parameters: { type: "object" }, execute: () => ({ deep: [value] }) };
      const ran = new Stage(open(), way, [{ pieces: [call("1", "odd")] }, "done"], { tools: [odd] });
      expect((await ran.run("x")).text).toBe("done");
      const [content] = (await ran.stored())[2]?.contents ?? [];
      expect(content).toMatchObject({ type: "function_result", exception: "invalid_result" });
    },
  );

  it("that a session holds survive its JSON three times over", async () => {
    const open = await dataOf(way);
    let session = new AgentSession({ sessionId: "s", owner: "ann" });
    Object.assign(session.state, { mine: { text: ODD, number: 1.5, nothing: null, list: [{}], own: OWN_KEYS } });
    const before = JSON.stringify(session.state);
    for (const turn of [1, 2, 3]) {
      await new Stage(open(), way, ["a"]).run(`u${turn}`, { session });
      session = restored(session);
      expect(JSON.stringify(session.state)).toBe(before);
    }
    expect(await new Stage(open(), way, []).stored()).toHaveLength(6);
  });
});

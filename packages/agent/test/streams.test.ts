import { isAbortError, type Message } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import type { AgentUpdate } from "../src/index.ts";
import { failureOf, open, settled } from "./fixture.ts";
import { type Answer, call, shape } from "./scripted-client.ts";
import { begun, expectNoUnheardRejections, PIECES, read } from "./streaming.ts";

expectNoUnheardRejections();

describe("A stream that is read to its end", () => {
  it("gives the same messages as a plain run, and everything is stored when the loop ends", async () => {
    const look = { name: "look", parameters: { type: "object" }, execute: () => [1, 2] };
    const script: Answer[] = [[call("c", "look")], { pieces: PIECES }];
    const plain = await begun(script, { tools: [look] });
    const streamed = await begun(script, { tools: [look] });
    const response = await plain.agent.run("u1", { session: plain.session(), runId: "r" });
    const updates: AgentUpdate[] = [];
    for await (const update of streamed.agent.runStream("u1", { session: streamed.session(), runId: "r" })) {
      updates.push(update);
    }
    const storedAtTheEnd = await streamed.stored();
    expect(updates.filter(({ role }) => role === "assistant").map(({ text }) => text)).toEqual(["", ...PIECES]);
    const withoutTimes = (messages: readonly Message[]) => messages.map(({ createdAt: _, ...message }) => message);
    expect(withoutTimes(storedAtTheEnd).slice(2)).toEqual(withoutTimes(await plain.stored()).slice(2));
    expect(shape(response.messages)).toEqual(shape(storedAtTheEnd).slice(3));
    expect(response.text).toBe("Hello world");
  });

  it("gives the whole response to finalResponse, read before or not, and as often as it is asked", async () => {
    const { agent } = open([{ pieces: PIECES }, { pieces: PIECES }]);
    const unread = agent.runStream("x");
    expect((await unread.finalResponse()).text).toBe("Hello world");
    expect((await unread.finalResponse()).text).toBe("Hello world");
    const half = agent.runStream("x");
    const iterator = half[Symbol.asyncIterator]();
    expect((await iterator.next()).value?.text).toBe("Hel");
    expect((await half.finalResponse()).text).toBe("Hello world");
  });

  it("runs once: after finalResponse was asked for, its pieces can no longer be read", async () => {
    const { agent, client } = open([{ pieces: PIECES }, { pieces: PIECES }]);
    const stream = agent.runStream("x");
    const final = stream.finalResponse();
    await expect(read(stream, () => undefined)).rejects.toMatchObject({ code: "configuration" });
    expect((await final).text).toBe("Hello world");
    await expect(read(stream, () => undefined)).rejects.toMatchObject({ code: "configuration" });
    expect(client.calls).toHaveLength(1);
  });

  it("is over when it was read, and can be asked for its response afterwards", async () => {
    const { agent, client } = open([{ pieces: PIECES }, { pieces: PIECES }]);
    const stream = agent.runStream("x");
    const counts: number[] = [];
    await read(stream, (count) => counts.push(count));
    await read(stream, (count) => counts.push(count));
    expect(counts).toEqual([1, 2, 3, 4]);
    expect((await stream.finalResponse()).text).toBe("Hello world");
    expect(client.calls).toHaveLength(1);
  });

  it("gives every piece to several readers that ask at once, each piece to one of them", async () => {
    const { agent } = open([{ pieces: PIECES }]);
    const iterator = agent.runStream("x")[Symbol.asyncIterator]();
    const results = await Promise.all(Array.from({ length: 6 }, () => iterator.next()));
    expect(results.map(({ value }) => value?.text)).toEqual([...PIECES, undefined, undefined]);
    expect(results.map(({ done }) => done)).toEqual([false, false, false, false, true, true]);
  });

  it("starts nothing before the first piece is asked for", async () => {
    const { agent, client, store, session } = open(["hi"]);
    agent.runStream("x", { session: session() });
    await settled();
    expect([client.calls.length, store.calls.length]).toEqual([0, 0]);
  });

  it("rejects finalResponse after the loop was left, with an abort error", async () => {
    const { agent } = open([{ pieces: PIECES }]);
    const stream = agent.runStream("x");
    await read(stream, () => "stop");
    expect(isAbortError(await failureOf(stream.finalResponse()))).toBe(true);
    expect(isAbortError(await failureOf(stream.finalResponse()))).toBe(true);
  });

  it("gives the model's error unchanged to the loop and to finalResponse", async () => {
    const cause = new RangeError("overloaded");
    const { agent } = open([{ pieces: ["Hel"], throws: cause }]);
    const stream = agent.runStream("x");
    const seen: string[] = [];
    const error = await failureOf(
      (async () => {
        for await (const { text } of stream) {
          seen.push(text);
        }
      })(),
    );
    expect(seen).toEqual(["Hel"]);
    expect(error).toBe(cause);
    expect(await failureOf(stream.finalResponse())).toBe(cause);
  });
});

import { type Content, isAbortError } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { type Answer, call, dataOf, failureOf, Stage, shape, WAYS } from "./support/stage.ts";
import { slowStore } from "./support/stores.ts";

const WORDS: Answer = { pieces: ["Hel", "lo", " wor", "ld"] };
const HALF: Content = { type: "function_call", callId: "c", name: "look", arguments: '{"wh' };

interface Ending {
  readonly name: string;
  readonly answer: Answer;
  /** After this many pieces the reader leaves or the run is aborted. */
  readonly leaves?: number;
  readonly aborts?: number;
  readonly kept: readonly string[];
  readonly isComplete?: boolean;
}

const HELLO = ["user: u1", "assistant: Hello"];
const ENDINGS: readonly Ending[] = [
  { name: "its reader leaves", answer: WORDS, leaves: 2, kept: HELLO },
  { name: "it is aborted", answer: WORDS, aborts: 2, kept: HELLO },
  { name: "the model fails", answer: { pieces: ["Hel", "lo"], throws: new RangeError("model") }, kept: [] },
  { name: "it is read to its end", answer: WORDS, kept: ["user: u1", "assistant: Hello world"], isComplete: true },
  { name: "it is aborted before its first piece", answer: WORDS, aborts: 0, kept: [] },
  { name: "it is aborted in the middle of a call", answer: { pieces: [HALF, call("c", "")] }, aborts: 1, kept: [] },
];

function thrown(answer: Answer): unknown {
  return typeof answer === "string" ? undefined : answer.throws;
}

describe.each(
  WAYS.filter(({ isStreamed }) => isStreamed).flatMap((way) =>
    [false, true].map((keepPartial) => ({ ...way, keepPartial })),
  ),
)("A stream over a slow store ($backend, keeping partial answers: $keepPartial)", ({ keepPartial, ...way }) => {
  it.each(ENDINGS)("stores what it should when $name", async ({ answer, leaves, aborts, kept, isComplete }) => {
    const open = await dataOf(way);
    const first = new Stage(open(), way, ["a0"]);
    await first.run("u0");
    let after = 0;
    const store = slowStore(open(), 50);
    const observer = { sourceId: "observer", afterRun: async () => void after++ };
    const stage = new Stage(store, way, [answer], { history: { keepPartial }, observers: [observer] });
    const controller = new AbortController();
    const read = async () => {
      if (aborts === 0) {
        setTimeout(() => controller.abort(), 20);
      }
      let count = 0;
      for await (const _ of stage.agent.runStream("u1", { session: stage.session(), signal: controller.signal })) {
        count += 1;
        if (count === leaves) {
          return;
        }
        if (count === aborts) {
          controller.abort();
        }
      }
    };
    const error = await read().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    // A reader who leaves, or reads all of it, has nothing to be told.
    expect(isAbortError(error) ? "abort" : error).toBe(aborts !== undefined ? "abort" : thrown(answer));
    const expected = ["user: u0", "assistant: a0", ...(keepPartial || isComplete ? kept : [])];
    expect(shape(await stage.stored())).toEqual(expected);
    expect(store.calls.filter(({ name, isAborted }) => name === "append" && isAborted)).toEqual([]);
    // A hook before the model that was never reached has none behind it.
    expect(after).toBe(aborts === 0 ? 0 : 1);
    const next = new Stage(open(), way, ["a2"]);
    await next.run("u2");
    expect(shape(await next.stored())).toEqual([...expected, "user: u2", "assistant: a2"]);
  });
});

describe.each(WAYS)("A run that fails ($backend, streamed: $isStreamed)", (way) => {
  it("stores nothing, and the next one works", async () => {
    const open = await dataOf(way);
    const stage = new Stage(open(), way, [{ pieces: ["Hel"], throws: new RangeError("model") }, "a1"]);
    expect(await failureOf(stage.run("u1"))).toBeInstanceOf(RangeError);
    expect(await stage.stored()).toEqual([]);
    const controller = new AbortController();
    controller.abort();
    expect(isAbortError(await failureOf(stage.run("u1", { signal: controller.signal })))).toBe(true);
    await stage.run("u1");
    expect(shape(await stage.stored())).toEqual(["user: u1", "assistant: a1"]);
  });
});

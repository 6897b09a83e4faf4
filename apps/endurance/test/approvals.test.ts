import type { Content } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { answer, BATCH, bank } from "./support/bank.ts";
import {
  type Answer,
  call,
  dataOf,
  failureOf,
  MODES,
  restored,
  Stage,
  type StageOptions,
  shape,
  WAYS,
} from "./support/stage.ts";

const CASES = WAYS.flatMap((way) => MODES.map((historyPersistence) => ({ ...way, historyPersistence })));
const RESULTS = ['tool: result 1 "look done"', 'tool: result 2 "pay done"', 'tool: result 3 "look done"'];
const CALLS = "assistant: call 1 | call 2 | call 3";

describe.each(CASES)(
  "A batch that waits for a person ($backend, streamed: $isStreamed, $historyPersistence)",
  ({ historyPersistence, ...way }) => {
    /** A conversation whose first run has asked, and how to begin another process on it. */
    async function asked(pieces: readonly Content[] = BATCH, more: StageOptions = {}) {
      const open = await dataOf(way);
      const { tools, ran } = bank();
      const options = { tools, historyPersistence, ...more };
      const first = new Stage(open(), way, [{ pieces }], options);
      const session = first.session();
      const { approvalRequests, openCalls } = await first.run("go", { session });
      expect([openCalls, ran]).toEqual([[], []]);
      const next = (script: readonly Answer[], given: StageOptions = {}) =>
        new Stage(open(), way, script, { ...options, ...given });
      return { next, ran, requests: approvalRequests, session: restored(session) };
    }

    it("waits through other turns and processes, more of them than are loaded, and then runs as a whole", async () => {
      const { next, ran, requests, session } = await asked(BATCH, { history: { maxMessages: 2 } });
      expect(requests).toMatchObject([{ functionCall: { name: "pay", arguments: '{"sum":5}' } }]);
      for (const text of ["w", "x", "y"]) {
        const stage = next([text.toUpperCase()]);
        await stage.run(text, { session: restored(session) });
        // Neither the call nor what it waits for is shown while it waits.
        expect(shape(stage.model.calls[0]?.messages ?? []).join()).not.toContain("call");
      }
      expect(ran).toEqual([]);
      const stage = next(["paid", "you are welcome"]);
      const done = await stage.run([answer(requests)], { session: restored(session) });
      expect(ran.sort()).toEqual(['look {"a":1}', 'look {"b":2}', 'pay {"sum":5}']);
      expect(shape(done.messages)).toEqual([...RESULTS, "assistant: paid"]);
      const seen = shape(stage.model.calls[0]?.messages ?? []);
      expect(seen.slice(seen.indexOf(CALLS), seen.indexOf(CALLS) + 4)).toEqual([CALLS, ...RESULTS]);
      // What is settled is history like any other: never sent as approval contents, never run again.
      await stage.run("thanks", { session: restored(session) });
      expect(ran).toHaveLength(3);
      expect(stage.diagnostics).toEqual([]);
    });

    it("is hidden whole from the model while it waits, and the conversation is one that a service takes", async () => {
      const { next, session } = await asked([{ type: "text_reasoning", text: "hm" }, ...BATCH]);
      const stage = next(["hello"]);
      await stage.run("something else", { session });
      expect(shape(stage.model.calls[0]?.messages ?? [])).toEqual(["user: go", "user: something else"]);
    });

    it("takes its answers one by one, from process to process, and asks no model before the last", async () => {
      const { next, ran, requests, session } = await asked([call("1", "pay"), call("2", "wire")]);
      const [pay, wire] = requests.map((request) => [request]);
      const second = next([]);
      const waiting = await second.run([answer(wire ?? [])], { session });
      expect(waiting.approvalRequests).toMatchObject([{ functionCall: { name: "pay" } }]);
      expect([ran, second.model.calls]).toEqual([[], []]);
      const done = await next(["done"]).run([answer(pay ?? [], false, { reason: "too dear" })], { session });
      expect(ran).toEqual(["wire {}"]);
      expect(shape(done.messages)).toEqual([
        'tool: result 1 "The user refused this call: too dear"',
        'tool: result 2 "wire done"',
        "assistant: done",
      ]);
    });

    it("runs nothing for an answer that is forged, changed, of another session, or without its session", async () => {
      const { next, ran, requests, session } = await asked();
      const functionCall = { ...requests[0]?.functionCall, arguments: '{"sum":5000}' };
      const forged = [answer([{ id: "made-up" }]), answer(requests, true, { functionCall })];
      for (const input of forged) {
        const stage = next(["no"]);
        await stage.run([input], { session });
        expect(stage.diagnostics).toMatchObject([{ type: "approval_ignored" }]);
      }
      const stage = next(["no", "no"]);
      const other = stage.agent.createSession({ sessionId: "other", owner: "ann" });
      const bobs = stage.agent.createSession({ sessionId: "s", owner: "bob" });
      for (const wrong of [other, bobs]) {
        expect((await stage.run([answer(requests)], { session: wrong })).messages).toEqual([]);
      }
      expect(ran).toEqual([]);
      // The request is as it was issued, and still waits.
      await next(["paid"]).run([answer(requests, true, { functionCall: requests[0]?.functionCall })], { session });
      expect(ran).toContain('pay {"sum":5}');
    });

    it("is answered once, however often and in however many processes, and runs once where each step is stored", async () => {
      const { next, ran, requests, session } = await asked(BATCH, { history: { conditionalAppend: true } });
      const both = await Promise.allSettled(
        [1, 2].map(() => next(["paid", "paid"]).run([answer(requests)], { session: restored(session) })),
      );
      expect(both.some(({ status }) => status === "fulfilled")).toBe(true);
      const again = next(["never"]);
      const repeated = await again.run([answer(requests)], { session });
      expect(repeated.messages).toEqual([]);
      expect(again.model.calls).toEqual([]);
      // A run that is stored as a whole cannot know of another one that has just begun.
      const most = historyPersistence === "per-run" ? 2 : 1;
      expect(ran.filter((line) => line.startsWith("pay")).length).toBeOneOf([1, most]);
      const stored = shape(await again.stored());
      expect(stored.filter((line) => line.startsWith("tool"))).toHaveLength(3);
    });

    it("runs no call again when the process ended behind its tools, and answers when it is tried again", async () => {
      const { next, ran, requests, session } = await asked();
      const input = answer(requests);
      const down = next([{ pieces: [], throws: new RangeError("model") }]);
      expect(await failureOf(down.run([input], { session, runId: "r" }))).toBeInstanceOf(RangeError);
      const { text } = await next(["paid"]).run([input], { session, runId: "r" });
      expect(text).toBe("paid");
      // Where a run is stored as a whole, what the failed one did is not, and its keys tell the tools so.
      expect(ran).toHaveLength(historyPersistence === "per-run" ? 6 : 3);
      expect(shape(await next([]).stored()).filter((line) => line.startsWith("tool"))).toEqual(
        expect.arrayContaining(RESULTS),
      );
    });
  },
);

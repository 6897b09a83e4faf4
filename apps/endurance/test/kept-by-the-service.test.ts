import type { AgentSession } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { type Answer, dataOf, failureOf, restored, Stage, type StageOptions, shape, WAYS } from "./support/stage.ts";

const id = (conversationId: string, text: string): Answer => ({
  pieces: [{ contents: [{ type: "text", text }], conversationId }],
});
const PER_CALL = { historyPersistence: "per-service-call" } as const;
const KEEPS = { storesByDefault: true } as const;

const CASES = WAYS.flatMap((way) => [false, true].map((isSerialized) => ({ ...way, isSerialized })));

describe.each(CASES)("Two turns ($backend, streamed: $isStreamed, session serialized: $isSerialized)", (way) => {
  async function twoTurns(answers: readonly [Answer, Answer], options: StageOptions, session?: AgentSession) {
    const open = await dataOf(way);
    const first = new Stage(open(), way, [answers[0]], options);
    const begun = session ?? first.session();
    await first.run("u1", { session: begun });
    const second = new Stage(open(), way, [answers[1]], options);
    const later = way.isSerialized ? restored(begun) : begun;
    await second.run("u2", { session: later });
    const sent = [...first.model.calls, ...second.model.calls];
    return {
      sent: sent.map(({ messages, options: { conversationId } }) => [messages.length, conversationId]),
      json: JSON.stringify(later),
      bound: later.serviceSessionId,
      stored: shape(await second.stored()),
    };
  }
  const all = ["user: u1", "assistant: a1", "user: u2", "assistant: a2"];

  it("load and store here when the service keeps nothing, in both modes, with no id and no mark of ours", async () => {
    for (const options of [{}, PER_CALL]) {
      const { sent, stored, json, bound } = await twoTurns(["a1", "a2"], options);
      expect(sent).toEqual([
        [1, undefined],
        [3, undefined],
      ]);
      expect(stored).toEqual(all);
      expect(bound).toBeUndefined();
      expect(JSON.parse(json).state).toEqual({});
    }
  });

  it("go on at a service that keeps them: its id is sent with the new input only, and they are written down here", async () => {
    for (const options of [KEEPS, { ...KEEPS, ...PER_CALL }]) {
      const { sent, stored, bound } = await twoTurns([id("conv_1", "a1"), id("conv_1", "a2")], options);
      expect(sent).toEqual([
        [1, undefined],
        [1, "conv_1"],
      ]);
      expect(bound).toBe("conv_1");
      expect(stored).toEqual(all);
    }
  });

  it("go on in the conversation that the session names", async () => {
    const open = await dataOf(way);
    const session = new Stage(open(), way, []).agent.getSession({ serviceSessionId: "conv_9", owner: "ann" });
    const { sent } = await twoTurns([id("conv_9", "a1"), id("conv_9", "a2")], KEEPS, session);
    expect(sent).toEqual([
      [1, "conv_9"],
      [1, "conv_9"],
    ]);
  });

  it("stay here when a service gives an id and keeps nothing", async () => {
    const { sent, bound, stored } = await twoTurns([id("conv_1", "a1"), id("conv_1", "a2")], {});
    expect(sent).toEqual([
      [1, undefined],
      [3, undefined],
    ]);
    expect(bound).toBeUndefined();
    expect(stored).toEqual(all);
  });

  it("are refused before anything happens when two places would keep them", async () => {
    const open = await dataOf(way);
    const stage = new Stage(open(), way, ["never"], PER_CALL);
    const session = restored(stage.agent.getSession({ sessionId: "s", serviceSessionId: "conv_1", owner: "ann" }));
    expect(await failureOf(stage.run("u1", { session }))).toMatchObject({ code: "configuration" });
    const named = stage.run("u1", { chatOptions: { conversationId: "conv_1" } });
    expect(await failureOf(named)).toMatchObject({ code: "configuration" });
    const other = new Stage(open(), way, ["never"], KEEPS);
    const differs = other.run("u1", { session, chatOptions: { conversationId: "conv_2" } });
    expect(await failureOf(differs)).toMatchObject({ code: "configuration" });
    expect([...stage.model.calls, ...other.model.calls]).toEqual([]);
    expect(await stage.stored()).toEqual([]);
  });
});

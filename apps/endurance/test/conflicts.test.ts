import type { AgentResponse } from "@agentfw/agent";
import type { HistoryStore } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { call, dataOf, failureOf, MODES, Stage, shape, WAYS } from "./support/stage.ts";
import { slowStore } from "./support/stores.ts";

/** Waits until as many as this have come. */
function meeting(count: number): () => Promise<void> {
  let open = (): void => undefined;
  const all = new Promise<void>((resolve) => {
    open = resolve;
  });
  let come = 0;
  return () => {
    come += 1;
    if (come >= count) {
      open();
    }
    return all;
  };
}

const RETRY = { onConflict: "retry", history: { conditionalAppend: true } } as const;

describe.each(WAYS.flatMap((way) => MODES.map((historyPersistence) => ({ ...way, historyPersistence }))))(
  "Two processes that answer one conversation at once ($backend, streamed: $isStreamed, $historyPersistence)",
  ({ historyPersistence, ...way }) => {
    /** Both have loaded before one of them stores. Each has a store object of its own, as processes have. */
    async function race(script: readonly string[], more: Parameters<typeof stageOf>[3] = {}) {
      const open = await dataOf(way);
      const loaded = meeting(2);
      const stages = ["left", "right"].map(() => stageOf(slowStore(open(), 0), way, script, more, loaded));
      const outcomes = await Promise.allSettled(stages.map((stage, index) => stage.run(`question ${index}`)));
      return { stages, outcomes, stored: shape(await new Stage(open(), way, []).stored()) };
    }

    it("leaves one turn whole and the other a conflict with its response, by default", async () => {
      const { outcomes, stored } = await race(["first", "never"], { history: { conditionalAppend: true } });
      const failed = outcomes.filter((outcome) => outcome.status === "rejected");
      expect(failed).toMatchObject([{ reason: { code: "conflict", response: { text: "first" } } }]);
      expect(stored).toHaveLength(2);
    });

    it("stores both turns, the second with the first in view, where retry is chosen and nothing was shown", async () => {
      const { stages, outcomes, stored } = await race(["first", "second"], RETRY);
      if (way.isStreamed) {
        const failed = outcomes.filter((outcome) => outcome.status === "rejected");
        expect(failed).toMatchObject([{ reason: { code: "conflict", response: { text: "first" } } }]);
        expect(stored).toHaveLength(2);
        return;
      }
      const texts = outcomes.map((outcome) => (outcome.status === "fulfilled" ? outcome.value.text : ""));
      expect(texts.sort()).toEqual(["first", "second"]);
      expect(stages.map(({ model }) => model.calls.length).sort()).toEqual([1, 2]);
      const loser = stages.find(({ model }) => model.calls.length === 2);
      expect(loser?.model.calls[1]?.messages).toHaveLength(3);
      expect(stored.map((line) => line.slice(0, 9))).toEqual(["user: que", "assistant", "user: que", "assistant"]);
      expect(stored[3]).toBe("assistant: second");
    });

    function stageOf(
      store: HistoryStore,
      at: typeof way,
      script: readonly string[],
      more: ConstructorParameters<typeof Stage>[3],
      loaded: () => Promise<void>,
    ): Stage {
      let isFirst = true;
      const observer = {
        sourceId: "observer",
        beforeRun: async () => {
          const wasFirst = isFirst;
          isFirst = false;
          await (wasFirst ? loaded() : undefined);
        },
      };
      return new Stage(store, at, script, { ...more, historyPersistence, observers: [observer] });
    }
  },
);

describe.each(WAYS)("A run that lost after its tool had run ($backend, streamed: $isStreamed)", (way) => {
  it("is a conflict that carries what there was: the tool is not run again", async () => {
    const open = await dataOf(way);
    const ran: string[] = [];
    const other = new Stage(open(), way, ["theirs"]);
    const slow = {
      name: "look",
      parameters: { type: "object" },
      execute: async () => {
        ran.push("look");
        await other.run("they say");
      },
    };
    const stage = new Stage(slowStore(open(), 0), way, [{ pieces: [call("1", "look")] }, "mine", "never"], {
      ...RETRY,
      tools: [slow],
    });
    const error = await failureOf(stage.run("I say"));
    expect(error).toMatchObject({ code: "conflict", response: { text: "mine" } });
    const { response } = error as { response: AgentResponse };
    expect(shape(response.messages)).toEqual(["assistant: call 1", "tool: result 1 null", "assistant: mine"]);
    expect(ran).toEqual(["look"]);
    expect(shape(await stage.stored())).toEqual(["user: they say", "assistant: theirs"]);
  });
});

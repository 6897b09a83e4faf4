import { AgentUpdate, agentMiddleware, chatMiddleware, functionMiddleware, type Middleware } from "@agentfw/agent";
import { describe, expect, it } from "vitest";
import { call, dataOf, MODES, Stage, shape, WAYS } from "./support/stage.ts";
import { ObservedStore } from "./support/stores.ts";

/** Middleware of each kind that writes down when it is passed. */
function logging(name: string, log: string[]): Middleware[] {
  return [
    agentMiddleware(async function* (_, next) {
      log.push(`agent ${name}.before`);
      yield* next();
      log.push(`agent ${name}.after`);
    }),
    chatMiddleware(async function* (_, next) {
      log.push(`chat ${name}.before`);
      yield* next();
      log.push(`chat ${name}.after`);
    }),
    functionMiddleware(async (_, next) => {
      log.push(`function ${name}.before`);
      const result = await next();
      log.push(`function ${name}.after`);
      return result;
    }),
  ];
}

describe.each(WAYS.flatMap((way) => MODES.map((historyPersistence) => ({ ...way, historyPersistence }))))(
  "Middleware over a store ($backend, streamed: $isStreamed, $historyPersistence)",
  ({ historyPersistence, ...way }) => {
    async function staged(middleware: (log: string[]) => Middleware[]) {
      const open = await dataOf(way);
      const log: string[] = [];
      const store = new ObservedStore(open());
      const look = { name: "look", parameters: { type: "object" }, execute: () => void log.push("look") };
      const script = [{ pieces: [call("1", "look")] }, "done"];
      const options = { historyPersistence, tools: [look], middleware: middleware(log) };
      return { stage: new Stage(store, way, script, options), log, store };
    }

    it("is passed from the first to the last and back, each kind around what it is for", async () => {
      const { stage, log } = await staged((log) => [...logging("1", log), ...logging("2", log)]);
      await stage.run("go");
      const around = (kind: string, ...inside: string[]) => [
        ...[`${kind} 1.before`, `${kind} 2.before`],
        ...inside,
        ...[`${kind} 2.after`, `${kind} 1.after`],
      ];
      expect(log).toEqual(around("agent", ...around("chat"), ...around("function", "look"), ...around("chat")));
      expect(shape(await stage.stored())).toEqual([
        ...["user: go", "assistant: call 1", "tool: result 1 null", "assistant: done"],
      ]);
    });

    it("that answers in place of the run lets nothing be loaded, asked or stored", async () => {
      const { stage, store } = await staged(() => [
        agentMiddleware(async function* ({ runId }) {
          const contents = [{ type: "text" as const, text: "canned" }];
          yield new AgentUpdate({ messageId: `${runId}:o0`, role: "assistant", contents });
        }),
      ]);
      expect((await stage.run("go")).text).toBe("canned");
      expect([stage.model.calls, store.calls]).toEqual([[], []]);
    });

    it("that answers in place of model and tool has its answers stored, as any other", async () => {
      const { stage, log } = await staged(() => [functionMiddleware(async () => "from elsewhere")]);
      await stage.run("go");
      expect(log).toEqual([]);
      expect(shape(await stage.stored())[2]).toBe('tool: result 1 "from elsewhere"');
      const cached = chatMiddleware(async function* () {
        yield { contents: [{ type: "text" as const, text: "from the cache" }] };
      });
      await stage.run("again", { middleware: [cached] });
      expect(shape(await stage.stored()).slice(-2)).toEqual(["user: again", "assistant: from the cache"]);
      expect(stage.model.calls).toHaveLength(2);
    });
  },
);

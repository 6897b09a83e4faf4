import { describe, expect, it, onTestFinished } from "vitest";
import { answer, bank } from "./support/bank.ts";
import { type Said, SERVICES, type Service } from "./support/services.ts";
import { dataOf, failureOf, MODES, restored, Stage, type StageOptions, WAYS } from "./support/stage.ts";

const CASES = Object.entries(SERVICES).flatMap(([service, start]) =>
  WAYS.flatMap((way) => MODES.map((historyPersistence) => ({ service, start, ...way, historyPersistence }))),
);

const asks = (name: string, ...ids: string[]): Said => ({
  reasoning: `hm, ${name}`,
  text: `One moment, I ${name}.`,
  calls: ids.map((id) => ({ id, name, arguments: "{}" })),
});

describe.each(CASES)(
  "A conversation with $service ($backend, streamed: $isStreamed, $historyPersistence)",
  ({ start, historyPersistence, ...way }) => {
    it("is one that it takes: after tools, an approval, a run that was given up, and in windows of any size", async () => {
      const open = await dataOf(way);
      const service: Service = await start(way.isStreamed);
      onTestFinished(() => service.close());
      const { tools, ran } = bank();
      const controller = new AbortController();
      const leave = { name: "leave", parameters: { type: "object" }, execute: () => controller.abort() };
      const next = (more: StageOptions = {}) =>
        new Stage(open(), way, [], { client: service.client, tools: [...tools, leave], historyPersistence, ...more });

      service.say(asks("look", "a", "b"), { text: "Seen." });
      await next().run("Look twice.");
      service.say({
        ...asks("pay", "waits-2"),
        calls: [...(asks("look", "waits-1").calls ?? []), ...(asks("pay", "waits-2").calls ?? [])],
      });
      const session = next().session();
      const { approvalRequests } = await next().run("Pay.", { session });
      service.say({ reasoning: "easy", text: "Sunny." });
      expect((await next().run("Weather?", { session: restored(session) })).text).toBe("Sunny.");
      // What waits is nothing that a service may see.
      expect(JSON.stringify(service.lastRequest)).not.toMatch(/waits/);
      service.say({ text: "Paid." });
      expect((await next().run([answer(approvalRequests)], { session: restored(session) })).text).toBe("Paid.");
      expect(ran).toHaveLength(4);
      service.say(asks("leave", "d"));
      await failureOf(next({ history: { keepPartial: true } }).run("Leave.", { signal: controller.signal }));
      for (const maxMessages of [1, 4, 9]) {
        const { text } = await next({ history: { maxMessages } }).run(`Still there? ${maxMessages}`);
        expect(text, `window of ${maxMessages}`).toBe("Hello.");
      }
      expect((await next().run("Bye.")).text).toBe("Hello.");
      expect(ran).toHaveLength(4);
    });
  },
);

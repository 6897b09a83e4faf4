import { describe, expect, it } from "vitest";
import { call, dataOf, failureOf, MODES, Stage, shape, WAYS } from "./support/stage.ts";

describe.each(WAYS.flatMap((way) => MODES.map((historyPersistence) => ({ ...way, historyPersistence }))))(
  "Runs of one process on one conversation ($backend, streamed: $isStreamed, $historyPersistence)",
  ({ historyPersistence, ...way }) => {
    const look = {
      name: "look",
      parameters: { type: "object" },
      execute: () => new Promise<string>((resolve) => setTimeout(() => resolve("seen"), 5)),
    };
    const turn = (id: string) => [{ pieces: [call(id, "look")] }, `answer ${id}`];

    it("go one after another: each sees the one before it whole", async () => {
      const open = await dataOf(way);
      const script = ["1", "2", "3"].flatMap(turn);
      const stage = new Stage(open(), way, script, { tools: [look], historyPersistence });
      await Promise.all(["a", "b", "c"].map((text) => stage.run(text)));
      const stored = shape(await stage.stored());
      expect(stored).toEqual(
        ["a", "b", "c"].flatMap((text, index) => [
          ...[`user: ${text}`, `assistant: call ${index + 1}`],
          ...[`tool: result ${index + 1} "seen"`, `assistant: answer ${index + 1}`],
        ]),
      );
      expect(stage.model.calls.map(({ messages }) => messages.length)).toEqual([1, 3, 5, 7, 9, 11]);
    });

    it("are refused while another one is under way, where the agent says so, and work afterwards", async () => {
      const open = await dataOf(way);
      const options = { tools: [look], historyPersistence, concurrency: "reject" as const };
      const stage = new Stage(open(), way, [...turn("1"), "fine"], options);
      const first = stage.run("a");
      expect(await failureOf(stage.run("b"))).toMatchObject({ code: "conflict" });
      await first;
      await stage.run("c");
      expect(shape(await stage.stored()).filter((line) => line.startsWith("user"))).toEqual(["user: a", "user: c"]);
    });
  },
);

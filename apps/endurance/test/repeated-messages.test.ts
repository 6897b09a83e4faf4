import { describe, expect, it } from "vitest";
import { dataOf, Stage, WAYS } from "./support/stage.ts";

const yes = (messageId?: string) => ({ role: "user" as const, contents: "yes", messageId });

describe.each(WAYS)("A transcript that is sent again ($backend, streamed: $isStreamed)", (way) => {
  it("is history by its ids, and a text that is said again is said again", async () => {
    const open = await dataOf(way);
    const texts = async (stage: Stage) =>
      (await stage.stored()).map(({ contents }) => (contents[0]?.type === "text" ? contents[0].text : ""));
    const again = async (stage: Stage) => JSON.parse(JSON.stringify(await stage.stored()));
    let stage = new Stage(open(), way, ["one"]);
    await stage.run([yes("m1")]);
    expect(await texts(stage)).toEqual(["yes", "one"]);
    stage = new Stage(open(), way, ["two"]);
    await stage.run([...(await again(stage)), yes("m2")]);
    expect(await texts(stage)).toEqual(["yes", "one", "yes", "two"]);
    stage = new Stage(open(), way, ["three"]);
    await stage.run([yes()]);
    expect(await texts(stage)).toEqual(["yes", "one", "yes", "two", "yes", "three"]);
    stage = new Stage(open(), way, ["four", "never"]);
    const transcript = [...(await again(stage)), { role: "user", contents: "stop", messageId: "m4" }];
    await stage.run(transcript, { runId: "last" });
    expect(stage.model.calls[0]?.messages).toHaveLength(7);
    expect(await texts(stage)).toEqual(["yes", "one", "yes", "two", "yes", "three", "stop", "four"]);
    expect((await stage.run(transcript, { runId: "last" })).text).toBe("four");
    expect(stage.model.calls).toHaveLength(1);
    expect(await stage.stored()).toHaveLength(8);
  });
});

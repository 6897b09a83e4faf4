import { type ContextProvider, HistoryProvider, type HistoryProviderOptions, openConversation } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { call, dataOf, MODES, Stage, shape, WAYS } from "./support/stage.ts";

const facts: ContextProvider = { sourceId: "facts", beforeRun: async (context) => context.addMessages("a fact") };

const POLICIES: readonly { readonly policy: HistoryProviderOptions; readonly stored: readonly string[] }[] = [
  { policy: {}, stored: ["user: x", "assistant: one"] },
  { policy: { load: false }, stored: ["user: x", "assistant: one"] },
  { policy: { storeInputs: false }, stored: ["assistant: one"] },
  { policy: { storeOutputs: false }, stored: ["user: x"] },
  { policy: { storeContext: ["facts"] }, stored: ["user: a fact", "user: x", "assistant: one"] },
  { policy: { storeContext: ["others"] }, stored: ["user: x", "assistant: one"] },
  { policy: { storeFilter: ({ role }) => role === "assistant" }, stored: ["assistant: one"] },
];

describe.each(WAYS)("What is kept of a run ($backend, streamed: $isStreamed)", (way) => {
  it("is shown to the model in the next turns, each message once and in order, in every process", async () => {
    const open = await dataOf(way);
    const said: string[] = [];
    for (const turn of [1, 2, 3, 4]) {
      const stage = new Stage(open(), way, [`answer ${turn}`]);
      await stage.run(`question ${turn}`);
      expect(shape(stage.model.calls[0]?.messages ?? [])).toEqual([...said, `user: question ${turn}`]);
      said.push(`user: question ${turn}`, `assistant: answer ${turn}`);
    }
    expect(shape(await new Stage(open(), way, []).stored())).toEqual(said);
  });

  it.each(POLICIES)(
    "is what the policy says, context before input before answer: $policy",
    async ({ policy, stored }) => {
      const open = await dataOf(way);
      const history = { sourceId: "history", ...policy };
      const stage = new Stage(open(), way, ["one", "two"], { history, observers: [facts] });
      await stage.run("x");
      expect(shape(await stage.stored())).toEqual(stored);
      await stage.run("y");
      const seen = shape(stage.model.calls[1]?.messages ?? []);
      const loaded = policy.load === false ? [] : stored;
      expect(seen).toEqual([...loaded, "user: a fact", "user: y"]);
    },
  );

  it("grows by the turn in a second store, never by the history", async () => {
    const open = await dataOf(way);
    const audit = new HistoryProvider(open(), { sourceId: "audit", load: false, storeContext: true });
    const stage = new Stage(open(), way, Array(10).fill("ok"), { observers: [facts, audit] });
    for (let turn = 1; turn <= 10; turn += 1) {
      await stage.run(`question ${turn}`);
      expect(await audit.getMessages(stage.session())).toHaveLength(3 * turn);
    }
    expect(await stage.stored()).toHaveLength(20);
  });

  it("is another agent's own where an agent is a tool, in one store and one session", async () => {
    const open = await dataOf(way);
    const child = new Stage(open(), way, ["a is done", "b is done"], { history: { sourceId: "child" } });
    const ask = child.agent.asTool({ name: "ask", description: "Asks.", propagateSession: true });
    const script = [
      { pieces: [call("1", "ask", '{"task":"a"}')] },
      "one",
      { pieces: [call("2", "ask", '{"task":"b"}')] },
      "two",
    ];
    const parent = new Stage(open(), way, script, { tools: [ask] });
    const session = parent.session();
    await parent.run("go", { session });
    await parent.run("go on", { session });
    expect(child.model.calls.map(({ messages }) => shape(messages))).toEqual([
      ["user: a"],
      ["user: a", "assistant: a is done", "user: b"],
    ]);
    expect(shape(await parent.stored())).toEqual([
      "user: go",
      "assistant: call 1",
      'tool: result 1 "a is done"',
      "assistant: one",
      "user: go on",
      "assistant: call 2",
      'tool: result 2 "b is done"',
      "assistant: two",
    ]);
  });

  it("keeps fields and contents of a later version, for the model and for the next reader", async () => {
    const open = await dataOf(way);
    await openConversation(open(), { owner: "ann", sessionId: "s" }).append([
      { role: "user", messageId: "u", contents: [{ type: "text", text: "hello" }] },
    ]);
    const key = { owner: "ann", source: "history", session: "s" };
    const [record] = (await open().read(key)).records;
    const later = {
      ...JSON.parse(record?.data ?? "{}"),
      messageId: "v",
      mood: { happy: true },
      contents: [
        { type: "text", text: "hi", tone: "warm" },
        { type: "hologram", frames: [1, { x: null }] },
      ],
    };
    const data = JSON.stringify(later).replaceAll('"u"', '"v"');
    await open().append(key, [{ id: "v", data }]);
    const stage = new Stage(open(), way, ["ok"]);
    await stage.run("again");
    expect(stage.model.calls[0]?.messages[1]?.contents).toMatchObject([
      { type: "text", text: "hi" },
      { type: "unknown", raw: { type: "hologram", frames: [1, { x: null }] } },
    ]);
    const { records } = await open().read(key);
    expect(records.find(({ id }) => id === "v")?.data).toBe(data);
    expect(records).toHaveLength(4);
  });
});

describe.each(WAYS.flatMap((way) => MODES.map((historyPersistence) => ({ ...way, historyPersistence }))))(
  "A run that goes round and round ($backend, streamed: $isStreamed, $historyPersistence)",
  ({ historyPersistence, ...way }) => {
    const broken = {
      name: "broken",
      parameters: { type: "object" },
      execute: () => {
        throw new Error("no");
      },
    };

    it("ends with text when its tools fail three times in a row, and is stored as it was", async () => {
      const open = await dataOf(way);
      const asks = ["1", "2", "3"].map((id) => ({ pieces: [call(id, "broken")] }));
      const stage = new Stage(open(), way, [...asks, "I give up."], { tools: [broken], historyPersistence });
      expect((await stage.run("go")).text).toBe("I give up.");
      expect(stage.model.calls.map(({ options }) => options.toolChoice)).toEqual([
        ...[undefined, undefined, undefined],
        "none",
      ]);
      expect(await stage.stored()).toHaveLength(8);
    });

    // How many calls are the most is counted by the agent: in memory they are as many as it says by itself.
    const most = way.backend === "memory" ? 40 : 6;

    it(`ends after ${most} calls of the model and one more, and the conversation goes on`, async () => {
      const open = await dataOf(way);
      const fine = { name: "fine", parameters: { type: "object" }, execute: () => 1 };
      const asks = Array.from({ length: most }, (_, index) => ({ pieces: [call(`c${index}`, "fine")] }));
      const options = { tools: [fine], historyPersistence, maxModelCalls: most === 40 ? undefined : most };
      const stage = new Stage(open(), way, [...asks, "enough", "yes?"], options);
      expect((await stage.run("go")).text).toBe("enough");
      expect(stage.model.calls).toHaveLength(most + 1);
      await stage.run("hello?");
      expect(await stage.stored()).toHaveLength(1 + 2 * most + 1 + 2);
    });
  },
);

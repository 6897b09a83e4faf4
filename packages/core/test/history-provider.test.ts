import { describe, expect, test } from "vitest";
import {
  AgentSession,
  type HistoryPolicy,
  HistoryProvider,
  type HistoryProviderOptions,
  type HistoryStore,
  InMemoryHistoryProvider,
  InMemoryHistoryStore,
  type Message,
  type MessageCodec,
  type MessageHistoryProvider,
  messageCountReducer,
  openConversation,
  type Run,
  RunContext,
} from "../src/index.ts";
import { assistant, call, deepFreeze, ids, resultOf, system, toolMessage, user } from "./support/messages.ts";
import { violations } from "./support/model-checker.ts";
import { load, newRun, newSession, turn } from "./support/runs.ts";
import { RecordingStore } from "./support/stores.ts";

const docs = { sourceId: "docs" };
const memory = { sourceId: "memory" };

/** A turn whose context comes from two other providers, for the provider under test. */
async function turnWithContext(provider: MessageHistoryProvider, session: AgentSession, number: number): Promise<Run> {
  const { run } = newRun(session, [user(`u${number}`)]);
  const context = new RunContext(run, provider);
  await provider.beforeRun(context);
  new RunContext(run, docs).addMessages(user(`doc${number}`));
  new RunContext(run, memory).addMessages(user(`memory${number}`));
  run.produced = [assistant(`a${number}`)];
  await provider.afterRun(context);
  return run;
}

describe("a history provider", () => {
  test("sends the model each turn once, in the order in which it was", async () => {
    const provider = new HistoryProvider(new InMemoryHistoryStore());
    const session = newSession();
    await turn(provider, session, [user("u1")], [assistant("a1")]);
    const { modelInput } = await turn(provider, session, [user("u2")], [assistant("a2")]);
    expect(ids(modelInput)).toEqual(["u1", "a1", "u2"]);
    expect(modelInput.map(({ attribution }) => attribution?.sourceType)).toEqual(["history", "history", undefined]);
    expect(ids(await provider.getMessages(session))).toEqual(["u1", "a1", "u2", "a2"]);
  });

  test("serves any number of sessions and runs at once, and mixes nothing", async () => {
    const provider = new HistoryProvider(new InMemoryHistoryStore());
    const sessions = Array.from({ length: 20 }, (_, index) => newSession(`s${index % 10}`, index < 10 ? "ann" : "bob"));
    await Promise.all(
      sessions.map(async (session, index) => {
        for (let number = 0; number < 3; number += 1) {
          const [input, output] = [user(`${index}.u${number}`), assistant(`${index}.a${number}`)];
          const { modelInput } = await turn(provider, session, [input], [output]);
          expect(modelInput).toHaveLength(number * 2 + 1);
        }
      }),
    );
    for (const [index, session] of sessions.entries()) {
      const stored = ids(await provider.getMessages(session));
      expect(stored).toHaveLength(6);
      expect(stored.every((id) => id.startsWith(`${index}.`))).toBe(true);
    }
  });

  test("keeps to its source: two of them on one store and one session do not mix", async () => {
    const store = new InMemoryHistoryStore();
    const session = newSession();
    const [one, two] = ["one", "two"].map((sourceId) => new HistoryProvider(store, { sourceId }));
    await turn(one!, session, [user("u1")], [assistant("a1")]);
    expect(await two!.getMessages(session)).toEqual([]);
    await two!.conversation(session).clear();
    expect(ids(await one!.getMessages(session))).toEqual(["u1", "a1"]);
    expect(
      ids((await openConversation(store, { owner: "owner", sessionId: "s1", source: "one" }).messages()).messages),
    ).toEqual(["u1", "a1"]);
  });

  test("loads and stores nothing in a run without a session of its own", async () => {
    const store = new RecordingStore();
    const provider = new HistoryProvider(store);
    const { run } = newRun(new AgentSession(), [user("u1")], { ephemeral: true });
    const context = new RunContext(run, provider);
    await provider.beforeRun(context);
    run.produced = [assistant("a1")];
    await provider.persist(context);
    await provider.afterRun(context);
    expect(store.calls).toEqual([]);
    expect(ids(run.modelInput())).toEqual(["u1"]);
  });

  test("loads nothing of a conversation that the service keeps, but stores it", async () => {
    const store = new RecordingStore();
    const provider = new HistoryProvider(store);
    const session = newSession();
    await provider.conversation(session).append([user("old")]);
    const { run } = newRun(session, [user("u1")], { serviceManaged: true });
    const context = new RunContext(run, provider);
    await provider.beforeRun(context);
    run.produced = [assistant("a1")];
    await provider.afterRun(context);
    expect(store.reads).toBe(0);
    expect(ids(run.modelInput())).toEqual(["u1"]);
    expect(ids(await provider.getMessages(session))).toEqual(["old", "u1", "a1"]);
  });

  test("passes on a store that cannot be reached, at the load and at the end", async () => {
    class Down extends InMemoryHistoryStore {
      override async read(): Promise<never> {
        throw new Error("no connection");
      }
      override async append(): Promise<never> {
        throw new Error("no connection");
      }
    }
    const provider = new HistoryProvider(new Down());
    await expect(load(provider, newSession())).rejects.toMatchObject({ code: "unavailable" });
    await expect(provider.getMessages(newSession())).rejects.toMatchObject({ code: "unavailable" });
    const writer = new HistoryProvider(new Down(), { load: false });
    await expect(turn(writer, newSession(), [user("u")], [assistant("a")])).rejects.toMatchObject({
      code: "outcome_unknown",
    });
  });

  test("reads once and writes once in a turn", async () => {
    const store = new RecordingStore();
    const provider = new HistoryProvider(store, { maxMessages: 4 });
    for (let number = 0; number < 5; number += 1) {
      await turn(provider, newSession(), [user(`u${number}`)], [assistant(`a${number}`)]);
    }
    expect([store.reads, store.appends]).toEqual([5, 5]);
  });

  test("does not change what it is given, from the caller or from the model", async () => {
    const provider = new HistoryProvider(new InMemoryHistoryStore(), { storeContext: true });
    const session = newSession();
    const input = deepFreeze([user("u1"), assistant("a1", call("A")), resultOf("a1", "A")]);
    const produced = deepFreeze([assistant("a2", call("B"), "text"), resultOf("a2", "B")]);
    await turn(provider, session, input, produced);
    const { messages } = await load(provider, session);
    expect(messages.map(({ attribution: _, ...message }) => message)).toEqual([...input, ...produced]);
  });

  test.each<[string, HistoryProviderOptions, string, string]>([
    ["an empty source id", { sourceId: "" }, "configuration", "sourceId"],
    ["a timeout of zero", { timeoutMs: 0 }, "configuration", "timeoutMs"],
    ["an unknown rule for damage", { onCorrupt: "ignore" as "skip" }, "configuration", "onCorrupt"],
    ["half a codec", { codec: {} as MessageCodec }, "configuration", "codec"],
    ["a window of zero", { maxMessages: 0 }, "configuration", "maxMessages"],
  ])("is refused with %s when it is made", (_, options, code, field) => {
    const attempt = () => new HistoryProvider(new InMemoryHistoryStore(), options);
    expect(attempt).toThrow(expect.objectContaining({ code }));
    expect(attempt).toThrow(field);
  });

  test("is refused for a store of a later contract, for no store, and for one without conditional appends", () => {
    const store = new InMemoryHistoryStore();
    const later = { contractVersion: 3, capabilities: store.capabilities } as unknown as HistoryStore;
    expect(() => new HistoryProvider(later)).toThrow(expect.objectContaining({ code: "unsupported" }));
    expect(() => new HistoryProvider(undefined as unknown as HistoryStore)).toThrow(
      expect.objectContaining({ code: "configuration" }),
    );
    const plain = Object.assign(store, { capabilities: { ...store.capabilities, conditionalAppend: false } });
    expect(() => new HistoryProvider(plain, { conditionalAppend: true })).toThrow(
      expect.objectContaining({ code: "unsupported" }),
    );
    expect(() => new InMemoryHistoryProvider({ conditionalAppend: true })).toThrow(
      expect.objectContaining({ code: "unsupported" }),
    );
  });
});

describe("what is stored of a turn", () => {
  test.each<[string, HistoryPolicy, string[]]>([
    ["nothing said: input and response", {}, ["u1", "a1"]],
    ["the response alone", { storeInputs: false }, ["a1"]],
    ["the input alone", { storeOutputs: false }, ["u1"]],
    ["nothing", { storeInputs: false, storeOutputs: false }, []],
    ["all context, in front", { storeContext: true }, ["doc1", "memory1", "u1", "a1"]],
    ["the context of one source", { storeContext: ["memory"] }, ["memory1", "u1", "a1"]],
    ["the context of no source", { storeContext: [] }, ["u1", "a1"]],
    ["the context of an unknown source", { storeContext: ["mem"] }, ["u1", "a1"]],
    ["context alone", { storeContext: ["docs"], storeInputs: false, storeOutputs: false }, ["doc1"]],
    [
      "what a filter chooses",
      { storeContext: true, storeFilter: ({ role }) => role === "user" },
      ["doc1", "memory1", "u1"],
    ],
    ["nothing that a filter takes", { storeFilter: () => false }, []],
    ["the same without a load", { load: false, storeContext: true }, ["doc1", "memory1", "u1", "a1"]],
  ])("is %s", async (_, policy, expected) => {
    for (const provider of [
      new HistoryProvider(new InMemoryHistoryStore(), policy),
      new InMemoryHistoryProvider(policy),
    ]) {
      const session = newSession();
      await turnWithContext(provider, session, 1);
      expect(ids(await provider.getMessages(session))).toEqual(expected);
    }
  });

  test("is nothing of what came from a history: an audit of ten turns grows by the turn", async () => {
    const store = new InMemoryHistoryStore();
    const primary = new HistoryProvider(store);
    const audit = new HistoryProvider(store, { sourceId: "audit", load: false, storeContext: true });
    const session = newSession();
    for (let number = 1; number <= 10; number += 1) {
      const { run } = newRun(session, [user(`u${number}`)]);
      const [first, second] = [new RunContext(run, primary), new RunContext(run, audit)];
      await primary.beforeRun(first);
      new RunContext(run, docs).addMessages(user(`doc${number}`));
      await audit.beforeRun(second);
      expect(run.modelInput()).toHaveLength((number - 1) * 2 + 2);
      run.produced = [assistant(`a${number}`)];
      await primary.afterRun(first);
      await audit.afterRun(second);
    }
    const turns = Array.from({ length: 10 }, (_, index) => index + 1);
    expect(ids(await primary.getMessages(session))).toEqual(turns.flatMap((number) => [`u${number}`, `a${number}`]));
    expect(ids(await audit.getMessages(session))).toEqual(
      turns.flatMap((number) => [`doc${number}`, `u${number}`, `a${number}`]),
    );
  });

  test("is nothing that the caller only sent again", async () => {
    const provider = new HistoryProvider(new InMemoryHistoryStore());
    const session = newSession();
    const transcript: Message[] = [];
    for (let number = 1; number <= 6; number += 1) {
      transcript.push(user(`u${number}`, "yes"));
      const { modelInput } = await turn(provider, session, JSON.parse(JSON.stringify(transcript)), [
        assistant(`a${number}`, "fine"),
      ]);
      expect(ids(modelInput)).toEqual([...ids(transcript.slice(0, -1)), `u${number}`]);
      transcript.push(assistant(`a${number}`, "fine"));
    }
    expect(await provider.getMessages(session)).toEqual(transcript);
  });

  test("is everything that comes without an id, also when it was said before", async () => {
    const provider = new HistoryProvider(new InMemoryHistoryStore());
    const session = newSession();
    for (let number = 1; number <= 3; number += 1) {
      await turn(provider, session, "yes", [assistant(`a${number}`)]);
    }
    expect(await provider.getMessages(session)).toHaveLength(6);
  });

  test("is stored once when the run is repeated under its own id", async () => {
    const provider = new HistoryProvider(new InMemoryHistoryStore(), { load: false });
    const session = newSession();
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const { run } = newRun(session, "hello", { runId: "r" });
      run.produced = [assistant("r:o0")];
      await provider.afterRun(new RunContext(run, provider));
    }
    expect(ids(await provider.getMessages(session))).toEqual(["r:i0", "r:o0"]);
  });

  test("is nothing when the run failed, and the next run goes on", async () => {
    const provider = new HistoryProvider(new InMemoryHistoryStore(), { keepPartial: true, storeContext: true });
    const session = newSession();
    const { run } = newRun(session, [user("u1")]);
    const context = new RunContext(run, provider);
    await provider.beforeRun(context);
    new RunContext(run, docs).addMessages("a document");
    run.produced = [assistant("a1", call("A"))];
    run.error = new Error("the model failed");
    await provider.afterRun(context);
    expect(await provider.getMessages(session)).toEqual([]);
    await turn(provider, session, [user("u2")], [assistant("a2")]);
    expect(ids(await provider.getMessages(session))).toEqual(["u2", "a2"]);
  });

  test("is what was there of a run that was given up, when that is to be kept", async () => {
    for (const keepPartial of [false, true]) {
      const provider = new HistoryProvider(new InMemoryHistoryStore(), { keepPartial });
      const session = newSession();
      const { run } = newRun(session, [user("u1")]);
      run.error = new DOMException("given up", "AbortError");
      run.partial = [{ ...assistant("a1", "Hel"), additionalProperties: { incomplete: true } }];
      await provider.afterRun(new RunContext(run, provider));
      expect(await provider.getMessages(session)).toEqual(keepPartial ? [user("u1"), ...run.partial] : []);
    }
  });

  test("is written although the run's signal is aborted", async () => {
    const store = new RecordingStore();
    const provider = new HistoryProvider(store, { keepPartial: true });
    const session = newSession();
    const { run } = newRun(session, [user("u1")], { signal: AbortSignal.abort() });
    run.error = run.options.signal?.reason;
    run.partial = [assistant("a1", "Hel")];
    await provider.afterRun(new RunContext(run, provider));
    expect(store.calls).toMatchObject([{ name: "append" }]);
    expect(store.calls[0]?.options.signal?.aborted).not.toBe(true);
    expect(ids(await provider.getMessages(session))).toEqual(["u1", "a1"]);
  });
});

describe("storing as the run goes on", () => {
  test("writes each message once, in the order of the run, and ends up with the same", async () => {
    const store = new RecordingStore();
    const provider = new HistoryProvider(store);
    const session = newSession();
    const { run } = newRun(session, [user("u1")]);
    const context = new RunContext(run, provider);
    await provider.beforeRun(context);
    const steps = [assistant("a1", call("A"), call("B")), resultOf("a1", "A"), resultOf("a1", "B"), assistant("a2")];
    const writes: Promise<void>[] = [];
    for (const [index] of steps.entries()) {
      run.produced = steps.slice(0, index + 1);
      writes.push(provider.persist(context));
    }
    await Promise.all(writes);
    await provider.afterRun(context);
    expect(ids(await provider.getMessages(session))).toEqual(["u1", ...ids(steps)]);
    expect(store.calls.filter(({ name }) => name === "append").map(({ records }) => records?.length)).toEqual([
      2, 1, 1, 1,
    ]);
  });

  test("goes on after a write that failed, and loses nothing", async () => {
    const store = new InMemoryHistoryStore();
    const append = store.append.bind(store);
    let isDown = true;
    store.append = async (...given) => {
      if (isDown) {
        throw new Error("no connection");
      }
      return append(...given);
    };
    const provider = new HistoryProvider(store, { load: false });
    const session = newSession();
    const { run } = newRun(session, [user("u1")]);
    const context = new RunContext(run, provider);
    run.produced = [assistant("a1", call("A"))];
    await expect(provider.persist(context)).rejects.toMatchObject({ code: "outcome_unknown" });
    run.produced = [...run.produced, resultOf("a1", "A")];
    await expect(provider.persist(context)).rejects.toMatchObject({ code: "outcome_unknown" });
    isDown = false;
    run.produced = [...run.produced, assistant("a2")];
    await provider.afterRun(context);
    expect(ids(await provider.getMessages(session))).toEqual(["u1", "a1", "a1/A", "a2"]);
  });
});

describe("the repair of what a crash left", () => {
  test("is stored with the next turn, once, and the turn behind it has nothing to repair", async () => {
    for (const policy of [{}, { maxMessages: 50 }, { storeInputs: false }, { storeFilter: () => true }]) {
      const provider = new HistoryProvider(new InMemoryHistoryStore(), policy);
      const session = newSession();
      await provider
        .conversation(session)
        .append([user("u1"), assistant("a1", call("A"), call("B")), resultOf("a1", "A")]);
      const second = await turn(provider, session, [user("u2")], [assistant("a2")]);
      expect(ids(second.modelInput)).toEqual(["u1", "a1", "a1/A", "a1/B", "u2"]);
      expect(second.events.map(({ type }) => type)).toEqual(["open_call_closed"]);
      const third = await turn(provider, session, [user("u3")], [assistant("a3")]);
      expect(third.events).toEqual([]);
      expect(violations(third.modelInput)).toEqual([]);
      expect(ids(await provider.getMessages(session)).filter((id) => id === "a1/B")).toHaveLength(1);
    }
  });

  test("is not stored by a run that fails, nor by a load alone", async () => {
    const store = new RecordingStore();
    const provider = new HistoryProvider(store);
    const session = newSession();
    await provider.conversation(session).append([user("u1"), assistant("a1", call("A"))]);
    const { context, run } = await load(provider, session, [user("u2")]);
    run.error = new Error("no");
    await provider.afterRun(context);
    expect(store.appends).toBe(1);
  });

  test("makes way for the result of a process that was only slow: the first one that is stored counts", async () => {
    const provider = new HistoryProvider(new InMemoryHistoryStore());
    const session = newSession();
    const conversation = provider.conversation(session);
    await conversation.append([user("u1"), assistant("a1", call("A"))]);
    const { run, context } = await load(provider, session, [user("u2")]);
    await conversation.append([resultOf("a1", "A", "the real one")]);
    run.produced = [assistant("a2")];
    await provider.afterRun(context);
    const { messages, events } = await load(provider, session);
    expect(ids(messages)).toEqual(["u1", "a1", "a1/A", "u2", "a2"]);
    expect(messages[2]?.contents).toEqual([{ type: "function_result", callId: "A", result: "the real one" }]);
    expect(events).toEqual([]);
  });

  test("and the real result that comes too late leaves the conversation as it is", async () => {
    const provider = new HistoryProvider(new InMemoryHistoryStore());
    const session = newSession();
    const conversation = provider.conversation(session);
    await conversation.append([user("u1"), assistant("a1", call("A"))]);
    await turn(provider, session, [user("u2")], [assistant("a2")]);
    await conversation.append([resultOf("a1", "A", "too late")]);
    expect(ids((await conversation.messages()).messages)).toEqual(["u1", "a1", "a1/A", "u2", "a2"]);
    expect((await load(provider, session)).events).toEqual([]);
  });

  test("is done for an audit provider by nobody: it stores what happened", async () => {
    const audit = new HistoryProvider(new InMemoryHistoryStore(), { load: false });
    const session = newSession();
    await audit.conversation(session).append([assistant("a1", call("A"))]);
    await turn(audit, session, [user("u1")], [assistant("a2")]);
    expect(ids(await audit.getMessages(session))).toEqual(["a1", "u1", "a2"]);
  });
});

describe("a conditional append", () => {
  async function overtaken(conditionalAppend: boolean): Promise<{ outcome: unknown; stored: string[] }> {
    const store = new InMemoryHistoryStore();
    const provider = new HistoryProvider(store, { conditionalAppend });
    const session = newSession();
    await turn(provider, session, [user("u1")], [assistant("a1")]);
    const { run, context } = await load(provider, session, [user("u2")]);
    await provider.conversation(session).append([user("other")]);
    run.produced = [assistant("a2")];
    const outcome = await provider.afterRun(context).catch((error: unknown) => error);
    return { outcome, stored: ids(await provider.getMessages(session)) };
  }

  test("is a conflict with the current version when another process wrote since the load", async () => {
    const { outcome, stored } = await overtaken(true);
    expect(outcome).toMatchObject({ code: "conflict", retryable: true, currentVersion: expect.any(String) });
    expect(stored).toEqual(["u1", "a1", "other"]);
  });

  test("is not what happens unless it is asked for", async () => {
    const { outcome, stored } = await overtaken(false);
    expect(outcome).toBeUndefined();
    expect(stored).toEqual(["u1", "a1", "other", "u2", "a2"]);
  });

  test("follows the run's own writes, and holds from a conversation's first one on", async () => {
    const store = new InMemoryHistoryStore();
    const provider = new HistoryProvider(store, { conditionalAppend: true });
    const session = newSession();
    const { run, context } = await load(provider, session, [user("u1")]);
    run.produced = [assistant("a1", call("A"))];
    await provider.persist(context);
    run.produced = [...run.produced, resultOf("a1", "A")];
    await provider.persist(context);
    await provider.afterRun(context);
    expect(ids(await provider.getMessages(session))).toEqual(["u1", "a1", "a1/A"]);
    const late = await load(provider, newSession("fresh"), [user("u")]);
    await provider.conversation(newSession("fresh")).append([user("first")]);
    await expect(provider.afterRun(late.context)).rejects.toMatchObject({ code: "conflict" });
  });
});

describe("a reducer", () => {
  const stored = [
    system("s"),
    user("u1"),
    assistant("a1", call("A")),
    resultOf("a1", "A"),
    assistant("a2"),
    user("u2"),
  ];

  async function reduced(options: HistoryProviderOptions): Promise<Message[]> {
    const provider = new HistoryProvider(new InMemoryHistoryStore(), options);
    const session = newSession();
    await provider.conversation(session).append(stored);
    return (await load(provider, session)).messages;
  }

  test("changes what the model is sent, not what is stored", async () => {
    const provider = new HistoryProvider(new InMemoryHistoryStore(), {
      reducer: async (messages) => [user("summary", `a summary of ${messages.length}`), ...messages.slice(-1)],
    });
    const session = newSession();
    await provider.conversation(session).append(stored);
    await turn(provider, session, [user("u3")], [assistant("a3")]);
    expect(ids((await load(provider, session)).messages)).toEqual(["summary", "a3"]);
    expect(ids(await provider.getMessages(session))).toEqual([...ids(stored), "u3", "a3"]);
  });

  test("is told the session and the run's signal, and is not asked about nothing", async () => {
    const seen: unknown[] = [];
    const provider = new HistoryProvider(new InMemoryHistoryStore(), {
      reducer: (messages, context) => {
        seen.push([ids(messages), context.session.sessionId, context.signal.aborted]);
        return messages;
      },
    });
    await load(provider, newSession());
    await turn(provider, newSession(), [user("u1")], []);
    await load(provider, newSession());
    expect(seen).toEqual([[["u1"], "s1", false]]);
  });

  test("that tears calls, results or reasoning apart leaves whole groups all the same", async () => {
    const torn = [
      (messages: readonly Message[]) => messages.filter(({ role }) => role !== "tool"),
      (messages: readonly Message[]) => messages.filter(({ messageId }) => messageId !== "a1"),
      (messages: readonly Message[]) => messages.toReversed(),
      (messages: readonly Message[]) => [...messages, toolMessage("stray", "X")],
      (messages: readonly Message[]) => [
        ...messages,
        { ...assistant("r"), contents: [{ type: "text_reasoning" as const, text: "hm" }] },
      ],
    ];
    for (const reducer of torn) {
      expect(violations(await reduced({ reducer }))).toEqual([]);
    }
    expect(ids(await reduced({ reducer: torn[0] }))).toEqual(["s", "u1", "a2", "u2"]);
  });

  test("that counts keeps the newest messages on whole groups, and a leading system message beside them", async () => {
    const kept = async (count: number) => ids(await reduced({ reducer: messageCountReducer(count) }));
    expect(await kept(1)).toEqual(["s", "u2"]);
    expect(await kept(2)).toEqual(["s", "a2", "u2"]);
    expect(await kept(3)).toEqual(["s", "a2", "u2"]);
    expect(await kept(4)).toEqual(["s", "a1", "a1/A", "a2", "u2"]);
    expect(await kept(5)).toEqual(ids(stored));
    expect(await kept(1_000)).toEqual(ids(stored));
  });

  test("that counts does not touch what it is given", async () => {
    const messages = deepFreeze(stored);
    const context = { session: newSession(), signal: new AbortController().signal };
    for (const count of [1, 2, 3, 100]) {
      await messageCountReducer(count)(messages, context);
    }
    expect(ids(messages)).toEqual(ids(stored));
  });

  test("that fails or gives no list ends the run with its own or a typed error", async () => {
    const failure = new Error("no");
    await expect(
      reduced({
        reducer: () => {
          throw failure;
        },
      }),
    ).rejects.toBe(failure);
    for (const none of [undefined, null, "x", {}]) {
      const reducer = () => none as unknown as Message[];
      await expect(reduced({ reducer })).rejects.toMatchObject({ code: "configuration", message: /reducer/ });
    }
  });
});

describe("unreadable messages", () => {
  test("end the load, which names the place and changes nothing, or are skipped and reported", async () => {
    const store = new InMemoryHistoryStore();
    const session = newSession();
    const strict = new HistoryProvider(store);
    const { key } = strict.conversation(session);
    await turn(strict, session, [user("u1")], [assistant("a1")]);
    await store.append(key, [{ id: "bad", data: '{"role":"user"}' }]);
    await expect(load(strict, session)).rejects.toMatchObject({ code: "corrupt", position: "bad" });
    await expect(strict.getMessages(session)).rejects.toMatchObject({ code: "corrupt", position: "bad" });
    const events: string[] = [];
    const lenient = new HistoryProvider(store, {
      onCorrupt: "skip",
      onDiagnostic: ({ type, position }) => events.push(`${type} ${position}`),
    });
    expect(ids((await load(lenient, session)).messages)).toEqual(["u1", "a1"]);
    expect(events).toEqual(["corrupt_record_skipped bad"]);
    await turn(lenient, session, [user("u2")], [assistant("a2")]);
    expect((await store.read(key)).records.map(({ id }) => id)).toEqual(["u1", "a1", "bad", "u2", "a2"]);
  });
});

describe("a conversation's place", () => {
  test("is the same for sessions restored twice and providers made twice, and another for another conversation", () => {
    const store = new InMemoryHistoryStore();
    const place = (session: AgentSession, options = {}) =>
      new HistoryProvider(store, options).conversationPlace(session);
    expect(place(newSession("s", "ann"))).toEqual(place(newSession("s", "ann")));
    expect(place(newSession("s", "ann")).scope).toBe(store);
    const others = [
      place(newSession("s", "bob")),
      place(newSession("s", null)),
      place(newSession("t", "ann")),
      place(newSession("s", "ann"), { sourceId: "audit" }),
    ];
    expect(new Set([place(newSession("s", "ann")), ...others].map(({ key }) => key)).size).toBe(5);
  });

  test("of messages in the session is the session itself", () => {
    const [one, two] = [newSession(), newSession()];
    const provider = new InMemoryHistoryProvider();
    expect(provider.conversationPlace(one).scope).toBe(one);
    expect(provider.conversationPlace(one).scope).not.toBe(provider.conversationPlace(two).scope);
  });
});

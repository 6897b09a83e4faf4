import { describe, expect, test } from "vitest";
import {
  HistoryProvider,
  type HistoryProviderOptions,
  InMemoryHistoryProvider,
  type Message,
  messageCountReducer,
} from "../src/index.ts";
import {
  approvalRequest,
  approvalResponse,
  assistant,
  call,
  ids,
  reasoning,
  result,
  resultOf,
  system,
  toolMessage,
  user,
  withoutAttribution,
} from "./support/messages.ts";
import { violations } from "./support/model-checker.ts";
import { load, newSession } from "./support/runs.ts";
import { RecordingStore } from "./support/stores.ts";

/** Stores messages and gives what a run with this input would be sent, and how often the store was read for it. */
async function loaded(
  stored: readonly Message[],
  options: HistoryProviderOptions = {},
  input: readonly Message[] = [],
): Promise<{ messages: Message[]; reads: number; repairs: string[] }> {
  const store = new RecordingStore();
  const provider = new HistoryProvider(store, options);
  const session = newSession();
  await provider.conversation(session).append(stored);
  const { messages, events } = await load(provider, session, input);
  return {
    messages: withoutAttribution(messages),
    reads: store.reads,
    repairs: events.map(({ type, callId }) => `${type} ${callId}`),
  };
}

/** Six turns of reasoning, call, result, reasoning and text. */
function reasoningTurns(): Message[] {
  return [1, 2, 3, 4, 5, 6].flatMap((turn) => {
    const before: Message = reasoning(`t${turn}.r1`);
    if (turn === 3) {
      return chain(turn, { ...before, contents: [{ type: "text_reasoning" }] });
    }
    if (turn === 4) {
      return chain(turn, { ...before, contents: [{ type: "text_reasoning", protectedData: "b3BhcXVl+/==" }] });
    }
    return chain(turn, before);
  });
}

function chain(turn: number, before: Message): Message[] {
  return [
    user(`t${turn}.u`),
    before,
    assistant(`t${turn}.a1`, call("call_0")),
    resultOf(`t${turn}.a1`, "call_0"),
    reasoning(`t${turn}.r2`),
    assistant(`t${turn}.a2`),
  ];
}

const LIMITS = Array.from({ length: 36 }, (_, index) => index + 1);

/** Each of these is a group that is never torn apart. */
const UNITS = [1, 2, 3, 4, 5, 6].flatMap((turn) => [
  [`t${turn}.u`],
  [`t${turn}.r1`, `t${turn}.a1`, `t${turn}.a1/call_0`],
  [`t${turn}.r2`, `t${turn}.a2`],
]);

/** As many whole units from the end as fit; the newest one always. */
function expectedIds(limit: number): string[] {
  let kept: string[] = UNITS.at(-1) ?? [];
  for (const unit of UNITS.slice(0, -1).reverse()) {
    if (kept.length + unit.length > limit) {
      break;
    }
    kept = [...unit, ...kept];
  }
  return kept;
}

describe("a conversation of 36 messages with reasoning and calls, cut at any limit", () => {
  test.each(LIMITS)("loads whole at a limit of %i, in one read", async (limit) => {
    const { messages, reads, repairs } = await loaded(reasoningTurns(), { maxMessages: limit });
    expect(ids(messages)).toEqual(expectedIds(limit));
    expect(messages).toEqual(reasoningTurns().slice(-messages.length));
    expect(violations(messages)).toEqual([]);
    expect(repairs).toEqual([]);
    // The newest group is two messages long: a window of one message has to look further back.
    expect(reads).toBe(limit === 1 ? 2 : 1);
  });

  test.each(LIMITS)("loads whole through a count reducer of %i", async (limit) => {
    const { messages, reads } = await loaded(reasoningTurns(), { reducer: messageCountReducer(limit) });
    expect(ids(messages)).toEqual(expectedIds(limit));
    expect(violations(messages)).toEqual([]);
    expect(reads).toBe(1);
  });

  test.each(LIMITS)("loads whole from the session at a limit of %i", async (limit) => {
    const provider = new InMemoryHistoryProvider({ maxMessages: limit });
    const session = newSession();
    provider.setMessages(session, reasoningTurns());
    expect(ids((await load(provider, session)).messages)).toEqual(expectedIds(limit));
  });

  test.each(LIMITS)("reads in pages of %i, each whole and each message once", async (limit) => {
    const store = new RecordingStore();
    const conversation = new HistoryProvider(store).conversation(newSession());
    await conversation.append(reasoningTurns());
    let seen: Message[] = [];
    let before: string | undefined;
    do {
      const page = await conversation.messages({ last: limit, before });
      expect(violations(page.messages)).toEqual([]);
      expect(page.messages.length).toBeGreaterThan(0);
      expect(page.messages.length).toBeLessThanOrEqual(Math.max(limit, 3));
      seen = [...page.messages, ...seen];
      before = page.older;
    } while (before !== undefined);
    expect(seen).toEqual(reasoningTurns());
  });

  test("loads without a limit as it is stored, in one read", async () => {
    const { messages, reads } = await loaded(reasoningTurns());
    expect(messages).toEqual(reasoningTurns());
    expect(reads).toBe(1);
  });
});

describe("a limit", () => {
  test("counts messages of plain text one by one, in one read", async () => {
    const plain = Array.from({ length: 30 }, (_, index) =>
      index % 2 === 0 ? user(`m${index}`) : assistant(`m${index}`),
    );
    for (const maxMessages of [1, 2, 3, 7, 29, 30, 31, 1_000]) {
      const { messages, reads } = await loaded(plain, { maxMessages });
      expect(messages).toEqual(plain.slice(-maxMessages));
      expect(reads).toBe(1);
    }
  });

  test("keeps eight parallel calls and their results together, or leaves them all out", async () => {
    const names = ["A", "B", "C", "D", "E", "F", "G", "H"];
    const calls = assistant("a1", ...names.map((name) => call(name)));
    const stored = [user("u1"), calls, ...names.map((name) => resultOf("a1", name)), user("u2")];
    for (const maxMessages of [1, 5, 9]) {
      expect(ids((await loaded(stored, { maxMessages })).messages)).toEqual(["u2"]);
    }
    for (const maxMessages of [10, 11]) {
      const { messages } = await loaded(stored, { maxMessages });
      expect(messages).toEqual(stored.slice(-maxMessages));
    }
  });

  test("gives way to the newest group, which is loaded whole however long it is, by further reads", async () => {
    const names = Array.from({ length: 40 }, (_, index) => `c${index}`);
    const calls = assistant("a1", ...names.map((name) => call(name)));
    const group = [reasoning("r1"), calls, ...names.map((name) => resultOf("a1", name))];
    const { messages, reads } = await loaded([user("u1"), ...group], { maxMessages: 3 });
    expect(messages).toEqual(group);
    expect(reads).toBeGreaterThan(1);
    expect(reads).toBeLessThan(8);
  });

  test("counts a tool message once for each call that it answers, as it is loaded", async () => {
    const stored = [user("u1"), assistant("a1", call("A"), call("B")), toolMessage("t1", "A", "B"), user("u2")];
    expect(ids((await loaded(stored, { maxMessages: 3 })).messages)).toEqual(["u2"]);
    expect(ids((await loaded(stored, { maxMessages: 4 })).messages)).toEqual(["a1", "t1", "t1", "u2"]);
  });

  test("counts the results that close lost calls, so that a repaired load is no longer either", async () => {
    const stored = [user("u0"), user("u1"), assistant("a1", call("A"), call("B")), user("u2")];
    expect(ids((await loaded(stored, { maxMessages: 3 })).messages)).toEqual(["u2"]);
    expect(ids((await loaded(stored, { maxMessages: 4 })).messages)).toEqual(["a1", "a1/A", "a1/B", "u2"]);
  });

  test("does not count reasoning that led to nothing, which is not loaded", async () => {
    const stored = [user("u1"), assistant("a1"), reasoning("r1"), reasoning("r2")];
    for (const [maxMessages, expected] of [
      [1, ["a1"]],
      [2, ["u1", "a1"]],
      [9, ["u1", "a1"]],
    ] as const) {
      expect(ids((await loaded(stored, { maxMessages })).messages)).toEqual(expected);
    }
  });

  test("finds a result that was stored far behind its call", async () => {
    const between = Array.from({ length: 10 }, (_, index) => user(`u${index}`));
    const stored = [assistant("a1", call("A")), ...between, resultOf("a1", "A")];
    expect(ids((await loaded(stored, { maxMessages: 12 })).messages)).toEqual(["a1", "a1/A", ...ids(between)]);
    const short = await loaded(stored, { maxMessages: 4 });
    expect(short.messages.length).toBeLessThanOrEqual(4);
    expect(violations(short.messages)).toEqual([]);
    expect(short.repairs).toEqual([]);
  });

  test("is a whole number of at least one", () => {
    for (const maxMessages of [0, -1, 2.5, Number.NaN, Number.POSITIVE_INFINITY, "5" as unknown as number]) {
      const attempt = () => new HistoryProvider(new RecordingStore(), { maxMessages });
      expect(attempt).toThrow(expect.objectContaining({ code: "configuration" }));
      expect(attempt).toThrow("maxMessages: must be a whole number of at least 1");
      expect(() => messageCountReducer(maxMessages)).toThrow("count: must be a whole number of at least 1");
    }
  });
});

describe("the first message", () => {
  const turns = [1, 2, 3].flatMap((turn) => [user(`u${turn}`), assistant(`a${turn}`)]);

  test.each(["system", "user"] as const)(
    "is loaded as well when it is a %s message and keepFirst is on",
    async (role) => {
      const first: Message = { ...system("first"), role };
      const { messages, reads } = await loaded([first, ...turns], { maxMessages: 2, keepFirst: true });
      expect(ids(messages)).toEqual(["first", "u3", "a3"]);
      expect(reads).toBe(1);
      expect(ids((await loaded([first, ...turns], { maxMessages: 2 })).messages)).toEqual(["u3", "a3"]);
    },
  );

  test("is not loaded twice when it is in the window anyway, with calls and without", async () => {
    for (const rest of [turns, [...turns, assistant("a4", call("A")), resultOf("a4", "A")]]) {
      const { messages } = await loaded([system("first"), ...rest], { maxMessages: 50, keepFirst: true });
      expect(ids(messages)).toEqual(["first", ...ids(rest)]);
    }
  });

  test("is left out when it is the model's, which would stand without what led to it", async () => {
    for (const first of [
      assistant("first"),
      assistant("first", call("A")),
      toolMessage("first", "A"),
      reasoning("first"),
    ]) {
      const { messages } = await loaded([first, ...turns], { maxMessages: 2, keepFirst: true });
      expect(ids(messages)).toEqual(["u3", "a3"]);
    }
  });

  test("is left out when it holds a result, whoever says it", async () => {
    const first: Message = { role: "user", messageId: "first", contents: [result("A")] };
    const stored = [first, ...turns, assistant("a4", call("B")), resultOf("a4", "B")];
    const { messages } = await loaded(stored, { maxMessages: 2, keepFirst: true });
    expect(violations(messages)).toEqual([]);
    expect(ids(messages)).toEqual(["a4", "a4/B"]);
  });

  test("comes with a load that has to read further back", async () => {
    const stored = [system("first"), ...turns, reasoning("r"), assistant("a4", call("A")), resultOf("a4", "A")];
    const { messages } = await loaded(stored, { maxMessages: 1, keepFirst: true });
    expect(ids(messages)).toEqual(["first", "r", "a4", "a4/A"]);
  });
});

describe("a call that a crash left open", () => {
  const crashed = [user("u1"), assistant("a1", call("A"), call("B")), resultOf("a1", "A")];

  test("is closed with an error result right behind the call, and what is there stays as it is", async () => {
    const { messages, repairs } = await loaded(crashed);
    expect(messages.slice(0, 3)).toEqual(crashed);
    expect(messages[3]).toMatchObject({ role: "tool", messageId: "a1/B", contents: [{ exception: "interrupted" }] });
    expect(violations(messages)).toEqual([]);
    expect(repairs).toEqual(["open_call_closed B"]);
  });

  test("is closed when it is the last message, the only one, and in the middle of many", async () => {
    for (const stored of [
      [assistant("a1", call("A"))],
      [user("u1"), assistant("a1", call("A"))],
      [user("u1"), reasoning("r1"), assistant("a1", call("A"))],
    ]) {
      const { messages } = await loaded(stored);
      expect(ids(messages)).toEqual([...ids(stored), "a1/A"]);
      expect(violations(messages)).toEqual([]);
    }
    const many = Array.from({ length: 50 }, (_, index) =>
      index === 20 ? assistant("open", call("A")) : user(`m${index}`),
    );
    const { messages } = await loaded(many);
    expect(messages.filter(({ messageId }) => messageId !== "open/A")).toEqual(many);
    expect(ids(messages).indexOf("open/A")).toBe(21);
  });

  test("is closed under a call id that repeats, and only there", async () => {
    const stored = [
      assistant("a1", call("call_0")),
      resultOf("a1", "call_0"),
      user("u1"),
      assistant("a2", call("call_0"), call("call_0")),
      resultOf("a2", "call_0"),
    ];
    const { messages, repairs } = await loaded(stored);
    expect(ids(messages)).toEqual([...ids(stored), "a2/#1/call_0"]);
    expect(violations(messages)).toEqual([]);
    expect(repairs).toHaveLength(1);
  });

  test("is not closed when it waits for a person, with the calls beside it", async () => {
    const asked = assistant("a1", call("A"), call("B"), approvalRequest("a1/A", call("A")));
    const { messages, repairs } = await loaded([user("u1"), asked, user("u2"), assistant("a2")]);
    expect(messages).toEqual([user("u1"), asked, user("u2"), assistant("a2")]);
    expect(repairs).toEqual([]);
  });

  test("is not closed when the input answers it, whose result takes the id that it was to have", async () => {
    for (const options of [{}, { maxMessages: 2 }, { reducer: messageCountReducer(2) }]) {
      const answer: Message = { role: "tool", messageId: "mine", contents: [result("A")] };
      const provider = new HistoryProvider(new RecordingStore(), options);
      const session = newSession();
      await provider.conversation(session).append([user("u1"), assistant("a1", call("A"))]);
      const { run, events } = await load(provider, session, [answer]);
      expect(ids(run.modelInput()).slice(-2)).toEqual(["a1", "a1/A"]);
      expect(violations(run.modelInput())).toEqual([]);
      expect(events).toEqual([]);
    }
  });

  test("is closed all the same when the input answers a newer call with the same call id", async () => {
    const stored = [user("u1"), assistant("a1", call("c")), user("u2"), assistant("a2", call("c"))];
    const provider = new HistoryProvider(new RecordingStore());
    const session = newSession();
    await provider.conversation(session).append(stored);
    const { run } = await load(provider, session, [toolMessage("mine", "c")]);
    expect(ids(run.modelInput())).toEqual(["u1", "a1", "a1/c", "u2", "a2", "a2/c"]);
    expect(violations(run.modelInput())).toEqual([]);
  });
});

describe("what has lost its partner", () => {
  test("is not loaded: a result without a call, which is reported", async () => {
    const stored = [user("u1"), toolMessage("t1", "X"), assistant("a1"), toolMessage("t2", "Y", "Z")];
    const { messages, repairs } = await loaded(stored);
    expect(ids(messages)).toEqual(["u1", "a1"]);
    expect(repairs).toEqual(["orphan_result_dropped X", "orphan_result_dropped Y", "orphan_result_dropped Z"]);
  });

  test("is closed and dropped at once when call and result have nothing in common", async () => {
    const { messages, repairs } = await loaded([user("u1"), assistant("a1", call("A")), toolMessage("t1", "B")]);
    expect(ids(messages)).toEqual(["u1", "a1", "a1/A"]);
    expect(violations(messages)).toEqual([]);
    expect(repairs.sort()).toEqual(["open_call_closed A", "orphan_result_dropped B"]);
  });

  test("is not loaded: reasoning that led to nothing, wherever it stands", async () => {
    const { messages } = await loaded([reasoning("r1"), user("u1"), assistant("a1"), reasoning("r2")]);
    expect(ids(messages)).toEqual(["u1", "a1"]);
  });
});

describe("what the input needs is loaded however old it is", () => {
  const asked = assistant("old", call("A"), approvalRequest("old/A", call("A")));
  const turns = Array.from({ length: 40 }, (_, index) => user(`u${index}`));

  test("a request that a person answers after more turns than the window holds", async () => {
    const answer: Message = { role: "user", messageId: "answer", contents: [approvalResponse("old/A")] };
    const { messages } = await loaded([user("first"), asked, ...turns], { maxMessages: 4 }, [answer]);
    expect(ids(messages)).toEqual(["old", "u36", "u37", "u38", "u39"]);
  });

  test("a call that was left to the caller", async () => {
    const stored = [user("first"), reasoning("r"), assistant("old", call("A")), ...turns];
    const { messages } = await loaded(stored, { maxMessages: 4 }, [toolMessage("answer", "A")]);
    expect(ids(messages)).toEqual(["r", "old", "u36", "u37", "u38", "u39"]);
  });

  test("but not closed calls that share its call id", async () => {
    const closed = [1, 2, 3].flatMap((turn) => [assistant(`a${turn}`, call("c")), resultOf(`a${turn}`, "c")]);
    const stored = [...closed, assistant("open", call("c")), user("last")];
    const { messages } = await loaded(stored, { maxMessages: 1 }, [toolMessage("answer", "c")]);
    expect(ids(messages)).toEqual(["open", "last"]);
  });

  test("and an answer to what was never asked reads everything once and changes nothing", async () => {
    const answer: Message = { role: "user", messageId: "answer", contents: [approvalResponse("never/asked")] };
    const { messages } = await loaded(turns, { maxMessages: 4 }, [answer]);
    expect(ids(messages)).toEqual(["u36", "u37", "u38", "u39"]);
  });
});

describe("unreadable messages that are skipped", () => {
  async function withDamage(maxMessages: number): Promise<string[]> {
    const store = new RecordingStore();
    const provider = new HistoryProvider(store, { maxMessages, onCorrupt: "skip" });
    const session = newSession();
    const conversation = provider.conversation(session);
    await conversation.append([1, 2, 3, 4, 5].map((number) => user(`u${number}`)));
    for (const id of ["bad1", "bad2", "bad3", "bad4"]) {
      await store.append(conversation.key, [{ id, data: "42" }]);
    }
    const { messages } = await load(provider, session);
    return ids(messages);
  }

  test.each([1, 2, 3, 4, 5, 6])("do not take the place of readable ones in a window of %i", async (maxMessages) => {
    expect(await withDamage(maxMessages)).toEqual(["u1", "u2", "u3", "u4", "u5"].slice(-maxMessages));
  });
});

import { describe, expect, test } from "vitest";
import {
  groupMessages,
  HistoryProvider,
  type HistoryProviderOptions,
  InMemoryHistoryProvider,
  InMemoryHistoryStore,
  type Message,
  type MessageHistoryProvider,
  messageCountReducer,
  RunContext,
} from "../src/index.ts";
import { ids, toolMessage, user, withoutAttribution } from "./support/messages.ts";
import { violations } from "./support/model-checker.ts";
import { Random } from "./support/random.ts";
import { RandomHistory } from "./support/random-history.ts";
import { load, newRun, newSession } from "./support/runs.ts";
import { RecordingStore } from "./support/stores.ts";

const SEEDS = Array.from({ length: 150 }, (_, index) => index + 1);

async function loaded(provider: MessageHistoryProvider, input: readonly Message[] = []): Promise<Message[]> {
  const { run } = await load(provider, newSession(), input);
  return withoutAttribution(run.modelInput());
}

/** The ids of messages that are no results: those that say which groups a load holds. */
function groupIds(messages: readonly Message[]): string[] {
  return ids(messages.filter(({ role }) => role !== "tool"));
}

describe("a random history, however it came to be", () => {
  test.each(SEEDS)("loads as a valid one within every limit (seed %i)", async (seed) => {
    const random = new Random(seed);
    const stored = new RandomHistory(random).messages(1 + random.below(40));
    const store = new RecordingStore();
    const open = (options: HistoryProviderOptions = {}) => new HistoryProvider(store, options);
    await open().conversation(newSession()).append(stored);

    const whole = await loaded(open());
    expect(violations(whole)).toEqual([]);
    expect(await loaded(open())).toEqual(whole);
    const newest = (await loaded(open({ maxMessages: 1 }))).length;
    for (let maxMessages = 1; maxMessages <= stored.length + 1; maxMessages += 1 + random.below(4)) {
      const keepFirst = random.onceIn(3);
      const messages = await loaded(open({ maxMessages, keepFirst }));
      const cut = keepFirst && messages[0]?.messageId === stored[0]?.messageId ? messages.slice(1) : messages;
      expect(violations(messages)).toEqual([]);
      expect(cut.length).toBeLessThanOrEqual(Math.max(maxMessages, newest));
      if (!keepFirst) {
        expect(groupIds(messages)).toEqual(groupIds(whole).slice(groupIds(whole).length - groupIds(messages).length));
      }
      const reduced = await loaded(open({ reducer: messageCountReducer(maxMessages) }));
      expect(violations(reduced)).toEqual([]);
      expect(reduced.length).toBeLessThanOrEqual(Math.max(maxMessages, newest));
    }
  });

  test.each(SEEDS)("stays valid whatever a reducer cuts out of it (seed %i)", async (seed) => {
    const random = new Random(seed);
    const stored = new RandomHistory(random).messages(20);
    const store = new InMemoryHistoryStore();
    const reducer = (messages: readonly Message[]) => messages.filter(() => !random.onceIn(3));
    await new HistoryProvider(store).conversation(newSession()).append(stored);
    expect(violations(await loaded(new HistoryProvider(store, { reducer })))).toEqual([]);
  });

  test.each(SEEDS)("loads the same from a store and from the session (seed %i)", async (seed) => {
    const random = new Random(seed);
    const stored = new RandomHistory(random).messages(30);
    const maxMessages = random.onceIn(4) ? undefined : 1 + random.below(30);
    const options = { maxMessages, keepFirst: random.onceIn(2) };
    const provider = new HistoryProvider(new InMemoryHistoryStore(), options);
    await provider.conversation(newSession()).append(stored);
    const inSession = new InMemoryHistoryProvider(options);
    const session = newSession();
    inSession.setMessages(session, stored);
    const { run } = await load(inSession, session);
    expect(withoutAttribution(run.modelInput())).toEqual(await loaded(provider));
  });

  test.each(SEEDS)("is read in pages that are whole and miss nothing that has its place (seed %i)", async (seed) => {
    const random = new Random(seed);
    const stored = new RandomHistory(random).messages(30);
    const conversation = new HistoryProvider(new InMemoryHistoryStore()).conversation(newSession());
    await conversation.append(stored);
    const pages: Message[][] = [];
    let before: string | undefined;
    do {
      const last = 1 + random.below(8);
      const page = await conversation.messages({ last, before });
      expect(groupMessages(page.messages).orphans).toEqual([]);
      expect(pages.length).toBeLessThan(100);
      pages.unshift([...page.messages]);
      before = page.older;
    } while (before !== undefined);
    const isPlaced = ({ contents }: Message) =>
      contents.length === 0 || contents.some(({ type }) => type !== "function_result");
    expect(ids(pages.flat().filter(isPlaced))).toEqual(ids(stored.filter(isPlaced)));
    expect(new Set(ids(pages.flat())).size).toBe(pages.flat().length);
  });
});

describe("runs that crash at random", () => {
  test.each(SEEDS)("leave a history that goes on, and that is closed once (seed %i)", async (seed) => {
    const random = new Random(seed);
    const history = new RandomHistory(random);
    const session = newSession();
    const provider = new HistoryProvider(new InMemoryHistoryStore());
    let crashedBefore = false;
    for (let number = 0; number < 12; number += 1) {
      const { run, events } = newRun(session, [history.user()]);
      const context = new RunContext(run, provider);
      await provider.beforeRun(context);
      expect(violations(run.modelInput())).toEqual([]);
      // Only the run right behind a crash has something to close; it stores that with its first write.
      expect(events.length > 0 && !crashedBefore).toBe(false);
      const produced = history.run();
      const crashAt = random.onceIn(2) ? random.below(produced.length) : produced.length;
      let done = 0;
      while (done < crashAt) {
        done = Math.min(crashAt, done + 1 + random.below(3));
        run.produced = produced.slice(0, done);
        await provider.persist(context);
      }
      crashedBefore = done < produced.length && (done > 0 || crashedBefore);
      if (done === produced.length) {
        await provider.afterRun(context);
      }
    }
  });

  test.each(SEEDS)("are continued by a caller that answers what was left open (seed %i)", async (seed) => {
    const random = new Random(seed);
    const stored = [...new RandomHistory(random).messages(15), user("before"), ...crash(random)];
    const provider = new HistoryProvider(new InMemoryHistoryStore(), { maxMessages: 1 + random.below(20) });
    const session = newSession();
    await provider.conversation(session).append(stored);
    const { run } = await load(provider, session, [toolMessage("mine", "left")]);
    expect(violations(run.modelInput())).toEqual([]);
    expect(ids(run.modelInput()).slice(-2)).toEqual(["open", "open/left"]);
  });
});

/** The end of a run that left one call to its caller, now and then behind reasoning. */
function crash(random: Random): Message[] {
  const open: Message = {
    role: "assistant",
    messageId: "open",
    contents: [{ type: "function_call", callId: "left", name: "ask", arguments: "{}" }],
  };
  const before: Message = { role: "assistant", messageId: "why", contents: [{ type: "text_reasoning", text: "hm" }] };
  return random.onceIn(2) ? [before, open] : [open];
}

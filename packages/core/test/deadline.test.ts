import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  assertTimeout,
  type HistoryPage,
  HistoryProvider,
  type HistoryStore,
  InMemoryHistoryStore,
  openConversation,
  withDeadline,
} from "../src/index.ts";
import { user } from "./support/messages.ts";
import { load, newSession, turn } from "./support/runs.ts";

const never = () => new Promise<never>(() => undefined);
const afterwards = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));

const unhandled: unknown[] = [];
const note = (reason: unknown) => unhandled.push(reason);

beforeEach(() => {
  unhandled.length = 0;
  process.on("unhandledRejection", note);
});

afterEach(async () => {
  await afterwards(0);
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
});

describe("a call that answers in time", () => {
  test("gives its answer", async () => {
    await expect(withDeadline("read", { kind: "read", timeoutMs: 1_000 }, async () => 42)).resolves.toBe(42);
  });

  test("gives its own error, whether it rejects or throws at once", async () => {
    const failure = new TypeError("theirs");
    const throwing = (): Promise<never> => {
      throw failure;
    };
    for (const operation of [() => Promise.reject(failure), throwing]) {
      for (const kind of ["read", "write"] as const) {
        await expect(withDeadline("x", { kind, timeoutMs: 1_000 }, operation)).rejects.toBe(failure);
      }
    }
  });

  test("leaves no timer and no listener behind", async () => {
    const before = process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
    const listeners = new Set<unknown>();
    const { signal } = new AbortController();
    signal.addEventListener = (_: string, listener: unknown) => listeners.add(listener);
    signal.removeEventListener = (_: string, listener: unknown) => listeners.delete(listener);
    await withDeadline("x", { kind: "read", timeoutMs: 60_000, signal }, async () => 1);
    await withDeadline("x", { kind: "write", timeoutMs: 60_000, signal }, () => Promise.reject(new Error("no"))).catch(
      () => undefined,
    );
    expect(process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length).toBe(before);
    expect(listeners.size).toBe(0);
  });

  test("starts a timer only when the answer is not there yet", async () => {
    const started = vi.spyOn(globalThis, "setTimeout");
    const limits = { kind: "read", timeoutMs: 60_000 } as const;
    await withDeadline("x", limits, async () => 1);
    await withDeadline("x", limits, () => Promise.reject(new Error("no"))).catch(() => undefined);
    expect(started).not.toHaveBeenCalled();
    await withDeadline("x", limits, async () => await Promise.resolve(1).then(() => 2));
    expect(started).toHaveBeenCalledTimes(1);
    started.mockRestore();
  });
});

describe("a call that does not answer in time", () => {
  test("is a timeout when it reads, which says that nothing was changed", async () => {
    await expect(
      withDeadline("read", { kind: "read", timeoutMs: 10, provider: "history-x" }, never),
    ).rejects.toMatchObject({
      code: "timeout",
      retryable: true,
      provider: "history-x",
      message: expect.stringContaining("read: no answer within 10 ms"),
    });
  });

  test("has an unknown outcome when it writes", async () => {
    await expect(withDeadline("append", { kind: "write", timeoutMs: 10 }, never)).rejects.toMatchObject({
      code: "outcome_unknown",
      retryable: true,
    });
  });

  test("may fail or succeed later without anybody noticing", async () => {
    const late = [
      () => afterwards(20).then(() => Promise.reject(new Error("too late"))),
      () => afterwards(20).then(() => "too late"),
    ];
    for (const operation of late) {
      await expect(withDeadline("x", { kind: "read", timeoutMs: 5 }, operation)).rejects.toMatchObject({
        code: "timeout",
      });
    }
    await afterwards(40);
    expect(unhandled).toEqual([]);
  });
});

describe("a call that is aborted", () => {
  test("before its start is not made at all", async () => {
    let calls = 0;
    const operation = async () => {
      calls += 1;
    };
    for (const kind of ["read", "write"] as const) {
      await expect(
        withDeadline("x", { kind, timeoutMs: 1_000, signal: AbortSignal.abort() }, operation),
      ).rejects.toMatchObject({ name: "AbortError" });
      const reason = new Error("the user left");
      await expect(
        withDeadline("x", { kind, timeoutMs: 1_000, signal: AbortSignal.abort(reason) }, operation),
      ).rejects.toBe(reason);
    }
    expect(calls).toBe(0);
  });

  test("while it reads ends with the abort", async () => {
    const controller = new AbortController();
    const reading = withDeadline("read", { kind: "read", timeoutMs: 60_000, signal: controller.signal }, never);
    controller.abort();
    await expect(reading).rejects.toMatchObject({ name: "AbortError" });
  });

  test("while it writes has an unknown outcome, with the abort as its cause", async () => {
    const controller = new AbortController();
    const writing = withDeadline("append", { kind: "write", timeoutMs: 60_000, signal: controller.signal }, never);
    controller.abort();
    await expect(writing).rejects.toMatchObject({
      code: "outcome_unknown",
      cause: expect.objectContaining({ name: "AbortError" }),
    });
  });

  test("after it answered keeps its answer", async () => {
    const controller = new AbortController();
    const options = { kind: "write", timeoutMs: 60_000, signal: controller.signal } as const;
    const answer = await withDeadline("append", options, async () => "stored");
    controller.abort();
    expect(answer).toBe("stored");
  });
});

test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2_147_483_648, "5", undefined, null])(
  "a timeout of %j is refused with its field",
  (value) => {
    expect(() => assertTimeout(value, "timeoutMs")).toThrow(expect.objectContaining({ code: "configuration" }));
    expect(() => assertTimeout(value, "queueTimeoutMs")).toThrow("queueTimeoutMs: must be milliseconds");
  },
);

describe("a store that never settles", () => {
  /** Everything that it is asked stays without an answer. */
  class BlackHole extends InMemoryHistoryStore {
    override read(): Promise<HistoryPage> {
      return never();
    }
    override append(): Promise<never> {
      return never();
    }
    override clear(): Promise<never> {
      return never();
    }
    override replace(): Promise<never> {
      return never();
    }
  }

  test("ends every call of a conversation within its deadline", async () => {
    const conversation = openConversation(new BlackHole(), { owner: null, sessionId: "s", timeoutMs: 20 });
    const reads = [
      () => conversation.messages(),
      () => conversation.messages({ last: 5 }),
      () => conversation.read(),
      () => conversation.truncateAfter("m"),
    ];
    for (const read of reads) {
      await expect(read()).rejects.toMatchObject({ code: "timeout", provider: "history" });
    }
    for (const write of [() => conversation.append("hello"), () => conversation.clear()]) {
      await expect(write()).rejects.toMatchObject({ code: "outcome_unknown", provider: "history" });
    }
  });

  test("ends a run's load and its storing within the deadline", async () => {
    const provider = new HistoryProvider(new BlackHole(), { timeoutMs: 20 });
    await expect(load(provider, newSession(), "hello")).rejects.toMatchObject({ code: "timeout" });
    await expect(provider.getMessages(newSession())).rejects.toMatchObject({ code: "timeout" });
    const writer = new HistoryProvider(new BlackHole(), { timeoutMs: 20, load: false });
    await expect(turn(writer, newSession(), "hello", [])).rejects.toMatchObject({ code: "outcome_unknown" });
  });

  test("can be answered by repeating the write, because ids make it happen once", async () => {
    const store = new InMemoryHistoryStore();
    let answers = false;
    const losesAnswers: HistoryStore = {
      contractVersion: 1,
      capabilities: store.capabilities,
      read: (key, options) => store.read(key, options),
      clear: (key) => store.clear(key),
      append: async (key, records, options) => {
        const answer = await store.append(key, records, options);
        return answers ? answer : never();
      },
    };
    const conversation = openConversation(losesAnswers, { owner: null, sessionId: "s", timeoutMs: 20 });
    await expect(conversation.append([user("a"), user("b")])).rejects.toMatchObject({ code: "outcome_unknown" });
    answers = true;
    await conversation.append([user("a"), user("b")]);
    expect((await conversation.messages()).messages).toEqual([user("a"), user("b")]);
  });
});

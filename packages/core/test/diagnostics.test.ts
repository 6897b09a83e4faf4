import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type DiagnosticEvent, HistoryProvider, InMemoryHistoryStore, report } from "../src/index.ts";
import { assistant, call, ids, toolMessage, user } from "./support/messages.ts";
import { load, newSession, turn } from "./support/runs.ts";

const event: DiagnosticEvent = { type: "torn_tail_cut", provider: "test", message: "what happened" };

const unhandled: unknown[] = [];
const note = (reason: unknown) => unhandled.push(reason);

beforeEach(() => {
  unhandled.length = 0;
  process.on("unhandledRejection", note);
});

afterEach(() => {
  process.off("unhandledRejection", note);
});

describe("a diagnostic", () => {
  test("is handed to the handler as it is, at once", () => {
    const seen: DiagnosticEvent[] = [];
    report((given) => seen.push(given), event);
    expect(seen).toEqual([event]);
    expect(seen[0]).toBe(event);
  });

  test("needs no handler", () => {
    expect(() => report(undefined, event)).not.toThrow();
  });

  test("changes nothing when the handler throws", () => {
    expect(() =>
      report(() => {
        throw new Error("broken handler");
      }, event),
    ).not.toThrow();
  });

  test("changes nothing when the handler is asynchronous and rejects", async () => {
    report(async () => {
      throw new Error("broken handler");
    }, event);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(unhandled).toEqual([]);
  });
});

describe("a broken handler does not change what is loaded and stored", () => {
  const stored = [user("u1"), assistant("a1", call("A")), toolMessage("stray", "X")];

  test.each<[string, () => unknown]>([
    [
      "one that throws",
      () => {
        throw new Error("broken handler");
      },
    ],
    ["one that rejects", () => Promise.reject(new Error("broken handler"))],
  ])("%s", async (_, onDiagnostic) => {
    const outcomes = [];
    for (const handler of [undefined, onDiagnostic as () => void]) {
      const provider = new HistoryProvider(new InMemoryHistoryStore(), { onDiagnostic: handler, onCorrupt: "skip" });
      const session = newSession();
      const conversation = provider.conversation(session);
      await conversation.append(stored);
      await provider.store.append(conversation.key, [{ id: "bad", data: "42" }]);
      await turn(provider, session, [user("u2")], [assistant("a2")]);
      const { messages } = await load(provider, session);
      outcomes.push([ids(messages), ids((await conversation.messages()).messages)]);
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(outcomes[1]).toEqual(outcomes[0]);
    expect(outcomes[0]).toEqual([
      ["u1", "a1", "a1/A", "u2", "a2"],
      ["u1", "a1", "stray", "a1/A", "u2", "a2"],
    ]);
    expect(unhandled).toEqual([]);
  });
});

import { getEventListeners } from "node:events";
import { ensure, same } from "../expect.ts";
import type { OpenedChatClient } from "../opened.ts";
import { soon } from "../soon.ts";
import type { ChatInterruption } from "./script.ts";
import { allReleased, answers, ask, type ChatClause, QUESTION, received, rejectionOf } from "./support.ts";

const INTERRUPTED = { hooks: ["interruptNext", "requests"] } as const;

/** How calls are begun, given up and left. */
export const endingClauses: readonly ChatClause[] = [
  {
    id: "M15",
    title: "nothing is sent before the first piece is asked for",
    contract: "ChatClient",
    reason: "A stream that nobody reads must cost nothing.",
    requires: { hooks: ["requests"] },
    async run(trial) {
      const opened = await trial.open();
      const { client } = opened;
      if (typeof client.stream !== "function") {
        return trial.notCovered("the client has no stream");
      }
      client.stream(QUESTION, {});
      const iterator = client.stream(QUESTION, {})[Symbol.asyncIterator]();
      await iterator.return?.();
      await ask(client);
      same(
        (await opened.requests?.())?.received,
        1,
        "the requests after one answer that was read and two that were not",
      );
    },
  },
  {
    id: "M16",
    title: "a signal that is aborted already sends nothing and throws its reason",
    contract: "ChatClient",
    reason: "A user who went away must cost nothing more.",
    requires: { hooks: ["requests"] },
    async run(trial) {
      const opened = await trial.open();
      const { client } = opened;
      for (const reason of [new DOMException("enough", "AbortError"), { why: "a reason of one's own" }]) {
        const signal = AbortSignal.abort(reason);
        const error = await rejectionOf(ask(client, QUESTION, { signal }), "an answer with an aborted signal");
        ensure(error === reason, "what is thrown is the reason of the abort", error);
        if (client.complete !== undefined) {
          const whole = await rejectionOf(client.complete(QUESTION, { signal }), "complete with an aborted signal");
          ensure(whole === reason, "what complete rejects with is the reason of the abort", whole);
        }
      }
      same((await opened.requests?.())?.received, 0, "the requests that reached the service");
    },
  },
  {
    id: "M17",
    title: "an abort while the service is silent throws the reason at once and gives the request up",
    contract: "ChatClient",
    reason: "A user who presses stop must not wait for a deadline, nor pay for an answer that nobody reads.",
    requires: INTERRUPTED,
    run: async (trial) => abortDuring(await trial.open(), "silent"),
  },
  {
    id: "M18",
    title: "an abort in the middle of an answer throws the reason at once, after which the client works on",
    contract: "ChatClient",
    reason: "An answer that was given up must never end as if it were complete.",
    requires: INTERRUPTED,
    async run(trial) {
      const opened = await trial.open();
      await abortDuring(opened, "stalled");
      await ask(opened.client);
    },
  },
  {
    id: "M19",
    title: "an iteration that is left early gives its request up",
    contract: "ChatClient",
    reason: "A connection for each reader that went away is soon one too many.",
    requires: INTERRUPTED,
    async run(trial) {
      const opened = await trial.open();
      const { client } = opened;
      if (typeof client.stream !== "function") {
        return trial.notCovered("the client has no stream");
      }
      await opened.interruptNext?.("stalled");
      const iterator = client.stream(QUESTION, {})[Symbol.asyncIterator]();
      const first = iterator.next().then(
        () => true,
        () => true,
      );
      await received(opened, 1);
      const late = new Promise<boolean>((resolve) => setTimeout(resolve, 4_000, false));
      if (!(await Promise.race([first, late]))) {
        return trial.notCovered("the client gives its answers in one piece");
      }
      await soon(Promise.resolve(iterator.return?.()), "return() of an iteration");
      await allReleased(opened, "after the iteration was left");
    },
  },
  {
    id: "M20",
    title: "a call that is over leaves nothing on the caller's signal",
    contract: "ChatClient",
    reason: "One signal may serve thousands of calls; a listener that stays keeps each of them in memory.",
    async run(trial) {
      const { client } = await trial.open();
      const { signal } = new AbortController();
      for (let calls = 0; calls < 3; calls += 1) {
        await ask(client, QUESTION, { signal });
      }
      if (typeof client.stream === "function") {
        for await (const _ of client.stream(QUESTION, { signal })) {
          break;
        }
      }
      same(getEventListeners(signal, "abort").length, 0, "the listeners on a signal after its calls");
    },
  },
];

async function abortDuring(opened: OpenedChatClient, how: ChatInterruption): Promise<void> {
  await opened.interruptNext?.(how);
  const controller = new AbortController();
  const reason = new DOMException("enough", "AbortError");
  const reading = rejectionOf(readOn(opened, controller.signal), `an answer that is ${how} and aborted`);
  // A client that gives its answers in one piece has none to give yet.
  await received(opened, 1);
  await new Promise((resolve) => setTimeout(resolve, how === "silent" ? 0 : 300));
  controller.abort(reason);
  const error = await soon(reading, `an abort while the service is ${how}`);
  ensure(error === reason, "what is thrown is the reason of the abort", error);
  await allReleased(opened, "after an abort");
}

async function readOn({ client }: OpenedChatClient, signal: AbortSignal): Promise<void> {
  for await (const _ of answers(client, QUESTION, { signal })) {
    // Read on until it ends, however it does.
  }
}

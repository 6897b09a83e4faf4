import type { ErrorCode } from "@agentfw/core";
import { ensure, expectCode, expectError, same } from "../expect.ts";
import { duringOutage, expectOutage, openWithDeadline } from "../outage.ts";
import { soon } from "../soon.ts";
import { expectWrongOptionsRefused } from "../wrong-options.ts";
import type { ChatFailure } from "./script.ts";
import { ask, type ChatClause, message, QUESTION, rejectionOf } from "./support.ts";

/** What a failure of the service is to a caller. */
const CODES: Readonly<Record<ChatFailure, readonly ErrorCode[]>> = {
  unauthorized: ["unauthorized"],
  busy: ["unavailable"],
  failed: ["unavailable"],
  refused: ["configuration"],
  too_long: ["too_large"],
};

const FAILURES: readonly ChatFailure[] = ["unauthorized", "busy", "failed", "refused", "too_long"];

const SECRET = "c0ffee-secret-c0ffee";

/** How failures are told. */
export const failureClauses: readonly ChatClause[] = [
  {
    id: "M21",
    title: "what the service refuses is an error with the code that says what to do about it",
    contract: "ChatClient; Errors",
    reason: "Whether to try again, to log in or to shorten is decided by the code alone.",
    requires: { hooks: ["failNext"] },
    async run(trial) {
      const opened = await trial.open();
      for (const failure of FAILURES) {
        await opened.failNext?.(failure);
        await expectCode(ask(opened.client), `a service that answers ${failure}`, ...CODES[failure]);
      }
      await ask(opened.client);
    },
  },
  {
    id: "M22",
    title: "an answer that breaks off is an error after its pieces",
    contract: "ChatClient",
    reason: "Half an answer that ends like a whole one is stored, and believed.",
    requires: { hooks: ["interruptNext"] },
    async run(trial) {
      const opened = await trial.open();
      await opened.interruptNext?.("cut");
      const error = await rejectionOf(ask(opened.client), "an answer that breaks off");
      const { retryable } = expectError(error, "an answer that breaks off");
      ensure(retryable, "an answer that broke off can be asked for again", error);
    },
  },
  {
    id: "M23",
    title: "a service that is silent is a timeout",
    contract: "ChatClient",
    reason: "A blackholed connection must not hang a run.",
    requires: { hooks: ["interruptNext"] },
    async run(trial) {
      for (const how of ["silent", "stalled"] as const) {
        const opened = await openWithDeadline(trial);
        await opened.interruptNext?.(how);
        await expectCode(soon(ask(opened.client), `a service that is ${how}`), `a service that is ${how}`, "timeout");
      }
    },
  },
  {
    id: "M24",
    title: "a service that cannot be reached is an error that can be retried, and the client works again afterwards",
    contract: "ChatClient; Errors",
    reason: "Nobody restarts every process because a service was down for a minute.",
    requires: { hooks: ["breakBackend", "healBackend"] },
    async run(trial) {
      const opened = await openWithDeadline(trial);
      await duringOutage(opened, "breakBackend", () => expectOutage({ "an answer": () => ask(opened.client) }));
      await ask(opened.client);
    },
  },
  {
    id: "M25",
    title: "error messages carry no text of the conversation",
    contract: "Secrets and trust",
    reason: "Errors go to logs, and to people who must not read what was said.",
    requires: { hooks: ["failNext"] },
    async run(trial) {
      const opened = await trial.open();
      const messages = [message("user", "m-1", `My password is ${SECRET}.`)];
      for (const failure of FAILURES) {
        await opened.failNext?.(failure);
        const error = await rejectionOf(
          ask(opened.client, messages, { instructions: `Never say ${SECRET}.` }),
          `a service that answers ${failure}`,
        );
        const text = error instanceof Error ? error.message : String(error);
        ensure(!text.includes(SECRET), "an error message carries no text of messages or instructions");
      }
    },
  },
  {
    id: "M26",
    title: "a failure is thrown by the iteration, and not by the call that begins it",
    contract: "ChatClient",
    reason:
      "A throw between the call and the loop is in nobody's try block, and a rejection of its own ends the process.",
    requires: { hooks: ["failNext"] },
    async run(trial) {
      const opened = await trial.open();
      const { client } = opened;
      if (typeof client.stream !== "function") {
        return trial.notCovered("the client has no stream");
      }
      await opened.failNext?.("failed");
      const updates = client.stream(QUESTION, {})[Symbol.asyncIterator]();
      const first = await rejectionOf(updates.next(), "the first piece of an answer that failed");
      expectError(first, "the first piece of an answer that failed");
      same((await updates.next()).done, true, "the iteration is over after its failure");
    },
  },
  {
    id: "M27",
    title: "options that can never work are refused when the client is made",
    contract: "ChatClient; Errors",
    reason: "A mistake in the configuration is found when the process starts, not by the first user.",
    requires: { hooks: ["wrongOptions"] },
    async run(trial) {
      await expectWrongOptionsRefused(await trial.open());
    },
  },
];

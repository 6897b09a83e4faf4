import type { FastifyReply } from "fastify";
import { HttpProblem } from "./errors.ts";

/**
 * Fires when a run is to be given up: its time is over, its client left, or the server ends. Never after the answer is
 * out.
 *
 * Not `AbortSignal.any`: it holds its sources weakly, so on several versions of Node a time limit among them is
 * collected before it fires (nodejs/node 57736, 65995), and the run goes on for good.
 */
export function runSignal(reply: FastifyReply, ending: AbortSignal, timeoutMs: number): AbortSignal {
  const run = new AbortController();
  const timeout = setTimeout(
    () => run.abort(new DOMException("The run took longer than a run may take.", "TimeoutError")),
    timeoutMs,
  );
  const end = () => run.abort(ending.reason);
  ending.addEventListener("abort", end);
  if (ending.aborted) {
    end();
  }
  reply.raw.once("close", () => {
    clearTimeout(timeout);
    ending.removeEventListener("abort", end);
    if (!reply.raw.writableFinished) {
      run.abort(new HttpProblem(499, "client_left", "The client left."));
    }
  });
  return run.signal;
}

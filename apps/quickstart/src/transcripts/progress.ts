import { SingleBar } from "cli-progress";
import { complain, count } from "../terminal.ts";

/** Shows how far the work is. */
export interface Progress {
  /** One more is done. */
  step(): void;
  stop(): void;
}

/** A bar on a terminal, a line now and then elsewhere. Both on standard error. */
export function startProgress(total: number): Progress {
  return process.stderr.isTTY ? bar(total) : lines(total);
}

function bar(total: number): Progress {
  const format = "[{bar}] {value} of {total} conversations, {eta_formatted} left";
  const single = new SingleBar({
    format,
    hideCursor: true,
    clearOnComplete: true,
    barsize: 30,
    stream: process.stderr,
  });
  single.start(total, 0);
  return { step: () => single.increment(), stop: () => single.stop() };
}

function lines(total: number): Progress {
  const interval = Math.max(1, Math.ceil(total / 10));
  let done = 0;
  return {
    step: () => {
      done += 1;
      if (done % interval === 0 || done === total) {
        complain(`${done} of ${count(total, "conversation")} done`);
      }
    },
    stop: () => {},
  };
}

import type { BigIntStats } from "node:fs";
import { fstat, setTimes } from "./file-calls.ts";

/**
 * Beyond this a file system shows no later time however far it is moved: someone set the last one that it knows. The time
 * of now is another one as well.
 */
const MOST_STEPS = 26;

/**
 * The version of a file: its time of change, its number on the disk and its size. Every write makes a new file with a
 * later time, see {@link stampAfter}, and whatever else changes a file changes one of the three as well.
 */
export function etagOf({ mtimeNs, ino, size }: BigIntStats): string {
  return [mtimeNs, ino, size].map((part) => part.toString(36)).join("-");
}

/**
 * Gives an opened file the time of now, or one that is later than `previous`, and what it is then. The system's own
 * times are no versions: two writes within one tick of its clock have the same. Where a file system keeps coarse times,
 * the time is moved on until it shows.
 */
export async function stampAfter(descriptor: number, previous: bigint | undefined): Promise<BigIntStats> {
  const now = nowMicroseconds();
  const least = previous === undefined ? 0 : Number(previous / 1000n) + 1;
  for (let step = 0; ; step += 1) {
    const isHopeless = step > MOST_STEPS;
    const microseconds = isHopeless ? now : Math.max(now, least) + (step === 0 ? 0 : 2 ** step);
    await setTimes(descriptor, microseconds / 1e6);
    const status = await fstat(descriptor);
    if (previous === undefined || status.mtimeNs > previous || isHopeless) {
      return status;
    }
  }
}

/** The clock in milliseconds, with the microseconds of another one, so that two moments within a millisecond differ. */
function nowMicroseconds(): number {
  return Date.now() * 1000 + Number((process.hrtime.bigint() / 1000n) % 1000n);
}

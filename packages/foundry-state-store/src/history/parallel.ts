/** How many requests one operation has under way at most. */
const MOST_AT_ONCE = 16;

/** Runs a task for each item, a few at a time, and gives the results in order. The first failure ends it. */
export async function inParallel<T, R>(items: readonly T[], task: (item: T) => Promise<R>): Promise<R[]> {
  const results = new Array<R>(items.length);
  let next = 0;
  const work = async () => {
    while (next < items.length) {
      const index = next;
      next += 1;
      const item = items[index];
      if (item !== undefined) {
        results[index] = await task(item);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(MOST_AT_ONCE, items.length) }, work));
  return results;
}

/** The whole numbers from one to another, both included. */
export function range(from: number, through: number): number[] {
  return Array.from({ length: Math.max(0, through - from + 1) }, (_, index) => from + index);
}

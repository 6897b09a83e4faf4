/** How many tasks one call has under way at most. */
const MOST_AT_ONCE = 16;

/**
 * Runs a task for each item, 16 at a time, and gives the results in the order of the items. For backends that need a request
 * for each record: all at once, one call would take the connections of all others.
 *
 * @throws what the first task that failed threw; no other one begins then
 */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  task: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results = new Array<Result>(items.length);
  const left = items.entries();
  let hasFailed = false;
  const work = async () => {
    for (const [index, item] of left) {
      if (hasFailed) {
        return;
      }
      results[index] = await task(item);
    }
  };
  const workers = Array.from({ length: Math.min(MOST_AT_ONCE, items.length) }, work);
  try {
    await Promise.all(workers);
  } finally {
    hasFailed = true;
  }
  return results;
}

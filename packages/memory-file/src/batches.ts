/** Does something for each item, for so many at once, in their order. `assertWanted` ends it between two batches by throwing. */
export async function inBatches<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<Result>,
  assertWanted: () => void = () => undefined,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let index = 0; index < items.length; index += atOnce) {
    assertWanted();
    results.push(...(await Promise.all(items.slice(index, index + atOnce).map(work))));
  }
  return results;
}

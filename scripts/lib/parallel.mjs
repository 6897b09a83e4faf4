/** Maps items with at most `limit` calls under way, and keeps the order. The first failure ends it. */
export async function mapParallel(items, limit, map) {
  const results = new Array(items.length);
  const waiting = items.entries();
  const work = async () => {
    for (const [index, item] of waiting) results[index] = await map(item);
  };
  await Promise.all(Array.from({ length: limit }, work));
  return results;
}

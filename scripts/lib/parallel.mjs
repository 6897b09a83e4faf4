/** Maps items with at most `limit` calls under way, and keeps the order. Fails as the first failure did, once all have ended. */
export async function mapParallel(items, limit, map) {
  const results = new Array(items.length);
  const waiting = items.entries();
  let failed;
  const work = async () => {
    for (const [index, item] of waiting) {
      try {
        results[index] = await map(item);
      } catch (error) {
        failed ??= { error };
      }
      if (failed !== undefined) return;
    }
  };
  await Promise.all(Array.from({ length: limit }, work));
  if (failed !== undefined) throw failed.error;
  return results;
}

/** Work on many things at once, but not on all. */

/**
 * Does `work` on every item, at most `limit` at a time, and returns the results in the order of the items. After a failure
 * nothing new is started; what is under way is awaited, so that nothing is in flight when this rejects, and then the first
 * failure is thrown.
 *
 * @param limit  an integer of 1 or more
 */
export async function mapBounded<Item, Result>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const failures: unknown[] = [];
  const queue = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) {
      if (failures.length > 0) return;
      try {
        results[index] = await work(item);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  if (failures.length > 0) throw failures[0];
  return results;
}

/**
 * Works on the items in order, with at most `atMost` workers at once. A fault ends its worker, so a single worker begins no later item.
 * The other workers go on. Settles when all workers have ended, and rejects with the first fault.
 */
export async function together<Item>(
  items: readonly Item[],
  atMost: number,
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const left = items.values();
  const worker = async (): Promise<void> => {
    for (const item of left) await work(item);
  };
  const ends = await Promise.allSettled(Array.from({ length: Math.min(atMost, items.length) }, worker));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
}

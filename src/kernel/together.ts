/**
 * Processes the items in order, with at most `atMost` workers at once. A failed item ends its worker, and the other workers continue. When the only
 * worker has ended, no later item begins. Settles when all workers have ended, and rejects with the first error.
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

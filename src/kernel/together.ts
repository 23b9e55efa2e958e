/**
 * Works on the items in their order, on at most `atMost` at once. A fault ends one of so many lanes: with one lane nothing after it is begun, with
 * more the others go on. Settles when all lanes have ended; rejects with a fault if there was one.
 */
export async function together<Item>(
  items: readonly Item[],
  atMost: number,
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const left = items.values();
  const lane = async (): Promise<void> => {
    for (const item of left) await work(item);
  };
  const ends = await Promise.allSettled(Array.from({ length: Math.min(atMost, items.length) }, lane));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
}

const NEWLINE = 10;

/**
 * Hands on what one of several processes writes, in whole lines: they share one stream, and a line may come in parts. While `to` takes nothing
 * more, nothing is read: the process that writes knows best what to do then.
 */
export function passWholeLines(from, to) {
  let rest = Buffer.alloc(0);
  from.on('data', (chunk) => {
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    const lines = end > 0 ? Buffer.concat([rest, chunk.subarray(0, end)]) : null;
    rest = end > 0 ? chunk.subarray(end) : Buffer.concat([rest, chunk]);
    if (lines === null || to.write(lines)) return;
    from.pause();
    to.once('drain', () => from.resume());
  });
  from.on('close', () => {
    if (rest.length > 0) to.write(`${rest}\n`);
  });
}

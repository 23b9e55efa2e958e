const NEWLINE = 10;

/**
 * Passes on a process's output in whole lines, because several processes share one stream and a line may arrive in parts. While `to` accepts no more,
 * this function reads nothing, because the process that writes can best handle the wait.
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

/**
 * Time in which this process did something, or could have. While it stood still (no processor, a blocked event loop, a machine that was
 * moved), nobody can tell how long an answer lay there, so that time does not count.
 */
export class WakingTime {
  private seenAt: number;
  private lostMs = 0;

  /** `everyMs`: how often `now` is called at least while the process is awake. */
  constructor(
    private readonly everyMs: number,
    private readonly read: () => number = () => performance.now(),
  ) {
    this.seenAt = read();
  }

  /** Milliseconds, from any beginning. */
  now(): number {
    const at = this.read();
    const gapMs = at - this.seenAt;
    // A timer may be late, but not by itself.
    if (gapMs > 2 * this.everyMs) this.lostMs += gapMs - this.everyMs;
    this.seenAt = at;
    return at - this.lostMs;
  }
}

// All delayed actions in one place, so that none runs after the end.

/** Splits delays that are too long for a timer. */
const LONGEST_MS = 2_000_000_000;

export class Timers {
  private readonly timers = new Set<NodeJS.Timeout>();

  after(delayMs: number, action: () => void): void {
    const wait = Math.max(0, delayMs);
    const timer = setTimeout(
      () => {
        this.timers.delete(timer);
        if (wait > LONGEST_MS) this.after(wait - LONGEST_MS, action);
        else action();
      },
      Math.min(wait, LONGEST_MS),
    );
    this.timers.add(timer);
  }

  clear(): void {
    for (const timer of this.timers) clearTimeout(timer);
    this.timers.clear();
  }
}

// Turns for a few pages at once, with a short line before them.

/** Hands out `atOnce` turns, lets `waitingAtMost` wait for one, first come first served, and sends the rest away. */
export class PageTurns {
  private taken = 0;
  private readonly waiting: ((go: boolean) => void)[] = [];
  private over = false;

  constructor(
    private readonly atOnce: number,
    private readonly waitingAtMost: number,
  ) {}

  /** Runs `work` when it is its turn; null without running it when too many wait already, or it is over. */
  async take<Result>(work: () => Promise<Result>): Promise<Result | null> {
    if (!(await this.begin())) return null;
    try {
      return await work();
    } finally {
      // Who waits longest takes the turn over.
      const next = this.waiting.shift();
      if (next) next(true);
      else this.taken -= 1;
    }
  }

  /** Sends away who waits and who comes. What runs goes on. */
  end(): void {
    this.over = true;
    for (const sendAway of this.waiting.splice(0)) sendAway(false);
  }

  private async begin(): Promise<boolean> {
    if (this.over) return false;
    if (this.taken < this.atOnce) {
      this.taken += 1;
      return true;
    }
    if (this.waiting.length >= this.waitingAtMost) return false;
    return new Promise((resolve) => this.waiting.push(resolve));
  }
}

// Turns for a few simultaneous pages, with a short queue before them.

/** Allows `atOnce` turns at a time, lets `waitingAtMost` callers wait in order, and rejects all other callers. */
export class PageTurns {
  private taken = 0;
  private readonly waiting: ((go: boolean) => void)[] = [];
  private over = false;

  constructor(
    private readonly atOnce: number,
    private readonly waitingAtMost: number,
  ) {}

  /** Runs `work` at its turn. Returns null without running `work` when the queue is full or the turns have ended. */
  async take<Result>(work: () => Promise<Result>): Promise<Result | null> {
    if (!(await this.begin())) return null;
    try {
      return await work();
    } finally {
      // The caller that has waited longest gets the turn.
      const next = this.waiting.shift();
      if (next) next(true);
      else this.taken -= 1;
    }
  }

  /** Rejects waiting and new callers. Running work continues. */
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

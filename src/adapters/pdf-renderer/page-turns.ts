// Turns for a few pages at once, with a short line before them.

/** Hands out `atOnce` turns, lets `waitingAtMost` callers wait in order, and sends the rest away. */
export class PageTurns {
  private taken = 0;
  private readonly waiting: ((go: boolean) => void)[] = [];
  private over = false;

  constructor(
    private readonly atOnce: number,
    private readonly waitingAtMost: number,
  ) {}

  /** Runs `work` at its turn. Null, without running it, when the line is full or the turns have ended. */
  async take<Result>(work: () => Promise<Result>): Promise<Result | null> {
    if (!(await this.begin())) return null;
    try {
      return await work();
    } finally {
      // The longest waiting caller takes the turn over.
      const next = this.waiting.shift();
      if (next) next(true);
      else this.taken -= 1;
    }
  }

  /** Sends away waiting and new callers. Running work goes on. */
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

import { withTimeout } from '../../kernel/with-timeout.js';

const MAX_WAIT_MS = 15_000;

/**
 * Lets the commands on one stream take turns in this process, so that they do not use up their tries in conflicts with each other. The mutex is not a
 * lock. A command continues after `MAX_WAIT_MS` without its turn, and the expected revision keeps the stream correct.
 */
export class KeyedMutex {
  /** For each key, the promise that settles when the last waiting command has ended. */
  private readonly lines = new Map<string, Promise<void>>();

  async oneAtATime<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.lines.get(key);
    let leave = (): void => undefined;
    const mine = new Promise<void>((resolve) => (leave = resolve));
    this.lines.set(key, mine);
    try {
      if (before) await withTimeout(MAX_WAIT_MS, before);
      return await work();
    } finally {
      leave();
      if (this.lines.get(key) === mine) this.lines.delete(key);
    }
  }
}

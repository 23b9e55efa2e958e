import { setImmediate as nextTurn } from 'node:timers/promises';
import type { KeyedMutex } from './keyed-mutex.js';

/** So that deciding on all of it keeps the event loop for a few milliseconds at most. */
const MOST_TOGETHER = 100;

export interface Asked<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** What comes for a key while earlier work for it is under way is done together, in the order in which it came. */
export class Gathering<Item, Result> {
  /** For each key, what waits for its turn and may be joined. */
  private readonly waiting = new Map<string, Asked<Item, Result>[]>();

  /** `work` answers everybody; whom it has not answered when it throws, gets the error. */
  constructor(
    private readonly turns: KeyedMutex,
    private readonly work: (asked: readonly Asked<Item, Result>[]) => Promise<void>,
  ) {}

  add(key: string, item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      const asked = { item, resolve, reject };
      const waiting = this.waiting.get(key);
      if (waiting !== undefined && waiting.length < MOST_TOGETHER) waiting.push(asked);
      else void this.begin(key, [asked]);
    });
  }

  private async begin(key: string, group: Asked<Item, Result>[]): Promise<void> {
    this.waiting.set(key, group);
    try {
      await this.turns.oneAtATime(key, async () => {
        // Those who came with the first.
        await nextTurn();
        if (this.waiting.get(key) === group) this.waiting.delete(key);
        await this.work(group);
      });
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }
}

// The sweep of a module: looks after what is due by the clock, wherever the process died that should have done it.
import type { Scheduler } from '../../ports/scheduler.js';

export interface RecoveryJob<Item> {
  /** Names the timer. */
  readonly name: string;
  /** What is due, the most overdue first, at most so many. */
  readonly due: (limit: number) => Promise<Item[]>;
  /** Safe to repeat: what fails is due again at the next sweep. */
  readonly settle: (item: Item) => Promise<unknown>;
}

const EVERY_MS = 2_000;
const AT_MOST = 500;
const TOGETHER = 16;

/** One thing's trouble never keeps the others waiting; the first fault of a run is reported when the run is over. */
export function scheduleRecovery<Item>(timers: Scheduler, { name, due, settle }: RecoveryJob<Item>): void {
  timers.every(name, EVERY_MS, async () => {
    const items = await due(AT_MOST);
    const faults: unknown[] = [];
    const settleNext = async (): Promise<void> => {
      for (let item = items.shift(); item !== undefined; item = items.shift()) {
        try {
          await settle(item);
        } catch (error) {
          faults.push(error);
        }
      }
    };
    await Promise.all(Array.from({ length: TOGETHER }, settleNext));
    if (faults.length > 0) throw faults[0];
  });
}

import { setTimeout as delay } from 'node:timers/promises';
import type { RequestActivity } from '../../ports/request-activity.js';

/** Several times what a step takes, so that most requests meet none. It does not grow: however many requests come, the work goes on. */
const REST_MS = 5;

/**
 * Work in small steps that makes room for requests: at full speed while none come; while they do, one step at a time and a rest before
 * each.
 */
export class Throttle {
  private turns = Promise.resolve();
  private ended = false;

  constructor(
    private readonly requests: RequestActivity,
    private readonly rest: () => Promise<void> = () => delay(REST_MS),
  ) {}

  /** Before a step. Those that come together go on one after the other. */
  readonly pause = (): Promise<void> => {
    this.turns = this.turns.then(async () => {
      if (!this.ended && (await this.requests.isRecent())) await this.rest();
    });
    return this.turns;
  };

  /** Makes no rest any more: what is left is to be done before the process ends. */
  end(): void {
    this.ended = true;
  }
}

import type { Owner } from './context.js';
import { machineNow } from './machine-time.js';

/** The time of day. The clock is a class, so that tests can set the time. */
export abstract class Clock {
  /** The machine's time. Signatures, tokens, limits and calls to vendors go by it. */
  abstract now(): Date;

  /**
   * The time of an account in an environment. The terms and expiries of the account's objects go by it. If a test account has turned its clock past
   * `due` (ISO 8601 UTC), the time is `due`. Everything that waited then happens at its own time.
   */
  of(_owner: Owner, _due?: string | null): Date | Promise<Date> {
    return this.now();
  }
}

export class SystemClock extends Clock {
  override now(): Date {
    return new Date(machineNow());
  }
}

import { SystemClock } from '../kernel/clock.js';
import type { Owner } from '../kernel/context.js';

/** The clock of a test account. */
export interface TestClock {
  /** The difference between the account's time and the machine's time. 0 if the account has not turned its clock. */
  readonly aheadMs: number;
  /** The account's time at the end of the last turn, ISO 8601 UTC; null if the account has not turned its clock. */
  readonly turnedTo: string | null;
}

/** A process goes by a turned clock after this time, in milliseconds. */
export const CLOCK_KNOWN_MS = 100;

/** The clocks that test accounts have turned forward. The accounts module implements this port. */
export abstract class TestClocks {
  /** The clock, which is at most `CLOCK_KNOWN_MS` old while the log is available. */
  abstract find(owner: Owner & { readonly accountId: string }): Promise<TestClock>;
}

/** The clock of the service. Live traffic, and facts of the installation itself, always have the machine's time. */
export class AccountClock extends SystemClock {
  constructor(private readonly clocks: () => TestClocks) {
    super();
  }

  override of({ accountId, environment }: Owner, due: string | null = null): Date | Promise<Date> {
    return accountId === null || environment === 'live' ? this.now() : this.turned({ accountId, environment }, due);
  }

  private async turned(owner: Owner & { readonly accountId: string }, due: string | null): Promise<Date> {
    const { aheadMs, turnedTo } = await this.clocks().find(owner);
    if (due !== null && turnedTo !== null && due <= turnedTo) return new Date(due);
    return new Date(this.now().getTime() + aheadMs);
  }
}

import { SystemClock } from '../kernel/clock.js';
import type { Owner } from '../kernel/context.js';

/** The clock of a test account. */
export interface TestClock {
  /** By this much the account's time is ahead of the machine's time. 0 if the account has not turned its clock. */
  readonly aheadMs: number;
  /** The account's time at the end of the last turn, ISO 8601 UTC; null if the account has not turned its clock. */
  readonly turnedTo: string | null;
}

/** The clocks that test accounts have turned forward. The accounts module implements this port. */
export abstract class TestClocks {
  /** At most a moment old, and at most as old as a reply that announced a turn. */
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

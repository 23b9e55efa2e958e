import type { Owner } from '../../../kernel/context.js';
import { TestClocks, type TestClock } from '../../../ports/test-clocks.js';
import type { AccountDirectory } from './accounts.js';

const MACHINE_TIME: TestClock = { aheadMs: 0, turnedTo: null };

export class TurnedClocks extends TestClocks {
  constructor(private readonly accounts: Pick<AccountDirectory, 'testClock'>) {
    super();
  }

  /** The things that both environments share, such as the endpoint, keep the machine's time if the account has live traffic. */
  override async find({ accountId, environment }: Owner & { readonly accountId: string }): Promise<TestClock> {
    const { provisionedForLive, ...clock } = await this.accounts.testClock(accountId);
    return environment === 'live' || (environment === null && provisionedForLive) ? MACHINE_TIME : clock;
  }
}

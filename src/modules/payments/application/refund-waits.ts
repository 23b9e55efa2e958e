import type { CommandBus } from '@nestjs/cqrs';
import { together } from '../../../kernel/together.js';
import type { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import type { Wait } from '../../../ports/account-waits.js';
import { payment, plannedRefundAt } from '../domain/payment.js';
import { LookUpPayment } from './look-up-payment.js';

const READ_TOGETHER = 16;

/** The payments of a test account whose refund is planned. */
export class RefundWaits {
  constructor(
    private readonly aggregates: AggregateStore,
    /** The ids of at least these payments of an account, complete. */
    private readonly open: (accountId: string) => Promise<readonly string[]>,
    private readonly commands: CommandBus,
  ) {}

  async of(accountId: string): Promise<readonly Wait[]> {
    const waits: Wait[] = [];
    await together([...(await this.open(accountId))], READ_TOGETHER, async (id) => {
      const at = plannedRefundAt((await this.aggregates.load(payment, id)).state);
      if (at !== null) waits.push({ id: `payment ${id}`, at, settle: () => this.request(id) });
    });
    return waits;
  }

  /** Only requests the refund. The recovery job makes it. */
  private async request(id: string): Promise<readonly Wait[]> {
    await this.commands.execute(new LookUpPayment(id, new AbortController().signal));
    return [];
  }
}

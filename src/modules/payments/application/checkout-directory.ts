import { Injectable } from '@nestjs/common';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Checkouts, type ReportFlags } from '../../../published/checkouts.js';
import { checkout } from '../domain/checkout.js';

/** Checkouts for the other modules. The directory reads checkouts from the log, so that no module decides on an outdated state. */
@Injectable()
export class CheckoutDirectory extends Checkouts {
  constructor(private readonly aggregates: AggregateStore) {
    super();
  }

  override async reportFlags(partyId: string): Promise<ReportFlags> {
    const { state } = await this.aggregates.load(checkout, partyId);
    return state.status === 'NONE' ? {} : state.opening.reportFlags;
  }
}

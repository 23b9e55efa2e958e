import { Injectable } from '@nestjs/common';
import { systemContext } from '../../../kernel/context.js';
import { idOf, type RecordedEvent } from '../../../kernel/domain-event.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import type { EventHandler } from '../../../ports/event-handler.js';
import { SCREENING_SUBMITTED, type ScreeningSubmitted } from '../../../published/screenings.js';
import { checkout } from '../domain/checkout.js';

/** Records the new screening session of a renter who has a checkout, because a payment counts for the newest session. */
@Injectable()
export class WhenRenterRegistered implements EventHandler {
  readonly name = 'registrations_into_checkouts';
  readonly inline = true;
  readonly categories = [SCREENING_SUBMITTED.category];
  readonly types: ReadonlySet<string> = new Set([SCREENING_SUBMITTED.type]);

  constructor(private readonly aggregates: AggregateStore) {}

  async handle({ id, stream, data, metadata }: RecordedEvent): Promise<void> {
    const { partyId } = data as ScreeningSubmitted;
    if (partyId === undefined) return;
    await this.aggregates.execute(
      checkout,
      partyId,
      { kind: 'register', sessionId: idOf(stream), registeredAt: metadata.occurredAt },
      {
        ...systemContext('checkouts', metadata),
        correlationId: metadata.$correlationId,
        causationId: id,
      },
    );
  }
}

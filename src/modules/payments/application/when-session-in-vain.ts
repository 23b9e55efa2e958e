import { Injectable } from '@nestjs/common';
import { systemContext } from '../../../kernel/context.js';
import { idOf, type RecordedEvent } from '../../../kernel/domain-event.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import type { EventHandler } from '../../../ports/event-handler.js';
import { Screenings, SESSION_ENDS } from '../../../published/screenings.js';
import { payment, paymentIdIn } from '../domain/payment.js';
import { PaymentInVain } from './in-vain.js';

/** Plans the refund of a payment whose sessions end without a report. These sessions make no pull that the bureau could refuse. */
@Injectable()
export class WhenSessionInVain implements EventHandler {
  readonly name = 'sessions_in_vain_into_payments';
  readonly categories = [SESSION_ENDS.category];
  readonly types: ReadonlySet<string> = new Set(SESSION_ENDS.types);

  constructor(
    private readonly aggregates: AggregateStore,
    private readonly screenings: Screenings,
    private readonly inVain: PaymentInVain,
  ) {}

  async handle({ id: causationId, stream, metadata }: RecordedEvent): Promise<void> {
    const sessionId = idOf(stream);
    const session = await this.screenings.find(sessionId);
    const id = session?.paidBy ? paymentIdIn(session.paidBy) : null;
    if (!session || id === null || !(await this.inVain.isInVain(session))) return;
    const known = await this.aggregates.load(payment, id);
    if (known.state.status === 'NONE' || !(await this.inVain.butFor(sessionId, id, known.state))) return;
    const context = { ...systemContext('payments', metadata), correlationId: metadata.$correlationId, causationId };
    const refusedAt = new Date(metadata.occurredAt);
    const command = { kind: 'plan-refund', sessionId: known.state.sessionId, refusedAt } as const;
    await this.aggregates.execute(payment, id, command, context);
  }
}

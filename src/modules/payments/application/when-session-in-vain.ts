import { Injectable } from '@nestjs/common';
import { systemContext } from '../../../kernel/context.js';
import { idOf, type RecordedEvent } from '../../../kernel/domain-event.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import type { EventHandler } from '../../../ports/event-handler.js';
import { Reports } from '../../../published/reports.js';
import { Screenings, SESSION_ENDS, type ScreeningFacts } from '../../../published/screenings.js';
import { payment, paymentIdIn } from '../domain/payment.js';

/** Plans the refund of a payment whose session ends without a report to come: no pull is made there that the bureau could refuse. */
@Injectable()
export class WhenSessionInVain implements EventHandler {
  readonly name = 'sessions_in_vain_into_payments';
  readonly categories = [SESSION_ENDS.category];
  readonly types: ReadonlySet<string> = new Set(SESSION_ENDS.types);

  constructor(
    private readonly aggregates: AggregateStore,
    private readonly screenings: Screenings,
    private readonly reports: Reports,
  ) {}

  async handle({ id: causationId, stream, metadata }: RecordedEvent): Promise<void> {
    const sessionId = idOf(stream);
    const session = await this.screenings.find(sessionId);
    const id = session?.paidBy ? paymentIdIn(session.paidBy) : null;
    if (!session || id === null || !(await this.isInVain(session))) return;
    const context = { ...systemContext('payments', metadata), correlationId: metadata.$correlationId, causationId };
    const command = { kind: 'plan-refund', sessionId, refusedAt: new Date(metadata.occurredAt) } as const;
    await this.aggregates.execute(payment, id, command, context);
  }

  private async isInVain({ sessionId, status }: ScreeningFacts): Promise<boolean> {
    if (status === 'BLOCKED' || status === 'EXPIRED' || status === 'ERROR') return true;
    if (status !== 'VERIFIED' || (await this.reports.expiryOf(sessionId)) !== null) return false;
    return (await this.screenings.reportProspect(sessionId)) !== 'possible';
  }
}

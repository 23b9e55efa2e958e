import { Injectable } from '@nestjs/common';
import { systemContext, type ActionContext } from '../../../kernel/context.js';
import { idOf, type RecordedEvent } from '../../../kernel/domain-event.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import type { EventHandler } from '../../../ports/event-handler.js';
import { EventStore } from '../../../ports/event-store.js';
import { REPORT_NEWS, type ReportNews } from '../../../published/reports.js';
import { Screenings } from '../../../published/screenings.js';
import { payment, paymentIdIn, type PaymentEvent } from '../domain/payment.js';
import { PaymentInVain } from './in-vain.js';
import { RequestRefund } from './request-refund.js';

/** After a pull that failed for one of these reasons, each later pull fails as well. */
const FINAL: readonly string[] = ['VENDOR_SESSION_OVER', 'PERSON_ERASED'];
const PAID: readonly string[] = ['PaymentSucceeded', 'PaymentMadeAtCheckout'] satisfies PaymentEvent['type'][];

/**
 * Plans the refund of a payment whose report the bureau refuses. Also records the refund after a pull's end, in case the process died before
 * recording it.
 */
@Injectable()
export class WhenReportProgressed implements EventHandler {
  readonly name = 'reports_into_payments';
  readonly categories = [REPORT_NEWS.category];
  readonly types: ReadonlySet<string> = new Set(REPORT_NEWS.types);

  constructor(
    private readonly aggregates: AggregateStore,
    private readonly store: EventStore,
    private readonly screenings: Screenings,
    private readonly request: RequestRefund,
    private readonly inVain: PaymentInVain,
  ) {}

  async handle(recorded: RecordedEvent): Promise<void> {
    const event = recorded as RecordedEvent & ReportNews;
    const { metadata } = recorded;
    const context = {
      ...systemContext('payments', metadata),
      correlationId: metadata.$correlationId,
      causationId: recorded.id,
    };
    const sessionId = idOf(recorded.stream);
    if (event.type === 'ReportPullsEnded') {
      const id = paymentIdIn(event.data.transactionId);
      if (id !== null) await this.request.record(id, sessionId, event.data, context);
      return;
    }
    if (event.type === 'ReportPullRefused' || FINAL.includes(event.data.cause))
      await this.planRefund(sessionId, new Date(metadata.occurredAt), context);
  }

  private async planRefund(sessionId: string, refusedAt: Date, context: ActionContext): Promise<void> {
    const session = await this.screenings.find(sessionId);
    const id = session?.paidBy ? paymentIdIn(session.paidBy) : null;
    if (id === null) return;
    // Reads the whole stream, because `load` keeps only the newest event of a long stream.
    const history = await this.store.readStream(`${payment.category}-${id}`);
    const paid = history.find(({ type }) => PAID.includes(type));
    // A repeated refusal, or a refusal before the payment, does not concern this payment.
    if (paid === undefined || refusedAt < new Date(paid.metadata.occurredAt)) return;
    const { state } = await this.aggregates.load(payment, id);
    if (state.status === 'NONE' || !(await this.inVain.butFor(sessionId, id, state))) return;
    const command = { kind: 'plan-refund', sessionId: state.sessionId, refusedAt } as const;
    await this.aggregates.execute(payment, id, command, context);
  }
}

// Asks the processor about hosted checkouts, in workers, and records its answers. All calls about checkouts use this class, so that they record in
// the same way. WhenCheckoutPaid notifies the screening session.
import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import type { ActionContext } from '../../../kernel/context.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { PaymentProcessor, type CheckoutSession, type CheckoutVerdict } from '../../../ports/payment-processor.js';
import type { VendorCall } from '../../../ports/vendor-call.js';
import { checkout, checkoutReference, type Checkout, type CheckoutState } from '../domain/checkout.js';
import { chargeOf } from './charge-of.js';
import { CheckoutPageStore } from './checkout-page-store.js';
import { atProcessor, endOf, isGivenUp, isHopeless, type PaymentCallEnd } from './payment-call.js';

/** An opening that has a session at the processor. */
export type WithSession = Checkout & { readonly checkoutSessionId: string };

@Injectable()
export class CheckoutReconciler {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly processor: PaymentProcessor,
    private readonly pages: CheckoutPageStore,
    private readonly clock: Clock,
  ) {}

  /** Creates the processor's session for an opening that has none yet. A repeated request gets the same session. */
  async create(call: VendorCall, id: string, state: Checkout, context: ActionContext): Promise<PaymentCallEnd> {
    const { opening } = state;
    const { ordinal } = opening;
    const kept = await this.pages.of(opening);
    // The person was erased, so no visitor could use the page.
    if (kept === null || kept === 'erased') {
      await this.abandon(id, state, context);
      return 'person-erased';
    }
    const reference = checkoutReference(id, ordinal);
    const verdict = await this.processor.createCheckout(
      { ...atProcessor(call, opening), attemptId: `${reference}:create` },
      chargeOf(opening, opening),
      {
        ...kept.wish,
        reference,
        // This is the session at the beginning of the opening, not the newest session, because requests under one key must be equal.
        sessionId: opening.sessionId,
      },
    );
    // The terms of this opening can never be charged. The next opening uses the settings of its own time.
    if (isHopeless(verdict)) await this.abandon(id, state, context);
    if (verdict.kind !== 'checkout') return endOf(verdict);
    const { session } = verdict;
    // The session ended at the processor before any caller received its address.
    if (session.url === null) {
      await this.abandon(id, state, context);
      return 'not-made';
    }
    // The vault stores the address before the log records the session.
    if (!(await this.pages.keepUrl(opening, kept.wish, session.url))) return 'person-erased';
    const { id: checkoutSessionId, expiresAt } = session;
    await this.aggregates.execute(
      checkout,
      id,
      { kind: 'record-session', ordinal, checkoutSessionId, expiresAt },
      context,
    );
    return 'recorded';
  }

  /**
   * Like `create`, for an opening of an earlier request. An unreadable answer ends the opening. This is safe, because no caller ever received the
   * address of a session that the processor may have made.
   */
  async createOrEnd(call: VendorCall, id: string, state: Checkout, context: ActionContext): Promise<PaymentCallEnd> {
    const end = await this.create(call, id, state, context);
    if (end === 'unintelligible') await this.abandon(id, state, context);
    return end === 'unintelligible' || isGivenUp(end) ? 'recorded' : end;
  }

  /** Retrieves the session and records it. */
  async look(call: VendorCall, id: string, state: WithSession, context: ActionContext): Promise<PaymentCallEnd> {
    const verdict = await this.processor.retrieveCheckout(atProcessor(call, state.opening), state.checkoutSessionId);
    if (verdict.kind === 'checkout') await this.observe(id, verdict.session, context, false);
    return endOf(verdict);
  }

  /** Makes sure that the session can no longer be paid, unless it is paid or its payment is in progress. */
  async expire(
    call: VendorCall,
    id: string,
    state: WithSession,
    { context, toReplace }: { readonly context: ActionContext; readonly toReplace: boolean },
  ): Promise<PaymentCallEnd> {
    const { checkoutSessionId, opening } = state;
    const verdict = await this.expired(
      atProcessor(call, opening),
      checkoutReference(id, opening.ordinal),
      checkoutSessionId,
    );
    // A session that the processor does not know cannot be paid there.
    const session: Pick<CheckoutSession, 'id' | 'status' | 'payment'> | null =
      verdict.kind === 'checkout'
        ? verdict.session
        : verdict.kind === 'not-found'
          ? { id: checkoutSessionId, status: 'expired', payment: null }
          : null;
    if (session === null) return endOf(verdict);
    const after = await this.observe(id, session, context, toReplace);
    return after.status === 'OPEN' ? 'went-on' : 'recorded';
  }

  private async expired(call: VendorCall, reference: string, checkoutSessionId: string): Promise<CheckoutVerdict> {
    const expire = (attemptId: string): Promise<CheckoutVerdict> =>
      this.processor.expireCheckout({ ...call, attemptId }, checkoutSessionId);
    const first = await expire(`${reference}:expire`);
    const verdict = first.kind === 'not-made' ? await expire(`${reference}:expire:${call.attemptId}`) : first;
    // The session has already ended. The service asks the processor how the session ended.
    return verdict.kind === 'refused' ? this.processor.retrieveCheckout(call, checkoutSessionId) : verdict;
  }

  private async observe(
    id: string,
    { id: sessionId, status, payment }: Pick<CheckoutSession, 'id' | 'status' | 'payment'>,
    context: ActionContext,
    toReplace: boolean,
  ): Promise<CheckoutState> {
    const command = {
      kind: 'observe',
      now: await this.clock.of(context),
      session: { id: sessionId, status, payment },
      toReplace,
    } as const;
    const { state, events } = await this.aggregates.execute(checkout, id, command, context);
    if (events.length > 0 && state.status !== 'NONE') await this.pages.forget(state.opening);
    return state;
  }

  private async abandon(id: string, { opening }: Checkout, context: ActionContext): Promise<void> {
    await this.aggregates.execute(checkout, id, { kind: 'abandon', ordinal: opening.ordinal }, context);
    await this.pages.forget(opening);
  }
}

export function hasSession(state: CheckoutState): state is WithSession {
  return state.status !== 'NONE' && state.checkoutSessionId !== null;
}

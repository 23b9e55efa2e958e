// Asks the processor about hosted checkouts and records what it says, in workers. Used by every call about them, so that all of
// them say the same. The screening session is told by WhenCheckoutPaid.
import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import type { ActionContext } from '../../../kernel/context.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { PaymentProcessor, type CheckoutSession, type CheckoutVerdict } from '../../../ports/payment-processor.js';
import type { VendorCall } from '../../../ports/vendor-call.js';
import { checkout, checkoutReference, type Checkout, type CheckoutState } from '../domain/checkout.js';
import { chargeOf } from './charge-of.js';
import { CheckoutPageStore } from './checkout-page-store.js';
import { endOf, isGivenUp, isHopeless, type PaymentCallEnd } from './payment-call.js';

/** An opening that has a session. */
export type WithSession = Checkout & { readonly checkoutSessionId: string };

@Injectable()
export class CheckoutReconciler {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly processor: PaymentProcessor,
    private readonly pages: CheckoutPageStore,
    private readonly clock: Clock,
  ) {}

  /** Has the session made that an opening waits for; the same one however often it is asked for. */
  async create(call: VendorCall, id: string, state: Checkout, context: ActionContext): Promise<PaymentCallEnd> {
    const { opening } = state;
    const { ordinal } = opening;
    const kept = await this.pages.of(opening);
    // The person was erased, so nobody can be sent there.
    if (kept === null || kept === 'erased') {
      await this.abandon(id, state, context);
      return 'person-erased';
    }
    const reference = checkoutReference(id, ordinal);
    const verdict = await this.processor.createCheckout(
      { ...call, attemptId: `${reference}:create` },
      chargeOf(opening, opening),
      {
        ...kept.wish,
        reference,
        // Not the newest of now: under one key the processor is asked for one and the same.
        sessionId: opening.sessionId,
      },
    );
    // What it was opened with cannot be charged, today or later: the next opening goes by the settings of then.
    if (isHopeless(verdict)) await this.abandon(id, state, context);
    if (verdict.kind !== 'checkout') return endOf(verdict);
    const { session } = verdict;
    // It is over there before its address was given to anybody.
    if (session.url === null) {
      await this.abandon(id, state, context);
      return 'not-made';
    }
    // In the vault before the log says that there is a session.
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
   * As `create`, for an opening of an earlier request, which is ended where nothing readable comes of it: no caller was given the address of
   * what the processor may have made.
   */
  async createOrEnd(call: VendorCall, id: string, state: Checkout, context: ActionContext): Promise<PaymentCallEnd> {
    const end = await this.create(call, id, state, context);
    if (end === 'unintelligible') await this.abandon(id, state, context);
    return end === 'unintelligible' || isGivenUp(end) ? 'recorded' : end;
  }

  /** Looks at the session. */
  async look(call: VendorCall, id: string, state: WithSession, context: ActionContext): Promise<PaymentCallEnd> {
    const verdict = await this.processor.retrieveCheckout(call, state.checkoutSessionId);
    if (verdict.kind === 'checkout') await this.observe(id, verdict.session, context, false);
    return endOf(verdict);
  }

  /** Sees to it that nobody can pay the session any more, unless it is paid or the money is on its way. */
  async expire(
    call: VendorCall,
    id: string,
    state: WithSession,
    context: ActionContext,
    toReplace: boolean,
  ): Promise<PaymentCallEnd> {
    const { checkoutSessionId, opening } = state;
    const verdict = await this.expired(call, checkoutReference(id, opening.ordinal), checkoutSessionId);
    // What the processor does not know, nobody can pay there.
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
    // It is over already: how, is asked.
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
      now: this.clock.now(),
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

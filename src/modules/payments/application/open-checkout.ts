import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { ExternalCall } from '../../../external-calls/external-call.js';
import { ExternalCalls } from '../../../external-calls/external-calls.js';
import { Clock } from '../../../kernel/clock.js';
import type { CallerContext } from '../../../kernel/context.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { newId } from '../../../kernel/ids.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import type { CallersPart } from '../../../ports/payment-processor.js';
import { checkout, type Checkout, type CheckoutState, type ReportFlags } from '../domain/checkout.js';
import { CreateCheckoutSession, SetCheckoutAside } from './checkout-calls.js';
import { CheckoutPageStore, type PagePlace, type PageWish } from './checkout-page-store.js';
import { CheckoutPolicy } from './checkout-policy.js';
import { CheckoutTerms, type Terms } from './checkout-terms.js';
import { isPartRefused, NOT_TAKEN, refusedPart, refuseUnlessRecorded, type PaymentCallEnd } from './payment-call.js';

export interface OpenedCheckout {
  /** The address where the renter pays. Any visitor who has the address can pay. */
  readonly url: string;
  /** `cs_...` */
  readonly checkoutSessionId: string;
  /** ISO 8601 UTC. */
  readonly expiresAt: string;
  /** The renter's vault subject, to which the stored reply belongs. */
  readonly subjectId: string;
}

/**
 * Sends a renter to the processor's page to pay for their screening (docs/contract/direct.md#checkout). A renter has at most one open session. An
 * older session is expired at the processor before the next one is made, so that the renter cannot pay in two open tabs.
 */
@UseCase()
export class OpenCheckout extends Command<OpenedCheckout> {
  constructor(
    readonly request: {
      /** The integrator's id of the renter. */
      readonly renterId: string;
      readonly wish: PageWish;
      readonly reportFlags: ReportFlags;
      /** The caller's names for the options. The error uses such a name if the processor refuses the option. */
      readonly fields: Readonly<Partial<Record<CallersPart, string>>>;
    },
    readonly context: CallerContext,
    /** Identifies the request. A repeated request gets the session that the first request opened. */
    readonly attemptId: string = newId(),
  ) {
    super();
  }
}

/** The number includes two steps for the previous session, two for this session, and some more for concurrent requests. */
const MAX_STEPS = 8;
const RETRY_AFTER_SECONDS = 1;

@Handles(OpenCheckout)
export class OpenCheckoutHandler implements ICommandHandler<OpenCheckout> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly calls: ExternalCalls,
    private readonly terms: CheckoutTerms,
    private readonly pages: CheckoutPageStore,
    private readonly createSession: CreateCheckoutSession,
    private readonly setAside: SetCheckoutAside,
    private readonly policy: CheckoutPolicy,
    private readonly clock: Clock,
  ) {}

  async execute(command: OpenCheckout): Promise<OpenedCheckout> {
    const { request, context } = command;
    const terms = await this.terms.of(request.renterId, context);
    /** The ordinal of the opening that answers this request, when the opening exists. */
    let own: number | null = null;
    for (let step = 0; step < MAX_STEPS; step += 1) {
      const { state } = await this.aggregates.load(checkout, terms.partyId);
      if (state.status === 'NONE') {
        own = await this.open(terms, command);
        continue;
      }
      if (own === null && (await this.isAsked(state, command))) own = state.opening.ordinal;
      if (own !== null && state.opening.ordinal !== own) break;
      if (own !== null && state.status !== 'OPENING') {
        // The renter may have registered again after the terms were read and before the first opening. The new registration is recorded nowhere yet,
        // so it is recorded before the caller gets the page.
        const newest = await this.terms.newest(request.renterId, context);
        await this.aggregates.execute(checkout, terms.partyId, { kind: 'register', ...newest }, context);
        return this.opened(state);
      }
      if (state.status === 'OPENING' || state.status === 'OPEN') {
        await this.make(own === null ? this.setAside : this.createSession, terms.partyId, state, command);
      } else {
        own = await this.open(terms, command);
      }
    }
    // Another request for the same renter was faster, or such requests keep arriving.
    throw new DomainError('service.unavailable', { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }

  /** Whether the opening belongs to this request, from now or from before a crash, or has the same options and is still being made. */
  private async isAsked(
    { status, opening }: Checkout,
    { request: { wish, reportFlags }, attemptId }: OpenCheckout,
  ): Promise<boolean> {
    if (status === 'ENDED' || status === 'PAID') return false;
    if (opening.attemptId === attemptId) return true;
    if (status !== 'OPENING') return false;
    const kept = await this.pages.of(opening);
    if (kept === null || kept === 'erased') return false;
    return JSON.stringify([kept.wish, opening.reportFlags]) === JSON.stringify([wish, reportFlags]);
  }

  /** The ordinal of the opening, or null if another request was faster. */
  private async open(
    { partyId, newest, subjectId, ...price }: Terms,
    { request: { wish, reportFlags }, context, attemptId }: OpenCheckout,
  ): Promise<number | null> {
    const command = {
      kind: 'open',
      now: await this.clock.of(context),
      guardSeconds: this.policy.guardSeconds,
      newest,
      attemptId,
      subjectId,
      reportFlags,
      ...price,
    } as const;
    const place: PagePlace = { subjectId, attemptId };
    // The vault stores the options before the log records the request.
    if (!(await this.pages.keep(place, wish))) throw new DomainError('payment.session_not_payable');
    let opened = false;
    try {
      const { state, events } = await this.aggregates.execute(checkout, partyId, command, context);
      opened = events.length > 0;
      return opened && state.status !== 'NONE' ? state.opening.ordinal : null;
    } finally {
      if (!opened) await this.pages.forget(place);
    }
  }

  private async make(
    call: ExternalCall<{ readonly ordinal: number }, PaymentCallEnd>,
    id: string,
    { status, opening: { ordinal, vendor } }: Checkout,
    { request: { fields }, context }: OpenCheckout,
  ): Promise<void> {
    const attempt = { id, attemptId: newId(), subject: null, context, vendor };
    await this.calls.admit(call, attempt);
    const end = await this.calls.make(call, attempt, { ordinal });
    const field = isPartRefused(end) ? fields[refusedPart(end)] : undefined;
    if (field !== undefined)
      throw new DomainError('request.invalid', { field, details: [{ field, message: NOT_TAKEN }] });
    if (end === 'refused' || isPartRefused(end)) throw new DomainError('checkout.misconfigured');
    if (end === 'went-on') throw new DomainError('checkout.already_paid');
    const { state } = await this.aggregates.load(checkout, id);
    const changed = state.status !== status;
    refuseUnlessRecorded(end === null && changed ? 'recorded' : end);
  }

  private async opened(state: Exclude<CheckoutState, { status: 'NONE' }>): Promise<OpenedCheckout> {
    const { status, opening, checkoutSessionId, expiresAt } = state;
    const kept = status === 'OPEN' ? await this.pages.of(opening) : null;
    if (kept === 'erased') throw new DomainError('payment.session_not_payable');
    if (kept === null || kept.url === null || checkoutSessionId === null || expiresAt === null)
      throw new DomainError('service.unavailable', { retryAfterSeconds: RETRY_AFTER_SECONDS });
    return { url: kept.url, checkoutSessionId, expiresAt, subjectId: opening.subjectId };
  }
}

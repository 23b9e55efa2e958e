// Hosted checkouts with the real SDK and the sandbox's processor. Checkouts are replaced, paid in another tab,
// continued after a crash, or found by a look-up. Sessions, accounts and parties are fakes. A crash is a call that is
// never made, or one that is made and not recorded.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { EmbeddedEventStore } from '../../../src/adapters/event-store/embedded.js';
import type { ExternalCall, Attempt } from '../../../src/external-calls/external-call.js';
import type { CallerContext } from '../../../src/kernel/context.js';
import type { RecordedEvent } from '../../../src/kernel/domain-event.js';
import { derivedId, newId } from '../../../src/kernel/ids.js';
import { CreateCheckoutSession, SetCheckoutAside } from '../../../src/modules/payments/application/checkout-calls.js';
import { CheckoutDirectory } from '../../../src/modules/payments/application/checkout-directory.js';
import { CheckoutPageStore } from '../../../src/modules/payments/application/checkout-page-store.js';
import { CheckoutPolicy } from '../../../src/modules/payments/application/checkout-policy.js';
import { CheckoutReconciler } from '../../../src/modules/payments/application/checkout-reconciler.js';
import { CheckoutTerms } from '../../../src/modules/payments/application/checkout-terms.js';
import { FollowCheckoutEvent } from '../../../src/modules/payments/application/follow-checkout-event.js';
import { LookUpCheckout, LookUpCheckoutHandler } from '../../../src/modules/payments/application/look-up-checkout.js';
import {
  OpenCheckout,
  OpenCheckoutHandler,
  type OpenedCheckout,
} from '../../../src/modules/payments/application/open-checkout.js';
import { checkoutPublisher } from '../../../src/modules/payments/application/publish.js';
import { WhenCheckoutPaid } from '../../../src/modules/payments/application/when-checkout-paid.js';
import { WhenPaymentProgressed } from '../../../src/modules/payments/application/when-payment-progressed.js';
import { WhenRenterRegistered } from '../../../src/modules/payments/application/when-renter-registered.js';
import { checkout, checkoutReference } from '../../../src/modules/payments/domain/checkout.js';
import { checkoutPaymentId, payment as paymentDecider } from '../../../src/modules/payments/domain/payment.js';
import { AggregateStore } from '../../../src/platform/aggregates/aggregate-store.js';
import { TestTraffic } from '../../../src/platform/aggregates/test-traffic.js';
import type { CheckoutVerdict } from '../../../src/ports/payment-processor.js';
import type { ReadModels } from '../../../src/ports/read-models.js';
import { SubjectErased, type Vault } from '../../../src/ports/vault.js';
import type { Accounts } from '../../../src/published/accounts.js';
import type { Parties } from '../../../src/published/parties.js';
import type { PaymentUpdate, ScreeningFacts, Screenings } from '../../../src/published/screenings.js';
import { StripePaymentProcessor } from '../../../src/vendors/stripe/payment.js';
import { ProcessorUnderTest, SECRET_KEY } from '../../contract/payment-processor/harness.js';
import { SetClock } from '../../support/clock.js';
import { CallsAtOnce } from '../../support/external-calls.js';

const ACCOUNT = newId();
const SYSTEM = { environment: 'test', actor: { kind: 'system', id: 'test' } } as const;
const GUARD = 30 * 86_400;
const FIELDS = { email: 'customerEmail', successUrl: 'successUrl', cancelUrl: 'cancelUrl' };
const WISH = {
  successUrl: 'https://app.example.test/paid?session={CHECKOUT_SESSION_ID}',
  cancelUrl: 'https://app.example.test/canceled',
  description: '4711 Canary Cage Lane',
  email: 'canary.bird@example.test',
  notes: { consumer_id: 'canary-1' },
};
const CARD = { number: '4242424242424242', expiry: '12/40', cvc: '123' };

/** The workers die before they call the vendor, while `dead` is set. */
class MortalCalls extends CallsAtOnce {
  dead = false;

  override async make<Input, End>(call: ExternalCall<Input, End>, attempt: Attempt, input: Input): Promise<End | null> {
    if (!this.dead) return super.make(call, attempt, input);
    await this.withdraw(call as ExternalCall<never>, attempt);
    return null;
  }
}

/**
 * Remembers the checkout sessions that the processor made. The worker may die before it records the processor's answer.
 */
class WatchedProcessor extends StripePaymentProcessor {
  readonly made = new Set<string>();
  dying = 0;

  override async createCheckout(
    ...input: Parameters<StripePaymentProcessor['createCheckout']>
  ): Promise<CheckoutVerdict> {
    const verdict = await super.createCheckout(...input);
    if (verdict.kind === 'checkout') this.made.add(verdict.session.id);
    if (this.dying === 0) return verdict;
    this.dying -= 1;
    return { kind: 'timed-out' };
  }
}

let folder: string;
let store: EmbeddedEventStore;
let sandbox: ProcessorUnderTest;
const processors: StripePaymentProcessor[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'checkouts-'));
  store = EmbeddedEventStore.open({ directory: folder, mapSizeBytes: 64 * 2 ** 20 });
  sandbox = await ProcessorUnderTest.start();
});
afterEach(() => sandbox.control('outage', { seconds: 0 }));
afterAll(async () => {
  await Promise.all(processors.map((processor) => processor.close()));
  await sandbox.stop();
  await store.close();
  await rm(folder, { recursive: true, force: true });
});

function harness() {
  const clock = new SetClock(Date.now());
  const partyId = derivedId('party', newId());
  const account = {
    feeCents: 3_500,
    currency: 'usd',
    connectedPaymentAccount: null as string | null,
    vendors: {},
    applicationFeeCents: 300,
    maxApplicationFeeCents: null,
    refundAfterDays: null as number | null,
  };
  const sessions: ScreeningFacts[] = [];
  const facts = {
    lockedUntil: null as string | null,
    provisioned: true,
    reportCanBeHad: true,
    /** Runs while a request reads the terms of the payment. */
    meanwhile: async (): Promise<void> => undefined,
  };
  const flags: { excludeBackground?: boolean } = {};
  const altered: string[] = [];
  const told: (Pick<PaymentUpdate, 'status' | 'transactionId'> & { readonly sessionId: string })[] = [];
  const screenings = {
    find: async (id: string) => sessions.find(({ sessionId }) => sessionId === id) ?? null,
    reportProspect: async () => (facts.reportCanBeHad ? 'possible' : 'none'),
    paymentProgressed: async (sessionId: string, { status, transactionId }: PaymentUpdate) => {
      told.push({ sessionId, status, transactionId });
      const paid = sessions.find((session) => session.sessionId === sessionId);
      if (paid) Object.assign(paid, { paymentStatus: status });
    },
  } as unknown as Screenings;
  const parties = {
    find: async (_kind: string, id: string) =>
      id === 'unknown'
        ? null
        : {
            partyId,
            sessionIds: [...sessions.map(({ sessionId }) => sessionId), newId()],
            lockedUntil: facts.lockedUntil,
          },
  } as unknown as Parties;
  const kept = new Map<string, Uint8Array>();
  const erased = new Set<string>();
  const unlessErased = <Value>(subject: string, value: () => Value): Value => {
    if (erased.has(subject)) throw new SubjectErased(subject);
    return value();
  };
  const vault = {
    put: async (subject: string, entry: string, value: Uint8Array) =>
      unlessErased(subject, () => void kept.set(`${subject} ${entry}`, value)),
    get: async (subject: string, entry: string) => unlessErased(subject, () => kept.get(`${subject} ${entry}`) ?? null),
    remove: async (subject: string, entry: string) => void kept.delete(`${subject} ${entry}`),
  } as unknown as Vault;
  const processor = new WatchedProcessor({ secretKey: SECRET_KEY, baseUrl: sandbox.url, timeoutMs: 10_000 });
  processors.push(processor);
  const policy = new CheckoutPolicy(GUARD);
  const pages = new CheckoutPageStore(vault);
  const handlers = {
    handleInline: async (events: readonly RecordedEvent[]) => {
      for (const event of events)
        for (const handler of [paid, progressed])
          if (handler.types.has(event.type as never)) await handler.handle(event);
    },
  };
  const aggregates: AggregateStore = new AggregateStore(
    store,
    { applyNow: async () => undefined } as unknown as ReadModels,
    clock,
    { appendConflict: () => undefined },
    new TestTraffic(),
    handlers,
  );
  const paid: WhenCheckoutPaid = new WhenCheckoutPaid(aggregates, store, screenings, policy, {
    altered: (id) => void altered.push(id),
    refundReversed: () => undefined,
  });
  const progressed: WhenPaymentProgressed = new WhenPaymentProgressed(aggregates, screenings);
  const reconciler = new CheckoutReconciler(aggregates, processor, pages, clock);
  const calls = new MortalCalls();
  const terms = new CheckoutTerms(parties, screenings, {
    find: async () => {
      await facts.meanwhile();
      return account;
    },
    mayReachVendors: () => facts.provisioned,
  } as unknown as Accounts);
  const handler = new OpenCheckoutHandler(
    aggregates,
    calls,
    terms,
    pages,
    new CreateCheckoutSession(aggregates, reconciler),
    new SetCheckoutAside(aggregates, reconciler),
    policy,
    clock,
  );
  const lookUp = new LookUpCheckoutHandler(aggregates, reconciler, pages, clock);
  const follow = new FollowCheckoutEvent(aggregates, reconciler);
  const context: CallerContext = {
    accountId: ACCOUNT,
    environment: 'test',
    actor: { kind: 'api-key', id: 'key' },
    correlationId: newId(),
    causationId: newId(),
  };
  const history = (): Promise<RecordedEvent[]> => store.readStream(`checkout-${partyId}`);
  const statusOf = async (id: string): Promise<string> =>
    (await sandbox.get(`/v1/checkout/sessions/${id}`)).body.status;
  const registered = (subjectId = newId()): string => {
    const sessionId = newId();
    sessions.push({
      sessionId,
      subjectId,
      status: 'VERIFIED',
      paymentStatus: 'PENDING',
      createdAt: clock.now().toISOString(),
    } as ScreeningFacts);
    return sessionId;
  };
  const first = registered();
  return {
    ...{
      account,
      aggregates,
      altered,
      calls,
      clock,
      erased,
      first,
      flags,
      history,
      facts,
      kept,
      partyId,
      processor,
      registered,
      sessions,
      told,
    },
    open: (
      { renterId = 'renter', ...wish }: Partial<typeof WISH> & { readonly renterId?: string } = {},
      attemptId?: string,
    ): Promise<OpenedCheckout> =>
      handler.execute(
        new OpenCheckout(
          { renterId, wish: { ...WISH, ...wish }, reportFlags: { ...flags }, fields: FIELDS },
          context,
          attemptId,
        ),
      ),
    /** Pays on the checkout page, as a renter does. */
    pay: async ({ checkoutSessionId }: OpenedCheckout, card: Record<string, string> = CARD): Promise<number> =>
      (await sandbox.post(`/checkout/${checkoutSessionId}/pay`, card, {})).status,
    lookUp: () => lookUp.execute(new LookUpCheckout(partyId, AbortSignal.timeout(20_000))),
    notice: async (checkoutSessionId: string, transactionId = checkoutReference(partyId, 0)): Promise<string> => {
      const event = {
        eventId: `evt_${newId()}`,
        type: 'checkout.session.completed',
        environment: 'test',
        intentId: null,
        checkoutSessionId,
        transactionId,
      } as const;
      const call = { attemptId: newId(), correlationId: newId(), environment: 'test', subject: null } as const;
      return follow.askAndRecord(call, { id: event.eventId, attemptId: newId(), subject: null, context }, event);
    },
    /** Handles a registration as the screening module records it. The session already exists. */
    registersAnew: async (): Promise<string> => {
      const sessionId = registered();
      const recorded = {
        id: newId(),
        stream: `screening-${sessionId}`,
        type: 'ScreeningSubmitted',
        data: { partyId },
        metadata: {
          accountId: ACCOUNT,
          environment: 'test',
          occurredAt: clock.now().toISOString(),
          $correlationId: newId(),
        },
      } as unknown as RecordedEvent;
      await new WhenRenterRegistered(aggregates).handle(recorded);
      return sessionId;
    },
    types: async (): Promise<string[]> => (await history()).map(({ type }) => type),
    /** The events of the payment of one opening. */
    payment: async (ordinal = 0): Promise<RecordedEvent[]> =>
      store.readStream(`payment-${checkoutPaymentId(checkoutReference(partyId, ordinal))}`),
    /** The sessions at the processor that can still be paid. */
    payable: async (): Promise<string[]> => {
      const found = await Promise.all([...processor.made].map(async (id) => [id, await statusOf(id)] as const));
      return found.flatMap(([id, status]) => (status === 'open' ? [id] : []));
    },
    charged: async (): Promise<number> => {
      const reference = (ordinal: number): string => checkoutReference(partyId, ordinal);
      const money = await Promise.all(
        [0, 1, 2, 3].map((ordinal) => sandbox.control(`charges?transaction=${reference(ordinal)}`)),
      );
      return money.reduce((sum: number, { received }: { readonly received: number }) => sum + received, 0);
    },
  };
}

const PAID = { code: 'checkout.already_paid' };

describe('a renter at a hosted checkout', () => {
  it("is sent to a page of the account, and pays the account's fee", async () => {
    const { open, pay, notice, first, partyId, history, told, types } = harness();
    const opened = await open();
    expect(opened).toMatchObject({
      url: `${sandbox.url}/checkout/${opened.checkoutSessionId}`,
      expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    });
    expect(await pay(opened)).toBe(303);
    for (let time = 0; time < 3; time += 1) expect(await notice(opened.checkoutSessionId)).toBe('recorded');
    expect(await types()).toEqual(['CheckoutOpened', 'CheckoutSessionCreated', 'CheckoutPaid']);
    expect(told).toEqual([{ sessionId: first, status: 'SUCCEEDED', transactionId: `chk_${partyId}_0` }]);
    expect(checkoutPublisher.publish(await history(), { reportUrl: null, incomeReportUrl: null })).toMatchObject({
      type: 'payment.succeeded',
      data: {
        session_id: first,
        stripe_payment_intent_id: expect.stringMatching(/^pi_/),
        amount_cents: 3_500,
        currency: 'usd',
      },
    });
    await expect(open()).rejects.toMatchObject(PAID);
  });

  it('makes one payment on the terms at the opening of the page, and a newer session gets the payment too', async () => {
    const { open, pay, notice, account, altered, first, partyId, payment, registersAnew } = harness();
    Object.assign(account, { refundAfterDays: 14, connectedPaymentAccount: 'acct_1' });
    const opened = await open();
    Object.assign(account, { refundAfterDays: null, feeCents: 9_900 });
    await pay(opened);
    for (let time = 0; time < 2; time += 1) await notice(opened.checkoutSessionId);
    const [made, ...more] = await payment();
    expect([made?.data, more, altered]).toEqual([
      {
        sessionId: first,
        reference: `chk_${partyId}_0`,
        ordinal: 0,
        amountCents: 3_500,
        applicationFeeCents: 300,
        currency: 'usd',
        connectedAccount: 'acct_1',
        refundAfterDays: 14,
        vendor: 'stripe',
        paymentIntentId: expect.stringMatching(/^pi_/),
      },
      [],
      [],
    ]);
    const newer = await registersAnew();
    expect((await payment()).slice(1).map(({ type, data }) => ({ type, ...data }))).toEqual([
      { type: 'PaymentExtended', sessionId: newer },
    ]);
  });

  it('raises an alarm when the received amount differs from the amount of the page', async () => {
    const { open, altered, aggregates, partyId, clock, payment } = harness();
    const { checkoutSessionId } = await open();
    const received = { intentId: `pi_${partyId}`, amountCents: 50, currency: 'usd' };
    const session = { id: checkoutSessionId, status: 'complete', payment: received } as const;
    const context = { ...SYSTEM, accountId: ACCOUNT, correlationId: newId(), causationId: newId() };
    const seen = { kind: 'observe', now: clock.now(), session, toReplace: false } as const;
    await aggregates.execute(checkout, partyId, seen, context);
    const recorded = await payment();
    expect(recorded.map(({ type }) => type)).toEqual(['PaymentMadeAtCheckout', 'PaymentIntentAltered']);
    expect(altered.map((id) => `payment-${id}`)).toEqual([recorded[0]?.stream]);
  });

  it.each([
    [500, PAID],
    [3_500, null],
  ])('pays again within 30 days only after a full refund: %s of 3500 cents', async (refundedCents, refusal) => {
    const { open, pay, notice, aggregates, partyId, payment, registersAnew, told, first } = harness();
    const opened = await open();
    await pay(opened);
    await notice(opened.checkoutSessionId);
    const [made] = await payment();
    const { paymentIntentId } = made?.data as unknown as { readonly paymentIntentId: string };
    const intent = { id: paymentIntentId, status: 'succeeded', amountCents: 3_500, receivedCents: 3_500 } as const;
    const seen = { ...intent, refundedCents, currency: 'usd', lastErrorCode: null };
    const context = { ...SYSTEM, accountId: ACCOUNT, correlationId: newId(), causationId: newId() };
    const id = checkoutPaymentId(checkoutReference(partyId, 0));
    await aggregates.execute(paymentDecider, id, { kind: 'observe', basedOn: 1, intent: seen }, context);
    const newer = await registersAnew();
    expect(new Set(told.map(({ sessionId }) => sessionId))).toEqual(new Set(refusal ? [first, newer] : [first]));
    if (refusal) await expect(open()).rejects.toMatchObject(refusal);
    else expect(await open()).toMatchObject({ url: expect.any(String) });
  });

  // No report was or will be pulled for this payment.
  it('gets a refund for the duplicate payment when another transaction has already paid for the session', async () => {
    const { open, pay, notice, sessions, payment } = harness();
    const opened = await open();
    Object.assign(sessions[0] ?? {}, { paidBy: 'txn_other' });
    await pay(opened);
    for (let time = 0; time < 2; time += 1) await notice(opened.checkoutSessionId);
    expect((await payment()).slice(1).map(({ type, data }) => ({ type, ...data }))).toEqual([
      { type: 'PaymentRefundRequested', reasonCode: 'duplicate', keepsReport: true },
    ]);
  });

  // A log of an earlier version contains old duplicate payments. An operator decides about these payments.
  it('gets nothing back automatically for a duplicate that was paid more than a day ago', async () => {
    const { open, aggregates, partyId, clock, sessions, payment } = harness();
    const { checkoutSessionId } = await open();
    Object.assign(sessions[0] ?? {}, { paidBy: 'txn_other' });
    const received = { intentId: `pi_${partyId}`, amountCents: 3_500, currency: 'usd' };
    const session = { id: checkoutSessionId, status: 'complete', payment: received } as const;
    const context = { ...SYSTEM, accountId: ACCOUNT, correlationId: newId(), causationId: newId() };
    const now = new Date(clock.now().getTime() - 86_400_000);
    await aggregates.execute(checkout, partyId, { kind: 'observe', now, session, toReplace: false }, context);
    expect((await payment()).map(({ type }) => type)).toEqual(['PaymentMadeAtCheckout']);
  });

  // The return addresses and the caller's notes are personal data.
  it('leaves no personal data in the log, and the vault keeps the data only while the page is open', async () => {
    const { open, pay, notice, history, kept } = harness();
    const opened = await open();
    expect([...kept.values()].map((value) => JSON.parse(Buffer.from(value).toString()))).toEqual([
      { wish: WISH, url: opened.url },
    ]);
    await pay(opened);
    await notice(opened.checkoutSessionId);
    expect(kept.size).toBe(0);
    expect(JSON.stringify(await history())).not.toMatch(/canary|example\.test|https?:/i);
  });

  it('is refused before an event is stored when the renter is unknown or the price is too low', async () => {
    const { open, account, calls, kept, types } = harness();
    await expect(open({ renterId: 'unknown' })).rejects.toMatchObject({ code: 'checkout.renter_unknown' });
    account.feeCents = 49;
    await expect(open()).rejects.toMatchObject({ code: 'checkout.misconfigured' });
    expect([await types(), kept.size, calls.admitted.size]).toEqual([[], 0, 0]);
  });

  it('is sent to the page after the settings are corrected, although the processor first refused them', async () => {
    const { open, account, types, kept } = harness();
    account.connectedPaymentAccount = 'acct_missing1';
    await expect(open()).rejects.toMatchObject({ code: 'checkout.misconfigured' });
    expect([await types(), kept.size]).toEqual([['CheckoutOpened', 'CheckoutAbandoned'], 0]);
    account.connectedPaymentAccount = 'acct_good1';
    expect(await open()).toMatchObject({ url: expect.any(String) });
  });

  it.each([
    ['customerEmail', { email: 'o\u2019neil@example.com' }],
    ['successUrl', { successUrl: 'https://' }],
    ['cancelUrl', { cancelUrl: 'https://' }],
  ])(
    'gets an error that names the refused field %s, and is sent to the page when the field is omitted',
    async (field, wrong) => {
      const { open, pay } = harness();
      for (let time = 0; time < 2; time++)
        await expect(open(wrong)).rejects.toMatchObject({
          code: 'request.invalid',
          detail: { field, details: [{ field, message: 'is not accepted by the payment processor' }] },
        });
      expect(await pay(await open())).toBe(303);
    },
  );

  it.each(['BLOCKED', 'EXPIRED', 'ERROR'] as const)(
    'has nothing to pay for when the screening is %s',
    async (status) => {
      const { open, sessions } = harness();
      Object.assign(sessions[0] as object, { status });
      await expect(open()).rejects.toMatchObject({ code: 'payment.session_not_payable' });
    },
  );

  it('cannot pay while wrong answers lock the renter', async () => {
    const { open, facts, types } = harness();
    facts.lockedUntil = '2026-02-01T00:00:00.000Z';
    await expect(open()).rejects.toMatchObject({ code: 'party.locked', detail: { blockedUntil: facts.lockedUntil } });
    expect(await types()).toEqual([]);
  });

  it('cannot pay when the account may not pull reports', async () => {
    const { open, facts } = harness();
    facts.provisioned = false;
    await expect(open()).rejects.toMatchObject({ code: 'account.not_live' });
  });

  it('cannot pay when the bureau cannot identify the verified renter', async () => {
    const { open, facts, sessions, history } = harness();
    facts.reportCanBeHad = false;
    await expect(open()).rejects.toMatchObject({ code: 'payment.report_not_available' });
    expect(await history()).toEqual([]);
    Object.assign(sessions[0] as object, { status: 'STEP_UP_REQUIRED' });
    expect((await open()).url).toContain('http');
  });

  it('cannot pay when no payment is required', async () => {
    const { open, sessions } = harness();
    Object.assign(sessions[0] as object, { paymentStatus: 'NOT_REQUIRED' });
    await expect(open()).rejects.toMatchObject({ code: 'payment.not_required' });
  });
});

it('the report flags of the newest checkout are the default for readers of the report', async () => {
  const { aggregates, open, partyId, flags } = harness();
  const checkouts = new CheckoutDirectory(aggregates);
  expect(await checkouts.reportFlags(partyId)).toEqual({});
  flags.excludeBackground = true;
  await open();
  expect(await checkouts.reportFlags(partyId)).toEqual({ excludeBackground: true });
  flags.excludeBackground = false;
  await open();
  expect(await checkouts.reportFlags(partyId)).toEqual({ excludeBackground: false });
});

describe('a page that the processor cannot make', () => {
  const AWAY = { code: 'service.unavailable' };

  it('does not block the next request when the text of the page cannot be sent', async () => {
    const { open, pay, types, kept } = harness();
    for (let time = 0; time < 2; time++)
      await expect(open({ description: 'half a character \ud83d' })).rejects.toMatchObject(AWAY);
    expect([(await types()).at(-1), kept.size]).toEqual(['CheckoutAbandoned', 0]);
    expect(await pay(await open())).toBe(303);
  });

  it('does not block the next request when the processor keeps a failure under its key', async () => {
    const { open, pay, types } = harness();
    await sandbox.control('kept-failures', { calls: 1 });
    await expect(open()).rejects.toMatchObject(AWAY);
    expect(await types()).toEqual(['CheckoutOpened', 'CheckoutAbandoned']);
    expect(await pay(await open())).toBe(303);
  });

  it('does not block the next request when an earlier process got an unreadable answer', async () => {
    const { open, pay, processor, types } = harness();
    const create = processor.createCheckout;
    processor.createCheckout = async () => ({ kind: 'unintelligible' });
    await expect(open()).rejects.toMatchObject(AWAY);
    expect(await types()).toEqual(['CheckoutOpened']);
    await expect(open()).rejects.toMatchObject(AWAY);
    processor.createCheckout = create;
    expect(await pay(await open())).toBe(303);
  });

  it('does not block the next request when the processor keeps a failure to expire the page', async () => {
    const { open, payable } = harness();
    await open();
    await sandbox.control('kept-failures', { calls: 1 });
    const second = await open();
    expect(await payable()).toEqual([second.checkoutSessionId]);
  });
});

describe('a second request for a page', () => {
  it('first expires an open page at the processor, so that the page in the other tab accepts no money', async () => {
    const { open, pay, payable, types, charged } = harness();
    const first = await open();
    const second = await open();
    expect(second.checkoutSessionId).not.toBe(first.checkoutSessionId);
    expect(await payable()).toEqual([second.checkoutSessionId]);
    expect([await pay(first), await pay(second)]).toEqual([400, 303]);
    expect(await charged()).toBe(3_500);
    expect((await types()).slice(0, 4)).toEqual([
      'CheckoutOpened',
      'CheckoutSessionCreated',
      'CheckoutReplaced',
      'CheckoutOpened',
    ]);
  });

  it('is refused with 409 when the page was paid and the processor sent no event, and the session gets the payment', async () => {
    const { open, pay, told, types, charged } = harness();
    await pay(await open());
    await expect(open()).rejects.toMatchObject(PAID);
    expect([(await types()).at(-1), told.length, await charged()]).toEqual(['CheckoutPaid', 1, 3_500]);
  });

  it('replaces the page after a decline, and cancels the intent of the old page', async () => {
    const { open, pay, charged } = harness();
    const first = await open();
    expect(await pay(first, { ...CARD, number: '4000000000000002' })).toBe(402);
    const second = await open();
    expect([await pay(first), await pay(second), await charged()]).toEqual([400, 303, 3_500]);
  });

  it('gets the same page when it has the same attempt', async () => {
    const { open, processor } = harness();
    const attempt = newId();
    const first = await open({}, attempt);
    expect(await open({}, attempt)).toEqual(first);
    expect(processor.made.size).toBe(1);
  });

  it('at the same moment gets the same page for equal texts; for other texts, at most one page can be paid', async () => {
    const same = harness();
    const pages = await Promise.all([same.open(), same.open(), same.open()].map((one) => one.catch(() => null)));
    expect(new Set(pages.map((page) => page?.url)).size).toBe(1);
    expect(same.processor.made.size).toBe(1);
    const { open, payable, pay, charged } = harness();
    const ends = await Promise.allSettled(
      ['a', 'b', 'c'].map((path) => open({ cancelUrl: `https://app.example.test/${path}` })),
    );
    for (const end of ends)
      if (end.status === 'rejected') expect(end.reason).toMatchObject({ code: 'service.unavailable' });
    const opened = ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []));
    expect(opened.length).toBeGreaterThan(0);
    expect((await payable()).length).toBe(1);
    for (const page of opened) await pay(page);
    expect(await charged()).toBeLessThanOrEqual(3_500);
  });

  it('fails during an outage of the processor, and the open page stays valid', async () => {
    const { open, payable, types } = harness();
    const first = await open();
    await sandbox.control('outage', { seconds: 600 });
    await expect(open()).rejects.toMatchObject({ code: 'service.unavailable' });
    await sandbox.control('outage', { seconds: 0 });
    expect(await payable()).toEqual([first.checkoutSessionId]);
    expect(await types()).toEqual(['CheckoutOpened', 'CheckoutSessionCreated']);
  });

  // A second charge would pay for the same report. Only a new registration leads to another report.
  it('is refused while the newest session is paid, even after the 30 days', async () => {
    const { open, pay, notice, clock, registersAnew, processor } = harness();
    const first = await open();
    await pay(first);
    await notice(first.checkoutSessionId);
    clock.pass(GUARD + 1);
    await expect(open()).rejects.toMatchObject(PAID);
    expect(processor.made.size).toBe(1);
    await registersAnew();
    expect(await open()).toMatchObject({ url: expect.any(String) });
  });
});

describe('a process that dies during an opening', () => {
  it('before the call to the processor leaves an opening that the repeated request turns into one page', async () => {
    const { open, calls, processor, types } = harness();
    calls.dead = true;
    await expect(open()).rejects.toMatchObject({ code: 'service.upstream_timeout' });
    calls.dead = false;
    expect(await open()).toMatchObject({ url: expect.any(String) });
    expect([processor.made.size, await types()]).toEqual([1, ['CheckoutOpened', 'CheckoutSessionCreated']]);
    expect(calls.admitted.size).toBe(0);
  });

  it('after the call to the processor leaves a page that the repeated request returns', async () => {
    const { open, processor, types } = harness();
    processor.dying = 1;
    await expect(open()).rejects.toMatchObject({ code: 'service.upstream_timeout' });
    const [made] = processor.made;
    expect((await open()).checkoutSessionId).toBe(made);
    expect(await types()).toEqual(['CheckoutOpened', 'CheckoutSessionCreated']);
  });

  it('after the call to the processor leaves a page that another request expires', async () => {
    const { open, processor, payable } = harness();
    processor.dying = 1;
    await expect(open()).rejects.toMatchObject({ code: 'service.upstream_timeout' });
    const second = await open({ cancelUrl: 'https://app.example.test/elsewhere' });
    expect(processor.made.size).toBe(2);
    expect(await payable()).toEqual([second.checkoutSessionId]);
  });

  // The processor refuses different parameters under the same key.
  it('after the call leaves a page that the repeated request returns, even if the renter has registered again', async () => {
    const { open, processor, registersAnew } = harness();
    processor.dying = 1;
    await expect(open()).rejects.toMatchObject({ code: 'service.upstream_timeout' });
    const [made] = processor.made;
    await registersAnew();
    expect((await open()).checkoutSessionId).toBe(made);
  });

  it.each([
    ['before the call', 0],
    ['after the call', 1],
  ])(
    '%s leaves an opening that the look-up completes and that later expires, and the vault keeps nothing',
    async (_name, made) => {
      const { open, calls, processor, clock, lookUp, types, kept } = harness();
      calls.dead = made === 0;
      processor.dying = made;
      await expect(open()).rejects.toMatchObject({ code: 'service.upstream_timeout' });
      clock.pass(59);
      await lookUp();
      expect([processor.made.size, kept.size]).toEqual([made, 1]);
      clock.pass(1);
      await lookUp();
      expect((await types()).slice(1)).toEqual(['CheckoutLookedUp', 'CheckoutSessionCreated']);
      const [id] = processor.made;
      expect(processor.made.size).toBe(1);
      await sandbox.post(`/v1/checkout/sessions/${id}/expire`);
      clock.pass(60);
      await lookUp();
      expect([(await types()).at(-1), kept.size]).toEqual(['CheckoutExpired', 0]);
    },
  );
});

it('an opening without another request is given up when the processor refuses it', async () => {
  const { open, account, calls, clock, lookUp, types, kept } = harness();
  account.connectedPaymentAccount = 'acct_missing1';
  calls.dead = true;
  await expect(open()).rejects.toMatchObject({ code: 'service.upstream_timeout' });
  clock.pass(60);
  await lookUp();
  expect([(await types()).slice(1), kept.size]).toEqual([['CheckoutLookedUp', 'CheckoutAbandoned'], 0]);
});

describe('a page about which the processor sends no event', () => {
  it('is recorded as paid by the look-up', async () => {
    const { open, pay, lookUp, clock, types, told } = harness();
    await pay(await open());
    clock.pass(59);
    await lookUp();
    expect(told).toEqual([]);
    clock.pass(1);
    await lookUp();
    expect((await types()).slice(2)).toEqual(['CheckoutLookedUp', 'CheckoutPaid']);
    expect(told).toHaveLength(1);
    await lookUp();
    expect(told).toHaveLength(1);
  });

  it('stays open at the first look-up, and is recorded as expired at a later look-up', async () => {
    const { open, lookUp, clock, types, kept } = harness();
    const { checkoutSessionId } = await open();
    clock.pass(60);
    await lookUp();
    expect([(await types()).at(-1), kept.size]).toEqual(['CheckoutLookedUp', 1]);
    await sandbox.post(`/v1/checkout/sessions/${checkoutSessionId}/expire`);
    clock.pass(240);
    await lookUp();
    expect([(await types()).at(-1), kept.size]).toEqual(['CheckoutExpired', 0]);
  });

  it('is looked up again later when the processor is unavailable', async () => {
    const { open, pay, lookUp, clock, types } = harness();
    await pay(await open());
    clock.pass(60);
    await sandbox.control('outage', { seconds: 600 });
    await lookUp();
    await sandbox.control('outage', { seconds: 0 });
    expect((await types()).at(-1)).toBe('CheckoutLookedUp');
    clock.pass(240);
    await lookUp();
    expect((await types()).at(-1)).toBe('CheckoutPaid');
  });

  it('is not changed by an event about another session', async () => {
    const { open, pay, notice, types, partyId } = harness();
    const opened = await open();
    await pay(opened);
    const before = await types();
    await notice('cs_test_other');
    await notice(opened.checkoutSessionId, checkoutReference(newId(), 0));
    await notice(opened.checkoutSessionId, `txn_${partyId}`);
    expect(await types()).toEqual(before);
  });
});

describe('a renter who registers again', () => {
  it('within 30 days need not pay again, and only the new session gets the payment', async () => {
    const { open, pay, notice, registersAnew, told, first, clock } = harness();
    const opened = await open();
    await pay(opened);
    await notice(opened.checkoutSessionId);
    clock.pass(GUARD - 10);
    const second = await registersAnew();
    expect(told.map(({ sessionId }) => sessionId)).toEqual([first, second]);
    await expect(open()).rejects.toMatchObject(PAID);
  });

  it('after 30 days must pay again, and gets a page', async () => {
    const { open, pay, notice, registersAnew, told, clock } = harness();
    const opened = await open();
    await pay(opened);
    await notice(opened.checkoutSessionId);
    clock.pass(GUARD);
    await registersAnew();
    expect(told).toHaveLength(1);
    expect(await open()).toMatchObject({ url: expect.any(String) });
  });

  it('while the page is open pays for the new session', async () => {
    const { open, pay, notice, registersAnew, told, clock } = harness();
    const opened = await open();
    clock.pass(5);
    const second = await registersAnew();
    await pay(opened);
    await notice(opened.checkoutSessionId);
    expect(told).toMatchObject([{ sessionId: second, status: 'SUCCEEDED' }]);
  });

  // The registration cannot be recorded in a checkout that does not exist yet.
  it('while the service opens the first page pays for the new session', async () => {
    const { open, pay, notice, registersAnew, told, facts, clock } = harness();
    let second = '';
    facts.meanwhile = async () => {
      clock.pass(5);
      second = await registersAnew();
    };
    const opened = await open();
    await pay(opened);
    await notice(opened.checkoutSessionId);
    expect(told).toMatchObject([{ sessionId: second, status: 'SUCCEEDED' }]);
  });
});

describe('an erased person', () => {
  it('is not sent to a page', async () => {
    const { open, erased, sessions, types } = harness();
    erased.add((sessions[0] as ScreeningFacts).subjectId);
    await expect(open()).rejects.toMatchObject({ code: 'payment.session_not_payable' });
    expect(await types()).toEqual([]);
  });

  it('cannot be charged, since the next look-up expires the open page', async () => {
    const { open, pay, erased, sessions, lookUp, clock, types, payable } = harness();
    const opened = await open();
    erased.add((sessions[0] as ScreeningFacts).subjectId);
    clock.pass(60);
    await lookUp();
    expect([(await types()).at(-1), await payable(), await pay(opened)]).toEqual(['CheckoutExpired', [], 400]);
  });

  it('does not block a new registration when the erasure happened during an opening', async () => {
    const { open, calls, erased, sessions, registered, types } = harness();
    calls.dead = true;
    await expect(open()).rejects.toMatchObject({ code: 'service.upstream_timeout' });
    calls.dead = false;
    erased.add((sessions[0] as ScreeningFacts).subjectId);
    registered();
    expect(await open()).toMatchObject({ url: expect.any(String) });
    expect((await types()).slice(1)).toEqual(['CheckoutAbandoned', 'CheckoutOpened', 'CheckoutSessionCreated']);
  });

  it('gets no page from the look-up when the erasure happened during an opening', async () => {
    const { open, calls, erased, sessions, lookUp, clock, types } = harness();
    calls.dead = true;
    await expect(open()).rejects.toMatchObject({ code: 'service.upstream_timeout' });
    erased.add((sessions[0] as ScreeningFacts).subjectId);
    clock.pass(60);
    await lookUp();
    expect((await types()).slice(1)).toEqual(['CheckoutLookedUp', 'CheckoutAbandoned']);
  });
});

// Payments that are opened while the processor refuses them, the account's limit of calls is used up, or the person is
// erased. The processor, the sessions and the accounts are fakes.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { EmbeddedEventStore } from '../../../src/adapters/event-store/embedded.js';
import { readConfig } from '../../../src/config/config.js';
import type { Limits } from '../../../src/config/limits.js';
import { SystemClock } from '../../../src/kernel/clock.js';
import { newId } from '../../../src/kernel/ids.js';
import {
  ConfirmPayment,
  ConfirmPaymentHandler,
  LookAtIntent,
} from '../../../src/modules/payments/application/confirm-payment.js';
import {
  CreateIntent,
  CreateIntentHandler,
  type CreatedIntent,
} from '../../../src/modules/payments/application/create-intent.js';
import { TakeUpIntent } from '../../../src/modules/payments/application/take-up-intent.js';
import { PaymentPolicy } from '../../../src/modules/payments/application/payment-policy.js';
import { PaymentReconciler } from '../../../src/modules/payments/application/payment-reconciler.js';
import { WhenPaymentProgressed } from '../../../src/modules/payments/application/when-payment-progressed.js';
import { PaymentSecrets } from '../../../src/modules/payments/application/payment-secrets.js';
import {
  payment,
  paymentId,
  paymentIdIn,
  transactionIdOf,
  type Payment,
} from '../../../src/modules/payments/domain/payment.js';
import { AggregateStore } from '../../../src/platform/aggregates/aggregate-store.js';
import { type Charge, type IntentStatus, type IntentVerdict } from '../../../src/ports/payment-processor.js';
import type { ReadModels } from '../../../src/ports/read-models.js';
import { SubjectErased, type Vault } from '../../../src/ports/vault.js';
import type { VendorCall } from '../../../src/ports/vendor-call.js';
import type { Accounts } from '../../../src/published/accounts.js';
import type { SessionGrants } from '../../../src/published/session-grants.js';
import type { PaymentUpdate, ReportProspect, Screenings } from '../../../src/published/screenings.js';
import { CallsAtOnce } from '../../support/external-calls.js';
import { IntentsOnly } from '../../support/intents-only.js';
import { CountedInMemory } from '../../support/rate-limiter.js';

const ACCOUNT = newId();
const UNLIMITED = { paymentIntentsPerMinute: 0, confirmsPerMinute: 0 };
const DEFAULTS = readConfig({ REDIS_URL: 'redis://127.0.0.1:6379' }).limits;

/** A fake processor that knows only the account `acct_good`. */
class PlayedProcessor extends IntentsOnly {
  private readonly intents = new Map<string, IntentVerdict>();
  status: IntentStatus = 'requires_payment_method';
  down = false;
  /** The processor answers every call under this key with this verdict. */
  kept: { readonly key: string; readonly verdict: IntentVerdict } | null = null;
  /** The number of requests for a new intent, and the number of reads of an intent. */
  asked = 0;
  looks = 0;
  readonly changeKeys: string[] = [];
  /** The fees to which the intent was changed. */
  readonly fees: (number | null)[] = [];

  override async createIntent(
    { attemptId }: VendorCall,
    { amountCents, currency, connectedAccount }: Charge,
    { transactionId }: { readonly transactionId: string },
  ): Promise<IntentVerdict> {
    this.asked += 1;
    if (this.kept?.key === attemptId) return this.kept.verdict;
    if (connectedAccount !== 'acct_good') return { kind: 'refused', code: 'resource_missing' };
    const id = `pi_${attemptId.replaceAll(/\W/g, '_')}`;
    const intent = {
      id,
      status: 'requires_payment_method',
      amountCents,
      receivedCents: 0,
      refundedCents: 0,
      currency,
      lastErrorCode: null,
      transactionId,
      clientSecret: `${id}_secret`,
    } as const;
    this.intents.set(id, { kind: 'intent', intent });
    return { kind: 'intent', intent };
  }
  override async changeIntent(
    { attemptId }: VendorCall,
    intentId: string,
    { amountCents, applicationFeeCents }: Charge,
  ): Promise<IntentVerdict> {
    this.changeKeys.push(attemptId);
    if (this.kept?.key === attemptId) return this.kept.verdict;
    const verdict = this.intents.get(intentId);
    if (verdict?.kind !== 'intent') return { kind: 'not-found' };
    this.fees.push(applicationFeeCents);
    const changed = { kind: 'intent', intent: { ...verdict.intent, amountCents } } as const;
    this.intents.set(intentId, changed);
    return changed;
  }
  override async retrieveIntent(_call: VendorCall, intentId: string): Promise<IntentVerdict> {
    this.looks += 1;
    if (this.down) return { kind: 'unavailable' };
    const verdict = this.intents.get(intentId);
    return verdict?.kind === 'intent'
      ? {
          kind: 'intent',
          intent: {
            ...verdict.intent,
            status: this.status,
            receivedCents: this.status === 'succeeded' ? verdict.intent.amountCents : 0,
          },
        }
      : { kind: 'not-found' };
  }
}

let folder: string;
let store: EmbeddedEventStore;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'payments-'));
  store = EmbeddedEventStore.open({ directory: folder, mapSizeBytes: 64 * 2 ** 20 });
});
afterAll(async () => {
  await store.close();
  await rm(folder, { recursive: true, force: true });
});

function harness(limits: Pick<Limits, 'paymentIntentsPerMinute' | 'confirmsPerMinute'> = UNLIMITED) {
  const account = {
    feeCents: 50,
    currency: 'usd',
    connectedPaymentAccount: 'acct_good',
    vendors: {},
    applicationFeeCents: null,
    maxApplicationFeeCents: null,
  };
  const grants = { find: async () => null } as unknown as SessionGrants;
  const accounts = { find: async () => account } as unknown as Accounts;
  const session = {
    accountId: ACCOUNT,
    environment: 'test',
    status: 'VERIFIED',
    paymentStatus: 'PENDING',
    grantId: null,
    subjectId: 'subject',
    paidBy: null as string | null,
  };
  const report: { prospect: ReportProspect } = { prospect: 'possible' };
  const screenings = {
    find: async () => session,
    reportProspect: async () => report.prospect,
    paymentProgressed: async (_session: string, { status }: PaymentUpdate) => void told.push(status),
  } as unknown as Screenings;
  const told: string[] = [];
  const processor = new PlayedProcessor();
  const aggregates = new AggregateStore(
    store,
    { applyNow: async () => undefined } as unknown as ReadModels,
    new SystemClock(),
    { appendConflict: () => undefined },
  );
  const kept = new Map<string, Uint8Array>();
  let erased = false;
  const unlessErased = <Value>(value: Value): Value => {
    if (erased) throw new SubjectErased('subject');
    return value;
  };
  const secrets = new PaymentSecrets({
    put: async (subject: string, entry: string, value: Uint8Array) =>
      unlessErased(void kept.set(subject + entry, value)),
    get: async (subject: string, entry: string) => unlessErased(kept.get(subject + entry) ?? null),
    remove: async (subject: string, entry: string) => void kept.delete(subject + entry),
  } as unknown as Vault);
  const observer = { altered: () => undefined, refundReversed: () => undefined };
  const reconciler = new PaymentReconciler(aggregates, processor, secrets, screenings, observer);
  const calls = new CallsAtOnce();
  const takeUp = new TakeUpIntent(aggregates, processor, reconciler, secrets);
  const limiter = new CountedInMemory();
  const { paymentIntentsPerMinute, confirmsPerMinute } = limits;
  const policy = new PaymentPolicy({ intentsPerMinute: paymentIntentsPerMinute, confirmsPerMinute });
  const create = new CreateIntentHandler(
    aggregates,
    calls,
    takeUp,
    secrets,
    screenings,
    accounts,
    grants,
    limiter,
    policy,
  );
  const confirm = new ConfirmPaymentHandler(
    aggregates,
    calls,
    new LookAtIntent(aggregates, reconciler),
    screenings,
    new WhenPaymentProgressed(aggregates, screenings),
    limiter,
    policy,
  );
  const sessionId = newId();
  const context = {
    accountId: ACCOUNT,
    environment: 'test',
    actor: { kind: 'platform-token', id: 'key' },
    correlationId: newId(),
    causationId: newId(),
  } as const;
  return {
    account,
    limiter,
    session,
    report,
    sessionId,
    processor,
    calls,
    kept,
    told,
    /** Handles a notice from the processor. */
    noticed: async (transactionId: string): Promise<void> => {
      const id = paymentIdIn(transactionId) ?? '';
      const loaded = await aggregates.load(payment, id);
      const { paymentIntentId } = loaded.state as Payment;
      const call: VendorCall = { attemptId: newId(), correlationId: newId(), environment: 'test', subject: null };
      await reconciler.reconcile(call, { id, context }, loaded, paymentIntentId ?? '');
    },
    erase: () => (erased = true),
    create: (amountCents = 3_500, applicationFeeCents = 100): Promise<CreatedIntent> =>
      create.execute(new CreateIntent(sessionId, { amountCents, applicationFeeCents }, context)),
    /** Opens a payment without a subject, as an earlier version did. */
    openedEarlier: async (): Promise<void> => {
      const { connectedPaymentAccount: connectedAccount, currency } = account;
      const price = { amountCents: 3_500, applicationFeeCents: 100 };
      const open = { kind: 'open', sessionId, ordinal: 0, ...price, currency, connectedAccount } as const;
      await aggregates.execute(payment, paymentId(sessionId, 0), open, context);
    },
    confirm: (transactionId: string) => confirm.execute(new ConfirmPayment(transactionId, context)),
    types: async (ordinal = 0): Promise<string[]> =>
      (await store.readStream(`payment-${paymentId(sessionId, ordinal)}`)).map(({ type }) => type),
  };
}

// A transaction keeps its terms. A transaction that can never be charged must not block the next transaction.
it('a session can be paid after the settings are corrected, although the processor refused its first transaction', async () => {
  const { account, create, types, sessionId, calls } = harness();
  account.connectedPaymentAccount = 'acct_gone';
  await expect(create()).rejects.toThrow('refused a request of ours');
  expect(await types()).toEqual(['PaymentOpened', 'PaymentCanceled']);
  account.connectedPaymentAccount = 'acct_good';
  const second = transactionIdOf(paymentId(sessionId, 1));
  expect(await create()).toMatchObject({ transactionId: second, amountCents: 3_500 });
  expect(await create()).toMatchObject({ transactionId: second });
  expect(calls.admitted.size).toBe(0);
});

it('an intent is refused without a call to the processor when the verified session can have no report', async () => {
  const { create, session, report, types } = harness();
  report.prospect = 'none';
  await expect(create()).rejects.toMatchObject({ code: 'payment.report_not_available' });
  expect(await types()).toEqual([]);
  session.status = 'STEP_UP_REQUIRED';
  await create();
  session.status = 'VERIFIED';
  await expect(create()).rejects.toMatchObject({ code: 'payment.report_not_available' });
  session.paymentStatus = 'SUCCEEDED';
  await expect(create()).rejects.toMatchObject({ code: 'payment.already_completed' });
});

it("an intent is refused before an event is stored when the account's limit of calls to the processor is used up", async () => {
  const { create, types, calls } = harness();
  calls.full = true;
  await expect(create()).rejects.toMatchObject({ code: 'request.rate_limited' });
  expect(await types()).toEqual([]);
});

// No browser has the secret of this intent. The intent therefore cannot be paid and does not block another intent.
it('a payment ends when its intent cannot be made under its key, and the next request uses another key', async () => {
  const { create, processor, sessionId, types } = harness();
  const key = `${transactionIdOf(paymentId(sessionId, 0))}:create`;
  const second = transactionIdOf(paymentId(sessionId, 1));
  processor.kept = { key, verdict: { kind: 'not-made' } };
  await expect(create()).rejects.toMatchObject({ code: 'service.unavailable' });
  expect(await types()).toEqual(['PaymentOpened', 'PaymentCanceled']);
  expect(await create()).toMatchObject({ transactionId: second });
});

it('when the processor does not make a change under the first key, the service requests the change once more under a second key', async () => {
  const { create, processor, sessionId } = harness();
  const { transactionId } = await create();
  const key = `${transactionIdOf(paymentId(sessionId, 0))}:update:1`;
  processor.kept = { key, verdict: { kind: 'not-made' } };
  for (let time = 0; time < 2; time++) expect(await create(3_500, 200)).toMatchObject({ transactionId });
  expect(processor.fees).toEqual([200, 200]);
  expect(processor.changeKeys.filter((asked) => asked === key)).toHaveLength(2);
  expect(new Set(processor.changeKeys).size).toBe(3);
  processor.kept = null;
  await create(3_500, 300);
  expect(processor.fees.at(-1)).toBe(300);
  expect(processor.changeKeys.at(-1)).toBe(`${transactionId}:update:2`);
});

it('an intent whose answer is unreadable is requested once more, and then its payment ends', async () => {
  const { create, processor, sessionId, types } = harness();
  const key = `${transactionIdOf(paymentId(sessionId, 0))}:create`;
  processor.kept = { key, verdict: { kind: 'unintelligible' } };
  for (const expected of [['PaymentOpened'], ['PaymentOpened', 'PaymentCanceled']]) {
    await expect(create()).rejects.toMatchObject({ code: 'service.unavailable' });
    expect(await types()).toEqual(expected);
  }
  expect(await create()).toMatchObject({ transactionId: transactionIdOf(paymentId(sessionId, 1)) });
});

it('the secret for the browser is kept only in the vault, while the payment is open', async () => {
  const { create, confirm, kept, processor, types } = harness();
  const { transactionId, clientSecret } = await create();
  expect([...kept.values()].map((value) => Buffer.from(value).toString())).toEqual([JSON.stringify({ clientSecret })]);
  processor.status = 'succeeded';
  await confirm(transactionId);
  expect([await types(), kept.size]).toEqual([['PaymentOpened', 'PaymentIntentCreated', 'PaymentSucceeded'], 0]);
  await expect(create()).rejects.toMatchObject({ code: 'payment.already_completed' });
});

it('the secret of a payment without a subject is also removed when the payment ends', async () => {
  const { create, confirm, kept, processor, openedEarlier } = harness();
  await openedEarlier();
  const { transactionId } = await create();
  expect(kept.size).toBe(1);
  processor.status = 'succeeded';
  await confirm(transactionId);
  expect(kept.size).toBe(0);
});

it('when a call returns no result, the caller gets the recorded result, or a timeout when none is recorded', async () => {
  const { create, confirm, processor, calls, kept } = harness();
  const late = { code: 'service.upstream_timeout' };
  calls.deaf = true;
  const { transactionId, clientSecret } = await create();
  expect(clientSecret).toMatch(/_secret$/);
  await expect(confirm(transactionId)).rejects.toMatchObject(late);
  processor.down = true;
  await expect(create(3_600)).rejects.toMatchObject(late);
  const [[entry = '', secret = new Uint8Array()] = []] = kept;
  kept.delete(entry);
  await expect(create()).rejects.toMatchObject(late);
  kept.set(entry, secret);
  processor.down = false;
  processor.status = 'succeeded';
  expect(await confirm(transactionId)).toMatchObject({ status: 'SUCCEEDED' });
});

// The payment state of the session releases the report. A page requests the report immediately after the confirmation.
it('the session has the success before confirm answers, even if another process recorded the success', async () => {
  const { create, confirm, processor, noticed, told } = harness();
  const { transactionId } = await create();
  processor.status = 'succeeded';
  await noticed(transactionId);
  expect(told).toEqual([]);
  expect(await confirm(transactionId)).toMatchObject({ status: 'SUCCEEDED' });
  expect(told).toEqual(['SUCCEEDED']);
});

// When another transaction has already paid for the session, a further payment would buy the same report twice.
it.each([
  ['another transaction', 'txn_other', { reasonCode: 'duplicate', keepsReport: true, refusals: 0 }],
  ['that transaction', null, null],
])(
  'a payment is refunded when the session was already paid by another transaction (paid by %s)',
  async (_, other, refund) => {
    const { create, confirm, processor, session, types } = harness();
    const { transactionId } = await create();
    session.paidBy = other ?? transactionId;
    processor.status = 'succeeded';
    await confirm(transactionId);
    expect(await confirm(transactionId)).toMatchObject({ status: 'SUCCEEDED', refund });
    expect((await types()).slice(3)).toEqual(refund === null ? [] : ['PaymentRefundRequested']);
  },
);

it('a payment for an erased person is refused', async () => {
  const { create, erase, types } = harness();
  erase();
  await expect(create()).rejects.toMatchObject({ code: 'payment.session_not_payable' });
  expect(await types()).toEqual(['PaymentOpened']);
});

it('an intent is refused with 429 beyond 10 a minute for one session, before an event is stored; other sessions are not limited', async () => {
  const { create, types, limiter, processor } = harness(DEFAULTS);
  for (let count = 0; count < 10; count++) await create();
  const before = await types();
  const asked = processor.asked + processor.looks;
  await expect(create()).rejects.toMatchObject({ code: 'request.rate_limited', detail: { retryAfterSeconds: 60 } });
  expect([await types(), processor.asked + processor.looks]).toEqual([before, asked]);
  await harness(DEFAULTS).create();
  limiter.endWindows(60);
  await create();
});

it('confirm reads the processor at most once a second, repeats a failed read, and is limited to 20 requests a minute', async () => {
  const { create, confirm, processor, limiter } = harness(DEFAULTS);
  const { transactionId } = await create();
  processor.down = true;
  await expect(confirm(transactionId)).rejects.toBeDefined();
  processor.down = false;
  expect(await confirm(transactionId)).toMatchObject({ status: 'PENDING' });
  processor.status = 'processing';
  const looks = processor.looks;
  expect(await confirm(transactionId)).toMatchObject({ status: 'PENDING' });
  expect(processor.looks).toBe(looks);
  limiter.endWindows(1);
  expect(await confirm(transactionId)).toMatchObject({ status: 'PROCESSING' });
  for (let count = 4; count < 20; count++) await confirm(transactionId);
  expect(processor.looks).toBe(looks + 1);
  await expect(confirm(transactionId)).rejects.toMatchObject({ code: 'request.rate_limited' });
  limiter.endWindows(60);
  await confirm(transactionId);
});

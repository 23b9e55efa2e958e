// Opening a payment when the processor will not have it. The processor, the sessions and the accounts are played.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { EmbeddedEventStore } from '../../../src/adapters/event-store/embedded.js';
import { SystemClock } from '../../../src/kernel/clock.js';
import { newId } from '../../../src/kernel/ids.js';
import {
  CreateIntent,
  CreateIntentHandler,
  type CreatedIntent,
} from '../../../src/modules/payments/application/create-intent.js';
import { PaymentReconciler } from '../../../src/modules/payments/application/payment-reconciler.js';
import { paymentId, transactionIdOf } from '../../../src/modules/payments/domain/payment.js';
import { AggregateStore } from '../../../src/platform/aggregates/aggregate-store.js';
import { PaymentProcessor, type Charge, type IntentVerdict } from '../../../src/ports/payment-processor.js';
import type { ReadModels } from '../../../src/ports/read-models.js';
import type { VendorCall } from '../../../src/ports/vendor-call.js';
import type { Accounts } from '../../../src/published/accounts.js';
import type { SessionGrants } from '../../../src/published/session-grants.js';
import type { Screenings } from '../../../src/published/screenings.js';

const ACCOUNT = newId();

/** Knows no account but `acct_good`. */
class PlayedProcessor extends PaymentProcessor {
  private readonly intents = new Map<string, IntentVerdict>();

  override async createIntent(
    { attemptId }: VendorCall,
    { amountCents, currency, connectedAccount }: Charge,
    { transactionId }: { readonly transactionId: string },
  ): Promise<IntentVerdict> {
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
  override async changeIntent(): Promise<IntentVerdict> {
    throw new Error('Nothing is changed here');
  }
  override async retrieveIntent(_call: VendorCall, intentId: string): Promise<IntentVerdict> {
    return this.intents.get(intentId) ?? { kind: 'not-found' };
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

// A transaction keeps what it was opened with, so one that can never be charged must not be in the way of the next.
it('a session can be paid once the settings are right, although its first transaction was refused', async () => {
  const account = {
    feeCents: 50,
    currency: 'usd',
    connectedPaymentAccount: 'acct_gone',
    applicationFeeCents: null,
    maxApplicationFeeCents: null,
  };
  const grants = { find: async () => null } as unknown as SessionGrants;
  const accounts = { find: async () => account } as unknown as Accounts;
  const screenings = {
    find: async () => ({
      accountId: ACCOUNT,
      environment: 'test',
      status: 'VERIFIED',
      paymentStatus: 'PENDING',
      grantId: null,
    }),
  } as unknown as Screenings;
  const processor = new PlayedProcessor();
  const aggregates = new AggregateStore(
    store,
    { applyNow: async () => undefined } as unknown as ReadModels,
    new SystemClock(),
    { appendConflict: () => undefined },
  );
  const handler = new CreateIntentHandler(
    aggregates,
    processor,
    screenings,
    accounts,
    grants,
    new PaymentReconciler(aggregates, processor),
  );
  const sessionId = newId();
  const context = {
    accountId: ACCOUNT,
    environment: 'test',
    actor: { kind: 'platform-token', id: 'key' },
    correlationId: newId(),
    causationId: newId(),
  } as const;
  const create = (): Promise<CreatedIntent> =>
    handler.execute(new CreateIntent(sessionId, { amountCents: 3_500, applicationFeeCents: 100 }, context));

  await expect(create()).rejects.toThrow('refused: resource_missing');
  expect((await store.readStream(`payment-${paymentId(sessionId, 0)}`)).map(({ type }) => type)).toEqual([
    'PaymentOpened',
    'PaymentCanceled',
  ]);
  account.connectedPaymentAccount = 'acct_good';
  const second = transactionIdOf(paymentId(sessionId, 1));
  expect(await create()).toMatchObject({ transactionId: second, amountCents: 3_500 });
  expect(await create()).toMatchObject({ transactionId: second });
});

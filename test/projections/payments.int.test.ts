// Payments about which the processor sends no event, on a real event store and Redis. The processor is a fake in
// memory, and the test sets the clock.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { EmbeddedEventStore } from '../../src/adapters/event-store/embedded.js';
import { RedisProjectionStore } from '../../src/adapters/read-models/redis-projection-store.js';
import type { RedisReadModels } from '../../src/adapters/read-models/redis.js';
import { newId } from '../../src/kernel/ids.js';
import { LookUpPayment, LookUpPaymentHandler } from '../../src/modules/payments/application/look-up-payment.js';
import { MakeRefund } from '../../src/modules/payments/application/refund-payment.js';
import type { RequestRefund } from '../../src/modules/payments/application/request-refund.js';
import { PaymentReconciler } from '../../src/modules/payments/application/payment-reconciler.js';
import { PaymentSecrets } from '../../src/modules/payments/application/payment-secrets.js';
import type { FollowCheckoutEvent } from '../../src/modules/payments/application/follow-checkout-event.js';
import {
  FollowProcessorEvent,
  ReceiveProcessorWebhookEvent,
  ReceiveProcessorWebhookEventHandler,
} from '../../src/modules/payments/application/receive-processor-webhook-event.js';
import { WhenPaymentProgressed } from '../../src/modules/payments/application/when-payment-progressed.js';
import {
  payment,
  paymentId,
  transactionIdOf,
  type ObservedIntent,
  type PaymentEvent,
} from '../../src/modules/payments/domain/payment.js';
import { openPayments, OpenPaymentsReader } from '../../src/modules/payments/read/open-payments.js';
import { AggregateStore } from '../../src/platform/aggregates/aggregate-store.js';
import { TestTraffic } from '../../src/platform/aggregates/test-traffic.js';
import { Projector } from '../../src/platform/subscriptions/projector.js';
import {
  type IntentStatus,
  type IntentVerdict,
  type ProcessorWebhookEvent,
} from '../../src/ports/payment-processor.js';
import type { InlineEventHandlers } from '../../src/platform/aggregates/aggregate-store.js';
import type { Vault } from '../../src/ports/vault.js';
import type { PaymentUpdate, Screenings } from '../../src/published/screenings.js';
import { CallsAtOnce } from '../support/external-calls.js';
import { IntentsOnly } from '../support/intents-only.js';
import { readModelsIn } from '../support/read-models.js';
import { RedisServer } from '../support/redis.js';
import { QUICK, Recorder } from './fixtures.js';
import { SetClock } from '../support/clock.js';
import { until } from '../support/eventually.js';

const NO_CHECKOUTS = {} as FollowCheckoutEvent;

class ProcessorInMemory extends IntentsOnly {
  status: IntentStatus = 'requires_payment_method';
  amountCents = 3_500;
  refundedCents = 0;
  trouble: Exclude<IntentVerdict, { kind: 'intent' }> | null = null;
  asked: string[] = [];

  override async createIntent(): Promise<IntentVerdict> {
    throw new Error('Nothing is created here');
  }
  override async changeIntent(): Promise<IntentVerdict> {
    throw new Error('Nothing is changed here');
  }
  override async retrieveIntent(_call: unknown, id: string): Promise<IntentVerdict> {
    this.asked.push(id);
    if (this.trouble) return this.trouble;
    const receivedCents = this.status === 'succeeded' ? 3_500 : 0;
    return {
      kind: 'intent',
      intent: {
        ...INTENT,
        id,
        status: this.status,
        receivedCents,
        refundedCents: this.refundedCents,
        amountCents: this.amountCents,
        transactionId: null,
        clientSecret: 'secret',
      },
    };
  }
}

const INTENT: ObservedIntent = {
  id: 'pi_1',
  status: 'requires_payment_method',
  amountCents: 3_500,
  receivedCents: 0,
  refundedCents: 0,
  currency: 'usd',
  lastErrorCode: null,
};

describe('the recovery job of payments', () => {
  const clock = new SetClock();
  let folder: string;
  let redis: RedisServer;
  let store: EmbeddedEventStore;
  let projector: Projector;
  let readModels: RedisReadModels;
  let aggregates: AggregateStore;
  let payments: OpenPaymentsReader;
  let processor: ProcessorInMemory;
  let told: PaymentUpdate[];
  let altered: string[];
  let reversed: string[];
  let reconciler: PaymentReconciler;
  let lookUp: (id: string) => Promise<void>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'payments-'));
    redis = await RedisServer.start();
    store = EmbeddedEventStore.open({ directory: folder });
    readModels = readModelsIn(redis, store, [openPayments]);
    const projections = new RedisProjectionStore(redis.client());
    projector = new Projector(store, projections, [openPayments], new Recorder(), QUICK);
    projector.start();
    await until(
      'there is something to write to',
      async () => (await projections.generations(openPayments)).live !== null,
    );
  });

  beforeEach(() => {
    told = [];
    altered = [];
    reversed = [];
    const screenings = {
      find: async () => null,
      paymentProgressed: async (_id: string, progress: PaymentUpdate) => void told.push(progress),
    } as unknown as Screenings;
    const handlers: InlineEventHandlers = {
      handleInline: async (events) => {
        const tell = new WhenPaymentProgressed(aggregates, screenings);
        for (const event of events) if (tell.types.has(event.type as PaymentEvent['type'])) await tell.handle(event);
      },
    };
    aggregates = new AggregateStore(
      store,
      readModels,
      clock,
      { appendConflict: () => undefined },
      new TestTraffic(),
      handlers,
    );
    payments = new OpenPaymentsReader(readModels);
    processor = new ProcessorInMemory();
    reconciler = new PaymentReconciler(aggregates, processor, new PaymentSecrets({} as Vault), screenings, {
      altered: (id) => void altered.push(id),
      refundReversed: (id) => void reversed.push(id),
    });
    const handler = new LookUpPaymentHandler(
      aggregates,
      reconciler,
      {} as RequestRefund,
      new MakeRefund(aggregates, processor, reconciler),
      clock,
    );
    lookUp = (id) => handler.execute(new LookUpPayment(id, AbortSignal.timeout(20_000)));
  });

  afterAll(async () => {
    await projector.stop();
    await store.close();
    await redis.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Opens a payment whose intent was made now. */
  async function opened(): Promise<string> {
    const sessionId = newId();
    const id = paymentId(sessionId, 0);
    const context = {
      accountId: newId(),
      environment: 'test',
      actor: { kind: 'platform-token', id: 'key' },
      correlationId: newId(),
      causationId: newId(),
    } as const;
    await aggregates.execute(
      payment,
      id,
      {
        kind: 'open',
        sessionId,
        ordinal: 0,
        amountCents: 3_500,
        applicationFeeCents: 0,
        currency: 'usd',
        connectedAccount: null,
      },
      context,
    );
    await aggregates.execute(
      payment,
      id,
      { kind: 'observe', basedOn: 1, intent: { ...INTENT, id: `pi_${id}` } },
      context,
    );
    return id;
  }

  const types = async (id: string): Promise<string[]> =>
    (await store.readStream(`payment-${id}`)).map(({ type }) => type).slice(2);
  const isDue = async (id: string): Promise<boolean> => (await payments.due('test', clock.now(), 100)).includes(id);
  const pass = (seconds: number): void => void (clock.time += seconds * 1_000);

  it('finds a payment whose event was lost', async () => {
    const id = await opened();
    processor.status = 'succeeded';
    pass(59);
    expect(await isDue(id)).toBe(false);
    await lookUp(id);
    expect(processor.asked).toEqual([]);
    pass(1);
    expect(await isDue(id)).toBe(true);
    await lookUp(id);
    expect(await types(id)).toEqual(['PaymentLookedUp', 'PaymentSucceeded']);
    expect(told.at(-1)).toMatchObject({ status: 'SUCCEEDED', ordinal: 0 });
    pass(90 * 86_400);
    expect(await isDue(id)).toBe(false);
    await lookUp(id);
    expect(processor.asked).toHaveLength(1);
  });

  // Metadata can be changed or removed at the processor. The log decides to which payment the intent belongs.
  it.each([
    ['names it', transactionIdOf],
    ['names no payment', () => null],
    ['names another payment', () => transactionIdOf(newId())],
    ['names a foreign object', () => 'chk_1'],
  ])('reads a payment once when an event of its intent %s, and informs the session', async (_how, named) => {
    const id = await opened();
    processor.status = 'succeeded';
    const event: ProcessorWebhookEvent = {
      eventId: `evt_${id}`,
      type: 'payment_intent.succeeded',
      environment: 'test',
      intentId: `pi_${id}`,
      checkoutSessionId: null,
      transactionId: named(id),
    };
    const handler = new ReceiveProcessorWebhookEventHandler(
      new CallsAtOnce(),
      new FollowProcessorEvent(aggregates, processor, reconciler, payments),
      NO_CHECKOUTS,
    );
    const receive = (): Promise<void> => handler.execute(new ReceiveProcessorWebhookEvent(event, 'stripe', newId()));
    await receive();
    expect([await types(id), processor.asked]).toEqual([['PaymentSucceeded'], [`pi_${id}`]]);
    expect(told.at(-1)).toMatchObject({ status: 'SUCCEEDED', transactionId: transactionIdOf(id) });
    await receive();
    expect(processor.asked).toHaveLength(1);
  });

  it('reads a payment whose intent is listed while its event is read', async () => {
    const id = await opened();
    processor.status = 'succeeded';
    let isListed = false;
    const late = {
      withIntent: async () => {
        const listed = isListed ? id : null;
        isListed = true;
        return listed;
      },
    };
    const follow = new FollowProcessorEvent(aggregates, processor, reconciler, late);
    const event: ProcessorWebhookEvent = {
      ...{ eventId: `evt_${id}`, type: 'payment_intent.succeeded', environment: 'test', intentId: `pi_${id}` },
      ...{ checkoutSessionId: null, transactionId: null },
    };
    await new ReceiveProcessorWebhookEventHandler(new CallsAtOnce(), follow, NO_CHECKOUTS).execute(
      new ReceiveProcessorWebhookEvent(event, 'stripe', newId()),
    );
    expect(await types(id)).toEqual(['PaymentSucceeded']);
  });

  it('raises one alarm when a refund is reversed, even if the processor reports the reversal again', async () => {
    const id = await opened();
    processor.status = 'succeeded';
    const follow = new FollowProcessorEvent(aggregates, processor, reconciler, payments);
    const receive = (type: string): Promise<void> => {
      const event: ProcessorWebhookEvent = {
        ...{ eventId: `evt_${type}_${id}`, type, environment: 'test', intentId: `pi_${id}` },
        ...{ checkoutSessionId: null, transactionId: null },
      };
      return new ReceiveProcessorWebhookEventHandler(new CallsAtOnce(), follow, NO_CHECKOUTS).execute(
        new ReceiveProcessorWebhookEvent(event, 'stripe', newId()),
      );
    };
    processor.refundedCents = 3_500;
    await receive('charge.refunded');
    processor.refundedCents = 0;
    await receive('charge.refund.updated');
    await receive('refund.failed');
    expect(await types(id)).toEqual(['PaymentSucceeded', 'PaymentRefunded', 'PaymentRefundReversed']);
    expect(reversed).toEqual([id]);
  });

  it('raises one alarm when the amount was changed at the processor, and counts the payment once', async () => {
    const id = await opened();
    processor.amountCents = 50;
    pass(60);
    await lookUp(id);
    processor.status = 'succeeded';
    pass(240);
    await lookUp(id);
    expect(await types(id)).toEqual(['PaymentLookedUp', 'PaymentIntentAltered', 'PaymentLookedUp', 'PaymentSucceeded']);
    expect(altered).toEqual([id]);
  });

  it('reads a processing payment again with growing pauses', async () => {
    const id = await opened();
    processor.status = 'processing';
    pass(60);
    await lookUp(id);
    const asked: number[] = [];
    const since = clock.time;
    for (let second = 0; second < 100; second++) {
      pass(1);
      if (!(await isDue(id))) continue;
      await lookUp(id);
      asked.push((clock.time - since) / 1_000);
    }
    expect(asked).toEqual([10, 50]);
    processor.status = 'succeeded';
    pass(50 + 160 - 100);
    await lookUp(id);
    expect((await types(id)).slice(-2)).toEqual(['PaymentLookedUp', 'PaymentSucceeded']);
  });

  it('asks the processor once about a payment that was not looked up for a long time', async () => {
    const id = await opened();
    pass(400 * 86_400);
    expect(await isDue(id)).toBe(true);
    await lookUp(id);
    pass(239);
    expect([await isDue(id), processor.asked.length]).toEqual([false, 1]);
    pass(1);
    expect(await isDue(id)).toBe(true);
  });

  it.each(['unavailable', 'timed-out', 'unintelligible'] as const)(
    'does not repeat the question at once when the processor is %s',
    async (kind) => {
      const id = await opened();
      processor.trouble = { kind };
      pass(60);
      await lookUp(id);
      await lookUp(id);
      expect([await isDue(id), await types(id), processor.asked.length]).toEqual([false, ['PaymentLookedUp'], 1]);
      processor.trouble = null;
      processor.status = 'succeeded';
      pass(240);
      await lookUp(id);
      expect((await types(id)).at(-1)).toBe('PaymentSucceeded');
    },
  );

  it('reports an intent that the processor does not know, and does not repeat the question at once', async () => {
    const id = await opened();
    processor.trouble = { kind: 'not-found' };
    pass(60);
    await expect(lookUp(id)).rejects.toThrow('does not know an intent of ours');
    expect(await isDue(id)).toBe(false);
  });

  it('asks the processor once when two runs reach a payment at the same time', async () => {
    const id = await opened();
    pass(60);
    await Promise.all([lookUp(id), lookUp(id), lookUp(id)]);
    expect([processor.asked, await types(id)]).toEqual([[`pi_${id}`], ['PaymentLookedUp']]);
  });
});

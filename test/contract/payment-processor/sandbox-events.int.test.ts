// The events that the sandbox's processor sends: their natural order, their signature, and all faults of their
// deliveries.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import Stripe from 'stripe';
import { EVENT_SECRET, ProcessorUnderTest } from './harness.js';
import { until } from '../../support/eventually.js';

let sandbox: ProcessorUnderTest;

beforeEach(async () => {
  sandbox = await ProcessorUnderTest.start({ settleMs: 50 });
});

afterEach(() => sandbox.stop());

const arrived = (count: number): Promise<void> =>
  sandbox.receiver.until(() => sandbox.receiver.received.length >= count);
const listed = async (query = ''): Promise<any[]> => (await sandbox.control(`events${query}`)).events;

describe('an event', () => {
  it('is signed so that the SDK accepts it, and shows the object at the time of the event', async () => {
    const intent = await sandbox.newIntent({ 'metadata[transaction_id]': 'txn_1' });
    await arrived(1);
    const [{ body, signature }] = sandbox.receiver.received as [(typeof sandbox.receiver.received)[0]];
    const event = Stripe.webhooks.constructEvent(body, signature, EVENT_SECRET);
    expect(event).toMatchObject({
      id: expect.stringMatching(/^evt_/),
      object: 'event',
      type: 'payment_intent.created',
      livemode: false,
      data: { object: { id: intent.id, status: 'requires_payment_method', metadata: { transaction_id: 'txn_1' } } },
    });
    expect(() => Stripe.webhooks.constructEvent(body, signature, 'whsec_other')).toThrow();
  });

  it.each([
    ['a payment', ['pm_card_visa'], ['payment_intent.created', 'payment_intent.succeeded']],
    [
      'a decline and a payment',
      ['pm_card_chargeDeclined', 'pm_card_visa'],
      ['payment_intent.created', 'payment_intent.payment_failed', 'payment_intent.succeeded'],
    ],
    [
      'an authentication',
      ['pm_card_authenticationRequired', 'authenticate'],
      ['payment_intent.created', 'payment_intent.requires_action', 'payment_intent.succeeded'],
    ],
    [
      'a bank account',
      ['pm_usBankAccount'],
      ['payment_intent.created', 'payment_intent.processing', 'payment_intent.succeeded'],
    ],
    ['a cancellation', ['cancel'], ['payment_intent.canceled', 'payment_intent.created']],
    ['a refund', ['pm_card_visa', 'refund'], ['charge.refunded', 'payment_intent.created', 'payment_intent.succeeded']],
  ])('is sent for each step of %s', async (_name, steps, types) => {
    const intent = await sandbox.newIntent();
    for (const step of steps) {
      if (step.startsWith('pm_')) await sandbox.confirm(intent, step);
      else if (step === 'refund') await sandbox.post('/v1/refunds', { payment_intent: intent.id });
      else await sandbox.post(`/v1/payment_intents/${intent.id}/${step}`);
    }
    await arrived(types.length);
    expect(sandbox.receiver.types(intent.id).sort()).toEqual(types);
    await until('the event is delivered', async () =>
      (await listed(`?intent=${intent.id}`)).every(({ end }) => end === 'delivered'),
    );
    expect((await listed(`?intent=${intent.id}`)).map(({ type }) => type).sort()).toEqual(types);
  });

  it('is sent again until the receiver accepts it, always with the same bytes', async () => {
    sandbox.receiver.answers.push(500, 302);
    await sandbox.newIntent();
    await arrived(3);
    const bodies = sandbox.receiver.received.map(({ body }) => body.toString('utf8'));
    expect(new Set(bodies).size).toBe(1);
    await until('the event is delivered', async () => (await listed())[0].end === 'delivered');
    expect(await listed()).toMatchObject([{ attempts: 3, lastStatus: 200 }]);
  });

  it('survives a restart when the receiver has not accepted it', async () => {
    sandbox.receiver.answers.push(503);
    const intent = await sandbox.newIntent();
    await arrived(1);
    await sandbox.restart();
    await arrived(2);
    expect(sandbox.receiver.types(intent.id)).toEqual(['payment_intent.created', 'payment_intent.created']);
    await until('the event is delivered', async () => (await listed())[0].end === 'delivered');
    await sandbox.restart();
    await sandbox.newIntent();
    await arrived(3);
    expect(sandbox.receiver.types(intent.id)).toHaveLength(2);
  });
});

describe('a test can make events', () => {
  it('duplicated', async () => {
    await sandbox.control('delivery', { copies: 3 });
    await sandbox.newIntent();
    await arrived(3);
    expect(new Set(sandbox.receiver.received.map(({ event }) => event.id)).size).toBe(1);
  });

  it('reordered', async () => {
    await sandbox.control('delivery', { hold: 3 });
    const intent = await sandbox.newIntent();
    await sandbox.confirm(intent, 'pm_card_chargeDeclined');
    expect(sandbox.receiver.received).toEqual([]);
    await sandbox.confirm(intent, 'pm_card_visa');
    await arrived(3);
    expect(sandbox.receiver.types(intent.id)).toEqual([
      'payment_intent.succeeded',
      'payment_intent.payment_failed',
      'payment_intent.created',
    ]);
  });

  it('reordered at once, with fewer events than it holds back', async () => {
    await sandbox.control('delivery', { hold: 100 });
    const intent = await sandbox.newIntent();
    await sandbox.confirm(intent, 'pm_card_visa');
    await sandbox.control('delivery', { hold: 0 });
    await arrived(2);
    expect(sandbox.receiver.types(intent.id)).toEqual(['payment_intent.succeeded', 'payment_intent.created']);
  });

  it('delayed', async () => {
    await sandbox.control('delivery', { delayMs: 400 });
    const began = performance.now();
    await sandbox.newIntent();
    await arrived(1);
    expect(performance.now() - began).toBeGreaterThanOrEqual(380);
  });

  it('dropped, and sent later on request', async () => {
    await sandbox.control('delivery', { drop: 1 });
    const intent = await sandbox.newIntent();
    await sandbox.confirm(intent, 'pm_card_visa');
    await arrived(1);
    expect(sandbox.receiver.types(intent.id)).toEqual(['payment_intent.succeeded']);
    const [dropped] = await listed('?type=payment_intent.created');
    expect(dropped).toMatchObject({ intent: intent.id, end: 'dropped', attempts: 0 });
    // Even a restart does not send the event.
    await sandbox.restart();
    expect(await sandbox.control(`events/${dropped.id}/resend`, {})).toEqual({ status: 200 });
    expect(sandbox.receiver.types(intent.id)).toEqual(['payment_intent.succeeded', 'payment_intent.created']);
  });
});

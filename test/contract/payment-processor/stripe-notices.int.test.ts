// Which events from the processor the service believes, and which fields it takes from them.
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { StripeWebhookEvents } from '../../../src/vendors/stripe/webhook-events.js';
import { recordedAnswer } from '../../support/recorded-answer.js';
import { EVENT_SECRET, ProcessorUnderTest } from './harness.js';

const NOW = new Date('2026-03-01T12:00:00.000Z');
const SECRET = 'whsec_current';
const EVENT = recordedAnswer('stripe', 'intent-succeeded');
const notices = new StripeWebhookEvents(['whsec_next', SECRET]);

function signed(body: string | Uint8Array, secret = SECRET, at = NOW.getTime() / 1_000): string {
  return `t=${at},v1=${createHmac('sha256', secret).update(`${at}.`).update(body).digest('hex')}`;
}

function event(object: unknown, more: object = {}): string {
  return JSON.stringify({ ...EVENT, data: { object }, ...more });
}

const read = (body: string, signature: string | undefined = signed(body), now = NOW): unknown =>
  notices.read(Buffer.from(body), signature, now);
const SUCCEEDED = JSON.stringify(EVENT);
const NOTICE = {
  environment: 'test' as const,
  eventId: 'evt_1',
  type: 'payment_intent.succeeded',
  intentId: 'pi_1',
  checkoutSessionId: null,
  transactionId: null,
};

describe('an event of the sandbox', () => {
  let sandbox: ProcessorUnderTest;
  beforeAll(async () => {
    sandbox = await ProcessorUnderTest.start();
  });
  afterAll(() => sandbox.stop());

  it('is believed when it arrives unchanged, and names its intent', async () => {
    const intent = await sandbox.newIntent({ 'metadata[transaction_id]': 'txn_1' });
    await sandbox.confirm(intent, 'pm_card_visa');
    await sandbox.post('/v1/refunds', { payment_intent: intent.id });
    await sandbox.receiver.until(() => sandbox.receiver.received.length >= 3);
    const here = new StripeWebhookEvents([EVENT_SECRET]);
    const read = sandbox.receiver.received.map(({ body, signature }) => here.read(body, signature, new Date()));
    expect(read.map((notice) => notice?.type).sort()).toEqual([
      'charge.refunded',
      'payment_intent.created',
      'payment_intent.succeeded',
    ]);
    for (const notice of read)
      expect(notice).toEqual({
        eventId: expect.stringMatching(/^evt_/),
        type: expect.any(String),
        environment: 'test',
        intentId: intent.id,
        checkoutSessionId: null,
        transactionId: 'txn_1',
      });
  });
});

describe('the subject of an event', () => {
  it.each([
    ['an intent', { id: 'pi_1', object: 'payment_intent' }, 'pi_1'],
    ['a charge of an intent', { id: 'ch_1', object: 'charge', payment_intent: 'pi_1' }, 'pi_1'],
    [
      'a charge with its intent in it',
      { id: 'ch_1', object: 'charge', payment_intent: { id: 'pi_1', object: 'payment_intent' } },
      'pi_1',
    ],
    ['a refund of an intent', { id: 're_1', object: 'refund', payment_intent: 'pi_1' }, 'pi_1'],
    ['a charge without an intent', { id: 'ch_1', object: 'charge', payment_intent: null }, null],
    ['a customer', { id: 'cus_1', object: 'customer' }, null],
    ['an intent with an invalid id', { id: '../refunds', object: 'payment_intent' }, null],
    ['nothing', null, null],
  ])('%s', (_name, object, intentId) => {
    expect(read(event(object))).toEqual({ ...NOTICE, intentId });
  });

  it.each([
    ['an intent', { id: 'pi_1', object: 'payment_intent', metadata: { transaction_id: 'txn_1' } }, 'txn_1'],
    [
      'a charge',
      { id: 'ch_1', object: 'charge', payment_intent: 'pi_1', metadata: { transaction_id: 'txn_1' } },
      'txn_1',
    ],
    ['a refund', { id: 're_1', object: 'refund', payment_intent: 'pi_1', metadata: { transaction_id: 'txn_1' } }, null],
    [
      'an intent with another type of value',
      { id: 'pi_1', object: 'payment_intent', metadata: { transaction_id: 1 } },
      null,
    ],
  ])('is the transaction of an intent or a charge, and of no other object: %s', (_name, object, transactionId) => {
    expect(read(event(object))).toEqual({ ...NOTICE, transactionId });
  });

  it.each([
    ['ours', { id: 'cs_test_1', metadata: { transaction_id: 'chk_1' } }, 'cs_test_1', 'chk_1'],
    ['of another system', { id: 'cs_test_1', metadata: null, payment_intent: 'pi_1' }, 'cs_test_1', null],
    ['with an invalid id', { id: '../refunds' }, null, null],
  ])('can be a hosted checkout session: %s', (_name, object, checkoutSessionId, transactionId) => {
    const session = event({ ...object, object: 'checkout.session' });
    expect(read(session)).toEqual({ ...NOTICE, intentId: null, checkoutSessionId, transactionId });
  });

  it('is the same when the event names a connected account', () => {
    expect(read(event({ id: 'pi_1', object: 'payment_intent' }, { account: 'acct_other' }))).toEqual(NOTICE);
  });

  it('has the environment live only when livemode is true', () => {
    expect(read(event({ id: 'pi_1', object: 'payment_intent' }, { livemode: true }))).toEqual({
      ...NOTICE,
      environment: 'live',
    });
    expect(read(event({ id: 'pi_1', object: 'payment_intent' }, { livemode: 'true' }))).toEqual(NOTICE);
  });
});

describe('an event is believed', () => {
  it('signed with either of the secrets of a rotation', () => {
    expect(read(SUCCEEDED)).toEqual(NOTICE);
    expect(read(SUCCEEDED, signed(SUCCEEDED, 'whsec_next'))).toEqual(NOTICE);
  });

  it('when one of several signatures is right', () => {
    const [at, right] = signed(SUCCEEDED).split(',');
    expect(read(SUCCEEDED, `${at},v1=${'0'.repeat(64)},${right},v0=${'1'.repeat(64)}`)).toEqual(NOTICE);
  });

  it('for five minutes', () => {
    expect(read(SUCCEEDED, undefined, new Date(NOW.getTime() + 300_000))).toEqual(NOTICE);
    expect(read(SUCCEEDED, undefined, new Date(NOW.getTime() + 301_000))).toBeNull();
  });
});

describe('an event is not believed', () => {
  it.each([
    ['without a signature', ''],
    ['with a signature of another secret', signed(SUCCEEDED, 'whsec_other')],
    ['with a signature of another body', signed(SUCCEEDED.replace('pi_1', 'pi_2'))],
    ['with a time that was not signed', signed(SUCCEEDED).replace(/t=\d+/, `t=${NOW.getTime() / 1_000 + 1}`)],
    ['without a time', signed(SUCCEEDED).replace(/t=\d+,/, '')],
    ['with a signature without a value', signed(SUCCEEDED).replace(/v1=.*/, 'v1=')],
    ['with a signature without a value among others', `${signed(SUCCEEDED)},v1`],
    ['with a signature that begins with the sign', signed(SUCCEEDED).replace('v1=', 'v1==')],
    ['with an old scheme only', signed(SUCCEEDED).replace('v1=', 'v0=')],
    ['with a shorter signature', signed(SUCCEEDED).slice(0, -1)],
    ['with nonsense', 'nonsense'],
    ['with a very long header', 'v1=,'.repeat(10_000)],
  ])('%s', (_name, signature) => {
    expect(read(SUCCEEDED, signature)).toBeNull();
  });

  it('without the header', () => {
    expect(notices.read(Buffer.from(SUCCEEDED), undefined, NOW)).toBeNull();
  });

  it('when the secret is missing or empty', () => {
    expect(new StripeWebhookEvents([]).read(Buffer.from(SUCCEEDED), signed(SUCCEEDED), NOW)).toBeNull();
    expect(new StripeWebhookEvents(['']).read(Buffer.from(SUCCEEDED), signed(SUCCEEDED, ''), NOW)).toBeNull();
  });

  it.each([
    ['no JSON', '<html>'],
    ['nothing', ''],
    ['null', 'null'],
    ['a list', '[]'],
    ['an intent itself', JSON.stringify({ id: 'pi_1', object: 'payment_intent' })],
    [
      'an event of the second version',
      JSON.stringify({ id: 'evt_1', object: 'v2.core.event', type: 'v2.x', data: { object: {} } }),
    ],
    ['an event without data', JSON.stringify({ id: 'evt_1', object: 'event', type: 'x' })],
    ['an event without an id', event({ id: 'pi_1', object: 'payment_intent' }, { id: undefined })],
    ['an event with a sentence as its id', event({ id: 'pi_1', object: 'payment_intent' }, { id: 'evt_ was here' })],
    ['an event without a type', event({ id: 'pi_1', object: 'payment_intent' }, { type: 7 })],
  ])('%s, although signed', (_name, body) => {
    expect(read(body)).toBeNull();
  });
});

// The processor's messages at /internal/processor/events under attack (docs/contract/platform.md#processor-events). A
// sender without the secret cannot change anything. The service takes only the payment's id from a signed message, and asks the processor for the
// rest. The controls of the sandbox decide which messages the processor sends and how often.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventAbout, intentIn, paymentStream, Processor, shownEvents, signatureOf } from '../../support/processor.js';
import { type PlatformCaller, type Reply, Service } from '../../support/service.js';
import { soon, until } from '../../support/eventually.js';

const FEE = 3_500;
const PATH = '/internal/processor/events';
const UNKNOWN = '01890000-0000-7000-8000-000000000000';

let service: Service;
let processor: Processor;
let demo: PlatformCaller;
let unrelated: PlatformCaller;

beforeAll(async () => {
  service = await Service.shared('plain');
  processor = new Processor(service.sandboxUrl);
  [demo, unrelated] = await Promise.all([service.signIn('demo'), service.signIn('unrelated')]);
});
afterAll(() => service?.stop());

interface Opened {
  readonly id: string;
  readonly transactionId: string;
  readonly secret: string;
  readonly intent: string;
}

async function opened(caller = demo): Promise<Opened> {
  const { body: session } = await caller.submit();
  const { status, body } = await caller.post('/payments/create-intent', { amount: FEE, screeningId: session.id });
  expect(status).toBe(200);
  await processor.settled(intentIn(body.client_secret));
  return {
    id: session.id,
    transactionId: body.transaction_id,
    secret: body.client_secret,
    intent: intentIn(body.client_secret),
  };
}

function tell(
  body: string,
  headers: Record<string, string> = { 'stripe-signature': signatureOf(body) },
): Promise<Reply> {
  return service.request('POST', PATH, {
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body,
  });
}

/** Runs a function while the processor sends no events. */
async function inSilence(happens: () => Promise<void>): Promise<void> {
  await processor.control('delivery', { drop: 1_000 });
  try {
    await happens();
  } finally {
    await processor.control('delivery', { drop: 0 });
  }
}

const chargedInSilence = ({ secret }: Opened, method = 'pm_card_visa'): Promise<void> =>
  inSilence(async () => void (await processor.confirm(secret, method)));

const types = async (stream: string): Promise<string[]> => (await shownEvents(service, stream)).map(({ type }) => type);
const recorded = async ({ id, transactionId }: Opened): Promise<string[]> => [
  ...(await types(paymentStream(transactionId))),
  ...(await types(id)),
];
const overall = async ({ id }: Opened, caller = demo): Promise<string> => (await caller.status(id)).body.overallStatus;
const succeeded = (all: readonly string[]): number => all.filter((type) => type === 'PaymentSucceeded').length;

describe('an event that the processor did not send', () => {
  it('is refused with the same uninformative 400, and changes nothing', async () => {
    const payment = await opened();
    await chargedInSilence(payment);
    const before = await recorded(payment);
    const body = eventAbout(payment.intent);
    const now = Math.floor(Date.now() / 1_000);
    const good = signatureOf(body);
    const other = signatureOf(eventAbout('pi_other'));
    const replies = await Promise.all([
      tell(body, {}),
      tell(body, { 'stripe-signature': '' }),
      tell(body, { 'stripe-signature': 'nonsense' }),
      tell(body, { 'stripe-signature': `t=${now},v1=` }),
      tell(body, { 'stripe-signature': `t=${now},v1=${'0'.repeat(64)}` }),
      tell(body, { 'stripe-signature': `t=${now},v0=${good.split('v1=')[1]}` }),
      tell(body, { 'stripe-signature': signatureOf(body, { secret: 'whsec_of_somebody_else' }) }),
      tell(body, { 'stripe-signature': signatureOf(body, { secret: '' }) }),
      tell(body, { 'stripe-signature': good.replace(/^t=\d+/, `t=${now + 1}`) }),
      tell(body, { 'stripe-signature': good.replace(/^t=\d+,/, '') }),
      tell(body, { 'stripe-signature': signatureOf(body, { at: now - 301 }) }),
      tell(body, { 'stripe-signature': signatureOf(body, { at: 0 }) }),
      tell(body, { 'stripe-signature': other }),
      tell(`${body} `, { 'stripe-signature': good }),
      tell(body.replace('"livemode":false', '"livemode":true '), { 'stripe-signature': good }),
      tell(body.replace(payment.intent, `${payment.intent.slice(0, -1)}${payment.intent.endsWith('0') ? '1' : '0'}`), {
        'stripe-signature': good,
      }),
      tell('', { 'stripe-signature': good }),
    ]);
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 400));
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    expect(Object.keys(replies[0]?.body.error).sort()).toEqual(['code', 'message', 'recoverable']);
    expect(replies[0]?.text).not.toMatch(/signature|stripe|secret|pi_|txn_/i);
    expect(await overall(payment)).toBe('PAYMENT_PENDING');
    expect(await recorded(payment)).toEqual(before);
  });

  it.each([
    ['no JSON', 'not JSON'],
    ['an empty object', '{}'],
    ['a list', '[]'],
    ['null', 'null'],
    ['a number', '17'],
    ['an event without data', '{"id":"evt_1","object":"event","type":"payment_intent.succeeded"}'],
    ['a bare intent', '{"id":"pi_1","object":"payment_intent","status":"succeeded"}'],
    ['an event with an invalid id', '{"id":7,"object":"event","type":"payment_intent.succeeded","data":{"object":{}}}'],
    ['bytes that are not text', '\u0000\u0001'],
  ])('is refused with 400 although it is signed, when it is %s', async (_what, body) => {
    const reply = await tell(body);
    expect([reply.status, reply.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
  });

  it.each([
    ['about nothing', '{"id":"evt_a1","object":"event","type":"payment_intent.succeeded","data":{"object":null}}'],
    [
      'about a customer',
      '{"id":"evt_a2","object":"event","type":"customer.created","data":{"object":{"id":"cus_1","object":"customer"}}}',
    ],
    ['about an intent that does not exist', eventAbout('pi_nobodyknowsthisone')],
    ['about an intent whose id is a path', eventAbout('pi_../../customers')],
    ['of an unknown type', '{"id":"evt_a3","object":"event","type":"unheard.of","data":{"object":{"id":"x"}}}'],
  ])('200 without an effect when it is signed and %s', async (_what, body) => {
    expect(await tell(body)).toMatchObject({ status: 200, body: { received: true } });
  });
});

describe('a signed event', () => {
  it('only names an intent: its claim that an unpaid intent was paid is not believed', async () => {
    const payment = await opened();
    const before = await recorded(payment);
    expect((await tell(eventAbout(payment.intent))).status).toBe(200);
    expect(await overall(payment)).toBe('PAYMENT_PENDING');
    expect(await recorded(payment)).toEqual(before);
  });

  it('has its effect once: repeated events and many simultaneous copies change nothing more', async () => {
    const payment = await opened();
    await chargedInSilence(payment);
    const body = eventAbout(payment.intent);
    const signature = signatureOf(body);
    const copies = await Promise.all(Array.from({ length: 8 }, () => tell(body, { 'stripe-signature': signature })));
    expect(copies.map(({ status }) => status)).toEqual(copies.map(() => 200));
    expect(await overall(payment)).toBe('COMPLETED');
    const after = await recorded(payment);
    expect(succeeded(after)).toBe(1);
    expect(after.filter((type) => type === 'ScreeningCompleted')).toHaveLength(1);
    expect((await tell(body, { 'stripe-signature': signature })).status).toBe(200);
    for (const type of [
      'payment_intent.created',
      'payment_intent.payment_failed',
      'payment_intent.canceled',
      'payment_intent.processing',
    ]) {
      expect((await tell(eventAbout(payment.intent, type))).status).toBe(200);
    }
    expect(await recorded(payment)).toEqual(after);
  });

  it('gets the same answer when its intent belongs to the account, is foreign or is unknown', async () => {
    const payment = await opened();
    const foreign = await processor.create({ 'metadata[transaction_id]': `txn_${UNKNOWN}` });
    const replies = await Promise.all(
      [payment.intent, foreign.body.id, 'pi_unknown'].map((intent) => tell(eventAbout(intent))),
    );
    expect(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(replies[0]).toMatchObject({ status: 200, body: { received: true } });
  });

  it('about a foreign intent that was paid directly at the processor changes nothing, whichever transaction the intent names', async () => {
    const [mine, theirs, waiting] = [await opened(), await opened(unrelated), await unopened()];
    const before = await Promise.all([recorded(mine), recorded(theirs)]);
    const claims = [
      undefined,
      'nonsense',
      `txn_${UNKNOWN}`,
      mine.transactionId,
      theirs.transactionId,
      waiting.transactionId,
      `txn_${mine.id}`,
    ];
    for (const claim of claims) {
      const { status, body } = await processor.create({
        amount: '50',
        ...(claim === undefined ? {} : { 'metadata[transaction_id]': claim }),
      });
      expect(status).toBe(200);
      expect((await processor.confirmWithKey(body.id, 'pm_card_visa')).body.status).toBe('succeeded');
      await processor.settled(body.id);
      expect((await tell(eventAbout(body.id))).status).toBe(200);
    }
    expect(await Promise.all([recorded(mine), recorded(theirs)])).toEqual(before);
    expect([await overall(mine), await overall(theirs, unrelated), await overall(waiting)]).toEqual([
      'PAYMENT_PENDING',
      'PAYMENT_PENDING',
      'PAYMENT_PENDING',
    ]);
    // The intent of the waiting payment could not be made before. The payment now gets its own intent, and only this
    // intent counts.
    const { body } = await demo.post('/payments/create-intent', { amount: FEE, screeningId: waiting.id });
    expect(body.transaction_id).toBe(waiting.transactionId);
    await processor.confirm(body.client_secret, 'pm_card_visa');
    expect((await demo.post(`/payments/${body.transaction_id}/confirm`)).body).toMatchObject({
      status: 'SUCCEEDED',
      amount: FEE,
    });
  });
});

/**
 * A payment that was opened during an outage of the processor. The log has the payment, and the processor has no intent
 * for it.
 */
async function unopened(): Promise<{
  readonly id: string;
  readonly transactionId: string;
  readonly secret: string;
  readonly intent: string;
}> {
  const { body: session } = await demo.submit();
  await processor.control('outage', { seconds: 600 });
  try {
    expect((await demo.post('/payments/create-intent', { amount: FEE, screeningId: session.id })).status).toBe(503);
  } finally {
    await processor.control('outage', { seconds: 0 });
  }
  const transactionId = await openTransactionOf(session.id);
  return { id: session.id, transactionId, secret: '', intent: '' };
}

/** The transaction id that the processor received. */
async function openTransactionOf(sessionId: string): Promise<string> {
  let transactionId = '';
  await until('the session knows its payment', async () => {
    const progressed = (await shownEvents(service, sessionId)).find(({ type }) => type === 'PaymentProgressed');
    transactionId = progressed?.data.transactionId ?? '';
    return transactionId !== '';
  });
  return transactionId;
}

describe('a message from the processor', () => {
  it('that arrives several times is recorded once', async () => {
    await processor.control('delivery', { copies: 4 });
    try {
      const payment = await opened();
      await processor.confirm(payment.secret, 'pm_usBankAccount');
      await until('it is paid', async () => (await overall(payment)) === 'COMPLETED');
      await processor.settled(payment.intent);
      const all = await types(paymentStream(payment.transactionId));
      expect(all).toEqual(['PaymentOpened', 'PaymentIntentCreated', 'PaymentProcessing', 'PaymentSucceeded']);
    } finally {
      await processor.control('delivery', { copies: 1 });
    }
  });

  it('has the same result in reverse order, and no payment returns to an earlier state', async () => {
    const payment = await opened();
    await processor.control('delivery', { hold: 1_000 });
    try {
      await processor.confirm(payment.secret, 'pm_card_chargeDeclined');
      await processor.confirm(payment.secret, 'pm_card_authenticationRequired');
      await processor.authenticate(payment.secret);
    } finally {
      await processor.control('delivery', { hold: 0 });
    }
    await until('it is paid', async () => (await overall(payment)) === 'COMPLETED');
    await processor.settled(payment.intent);
    expect(await types(paymentStream(payment.transactionId))).toEqual([
      'PaymentOpened',
      'PaymentIntentCreated',
      'PaymentSucceeded',
    ]);
    expect(await overall(payment)).toBe('COMPLETED');
  });

  it('that arrives after the confirm adds nothing to the log', async () => {
    const payment = await opened();
    await processor.control('delivery', { delayMs: 1_500 });
    try {
      await processor.confirm(payment.secret, 'pm_card_visa');
    } finally {
      await processor.control('delivery', { delayMs: 0 });
    }
    expect((await demo.post(`/payments/${payment.transactionId}/confirm`)).body.status).toBe('SUCCEEDED');
    const before = await recorded(payment);
    await processor.settled(payment.intent);
    expect(await recorded(payment)).toEqual(before);
  });

  it('that is lost is not needed: the next request asks the processor, and the late message adds nothing', async () => {
    const payment = await opened();
    await chargedInSilence(payment);
    expect((await demo.post('/payments/create-intent', { amount: FEE, screeningId: payment.id })).body.error.code).toBe(
      'PAYMENT_ALREADY_COMPLETED',
    );
    // The log of the session is complete before the service answers with a refusal.
    expect(await overall(payment)).toBe('COMPLETED');
    const before = await recorded(payment);
    expect(succeeded(before)).toBe(1);
    const [dropped] = await processor.events({ intent: payment.intent, type: 'payment_intent.succeeded' });
    expect(await processor.resend(dropped?.id as string)).toBe(200);
    expect(await recorded(payment)).toEqual(before);
  });

  it('gets 503 while the processor cannot be asked, so that it is sent again and then recorded', async () => {
    const payment = await opened();
    await chargedInSilence(payment);
    await processor.control('outage', { seconds: 600 });
    try {
      const reply = await tell(eventAbout(payment.intent));
      expect([reply.status, reply.body.error.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    } finally {
      await processor.control('outage', { seconds: 0 });
    }
    expect((await tell(eventAbout(payment.intent))).status).toBe(200);
    // The recovery job may have recorded the payment first, without updating the session yet.
    await soon(async () => expect(await overall(payment)).toBe('COMPLETED'));
  });
});

describe("the address for the processor's events", () => {
  it('answers a request through a proxy with the same 404 as an unknown path', async () => {
    const payment = await opened();
    await chargedInSilence(payment);
    const body = eventAbout(payment.intent);
    const nowhere = await service.request('POST', '/internal/nothing', {
      headers: { 'x-forwarded-for': '203.0.113.7' },
      body: '{}',
    });
    for (const from of ['203.0.113.7', '127.0.0.1', '']) {
      const reply = await tell(body, { 'stripe-signature': signatureOf(body), 'x-forwarded-for': from });
      expect([reply.status, reply.text]).toEqual([
        404,
        nowhere.text.replace('/internal/nothing', '/internal/processor/events'),
      ]);
    }
    expect(await overall(payment)).toBe('PAYMENT_PENDING');
  });

  it.each(['GET', 'PUT', 'DELETE', 'OPTIONS'])('answers %s with 404', async (method) => {
    expect((await service.request(method, PATH)).status).toBe(404);
  });

  it('accepts at most 256 kB: 413', async () => {
    const body = JSON.stringify({
      id: 'evt_large',
      object: 'event',
      type: 'x',
      data: { object: null },
      padding: 'x'.repeat(300_000),
    });
    const reply = await tell(body);
    expect([reply.status, reply.body.error.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    expect(reply.body.error.message).toBe('The request body may have 256,000 bytes at most.');
  });

  it('is in no API description', async () => {
    const replies = await Promise.all(['/openapi.json', '/docs'].map((path) => service.request('GET', path)));
    for (const { text } of replies) expect(text).not.toMatch(/internal\/|processor\/events|stripe-signature/i);
    expect(replies[0]?.status).toBe(200);
  });
});

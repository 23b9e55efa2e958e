// POST /api/pay/payment/checkout-session and its consequences (docs/contract/direct.md#checkout). The test reads the processor's
// page and sends its forms, like a browser without scripts.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DirectCaller } from '../../support/direct.js';
import { Processor, shownEvents, signatureOf } from '../../support/processor.js';
import { type Reply, Service } from '../../support/service.js';
import { until } from '../../support/eventually.js';

const CARD = { number: '4242 4242 4242 4242', expiry: '12/40', cvc: '123' };
const DECLINED = { ...CARD, number: '4000 0000 0000 0002' };
const SUCCESS = 'http://localhost:5173/paid?session={CHECKOUT_SESSION_ID}';
const CANCEL = 'http://localhost:5173/canceled';

let service: Service;
let processor: Processor;
let demo: DirectCaller;
let renters = 0;

beforeAll(async () => {
  service = await Service.shared('plain');
  processor = new Processor(service.sandboxUrl);
  demo = await DirectCaller.of(service, 'demo');
});
afterAll(() => service?.stop());

async function aRenter(caller = demo): Promise<string> {
  const id = `renter-${(renters += 1)}`;
  const reply = await caller.register('renters', id);
  expect([reply.status, reply.body.payload.userAuthenticated]).toEqual([200, true]);
  return id;
}

const checkout = (renterId: unknown, more: object = {}, headers = {}, caller = demo): Promise<Reply> =>
  caller.send(
    'POST',
    '/pay/payment/checkout-session',
    { renterId, successUrl: SUCCESS, cancelUrl: CANCEL, ...more },
    headers,
  );
const report = (renterId: string): Promise<Reply> => demo.get(`/renters/${renterId}/report?format=json`);
const refusal = ({ status, body }: Reply): unknown[] => [status, body.errors[0].errorCode, body.errors[0].errorOnField];

/** Sends a form of the page as a browser would. */
async function press(url: string, form: Readonly<Record<string, string>>, action = 'pay') {
  const response = await fetch(`${url}/${action}`, {
    method: 'POST',
    body: new URLSearchParams(form),
    redirect: 'manual',
  });
  return { status: response.status, to: response.headers.get('location'), text: await response.text() };
}

/** The payment reference in a checkout page, and the cents that the processor received under this reference. */
async function paidAt(url: string): Promise<{ readonly reference: string; readonly received: number }> {
  const id = url.split('/').at(-1);
  const reply = await fetch(`${service.sandboxUrl}/v1/checkout/sessions/${id}`, {
    headers: { authorization: 'Bearer sk_test_sandbox_processor' },
  });
  const reference = ((await reply.json()) as { readonly client_reference_id: string }).client_reference_id;
  return { reference, received: (await processor.money({ transaction: reference })).received };
}

const streamOf = (reference: string): string => `checkout-${reference.slice('chk_'.length, -2)}`;

async function inSilence<Value>(events: number, pay: () => Promise<Value>): Promise<Value> {
  await processor.control('delivery', { drop: events });
  try {
    return await pay();
  } finally {
    await processor.control('delivery', { drop: 0 });
  }
}

const released = (renterId: string): Promise<void> =>
  until('the report is released', async () => (await report(renterId)).status === 200);

describe('a renter who pays', () => {
  it('200: opens a checkout page, pays with a card, and gets the report, which answered 402 before the payment', async () => {
    const renter = await aRenter();
    const opened = await checkout(renter, {
      propertyAddress: '1 Main St',
      customerEmail: 'agent@example.test',
      customerUserIdTsp: 'u-1',
      consumerIdTsp: 'c-1',
      consumerEmail: 'jo@example.test',
      customerRoleTsp: 'AGENT',
      reportFlags: { excludeBackground: true },
    });
    expect([opened.status, opened.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(opened.text.startsWith('{"errors":[],"payload":{')).toBe(true);
    const { url, sessionId, expiresAt } = opened.body.payload;
    expect(opened.body).toEqual({
      errors: [],
      payload: {
        url: `${service.sandboxUrl}/checkout/${sessionId}`,
        sessionId: expect.stringMatching(/^cs_/),
        expiresAt: expect.any(String),
      },
    });
    expect(new Date(expiresAt).toISOString()).toBe(expiresAt);
    const page = await (await fetch(url)).text();
    expect(page).toContain('$35.00');
    expect(refusal(await report(renter))).toEqual([402, 285, null]);
    expect(await press(url, CARD)).toMatchObject({
      status: 303,
      to: SUCCESS.replace('{CHECKOUT_SESSION_ID}', sessionId),
    });
    await released(renter);
    expect(refusal(await checkout(renter))).toEqual([409, 409, null]);
    expect((await paidAt(url)).received).toBe(3_500);
  });

  it('sees that the card was declined, and may try another card', async () => {
    const renter = await aRenter();
    const { url } = (await checkout(renter)).body.payload;
    expect(await press(url, DECLINED)).toMatchObject({ status: 402, text: expect.stringContaining('declined') });
    expect(refusal(await report(renter))).toEqual([402, 285, null]);
    expect((await press(url, CARD)).status).toBe(303);
    await released(renter);
  });

  it('may cancel, come back to the same page and pay', async () => {
    const renter = await aRenter();
    const { url } = (await checkout(renter)).body.payload;
    expect(await press(url, {}, 'cancel')).toMatchObject({ status: 303, to: CANCEL });
    expect((await press(url, CARD)).status).toBe(303);
    await released(renter);
  });

  it('is charged once when an older checkout page is still open in another tab', async () => {
    const renter = await aRenter();
    const first = (await checkout(renter)).body.payload;
    const second = (await checkout(renter)).body.payload;
    expect(second.sessionId).not.toBe(first.sessionId);
    expect(await (await fetch(first.url)).text()).toContain('has expired or was replaced');
    expect([(await press(first.url, CARD)).status, (await press(second.url, CARD)).status]).toEqual([400, 303]);
    await released(renter);
    const both = await Promise.all([paidAt(first.url), paidAt(second.url)]);
    expect(both.map(({ received }) => received)).toEqual([0, 3_500]);
  });

  it('does not pay again when they register again within 30 days', async () => {
    const renter = await aRenter();
    const { url } = (await checkout(renter)).body.payload;
    await press(url, CARD);
    await released(renter);
    const again = await demo.register('renters', renter);
    expect(again.status).toBe(200);
    // The service applied the payment before it answered the registration.
    expect((await report(renter)).status).toBe(200);
    expect(refusal(await checkout(renter))).toEqual([409, 409, null]);
  });
});

describe('an event from the processor about a checkout', () => {
  it('is not needed: the next request for a checkout page finds the payment and answers 409, and the report is released', async () => {
    const renter = await aRenter();
    const { url } = (await checkout(renter)).body.payload;
    await inSilence(3, () => press(url, CARD));
    expect(refusal(await report(renter))).toEqual([402, 285, null]);
    expect(refusal(await checkout(renter))).toEqual([409, 409, null]);
    expect((await report(renter)).status).toBe(200);
  });

  it('records the payment once, even when the processor sends events several times and in reverse order', async () => {
    const renter = await aRenter();
    const { url } = (await checkout(renter)).body.payload;
    await processor.control('delivery', { copies: 3, hold: 3 });
    try {
      await press(url, CARD);
    } finally {
      await processor.control('delivery', { copies: 1, hold: 0 });
    }
    await released(renter);
    const { reference } = await paidAt(url);
    const [intent] = await processor.intents({ transaction: reference });
    await processor.settled(intent?.id ?? '');
    expect((await shownEvents(service, streamOf(reference))).map(({ type }) => type)).toEqual([
      'CheckoutOpened',
      'CheckoutSessionCreated',
      'CheckoutPaid',
    ]);
  });

  it('names a payment but proves nothing: a signed event about an unpaid page changes nothing', async () => {
    const renter = await aRenter();
    const { url, sessionId } = (await checkout(renter)).body.payload;
    const { reference } = await paidAt(url);
    const object = {
      id: sessionId,
      object: 'checkout.session',
      status: 'complete',
      payment_status: 'paid',
      metadata: { transaction_id: reference },
    };
    const body = JSON.stringify({
      id: 'evt_forgedcheckout',
      object: 'event',
      type: 'checkout.session.completed',
      livemode: false,
      data: { object },
    });
    const tell = (signature: string): Promise<Reply> =>
      service.request('POST', '/internal/processor/events', {
        headers: { 'content-type': 'application/json', 'stripe-signature': signature },
        body,
      });
    expect((await tell('t=1,v1=00')).status).toBe(400);
    expect((await tell(signatureOf(body))).status).toBe(200);
    expect(refusal(await report(renter))).toEqual([402, 285, null]);
  });
});

describe('a request for a checkout page', () => {
  it.each(['renterId', 'successUrl', 'cancelUrl'])('400: the field %s is missing', async (field) => {
    expect(refusal(await checkout('r', { [field]: undefined }))).toEqual([400, 400, field]);
  });

  it.each<[field: string, what: string, value: unknown]>([
    ['renterId', 'a number', 7],
    ['renterId', 'empty', ''],
    ['renterId', 'too long', 'x'.repeat(129)],
    ['successUrl', 'not an address', 'paid'],
    ['successUrl', 'a script', 'javascript:alert(1)'],
    ['successUrl', 'with credentials', 'https://jo:secret@app.example.test/'],
    ['successUrl', 'too long', `https://app.example.test/${'x'.repeat(2_048)}`],
    ['cancelUrl', 'of another scheme', 'ftp://app.example.test/'],
    ['cancelUrl', 'a list', ['https://app.example.test/']],
    ['propertyAddress', 'a number', 7],
    ['propertyAddress', 'an empty object', {}],
    ['customerEmail', 'not a mail address', 'nobody'],
    ['consumerEmail', 'a number', 7],
    ['consumerIdTsp', 'an object', {}],
    ['customerRoleTsp', 'too long', 'x'.repeat(256)],
    ['reportFlags', 'not an object', true],
    ['reportFlags', 'not true or false', { excludeBackground: 'yes' }],
  ])('400: the field %s is %s', async (field, _what, value) => {
    const reply = await checkout('r', { [field]: value });
    expect(refusal(reply)).toEqual([400, 400, field]);
    expect(Object.keys(reply.body)).toEqual(['errors', 'payload']);
  });

  it('400 with 121: the body is not JSON', async () => {
    const reply = await demo.send('POST', '/pay/payment/checkout-session', '{"renterId":');
    expect(refusal(reply)).toEqual([400, 121, null]);
  });

  it('403 with 324: no key', async () => {
    const reply = await checkout('r', {}, { 'x-api-key': 'wrong' });
    expect(refusal(reply)).toEqual([403, 324, null]);
  });

  it('404: the renter is unknown or belongs to another account', async () => {
    const renter = await aRenter();
    const unrelated = await DirectCaller.of(service, 'unrelated');
    const replies = [await checkout('nobody'), await checkout(renter, {}, {}, unrelated)];
    for (const reply of replies) expect(refusal(reply)).toEqual([404, 404, null]);
    expect(replies[0]?.text).toBe(replies[1]?.text);
  });

  it('400: the renters of the account do not pay', async () => {
    const nopay = await DirectCaller.of(service, 'nopay');
    expect(refusal(await checkout(await aRenter(nopay), {}, {}, nopay))).toEqual([400, 400, null]);
  });

  it('423 with 423: the renter is locked out after wrong answers', async () => {
    await demo.registered('renters', 'locked-out', { lastName: 'Lockedtest' });
    const wrong = await demo.post('/renters/locked-out/otp', { code: '000000' });
    const reply = await checkout('locked-out');
    expect([refusal(wrong), refusal(reply)]).toEqual([
      [423, 300, null],
      [423, 423, null],
    ]);
    expect(reply.body.errors[0].errorMessage).toBe(wrong.body.errors[0].errorMessage);
  });

  it('the same Idempotency-Key gets the same page, or 409 when the body differs', async () => {
    const renter = await aRenter();
    const key = { 'idempotency-key': `checkout-${renter}` };
    const first = await checkout(renter, {}, key);
    const again = await checkout(renter, {}, key);
    expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([first.text, 'true']);
    expect(refusal(await checkout(renter, { propertyAddress: 'elsewhere' }, key))).toEqual([409, 409, null]);
    expect((await press(first.body.payload.url, CARD)).status).toBe(303);
  });

  it('several requests at the same moment: the renter can pay on at most one of the pages', async () => {
    const renter = await aRenter();
    const replies = await Promise.all(
      ['a', 'b', 'c'].map((path) => checkout(renter, { cancelUrl: `${CANCEL}/${path}` })),
    );
    expect(replies.every(({ status }) => status === 200 || status === 503)).toBe(true);
    const urls = replies.flatMap(({ status, body }) => (status === 200 ? [body.payload.url as string] : []));
    for (const url of urls) await press(url, CARD);
    const money = await Promise.all(urls.map(paidAt));
    expect(money.reduce((sum, { received }) => sum + received, 0)).toBeLessThanOrEqual(3_500);
  });

  it('503 while the processor is away, 504 when it is too slow, and success afterwards', async () => {
    const renter = await aRenter();
    await processor.control('outage', { seconds: 600 });
    const away = await checkout(renter);
    await processor.control('outage', { seconds: 0 });
    expect([refusal(away), away.headers.has('retry-after')]).toEqual([[503, 503, null], true]);
    await processor.control('slow', { ms: 30_000 });
    const slow = await checkout(renter);
    await processor.control('slow', { ms: 0 });
    expect([refusal(slow), slow.headers.has('retry-after')]).toEqual([[504, 504, null], true]);
    expect((await checkout(await aRenter())).status).toBe(200);
  });

  it('400: the person was erased, and the vault has no data of the person', async () => {
    const renter = await aRenter();
    const { url } = (await checkout(renter)).body.payload;
    const [opened] = await shownEvents(service, streamOf((await paidAt(url)).reference));
    const sessionId: string = opened?.data.sessionId;
    expect((await service.ops('timeline', sessionId)).stdout).toContain('CheckoutSessionCreated');
    expect((await service.ops('person', 'erase', sessionId)).exitCode).toBe(0);
    expect(refusal(await checkout(renter))).toEqual([400, 400, null]);
    const { exitCode: sound, stdout } = await service.ops('audit', 'verify');
    expect([sound, stdout]).toEqual([0, expect.any(String)]);
  });
});

// Payments on the whole service (docs/contract/platform.md#payments). processor-events.e2e.test.ts tests the events of
// the processor, and test/soak/kill-nine-money.e2e.test.ts tests killed processes.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { intentIn, paymentStream, Processor, shownEvents } from '../../support/processor.js';
import { type PlatformCaller, type Reply, Service } from '../../support/service.js';
import { until } from '../../support/eventually.js';

const FEE = 3_500;
const TRANSACTION = /^txn_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const UNKNOWN = '01890000-0000-7000-8000-000000000000';

let service: Service;
let processor: Processor;
let demo: PlatformCaller;
let unrelated: PlatformCaller;
let nopay: PlatformCaller;

beforeAll(async () => {
  service = await Service.shared('plain');
  processor = new Processor(service.sandboxUrl);
  [demo, unrelated, nopay] = await Promise.all([
    service.signIn('demo'),
    service.signIn('unrelated'),
    service.signIn('nopay'),
  ]);
});
afterAll(() => service?.stop());

const refused = ({ status, body }: Reply): [number, string] => [status, body?.error?.code];
const create = (screeningId: unknown, more: object = {}, headers: Record<string, string> = {}): Promise<Reply> =>
  demo.post('/payments/create-intent', { amount: FEE, screeningId, ...more }, headers);
const confirm = (transactionId: string, caller = demo): Promise<Reply> =>
  caller.post(`/payments/${transactionId}/confirm`);
const overall = async (id: string): Promise<[string, string]> => {
  const { body } = await demo.status(id);
  return [body.paymentStatus, body.overallStatus];
};

async function session(person: object = {}, caller = demo): Promise<string> {
  const { body } = await caller.submit(person);
  expect(body).toMatchObject({ id: expect.any(String) });
  return body.id;
}

interface Opened {
  readonly id: string;
  readonly transactionId: string;
  readonly secret: string;
}

async function opened(): Promise<Opened> {
  const id = await session();
  const { status, body } = await create(id);
  expect(status).toBe(200);
  return { id, transactionId: body.transaction_id, secret: body.client_secret };
}

describe('POST /payments/create-intent', () => {
  it('200: a transaction id of the service, the secret for the browser, amount and currency, and nothing else', async () => {
    const id = await session();
    const reply = await create(id, { applicationFee: 500 });
    expect([reply.status, reply.body]).toEqual([
      200,
      {
        transaction_id: expect.stringMatching(TRANSACTION),
        client_secret: expect.stringMatching(/^pi_\w+_secret_\w+$/),
        amount: FEE,
        currency: 'usd',
      },
    ]);
    const intents = await processor.intents({ transaction: reply.body.transaction_id });
    expect(intents).toMatchObject([
      {
        amount: FEE,
        currency: 'usd',
        applicationFee: null,
        destination: null,
        metadata: { transaction_id: reply.body.transaction_id, session_id: id, application_fee_cents: '500' },
      },
    ]);
    expect(await overall(id)).toEqual(['PENDING', 'PAYMENT_PENDING']);
  });

  it('the status of the session names the transaction if one exists', async () => {
    const id = await session();
    expect((await demo.status(id)).body).not.toHaveProperty('transactionId');
    const { body } = await create(id);
    await until('the session knows it', async () => (await demo.status(id)).body.transactionId === body.transaction_id);
  });

  it('200 for a session whose step-up is still open; the payment counts when the person is verified', async () => {
    const id = await session({ lastName: 'Otptest' });
    const { status, body } = await create(id);
    expect(status).toBe(200);
    await processor.confirm(body.client_secret, 'pm_card_visa');
    await until('the session knows of it', async () => (await overall(id))[0] === 'SUCCEEDED');
    expect((await overall(id))[1]).toBe('STEP_UP_REQUIRED');
    await demo.post(`/screening/${id}/otp`, { code: '123456' });
    expect(await overall(id)).toEqual(['SUCCEEDED', 'COMPLETED']);
    const completed = (await shownEvents(service, id)).filter(({ type }) => type === 'ScreeningCompleted');
    expect(completed).toHaveLength(1);
  });

  it.each([
    ['below the fee of the account', FEE - 1],
    ['0', 0],
    ['negative', -FEE],
    ['above the maximum', 100_000_000],
    ['beyond exact integers', 2 ** 53],
    ['huge', 1e300],
    ['not whole', FEE + 0.5],
    ['a string', '3500'],
    ['true', true],
    ['null', null],
    ['missing', undefined],
    ['a list', [FEE]],
    ['an object', { cents: FEE }],
  ])('400 VALIDATION_ERROR, field amount, for an amount that is %s', async (_what, amount) => {
    const reply = await create(await session(), { amount });
    expect([...refused(reply), reply.body.error.field, reply.body.error.recoverable]).toEqual([
      400,
      'VALIDATION_ERROR',
      'amount',
      true,
    ]);
  });

  it("400 VALIDATION_ERROR below 50 cents, and 200 at 50 cents, even if the account's fee is lower; 200 at the maximum", async () => {
    const { accountId } = (await service.credentials()).accounts.child;
    expect((await service.ops('accounts', 'set', accountId, '--fee', '10')).exitCode).toBe(0);
    const child = await service.signIn('child');
    const id = await session({}, child);
    const least = await child.post('/payments/create-intent', { amount: 49, screeningId: id });
    expect([...refused(least), least.body.error.field]).toEqual([400, 'VALIDATION_ERROR', 'amount']);
    expect((await child.post('/payments/create-intent', { amount: 50, screeningId: id })).status).toBe(200);
    expect((await child.post('/payments/create-intent', { amount: 99_999_999, screeningId: id })).body.amount).toBe(
      99_999_999,
    );
  });

  it.each([
    ['negative', -1, FEE],
    ['above the amount', FEE + 1, FEE],
    ['above 1,000,000', 1_000_001, 2_000_000],
    ['not whole', 1.5, FEE],
    ['a string', '500', FEE],
    ['true', true, FEE],
    ['a list', [500], FEE],
  ])('400 VALIDATION_ERROR, field applicationFee, for a fee that is %s', async (_what, applicationFee, amount) => {
    const reply = await create(await session(), { amount, applicationFee });
    expect([...refused(reply), reply.body.error.field]).toEqual([400, 'VALIDATION_ERROR', 'applicationFee']);
  });

  it.each([
    ['none', undefined, FEE],
    ['null', null, FEE],
    ['0', 0, FEE],
    ['the whole amount', FEE, FEE],
    ['1,000,000', 1_000_000, 2_000_000],
  ])('200 for the application fee %s', async (_what, applicationFee, amount) => {
    expect((await create(await session(), { amount, applicationFee })).status).toBe(200);
  });

  it("200: the money is paid to the account's connected account at the processor and the platform keeps the fee, even after a change", async () => {
    const { accountId } = (await service.credentials()).accounts.grandchild;
    expect((await service.ops('accounts', 'set', accountId, '--payment-account', 'acct_landlord')).exitCode).toBe(0);
    const grandchild = await service.signIn('grandchild');
    const id = await session({}, grandchild);
    const shown = async (amount: number, applicationFee: number): Promise<object | undefined> => {
      const { body } = await grandchild.post('/payments/create-intent', { amount, applicationFee, screeningId: id });
      return (await processor.intents({ transaction: body.transaction_id }))[0];
    };
    expect(await shown(FEE, 500)).toMatchObject({ amount: FEE, applicationFee: 500, destination: 'acct_landlord' });
    expect(await shown(FEE + 100, 0)).toMatchObject({
      amount: FEE + 100,
      applicationFee: null,
      destination: 'acct_landlord',
    });
    expect(await shown(FEE + 100, FEE + 100)).toMatchObject({
      amount: FEE + 100,
      applicationFee: FEE + 100,
      destination: 'acct_landlord',
    });
    expect(await shown(FEE, 0)).toMatchObject({ amount: FEE, applicationFee: null, destination: 'acct_landlord' });
  });

  it.each([
    ['missing', undefined],
    ['a number', 17],
    ['null', null],
    ['a list', [UNKNOWN]],
  ])('400 VALIDATION_ERROR, field screeningId, for an id that is %s', async (_what, screeningId) => {
    const reply = await create(screeningId);
    expect([...refused(reply), reply.body.error.field]).toEqual([400, 'VALIDATION_ERROR', 'screeningId']);
  });

  it.each(['[]', '"text"', '{"amount":3500', ''])('400 VALIDATION_ERROR for the body %s', async (body) => {
    expect(refused(await demo.post('/payments/create-intent', body))).toEqual([400, 'VALIDATION_ERROR']);
  });

  it('404 SCREENING_NOT_FOUND with the same bytes for malformed and unknown ids, and for sessions of another account, a child or the other environment', async () => {
    const { livePublishableKey } = (await service.credentials()).accounts.demo;
    const [own, foreign, ofChild, live] = await Promise.all([
      session(),
      session({}, unrelated),
      service.signIn('child').then((child) => session({}, child)),
      service.signIn('demo', livePublishableKey),
    ]);
    const replies = [
      ...(await Promise.all(
        [
          '',
          'x',
          '../../etc',
          `${own} `,
          own.toUpperCase(),
          'txn_x',
          'x'.repeat(10_000),
          UNKNOWN,
          foreign,
          ofChild,
        ].map((id) => create(id)),
      )),
      await live.post('/payments/create-intent', { amount: FEE, screeningId: own }),
    ];
    expect(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(refused(replies[0] as Reply)).toEqual([404, 'SCREENING_NOT_FOUND']);
  });

  it('404 has priority over a wrong amount, so that the reply reveals nothing about foreign sessions', async () => {
    const foreign = await session({}, unrelated);
    for (const id of [UNKNOWN, foreign])
      expect(refused(await create(id, { amount: 51 }))).toEqual([404, 'SCREENING_NOT_FOUND']);
  });

  it("401 AUTH_UNAUTHORIZED without a token, with a forged token and with a server's key", async () => {
    const { secretKey } = (await service.credentials()).accounts.demo;
    const id = await session();
    for (const authorization of [undefined, 'Bearer x.y.z', `Bearer ${secretKey}`]) {
      const headers = { origin: demo.headers.origin as string, ...(authorization && { authorization }) };
      expect(
        refused(
          await service.request('POST', '/payments/create-intent', { headers, body: { amount: FEE, screeningId: id } }),
        ),
      ).toEqual([401, 'AUTH_UNAUTHORIZED']);
      expect(refused(await service.request('POST', `/payments/txn_${UNKNOWN}/confirm`, { headers }))).toEqual([
        401,
        'AUTH_UNAUTHORIZED',
      ]);
    }
  });

  it.each([
    ['BLOCKED', 'Lockedtest'],
    ['EXPIRED', 'Expiredtest'],
    ['ERROR', 'Garbledtest'],
  ])('400 SCREENING_SESSION_NOT_COMPLETED for a session that is %s', async (status, lastName) => {
    const id = await session({ lastName });
    if (status !== 'ERROR') await demo.post(`/screening/${id}/otp`, { code: '000000' });
    expect((await demo.status(id)).body.status).toBe(status);
    expect(refused(await create(id))).toEqual([400, 'SCREENING_SESSION_NOT_COMPLETED']);
  });

  it('409 PAYMENT_NOT_REQUIRED when the account pays, and for agents', async () => {
    const free = await session({}, nopay);
    expect(refused(await nopay.post('/payments/create-intent', { amount: FEE, screeningId: free }))).toEqual([
      409,
      'PAYMENT_NOT_REQUIRED',
    ]);
    expect(refused(await create(await session({ userType: 'AGENT' })))).toEqual([409, 'PAYMENT_NOT_REQUIRED']);
    expect(refused(await create(await session({ userType: 'PMC' })))).toEqual([409, 'PAYMENT_NOT_REQUIRED']);
  });

  it('200 with the same transaction and secret while the payment is open, even after a decline; another amount changes the same intent', async () => {
    const { id, transactionId, secret } = await opened();
    const same = { transaction_id: transactionId, client_secret: secret, amount: FEE, currency: 'usd' };
    expect((await create(id)).body).toEqual(same);
    expect((await create(id, { amount: FEE + 100, applicationFee: 40 })).body).toEqual({ ...same, amount: FEE + 100 });
    expect((await create(id)).body).toEqual(same);
    expect((await create(id, { amount: FEE + 100 })).body).toEqual({ ...same, amount: FEE + 100 });
    expect((await processor.confirm(secret, 'pm_card_chargeDeclined')).status).toBe(402);
    expect((await create(id, { amount: FEE + 7 })).body).toEqual({ ...same, amount: FEE + 7 });
    expect(await processor.intents({ transaction: transactionId })).toMatchObject([
      { id: intentIn(secret), amount: FEE + 7 },
    ]);
    await processor.confirm(secret, 'pm_card_visa');
    expect((await confirm(transactionId)).body).toEqual({
      transaction_id: transactionId,
      status: 'SUCCEEDED',
      amount: FEE + 7,
      currency: 'usd',
    });
  });

  it('200: several simultaneous requests with different amounts make one intent, and the charge matches the payment', async () => {
    const id = await session();
    const replies = await Promise.all(Array.from({ length: 5 }, (_, index) => create(id, { amount: FEE + index })));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(new Set(replies.map(({ body }) => body.client_secret)).size).toBe(1);
    const { transaction_id: transactionId, client_secret: secret } = replies[0]?.body;
    const last = await create(id, { amount: FEE + 9 });
    expect(last.body.amount).toBe(FEE + 9);
    expect(await processor.intents({ transaction: transactionId })).toMatchObject([{ amount: FEE + 9 }]);
    await processor.confirm(secret, 'pm_card_visa');
    expect((await confirm(transactionId)).body.amount).toBe(FEE + 9);
  });

  // Guarantee: a caller that requests the payment again learns the amount that will be charged.
  it('200 with the requested amount, even when an earlier change arrives late and overwrites the amount at the processor', async () => {
    const { id, transactionId, secret } = await opened();
    await processor.control('slow', { ms: 500 });
    const late = create(id, { amount: FEE + 9 });
    try {
      await until(
        'the first change is on its way',
        async () => (await processor.calls(`${transactionId}:update:1`)).received > 0,
      );
    } finally {
      await processor.control('slow', { ms: 0 });
    }
    expect((await create(id, { amount: FEE + 5 })).body.amount).toBe(FEE + 5);
    expect((await late).status).toBe(200);
    expect(await processor.intents({ transaction: transactionId })).toMatchObject([{ amount: FEE + 9 }]);
    expect((await create(id, { amount: FEE + 5 })).body.amount).toBe(FEE + 5);
    expect(await processor.intents({ transaction: transactionId })).toMatchObject([{ amount: FEE + 5 }]);
    await processor.confirm(secret, 'pm_card_visa');
    expect((await confirm(transactionId)).body.amount).toBe(FEE + 5);
  });

  it('409 PAYMENT_ALREADY_COMPLETED during and after a bank debit whose result only events report', async () => {
    const { id, transactionId, secret } = await opened();
    await processor.confirm(secret, 'pm_usBankAccount');
    await until('the session knows that it is processing', async () => (await overall(id))[0] === 'PROCESSING');
    expect((await overall(id))[1]).toBe('PAYMENT_PENDING');
    expect(refused(await create(id))).toEqual([409, 'PAYMENT_ALREADY_COMPLETED']);
    expect(refused(await create(id, { amount: FEE + 1 }))).toEqual([409, 'PAYMENT_ALREADY_COMPLETED']);
    // No caller requests the payment's state. The processor sends an event.
    await until('the session is completed', async () => (await overall(id))[1] === 'COMPLETED');
    expect(refused(await create(id))).toEqual([409, 'PAYMENT_ALREADY_COMPLETED']);
    expect(await processor.money({ transaction: transactionId })).toMatchObject({ succeeded: 1, received: FEE });
  });

  it('200 with another transaction after the processor has canceled the first one', async () => {
    const { id, transactionId, secret } = await opened();
    expect((await processor.cancel(intentIn(secret))).status).toBe(200);
    expect((await confirm(transactionId)).body).toMatchObject({ status: 'FAILED' });
    expect(await overall(id)).toEqual(['FAILED', 'PAYMENT_FAILED']);
    const next = await create(id);
    expect(next.status).toBe(200);
    expect(next.body.transaction_id).not.toBe(transactionId);
    expect(next.body.client_secret).not.toBe(secret);
    await processor.confirm(next.body.client_secret, 'pm_card_visa');
    expect((await confirm(next.body.transaction_id)).body.status).toBe('SUCCEEDED');
    expect((await confirm(transactionId)).body.status).toBe('FAILED');
    expect(await overall(id)).toEqual(['SUCCEEDED', 'COMPLETED']);
  });

  it('200 with another transaction even before the service learns that the processor has canceled the first one', async () => {
    await processor.control('delivery', { drop: 1_000 });
    try {
      const { id, transactionId, secret } = await opened();
      await processor.cancel(intentIn(secret));
      const next = await create(id);
      expect([next.status, next.body.transaction_id === transactionId]).toEqual([200, false]);
    } finally {
      await processor.control('delivery', { drop: 0 });
    }
  });

  it('200: a repeated request with an Idempotency-Key gets the same bytes and makes no second intent; 409 when the body differs', async () => {
    const id = await session();
    const headers = { 'idempotency-key': randomUUID() };
    const first = await create(id, {}, headers);
    const again = await create(id, {}, headers);
    expect([again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([200, first.text, 'true']);
    expect(refused(await create(id, { amount: FEE + 1 }, headers))).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
    // The consumer has paid in the meantime. The same key still gets the earlier reply.
    await processor.confirm(first.body.client_secret, 'pm_card_visa');
    await confirm(first.body.transaction_id);
    expect((await create(id, {}, headers)).text).toBe(first.text);
    expect(await processor.intents({ transaction: first.body.transaction_id })).toHaveLength(1);
  });

  it('200: many simultaneous callers make one intent, because the service derives the key at the processor from the transaction', async () => {
    const id = await session();
    const replies = await Promise.all(Array.from({ length: 8 }, () => create(id)));
    expect(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(await processor.calls(`${replies[0]?.body.transaction_id}:create`)).toMatchObject({ executed: 1 });
  });
});

describe('POST /payments/{transactionId}/confirm', () => {
  it('200 with each status of the processor: PENDING, REQUIRES_ACTION, SUCCEEDED', async () => {
    const { id, transactionId, secret } = await opened();
    expect(await confirm(transactionId)).toMatchObject({
      status: 200,
      body: { transaction_id: transactionId, status: 'PENDING', amount: FEE, currency: 'usd' },
    });
    await processor.confirm(secret, 'pm_card_authenticationRequired');
    expect((await confirm(transactionId)).body.status).toBe('REQUIRES_ACTION');
    expect(await overall(id)).toEqual(['REQUIRES_ACTION', 'PAYMENT_PENDING']);
    // The payment that was created first is still open.
    expect((await create(id)).body).toMatchObject({ transaction_id: transactionId, client_secret: secret });
    await processor.authenticate(secret);
    expect((await confirm(transactionId)).body.status).toBe('SUCCEEDED');
    expect(await overall(id)).toEqual(['SUCCEEDED', 'COMPLETED']);
  });

  it('200 FAILED when the authentication fails or the card is declined, and SUCCEEDED after another try', async () => {
    const { id, transactionId, secret } = await opened();
    await processor.confirm(secret, 'pm_card_authenticationRequired');
    await processor.authenticate(secret, 'failure');
    expect((await confirm(transactionId)).body.status).toBe('FAILED');
    await processor.confirm(secret, 'pm_card_chargeDeclinedInsufficientFunds');
    expect((await confirm(transactionId)).body.status).toBe('FAILED');
    expect(await overall(id)).toEqual(['FAILED', 'PAYMENT_FAILED']);
    expect((await demo.get(`/reports/${id}`)).status).toBe(402);
    await processor.confirm(secret, 'pm_card_visa');
    expect((await confirm(transactionId)).body.status).toBe('SUCCEEDED');
    expect((await demo.get(`/reports/${id}`)).status).toBe(200);
  });

  it('200 FAILED when a bank debit is returned and only events report it', async () => {
    const { id, secret } = await opened();
    await processor.confirm(secret, 'pm_usBankAccount_insufficientFunds');
    await until('the session knows that it failed', async () => (await overall(id))[1] === 'PAYMENT_FAILED');
  });

  it('200 SUCCEEDED at once without an event, and at every later confirm; the log records the success once', async () => {
    await processor.control('delivery', { drop: 1_000 });
    try {
      const { id, transactionId, secret } = await opened();
      await processor.confirm(secret, 'pm_card_visa');
      const replies = await Promise.all(Array.from({ length: 6 }, () => confirm(transactionId)));
      expect(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
      expect(replies[0]?.body.status).toBe('SUCCEEDED');
      expect(await overall(id)).toEqual(['SUCCEEDED', 'COMPLETED']);
      expect(
        (await shownEvents(service, paymentStream(transactionId))).filter(({ type }) => type === 'PaymentSucceeded'),
      ).toHaveLength(1);
      expect((await shownEvents(service, id)).filter(({ type }) => type === 'ScreeningCompleted')).toHaveLength(1);
      expect(await processor.money({ transaction: transactionId })).toMatchObject({ succeeded: 1, received: FEE });
    } finally {
      await processor.control('delivery', { drop: 0 });
    }
  });

  it('404 PAYMENT_NOT_FOUND with the same bytes for malformed and unknown transactions, and for those of another account or the other environment', async () => {
    const { livePublishableKey } = (await service.credentials()).accounts.demo;
    const { transactionId, id, secret } = await opened();
    const live = await service.signIn('demo', livePublishableKey);
    const replies = [
      ...(await Promise.all(
        [
          'x',
          'txn_',
          'txn_x',
          id,
          `txn_${id}`,
          `txn_${UNKNOWN}`,
          transactionId.toUpperCase(),
          `txn_${transactionId}`,
          `${transactionId}%20`,
          `${transactionId}%00`,
          intentIn(secret),
          'txn_..%2F..%2Fx',
          'x'.repeat(90),
        ].map((name) => confirm(name)),
      )),
      await confirm(transactionId, unrelated),
      await confirm(transactionId, live),
    ];
    expect(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(refused(replies[0] as Reply)).toEqual([404, 'PAYMENT_NOT_FOUND']);
  });

  it('200: records a refund; the report stays open, and the session gets no new payment', async () => {
    const { id, transactionId, secret } = await opened();
    await processor.confirm(secret, 'pm_card_visa');
    expect((await confirm(transactionId)).body.status).toBe('SUCCEEDED');
    expect((await processor.refund(intentIn(secret), 1_000)).status).toBe(200);
    await until('the first refund is recorded', async () =>
      (await shownEvents(service, paymentStream(transactionId))).some(({ type }) => type === 'PaymentRefunded'),
    );
    expect((await processor.refund(intentIn(secret))).status).toBe(200);
    await until(
      'both refunds are recorded',
      async () =>
        (await shownEvents(service, paymentStream(transactionId)))
          .filter(({ type }) => type === 'PaymentRefunded')
          .map(({ data }) => data.refundedCents)
          .join() === `1000,${FEE}`,
    );
    expect(await overall(id)).toEqual(['SUCCEEDED', 'COMPLETED']);
    expect((await confirm(transactionId)).body).toEqual({
      transaction_id: transactionId,
      status: 'SUCCEEDED',
      amount: FEE,
      currency: 'usd',
    });
    expect(refused(await create(id))).toEqual([409, 'PAYMENT_ALREADY_COMPLETED']);
    expect((await demo.get(`/reports/${id}`)).status).toBe(200);
  });
});

describe('a payment processor that cannot be reached', () => {
  it('503 SERVICE_UNAVAILABLE for create and confirm during an outage; the same payment continues afterwards', async () => {
    const { id, transactionId, secret } = await opened();
    const fresh = await session();
    await processor.control('outage', { seconds: 600 });
    try {
      for (const reply of [
        await create(fresh),
        await create(id),
        await create(id, { amount: FEE + 1 }),
        await confirm(transactionId),
      ]) {
        expect([...refused(reply), reply.body.error.recoverable]).toEqual([503, 'SERVICE_UNAVAILABLE', true]);
      }
      expect(await overall(fresh)).toEqual(['PENDING', 'PAYMENT_PENDING']);
    } finally {
      await processor.control('outage', { seconds: 0 });
    }
    expect((await create(id)).body).toMatchObject({
      transaction_id: transactionId,
      client_secret: secret,
      amount: FEE,
    });
    const { status, body } = await create(fresh);
    expect(status).toBe(200);
    expect(await processor.intents({ transaction: body.transaction_id })).toHaveLength(1);
  });

  it('503 or 504 while the processor does not answer the request for a new intent; a repeated request finds that one intent', async () => {
    const id = await session();
    await processor.control('slow', { ms: 2_000 });
    try {
      const headers = { 'idempotency-key': randomUUID() };
      const hung = await create(id, {}, headers);
      expect([
        [503, 'SERVICE_UNAVAILABLE'],
        [504, 'UPSTREAM_TIMEOUT'],
      ]).toContainEqual(refused(hung));
      expect(hung.body.error.recoverable).toBe(true);
      await processor.control('slow', { ms: 0 });
      let reply = hung;
      await until('the same request goes through', async () => (reply = await create(id, {}, headers)).status === 200);
      expect(await processor.intents({ transaction: reply.body.transaction_id })).toHaveLength(1);
      expect(await processor.calls(`${reply.body.transaction_id}:create`)).toMatchObject({ executed: 1 });
      await processor.confirm(reply.body.client_secret, 'pm_card_visa');
      expect((await confirm(reply.body.transaction_id)).body.status).toBe('SUCCEEDED');
    } finally {
      await processor.control('slow', { ms: 0 });
    }
  });

  it("200 when the processor's answers are lost: the service repeats the call under its key, and the processor carries it out once", async () => {
    const id = await session();
    await processor.control('lost-answers', { calls: 2 });
    const { status, body } = await create(id);
    expect(status).toBe(200);
    expect(await processor.calls(`${body.transaction_id}:create`)).toMatchObject({ executed: 1 });
    await processor.control('lost-answers', { calls: 1 });
    expect((await create(id, { amount: FEE + 5 })).body).toMatchObject({
      transaction_id: body.transaction_id,
      amount: FEE + 5,
    });
    expect(await processor.intents({ transaction: body.transaction_id })).toMatchObject([{ amount: FEE + 5 }]);
  });

  it('200 during an outage of the processor when the service knows that the payment has succeeded', async () => {
    const { transactionId, secret } = await opened();
    await processor.confirm(secret, 'pm_card_visa');
    expect((await confirm(transactionId)).body.status).toBe('SUCCEEDED');
    await processor.control('outage', { seconds: 600 });
    try {
      expect((await confirm(transactionId)).body.status).toBe('SUCCEEDED');
    } finally {
      await processor.control('outage', { seconds: 0 });
    }
  });
});

describe('POST /payments/webhook', () => {
  it('410 ENDPOINT_RETIRED with and without a token, for every body', async () => {
    const replies = [
      await service.request('POST', '/payments/webhook'),
      await service.request('POST', '/payments/webhook', { body: { type: 'payment_intent.succeeded' } }),
      await service.request('POST', '/payments/webhook', {
        headers: { authorization: 'Bearer x', 'stripe-signature': 't=1,v1=x', 'idempotency-key': 'once' },
        body: {},
      }),
      await demo.post('/payments/webhook', {}),
      await demo.post('/payments/webhook', {}, { 'idempotency-key': randomUUID() }),
    ];
    for (const reply of replies)
      expect([...refused(reply), reply.body.error.recoverable]).toEqual([410, 'ENDPOINT_RETIRED', false]);
  });
});

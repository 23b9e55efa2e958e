// The sandbox's payment processor over HTTP: keys, intents, permissions, money, and the data that survives a restart.
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ProcessorUnderTest, SECRET_KEY, asMerchant } from './harness.js';
import { until } from '../../support/eventually.js';

let sandbox: ProcessorUnderTest;

beforeAll(async () => {
  sandbox = await ProcessorUnderTest.start({ settleMs: 200 });
});

afterAll(() => sandbox.stop());

const intent = (id: string): Promise<any> => sandbox.get(`/v1/payment_intents/${id}`).then(({ body }) => body);
/** A request as a browser sends it. */
const CARD = {
  'payment_method_data[type]': 'card',
  'payment_method_data[card][number]': '4242424242424242',
  'payment_method_data[card][exp_month]': '12',
  'payment_method_data[card][exp_year]': '2034',
  'payment_method_data[card][cvc]': '123',
  'payment_method_data[billing_details][address][postal_code]': '78701',
};
const settled = (id: string, type: string): Promise<void> =>
  sandbox.receiver.until(() => sandbox.receiver.types(id).includes(type));

describe('a caller', () => {
  it.each([
    ['no key', {}],
    ['another key', { authorization: 'Bearer sk_test_other' }],
    ['a publishable key', { authorization: 'Bearer pk_test_1' }],
  ])('is refused with %s: 401', async (_name, headers) => {
    for (const { status, body } of [
      await sandbox.post('/v1/payment_intents', { amount: '2500', currency: 'usd' }, headers),
      await sandbox.get('/v1/payment_intents/pi_1', headers),
      await sandbox.post('/v1/checkout/sessions', {}, headers),
      await sandbox.get('/v1/checkout/sessions/cs_1', headers),
      await sandbox.post('/v1/refunds', {}, headers),
      await sandbox.post('/v1/payment_intents/pi_1/cancel', {}, headers),
      await sandbox.post('/v1/payment_intents/pi_1/confirm', {}, headers),
    ]) {
      expect([status, body.error.type]).toEqual([401, 'invalid_request_error']);
    }
  });

  it('may send the key as a user name, like curl -u', async () => {
    const basic = Buffer.from(`${SECRET_KEY}:`).toString('base64');
    expect(
      (
        await sandbox.post(
          '/v1/payment_intents',
          { amount: '2500', currency: 'usd' },
          { authorization: `Basic ${basic}` },
        )
      ).status,
    ).toBe(200);
  });

  it('gets a Request-Id with every answer, and errors of one shape for unknown objects', async () => {
    for (const reply of [
      await sandbox.get('/v1/nothing'),
      await sandbox.post('/v1/nothing'),
      await sandbox.get('/v1/payment_intents/pi_1'),
    ]) {
      expect(reply.status).toBe(404);
      expect(reply.headers.get('request-id')).toMatch(/^req_/);
      expect(reply.body).toEqual({
        error: expect.objectContaining({ type: 'invalid_request_error', message: expect.any(String) }),
      });
    }
  });

  it('must send forms, not JSON: 415', async () => {
    const response = await fetch(`${sandbox.url}/v1/payment_intents`, {
      method: 'POST',
      headers: { ...asMerchant(), 'content-type': 'application/json' },
      body: '{}',
    });
    expect([response.status, ((await response.json()) as any).error.type]).toEqual([415, 'invalid_request_error']);
  });
});

describe('a browser with the client secret', () => {
  it('confirms with the client secret, and sees neither metadata nor fee', async () => {
    const { id, clientSecret } = await sandbox.newIntent({
      'metadata[transaction_id]': 'txn_1',
      application_fee_amount: '100',
      'transfer_data[destination]': 'acct_1',
    });
    const { status, body, headers } = await sandbox.confirm({ id, clientSecret }, 'pm_card_visa');
    expect([status, body.status, body.client_secret]).toEqual([200, 'succeeded', clientSecret]);
    for (const secret of ['metadata', 'application_fee_amount', 'transfer_data', 'latest_charge'])
      expect(body).not.toHaveProperty(secret);
    expect(headers.get('access-control-allow-origin')).toBe('*');
  });

  it('may add a publishable key, and retrieve the intent', async () => {
    const { id, clientSecret } = await sandbox.newIntent();
    const { status, body } = await sandbox.get(`/v1/payment_intents/${id}?client_secret=${clientSecret}`, {
      authorization: 'Bearer pk_test_sandbox_processor',
    });
    expect([status, body.id, body.metadata]).toEqual([200, id, undefined]);
  });

  it('is refused with the client secret of another intent: 400', async () => {
    const [own, other] = [await sandbox.newIntent(), await sandbox.newIntent()];
    const { status, body } = await sandbox.confirm({ id: own.id, clientSecret: other.clientSecret }, 'pm_card_visa');
    expect([status, body.error.param]).toEqual([400, 'client_secret']);
    expect((await intent(own.id)).status).toBe('requires_payment_method');
  });

  it("is refused with a publishable key that is not the sandbox's: 401", async () => {
    const { id, clientSecret } = await sandbox.newIntent();
    for (const { status, body } of [
      await sandbox.get(`/v1/payment_intents/${id}?client_secret=${clientSecret}&key=pk_test_1`, {}),
      await sandbox.post(
        `/v1/payment_intents/${id}/confirm`,
        { ...CARD, client_secret: clientSecret, key: 'pk_1' },
        {},
      ),
    ])
      expect([status, body.error.message]).toEqual([401, 'Invalid API Key provided.']);
    expect((await intent(id)).status).toBe('requires_payment_method');
  });

  it('confirms with a card, once for each key, and the card is not stored', async () => {
    const { id, clientSecret } = await sandbox.newIntent();
    const key = randomUUID();
    const confirm = (more: Record<string, string> = {}): ReturnType<typeof sandbox.post> =>
      sandbox.post(
        `/v1/payment_intents/${id}/confirm`,
        { ...CARD, key: 'pk_test_sandbox_processor', client_secret: clientSecret, ...more },
        { 'idempotency-key': key },
      );
    const [first, again] = [await confirm(), await confirm()];
    expect(first.body).toMatchObject({ id, status: 'succeeded', payment_method: 'pm_card_visa' });
    expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([first.text, 'true']);
    const another = await confirm({ 'payment_method_data[card][number]': '4000000000000002' });
    expect([another.status, another.body.error.type]).toEqual([400, 'idempotency_error']);
    expect(await readFile(join(sandbox.folder, 'processor.jsonl'), 'utf8')).not.toContain('4242424242424242');
  });

  it.each([
    ['number', '4242424242424241', 'incorrect_number', undefined],
    ['number', '5555555555554444', 'card_declined', 'test_mode_live_card'],
    ['exp_month', '13', 'invalid_expiry_month', undefined],
    ['exp_year', '2020', 'invalid_expiry_year', undefined],
    ['cvc', '12', 'invalid_cvc', undefined],
  ])('is refused with a card whose %s is %s: 402 %s', async (field, value, code, declineCode) => {
    const { id, clientSecret } = await sandbox.newIntent();
    const form = { ...CARD, client_secret: clientSecret, [`payment_method_data[card][${field}]`]: value };
    const { status, body, text } = await sandbox.post(`/v1/payment_intents/${id}/confirm`, form, {});
    expect([status, body.error.code, body.error.decline_code]).toEqual([402, code, declineCode]);
    expect(text).not.toMatch(/4242\D?4242/);
  });

  it('learns no more from a refusal than from a success', async () => {
    const created = await sandbox.newIntent({ 'metadata[transaction_id]': 'txn_1' });
    const declined = await sandbox.confirm(created, 'pm_card_chargeDeclined');
    await sandbox.confirm(created, 'pm_card_visa');
    const late = await sandbox.confirm(created, 'pm_card_visa');
    for (const { body } of [declined, late]) {
      expect(body.error.payment_intent.id).toBe(created.id);
      expect(body.error.payment_intent).not.toHaveProperty('metadata');
    }
  });

  it('may call from a page of any origin', async () => {
    const response = await fetch(`${sandbox.url}/v1/payment_intents/pi_1/confirm`, {
      method: 'OPTIONS',
      headers: { origin: 'http://localhost:5173', 'access-control-request-method': 'POST' },
    });
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
    expect(response.headers.get('access-control-allow-methods')).toContain('POST');
  });
});

describe('an idempotency key', () => {
  it('repeats status and body, and marks the reply as repeated', async () => {
    const key = randomUUID();
    const first = await sandbox.newIntent({}, asMerchant(key));
    const second = await sandbox.newIntent({}, asMerchant(key));
    expect(second.reply.text).toBe(first.reply.text);
    expect([first.reply.headers.get('idempotent-replayed'), second.reply.headers.get('idempotent-replayed')]).toEqual([
      null,
      'true',
    ]);
    expect(await sandbox.control(`calls?key=${key}`)).toEqual({ key, received: 2, executed: 1 });
    expect((await sandbox.control('calls')).receivedTwice).toContain(key);
  });

  it('accepts the same parameters in any order', async () => {
    const key = randomUUID();
    const first = await sandbox.post(
      '/v1/payment_intents',
      { amount: '2500', currency: 'usd', 'metadata[a]': '1' },
      asMerchant(key),
    );
    expect(
      (
        await sandbox.post(
          '/v1/payment_intents',
          { 'metadata[a]': '1', currency: 'usd', amount: '2500' },
          asMerchant(key),
        )
      ).text,
    ).toBe(first.text);
  });

  it.each([
    ['other parameters', '/v1/payment_intents', { amount: '2600', currency: 'usd' }],
    ['another call', '/v1/checkout/sessions', { amount: '2500', currency: 'usd' }],
  ])('is refused with %s: 400', async (_name, path, form) => {
    const key = randomUUID();
    await sandbox.newIntent({}, asMerchant(key));
    const { status, body } = await sandbox.post(path, form, asMerchant(key));
    expect([status, body.error.type]).toEqual([400, 'idempotency_error']);
  });

  it('is refused while the first call with it is under way: 409', async () => {
    const key = randomUUID();
    await sandbox.control('slow', { ms: 300 });
    const first = sandbox.newIntent({}, asMerchant(key));
    await until('the first has come', async () => (await sandbox.control(`calls?key=${key}`)).received > 0);
    const twin = await sandbox.newIntent({}, asMerchant(key));
    expect([twin.reply.status, twin.reply.body.error.code]).toEqual([409, 'idempotency_key_in_use']);
    expect((await first).reply.status).toBe(200);
    await sandbox.control('slow', { ms: 0 });
    expect((await sandbox.newIntent({}, asMerchant(key))).id).toBe((await first).id);
  });

  it('repeats a decline too', async () => {
    const { id } = await sandbox.newIntent();
    const key = randomUUID();
    const decline = (): ReturnType<typeof sandbox.post> =>
      sandbox.post(`/v1/payment_intents/${id}/confirm`, { payment_method: 'pm_card_chargeDeclined' }, asMerchant(key));
    const [first, second] = [await decline(), await decline()];
    expect([first.status, second.status, second.text]).toEqual([402, 402, first.text]);
    expect((await sandbox.control(`charges?intent=${id}`)).charges).toHaveLength(1);
  });

  it('stays unused after wrong parameters, and after an outage', async () => {
    const key = randomUUID();
    expect((await sandbox.newIntent({ amount: 'much' }, asMerchant(key))).reply.status).toBe(400);
    await sandbox.control('outage', { seconds: 60 });
    expect((await sandbox.newIntent({}, asMerchant(key))).reply.status).toBe(503);
    await sandbox.control('outage', { seconds: 0 });
    expect((await sandbox.newIntent({}, asMerchant(key))).reply.status).toBe(200);
  });

  it('is refused above 255 characters: 400', async () => {
    expect((await sandbox.newIntent({}, asMerchant('k'.repeat(256)))).reply.status).toBe(400);
  });
});

describe('an intent', () => {
  it.each([
    ['no amount', { amount: '' }, 'parameter_missing', 'amount'],
    ['49 cents', { amount: '49' }, 'amount_too_small', 'amount'],
    ['an amount with a point', { amount: '25.00' }, 'parameter_invalid_integer', 'amount'],
    ['an amount that is a list', { amount: '', 'amount[]': '1' }, 'parameter_unknown', 'amount'],
    ['no currency', { currency: '' }, 'parameter_missing', 'currency'],
    [
      'a fee of nothing',
      { application_fee_amount: '0', 'transfer_data[destination]': 'acct_1' },
      'parameter_invalid_integer',
      'application_fee_amount',
    ],
    [
      'a fee above the amount',
      { application_fee_amount: '2501', 'transfer_data[destination]': 'acct_1' },
      undefined,
      'application_fee_amount',
    ],
    ['a fee without a recipient', { application_fee_amount: '100' }, undefined, 'application_fee_amount'],
    [
      'an unknown destination',
      { 'transfer_data[destination]': 'acct_missing' },
      'resource_missing',
      'transfer_data[destination]',
    ],
    ['an unknown payment method', { payment_method: 'pm_card_of_nobody' }, 'resource_missing', 'payment_method'],
    [
      'a misspelt parameter',
      { 'transfer_data[destinaton]': 'acct_1' },
      'parameter_unknown',
      'transfer_data[destinaton]',
    ],
    ['confirmation at once', { confirm: 'true' }, 'parameter_unknown', 'confirm'],
    ['an object where a value belongs', { 'currency[a]': 'usd' }, undefined, 'currency'],
    ['metadata that is too long', { 'metadata[a]': 'x'.repeat(501) }, undefined, 'metadata[a]'],
  ])('is refused with %s: 400', async (_name, form, code, param) => {
    const { status, body } = (await sandbox.newIntent(form as unknown as Record<string, string>)).reply;
    expect([status, body.error.type, body.error.param]).toEqual([400, 'invalid_request_error', param]);
    if (code !== undefined) expect(body.error.code).toBe(code);
  });

  it('accepts fee and destination, and shows them to the merchant', async () => {
    const { reply } = await sandbox.newIntent({
      currency: 'USD',
      application_fee_amount: '2500',
      'transfer_data[destination]': 'acct_1',
      'metadata[transaction_id]': 'txn_1',
    });
    expect(reply.body).toMatchObject({
      object: 'payment_intent',
      amount: 2_500,
      currency: 'usd',
      status: 'requires_payment_method',
      amount_received: 0,
      livemode: false,
      application_fee_amount: 2_500,
      transfer_data: { destination: 'acct_1' },
      metadata: { transaction_id: 'txn_1' },
      last_payment_error: null,
      latest_charge: null,
    });
  });

  it('is charged once by pm_card_visa, and cannot be confirmed again', async () => {
    const created = await sandbox.newIntent();
    expect((await sandbox.confirm(created, 'pm_card_visa')).body).toMatchObject({ status: 'succeeded' });
    const { status, body } = await sandbox.confirm(created, 'pm_card_visa');
    expect([status, body.error.code, body.error.payment_intent.status]).toEqual([
      400,
      'payment_intent_unexpected_state',
      'succeeded',
    ]);
    expect(await sandbox.control(`charges?intent=${created.id}`)).toMatchObject({
      succeeded: 1,
      received: 2_500,
      refunded: 0,
    });
    const latest = (await intent(created.id)).latest_charge;
    expect(latest).toMatch(/^ch_/);
    expect(
      (await sandbox.get(`/v1/payment_intents/${created.id}?expand[]=latest_charge`)).body.latest_charge,
    ).toMatchObject({ id: latest, object: 'charge', paid: true });
  });

  it.each([
    ['pm_card_chargeDeclined', 'card_declined', 'generic_decline'],
    ['pm_card_chargeDeclinedInsufficientFunds', 'card_declined', 'insufficient_funds'],
    ['pm_card_chargeDeclinedExpiredCard', 'expired_card', undefined],
    ['pm_card_chargeDeclinedIncorrectCvc', 'incorrect_cvc', 'incorrect_cvc'],
    ['pm_card_chargeDeclinedProcessingError', 'processing_error', undefined],
  ])('is declined by %s with 402, and is open again', async (method, code, declineCode) => {
    const created = await sandbox.newIntent();
    const { status, body } = await sandbox.confirm(created, method);
    expect([status, body.error.type, body.error.code, body.error.decline_code]).toEqual([
      402,
      'card_error',
      code,
      declineCode,
    ]);
    expect(body.error.payment_intent).toMatchObject({
      id: created.id,
      status: 'requires_payment_method',
      last_payment_error: { code },
    });
    expect(await sandbox.control(`charges?intent=${created.id}`)).toMatchObject({
      succeeded: 0,
      charges: [{ status: 'failed' }],
    });
    expect((await sandbox.confirm(created, 'pm_card_visa')).body.status).toBe('succeeded');
  });

  it.each([
    [undefined, 'succeeded', null],
    ['failure', 'requires_payment_method', 'payment_intent_authentication_failure'],
  ])('waits for authentication after pm_card_authenticationRequired; outcome %s: %s', async (outcome, status, code) => {
    const created = await sandbox.newIntent();
    expect((await sandbox.confirm(created, 'pm_card_authenticationRequired')).body).toMatchObject({
      status: 'requires_action',
      next_action: { type: 'use_stripe_sdk' },
    });
    const form = { client_secret: created.clientSecret, ...(outcome === undefined ? {} : { outcome }) };
    await sandbox.post(`/v1/payment_intents/${created.id}/authenticate`, form, {});
    const after = await intent(created.id);
    expect([after.status, after.last_payment_error?.code ?? null]).toEqual([status, code]);
    expect((await sandbox.post(`/v1/payment_intents/${created.id}/authenticate`, form, {})).status).toBe(400);
  });

  it.each([
    ['pm_usBankAccount', 'payment_intent.succeeded', 'succeeded', 2_500, 1],
    ['pm_usBankAccount_insufficientFunds', 'payment_intent.payment_failed', 'requires_payment_method', 0, 0],
  ])('is processed slowly with %s, and then reports: %s', async (method, type, status, received, succeeded) => {
    const created = await sandbox.newIntent();
    expect((await sandbox.confirm(created, method)).body.status).toBe('processing');
    expect(await intent(created.id)).toMatchObject({ status: 'processing', amount_received: 0 });
    await settled(created.id, type);
    expect(await intent(created.id)).toMatchObject({ status, amount_received: received });
    expect(await sandbox.control(`charges?intent=${created.id}`)).toMatchObject({ charges: [{}], succeeded });
  });

  it('needs a payment method for its confirmation: 400', async () => {
    const { id } = await sandbox.newIntent();
    expect((await sandbox.post(`/v1/payment_intents/${id}/confirm`)).body.error).toMatchObject({
      code: 'parameter_missing',
      param: 'payment_method',
    });
    const named = await sandbox.newIntent({ payment_method: 'pm_card_visa' });
    expect(named.reply.body.status).toBe('requires_confirmation');
    expect((await sandbox.post(`/v1/payment_intents/${named.id}/confirm`)).body.status).toBe('succeeded');
  });

  it('can be changed while it is open', async () => {
    const { id } = await sandbox.newIntent({ 'metadata[a]': '1', 'metadata[b]': '2' });
    const { body } = await sandbox.post(`/v1/payment_intents/${id}`, {
      amount: '3100',
      'metadata[b]': '',
      'metadata[c]': '3',
    });
    expect(body).toMatchObject({ id, amount: 3_100, metadata: { a: '1', c: '3' } });
    expect(body.metadata).not.toHaveProperty('b');
    expect(
      (await sandbox.post(`/v1/payment_intents/${id}`, { 'transfer_data[destination]': 'acct_1' })).body.error.code,
    ).toBe('parameter_unknown');
    expect((await sandbox.post(`/v1/payment_intents/${id}`, { amount: '49' })).body.error.code).toBe(
      'amount_too_small',
    );
  });

  it.each([
    ['succeeded', (created: any) => sandbox.confirm(created, 'pm_card_visa')],
    ['processing', (created: any) => sandbox.confirm(created, 'pm_usBankAccount')],
    [
      'canceled',
      ({ id }: any) => sandbox.post(`/v1/payment_intents/${id}/cancel`, { cancellation_reason: 'abandoned' }),
    ],
  ])('can be neither changed nor canceled when it is %s: 400', async (status, finish) => {
    const created = await sandbox.newIntent();
    await finish(created);
    for (const path of ['', '/cancel']) {
      const { status: answer, body } = await sandbox.post(`/v1/payment_intents/${created.id}${path}`);
      expect([answer, body.error.code, body.error.payment_intent.status]).toEqual([
        400,
        'payment_intent_unexpected_state',
        status,
      ]);
    }
  });
});

describe('a refund at the processor', () => {
  it('returns a part, then the rest, then nothing', async () => {
    const created = await sandbox.newIntent({ 'metadata[transaction_id]': 'txn_refunds' });
    const refund = (form: Record<string, string>): ReturnType<typeof sandbox.post> =>
      sandbox.post('/v1/refunds', { payment_intent: created.id, ...form });
    expect((await refund({})).status).toBe(400);
    await sandbox.confirm(created, 'pm_card_visa');
    expect((await refund({ amount: '2501' })).body.error.param).toBe('amount');
    expect((await refund({ amount: '700' })).body).toMatchObject({
      object: 'refund',
      amount: 700,
      status: 'succeeded',
      payment_intent: created.id,
    });
    const { latest_charge: charge } = await intent(created.id);
    expect((await sandbox.post('/v1/refunds', { charge })).body.amount).toBe(1_800);
    expect((await refund({})).body.error.code).toBe('charge_already_refunded');
    expect(await sandbox.control('charges?transaction=txn_refunds')).toMatchObject({
      succeeded: 1,
      received: 2_500,
      refunded: 2_500,
    });
    expect((await sandbox.post('/v1/refunds', { payment_intent: 'pi_1' })).body.error.code).toBe('resource_missing');
    expect((await sandbox.post('/v1/refunds')).body.error.code).toBe('parameter_missing');
  });
});

describe('a refund that the bank returns', () => {
  it('has failed, has two events, and does not count as refunded; 409 for an intent without a refund', async () => {
    const created = await sandbox.newIntent();
    await sandbox.confirm(created, 'pm_card_visa');
    const fail = (): Promise<any> => sandbox.control('refunds/fail', { intent: created.id });
    await expect(fail()).rejects.toThrow('409');
    const { body: made } = await sandbox.post('/v1/refunds', { payment_intent: created.id });
    const failed = { id: made.id, object: 'refund', payment_intent: created.id, status: 'failed' };
    expect(await fail()).toMatchObject(failed);
    await expect(fail()).rejects.toThrow('409');
    const shown = await sandbox.get(`/v1/payment_intents/${created.id}?expand[]=latest_charge.refunds`);
    expect(shown.body.latest_charge).toMatchObject({
      amount_refunded: 0,
      refunded: false,
      refunds: { object: 'list', data: [failed], has_more: false },
    });
    await settled(created.id, 'refund.failed');
    await settled(created.id, 'charge.refund.updated');
  });
});

describe('after a restart', () => {
  it('every object is unchanged, and a payment under way is settled', async () => {
    const key = randomUUID();
    const first = await sandbox.newIntent({ 'metadata[transaction_id]': 'txn_restart' }, asMerchant(key));
    const underWay = await sandbox.newIntent();
    await sandbox.confirm(first, 'pm_card_visa');
    await sandbox.confirm(underWay, 'pm_usBankAccount');
    await sandbox.restart();
    expect((await sandbox.newIntent({ 'metadata[transaction_id]': 'txn_restart' }, asMerchant(key))).reply.text).toBe(
      first.reply.text,
    );
    expect(await intent(first.id)).toMatchObject({ status: 'succeeded', metadata: { transaction_id: 'txn_restart' } });
    expect(await sandbox.control('charges?transaction=txn_restart')).toMatchObject({ succeeded: 1, received: 2_500 });
    expect(await sandbox.control(`calls?key=${key}`)).toEqual({ key, received: 2, executed: 1 });
    await settled(underWay.id, 'payment_intent.succeeded');
    expect(await intent(underWay.id)).toMatchObject({ status: 'succeeded', amount_received: 2_500 });
    expect((await sandbox.control('calls')).executedTwice).toEqual([]);
  });

  it('a call whose answer was lost gets its answer', async () => {
    const key = randomUUID();
    await sandbox.control('lost-answers', { calls: 1 });
    await expect(sandbox.newIntent({ 'metadata[transaction_id]': 'txn_lost' }, asMerchant(key))).rejects.toThrow();
    await sandbox.restart();
    const again = await sandbox.newIntent({ 'metadata[transaction_id]': 'txn_lost' }, asMerchant(key));
    expect(again.reply.headers.get('idempotent-replayed')).toBe('true');
    expect((await sandbox.control('intents?transaction=txn_lost')).intents).toMatchObject([{ id: again.id }]);
  });
});

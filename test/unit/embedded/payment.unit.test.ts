// How the frame opens a payment and follows its state: which requests it repeats, and when the person decides.
import { describe, expect, it } from '@jest/globals';
import type { Answer, Call } from '../../../web/frame/api/api.js';
import type { Journey } from '../../../web/frame/journey.js';
import { openPayment } from '../../../web/frame/steps/payment/open.js';
import { settled } from '../../../web/frame/steps/payment/settle.js';

const signal = new AbortController().signal;
const refusal = (code: string, field?: string): Answer<never> => ({
  ok: false,
  status: 400,
  error: { code, message: '', recoverable: false, ...(field === undefined ? {} : { field }) },
  retryAfterSeconds: null,
});
const is = (body: object) => ({ ok: true, status: 200, body });

/** Answers these replies in order, and then repeats the last reply. */
function answering(...answers: object[]) {
  const calls: Call[] = [];
  const pauses: number[] = [];
  const api = {
    call: async (call: Call) => {
      calls.push(call);
      return answers[Math.min(calls.length, answers.length) - 1] as never;
    },
    html: async () => refusal('NOT_FOUND'),
  };
  const journey = {
    api,
    start: { applicationFee: null, userType: 'CONSUMER' },
    session: { id: 's1' },
    options: { price: { amount: 3_500, currency: 'usd' } },
    language: 'en',
  } as unknown as Journey;
  return { api, journey, calls, pauses, pause: async (ms: number) => void pauses.push(ms) };
}

const open = ({ journey, pause }: ReturnType<typeof answering>) => openPayment(journey, pause, signal);
const follow = ({ api, pause }: ReturnType<typeof answering>) =>
  settled({ api, transactionId: 't1', pause, onProcessing: () => undefined, signal });

describe('Opening a payment', () => {
  it('uses the new price when the price changed after the view was opened', async () => {
    const service = answering(
      refusal('VALIDATION_ERROR', 'amount'),
      is({ price: { amount: 4_000, currency: 'usd' } }),
      is({ transaction_id: 't1' }),
    );
    expect(await open(service)).toEqual({
      kind: 'intent',
      intent: { transaction_id: 't1' },
      applicationFee: null,
    });
    expect(service.calls.filter(({ method }) => method === 'POST').map(({ body }) => body)).toEqual([
      { amount: 3_500, screeningId: 's1' },
      { amount: 4_000, screeningId: 's1' },
    ]);
  });

  it('waits for the status when the payment is no longer required', async () => {
    const pending = is({ status: 'VERIFIED', overallStatus: 'PAYMENT_PENDING' });
    const paid = is({ status: 'VERIFIED', overallStatus: 'COMPLETED' });
    expect(await open(answering(refusal('PAYMENT_NOT_REQUIRED'), pending, pending, paid))).toMatchObject({
      kind: 'over',
      status: paid.body,
    });
    expect(await open(answering(refusal('PAYMENT_ALREADY_COMPLETED'), pending))).toEqual({ kind: 'unsettled' });
  });

  it('finds a payment that another page has started', async () => {
    const status = is({ status: 'VERIFIED', overallStatus: 'PAYMENT_PENDING', transactionId: 't1' });
    expect(await open(answering(refusal('PAYMENT_ALREADY_COMPLETED'), status))).toEqual({
      kind: 'under-way',
      transactionId: 't1',
    });
  });
});

describe('A pending payment', () => {
  it('is confirmed again with growing pauses and without a key, until the processor has decided', async () => {
    const service = answering(is({ status: 'PROCESSING' }), is({ status: 'PROCESSING' }), is({ status: 'SUCCEEDED' }));
    expect(await follow(service)).toMatchObject({ body: { status: 'SUCCEEDED' } });
    expect(service.calls).toEqual(Array(3).fill({ method: 'POST', path: '/payments/t1/confirm', key: null }));
    expect(service.pauses).toEqual([1_000, 2_000]);
  });

  it('is not confirmed any more after five minutes, and the person decides', async () => {
    const service = answering(is({ status: 'PROCESSING' }));
    expect(await follow(service)).toBeNull();
    expect(service.pauses.reduce((sum, ms) => sum + ms)).toBe(300_000);
  });
});

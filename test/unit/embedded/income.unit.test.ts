import { describe, expect, it } from '@jest/globals';
import type { Answer, Api, Call } from '../../../web/frame/api/api.js';
import type { IncomeSession } from '../../../web/frame/api/wire.js';
import { INCOME_TERMS } from '../../../src/modules/screening/domain/installation-terms.js';
import { agreedTo, another, followIncome, onceMore } from '../../../web/frame/steps/income/inquiry.js';
import { INCOME } from '../../../web/frame/steps/income/texts.js';

const OPENED: IncomeSession = { income_session_id: 'income-1', status: 'CREATED', route: 'PAYROLL' };

interface Followed {
  readonly stopped: Awaited<ReturnType<typeof followIncome>>;
  readonly seen: string[];
  readonly calls: Call[];
  readonly pauses: number[];
}

async function follow(screeningId: string | null, answers: (IncomeSession | Answer<never>)[]): Promise<Followed> {
  const calls: Call[] = [];
  const seen: string[] = [];
  const pauses: number[] = [];
  const api = {
    async call(call: Call) {
      calls.push(call);
      const answer = answers[calls.length - 1];
      return answer && 'ok' in answer ? answer : { ok: true, status: 200, body: answer };
    },
  };
  const stopped = await followIncome(
    {
      api: api as unknown as Api,
      pause: async (ms) => void pauses.push(ms),
      seen: ({ status, route }) => seen.push(`${status} ${route}`),
    },
    agreedTo({ screeningId, attempt: 1, key: 'key-1', consent: null }, 'es', new Date('2026-03-01T12:00:00Z')),
    new AbortController().signal,
  );
  return { stopped, seen, calls, pauses };
}

describe('an income session', () => {
  it('is opened for the screening and read until it ends, with growing pauses', async () => {
    const { stopped, seen, calls, pauses } = await follow('screening-1', [
      OPENED,
      { ...OPENED, status: 'IN_PROGRESS' },
      { ...OPENED, status: 'IN_PROGRESS', route: 'BANKING' },
      { ...OPENED, status: 'COMPLETED', route: 'BANKING' },
    ]);
    expect(stopped).toBeNull();
    expect(seen).toEqual(['IN_PROGRESS PAYROLL', 'IN_PROGRESS BANKING', 'COMPLETED BANKING']);
    expect(calls[0]).toMatchObject({
      method: 'POST',
      path: '/voie/sessions',
      body: {
        screening_session_id: 'screening-1',
        attempt: 1,
        terms_accepted_at: '2026-03-01T12:00:00.000Z',
        terms_version: INCOME_TERMS.version,
        terms_language: 'es',
      },
      key: null,
    });
    expect(calls.slice(1)).toEqual(Array(3).fill({ method: 'GET', path: '/voie/sessions/income-1/status' }));
    expect(pauses).toEqual([...new Set(pauses)].sort((one, other) => one - other));
  });

  it('has the consent to exactly the text that the page shows', () => {
    const shown = { en: [INCOME.en.consentLead], es: [INCOME.es.consentLead] };
    expect(INCOME_TERMS.text).toEqual(shown);
  });

  it('is read again after it was opened, because the answer may be a kept reply with an older state', async () => {
    const { seen, pauses } = await follow(null, [OPENED, { ...OPENED, status: 'EXPIRED' }]);
    expect(seen).toEqual(['EXPIRED PAYROLL']);
    expect(pauses).toEqual([]);
  });

  it('stops at a refusal and returns it', async () => {
    const refusal = { code: 'NOT_FOUND', message: '', recoverable: false };
    const refused: Answer<never> = { ok: false, status: 404, error: refusal, retryAfterSeconds: null };
    expect((await follow('screening-1', [refused])).stopped).toEqual(refused);
    expect((await follow('screening-1', [OPENED, refused])).stopped).toEqual(refused);
  });
});

describe('another try of the person', () => {
  const opening = { screeningId: null, attempt: 1, key: 'key-1', consent: null };

  it('after a refusal makes another request, because the key keeps the refused reply', () => {
    expect(onceMore(opening, 400)).toMatchObject({ attempt: 1, key: expect.not.stringMatching('key-1') });
  });

  it.each([0, 503])('after a %d repeats the same request, because the first request may have arrived', (status) => {
    expect(onceMore(opening, status)).toEqual(opening);
  });

  it('after a failed session opens another session', () => {
    expect(another(opening)).toEqual({ ...opening, attempt: 2, key: expect.not.stringMatching('key-1') });
  });

  it('without a screening sends the idempotency key and no attempt number', async () => {
    const { calls } = await follow(null, [OPENED, { ...OPENED, status: 'EXPIRED' }]);
    expect(calls[0]).toMatchObject({ body: {}, key: 'key-1' });
  });
});

import { describe, expect, it } from '@jest/globals';
import type { Answer, Api, Call } from '../../../web/frame/api/api.js';
import type { Session, SessionStatus } from '../../../web/frame/api/wire.js';
import { codeOf } from '../../../web/frame/steps/step-up/code.js';
import { giveAnswer, isFinal, isKept } from '../../../web/frame/steps/step-up/judgement.js';

const OPEN: Session = {
  id: 'session-1',
  status: 'OTP_PENDING',
  stepUp: { type: 'OTP', otpEnabled: true, kbaEnabled: false },
};
const GIVEN = { method: 'otp', before: OPEN, body: { code: '123456' }, key: 'key-1' } as const;

/** An API that gives these answers in order and records its calls. */
function apiThat(...answers: (Session | Answer<never>)[]): { readonly api: Api; readonly calls: Call[] } {
  const calls: Call[] = [];
  const api = {
    async call(call: Call) {
      calls.push(call);
      const answer = answers[calls.length - 1] ?? answers.at(-1);
      return answer && 'ok' in answer ? answer : { ok: true, status: 200, body: answer };
    },
  };
  return { api: api as unknown as Api, calls };
}

function refused(status: number, code: string): Extract<Answer<never>, { ok: false }> {
  return { ok: false, status, error: { code, message: '', recoverable: true }, retryAfterSeconds: null };
}

async function judge(api: Api, before: Session = OPEN) {
  const pauses: number[] = [];
  let checked = 0;
  const judgement = await giveAnswer(
    { api, pause: async (ms) => void pauses.push(ms), checking: () => (checked += 1) },
    { ...GIVEN, before },
    new AbortController().signal,
  );
  return { judgement, pauses, checked };
}

describe('a typed code', () => {
  it.each([
    ['123456', '123456'],
    ['1234', '1234'],
    ['12345678', '12345678'],
    [' 123 456 ', '123456'],
    ['123-456', '123456'],
    ['123–456\u00a0', '123456'],
  ])('%j is the code %s', (typed, code) => expect(codeOf(typed)).toBe(code));

  it.each(['', '123', '123456789', '12a456', '１２３４', 'abcdef'])('%j is not a code', (typed) =>
    expect(codeOf(typed)).toBeNull(),
  );
});

describe('an answer', () => {
  it('has its result in the reply when the session changes its step', async () => {
    const { api, calls } = apiThat({ ...OPEN, status: 'VERIFIED' });
    const { judgement, checked } = await judge(api);
    expect(judgement).toEqual({ kind: 'judged', session: { ...OPEN, status: 'VERIFIED' } });
    expect(checked).toBe(0);
    expect(calls).toEqual([
      {
        method: 'POST',
        path: '/screening/session-1/otp',
        body: { code: '123456' },
        key: 'key-1',
        timeoutMs: 30_000,
        judged: true,
      },
    ]);
  });

  it('has its result in the reply when the number of attempts changes', async () => {
    const { judgement } = await judge(apiThat({ ...OPEN, attemptsRemaining: 2 }).api);
    expect(judgement).toMatchObject({ kind: 'judged', session: { attemptsRemaining: 2 } });
  });

  it('is followed through the status while the vendor judges it', async () => {
    const status = { ...OPEN, attemptsRemaining: 2 } as SessionStatus;
    const { api, calls } = apiThat(OPEN, OPEN, OPEN, status);
    const { judgement, pauses, checked } = await judge(api);
    expect(judgement).toEqual({ kind: 'judged', session: status });
    expect(checked).toBe(1);
    expect(calls.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /screening/session-1/otp',
      ...Array<string>(3).fill('GET /screening/session-1/status'),
    ]);
    expect(pauses).toEqual([...pauses].sort((one, other) => one - other));
  });

  it('waits for the end of an earlier answer, and waits longer when the status cannot be read', async () => {
    const before = { ...OPEN, attemptsRemaining: 2 };
    const { api } = apiThat(refused(409, 'ATTEMPT_IN_PROGRESS'), before, refused(503, 'SERVICE_UNAVAILABLE'), {
      ...before,
      attemptsRemaining: 1,
    });
    expect((await judge(api, before)).judgement).toMatchObject({ session: { attemptsRemaining: 1 } });
  });

  it("is followed through the status after a vendor's timeout; if the status does not change, the timeout is the refusal", async () => {
    const timeout = refused(504, 'UPSTREAM_TIMEOUT');
    expect((await judge(apiThat(timeout, OPEN, { ...OPEN, status: 'VERIFIED' }).api)).judgement).toMatchObject({
      session: { status: 'VERIFIED' },
    });
    expect((await judge(apiThat(timeout, OPEN).api)).judgement).toEqual({ kind: 'refused', answer: timeout });
  });

  it('is refused with ATTEMPT_IN_PROGRESS when no result arrives in half a minute', async () => {
    const { judgement, pauses } = await judge(apiThat(OPEN).api);
    expect(judgement).toMatchObject({ kind: 'refused', answer: { error: { code: 'ATTEMPT_IN_PROGRESS' } } });
    expect(pauses.reduce((sum, ms) => sum + ms)).toBeLessThanOrEqual(30_000);
  });

  it("is refused with the API's refusal", async () => {
    const answer = refused(503, 'SERVICE_UNAVAILABLE');
    expect((await judge(apiThat(answer).api)).judgement).toEqual({ kind: 'refused', answer });
  });
});

it.each([
  [410, true],
  [423, true],
  [404, true],
  [400, true],
  [409, false],
  [429, false],
  [503, false],
  [0, false],
])('a refusal with %d is final: %s', (status, final) => expect(isFinal(refused(status, 'CODE'))).toBe(final));

it.each([
  [400, true],
  [404, true],
  [410, true],
  [401, false],
  [409, false],
  [429, false],
  [503, false],
  [0, false],
])('a refusal with %d is kept under its key: %s', (status, kept) => expect(isKept(refused(status, 'CODE'))).toBe(kept));

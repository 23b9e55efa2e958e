// The limits on submissions and on codes to a phone, with the default numbers (docs/contract/general.md#limits-against-abuse).
import { beforeEach, describe, expect, it } from '@jest/globals';
import { readConfig } from '../../../src/config/config.js';
import type { ScreeningPolicy } from '../../../src/modules/screening/application/screening-policy.js';
import { SubmissionLimits } from '../../../src/modules/screening/application/submission-limits.js';
import { mayHaveSentSms } from '../../../src/modules/screening/application/refusals.js';
import type { Session } from '../../../src/modules/screening/domain/session.js';
import type { RateUse } from '../../../src/ports/rate-limiter.js';
import type { Vault } from '../../../src/ports/vault.js';
import type { AccountFacts } from '../../../src/published/accounts.js';
import { CountedInMemory } from '../../support/rate-limiter.js';
import { type GivenSession, iso, resendRequested, resent, stepUp, submitted, withOtp } from './sessions.js';

const [HOUR, DAY] = [3_600, 86_400];
const { limits: numbers } = readConfig({ REDIS_URL: 'redis://127.0.0.1:6379' });

describe('the limits of submissions', () => {
  let limiter: CountedInMemory;
  let limits: SubmissionLimits;
  let people: number;

  beforeEach(() => {
    limiter = new CountedInMemory();
    const vault = { installationKey: async () => Buffer.alloc(32, 1) } as unknown as Vault;
    limits = new SubmissionLimits(limiter, vault, { limits: numbers } as unknown as ScreeningPolicy);
    people = 0;
  });

  const submit = async ({
    accountId = 'a',
    environment = 'test',
    own = null,
    person = `person-${people++}`,
    phone = String(person),
    from = '203.0.113.1',
    lineage,
    grantId = null,
    sms = false,
    run = () => Promise.resolve(),
  }: {
    accountId?: string;
    environment?: 'live' | 'test';
    own?: number | null;
    /** The names of the person, one or several. */
    person?: string | readonly string[];
    phone?: string;
    from?: string | null;
    lineage?: string;
    grantId?: string | null;
    sms?: boolean;
    run?: () => Promise<void>;
  } = {}): Promise<number | 'ok'> => {
    const account = { accountId, submitsPerMinute: own } as AccountFacts;
    const codes = limits.smsTo({ accountId, environment }, await limits.phoneId(phone));
    const uses = limits.submission({
      account,
      environment,
      persons: [person].flat(),
      clientAddress: from,
      lineage,
      grantId,
    });
    return outcome(counted([...uses, ...codes], codes, run, sms));
  };
  const resend = async (
    phone: string,
    sms = true,
    environment: 'live' | 'test' = 'test',
    accountId = 'a',
  ): Promise<number | 'ok'> => {
    const codes = limits.smsTo({ accountId, environment }, await limits.phoneId(phone));
    return outcome(counted(codes, codes, () => Promise.resolve(), sms));
  };
  /** Counts like the use cases: the use of a code that was not sent is returned. */
  const counted = async (
    uses: readonly RateUse[],
    codes: readonly RateUse[],
    run: () => Promise<void>,
    sms: boolean,
  ): Promise<void> => {
    await limits.admit(uses);
    let sent = false;
    try {
      await run();
      sent = sms;
    } finally {
      if (!sent) await limits.giveBack(codes);
    }
  };
  /** The seconds to wait, if the request is refused. */
  const outcome = (made: Promise<void>): Promise<number | 'ok'> =>
    made.then(
      () => 'ok',
      (error: { code: string; detail: { retryAfterSeconds: number } }) => {
        expect(error.code).toBe('request.rate_limited');
        return error.detail.retryAfterSeconds;
      },
    );
  const times = async (many: number, what: () => Promise<number | 'ok'>): Promise<void> => {
    for (let count = 0; count < many; count++) expect(await what()).toBe('ok');
  };

  it('are 30 a minute from one address for one account, and do not apply to servers', async () => {
    await times(30, () => submit());
    expect(await submit()).toBe(60);
    expect([
      await submit({ from: '203.0.113.2' }),
      await submit({ accountId: 'b' }),
      await submit({ from: null }),
    ]).toEqual(['ok', 'ok', 'ok']);
    limiter.endWindows(60);
    expect(await submit()).toBe('ok');
  });

  it("are 5 an hour for a person under any of the person's names", async () => {
    await times(5, () => submit({ person: [`spelling-${people++}`, 'the same number'] }));
    expect(await submit({ person: [`spelling-${people++}`, 'the same number'] })).toBe(3_600);
    expect(await submit({ person: [`spelling-${people++}`, 'another number'] })).toBe('ok');
  });

  it("are 600 a minute for an account in each environment, or the account's own number", async () => {
    await times(600, () => submit({ from: null }));
    expect([
      await submit({ from: null }),
      await submit({ from: null, environment: 'live' }),
      await submit({ from: null, own: 601 }),
      await submit({ from: null, own: 601 }),
    ]).toEqual([60, 'ok', 'ok', 60]);
    await times(2, () => submit({ accountId: 'small', own: 2 }));
    expect(await submit({ accountId: 'small', own: 2 })).toBe(60);
  });

  it('make only the busiest callers wait after 600 a minute, but not new callers, session grants and servers', async () => {
    let at = 0;
    await times(600, () =>
      submit({ from: `10.0.${Math.floor(at / 24)}.1`, lineage: `lineage-${Math.floor(at++ / 24)}` }),
    );
    expect([
      await submit({ from: '10.0.0.1', lineage: 'new' }),
      await submit({ from: '203.0.113.1', lineage: 'lineage-1' }),
      await submit({ from: '203.0.113.1', lineage: 'new' }),
      await submit({ from: '203.0.113.1', lineage: 'new' }),
      await submit({ from: '10.0.0.1', lineage: 'lineage-0', grantId: 'grant' }),
      await submit({ from: null }),
    ]).toEqual([60, 60, 'ok', 'ok', 'ok', 'ok']);
    limiter.endWindows(60);
    expect(await submit({ from: '10.0.0.1', lineage: 'lineage-0' })).toBe('ok');
  });

  it('are 5 an hour for one person', async () => {
    await times(5, () => submit({ person: 'ada' }));
    expect([await submit({ person: 'ada' }), await submit()]).toEqual([HOUR, 'ok']);
    limiter.endWindows(HOUR);
    expect(await submit({ person: 'ada' })).toBe('ok');
  });

  it('are 6 codes an hour to one phone of one account, for submissions and resends of all persons together', async () => {
    await times(5, () => submit({ phone: '4155550134', sms: true }));
    await times(1, () => resend('4155550134'));
    expect([
      await submit({ phone: '4155550134', sms: true }),
      await resend('4155550134'),
      await submit({ phone: '4155550135', sms: true }),
      await submit({ accountId: 'b', phone: '4155550134', sms: true }),
    ]).toEqual([HOUR, HOUR, 'ok', 'ok']);
    limiter.endWindows(HOUR);
    expect(await resend('4155550134')).toBe('ok');
  });

  it('are 30 codes a day to one phone over all accounts, with an error that names the phone', async () => {
    for (const accountId of ['a', 'b', 'c', 'd', 'e'])
      await times(6, () => resend('4155550134', true, 'test', accountId));
    limiter.endWindows(HOUR);
    expect([await resend('4155550134'), await submit({ phone: '4155550134', sms: true, accountId: 'f' })]).toEqual([
      DAY,
      DAY,
    ]);
    await expect(
      limits.admit(limits.smsTo({ accountId: 'f', environment: 'test' }, await limits.phoneId('4155550134'))),
    ).rejects.toMatchObject({ detail: { rule: expect.stringContaining('phone number') } });
    limiter.endWindows(DAY);
    expect(await resend('4155550134')).toBe('ok');
  });

  it('count codes of test and live traffic separately', async () => {
    const phone = '4155550134';
    await times(6, () => submit({ phone, sms: true }));
    expect([
      await submit({ phone, sms: true }),
      await submit({ phone, sms: true, environment: 'live' }),
      await resend(phone, true, 'live'),
    ]).toEqual([HOUR, 'ok', 'ok']);
    await times(4, () => resend(phone, true, 'live'));
    expect(await resend(phone, true, 'live')).toBe(HOUR);
  });

  it('count a code only when it was sent, even when the vendor could not be asked', async () => {
    await times(20, () => submit({ phone: '4155550134', from: null }));
    await times(20, () => resend('4155550134', false));
    for (let count = 0; count < 10; count++)
      await expect(
        submit({ phone: '4155550134', from: null, run: () => Promise.reject(new Error('away')) }),
      ).rejects.toThrow();
    await times(6, () => submit({ phone: '4155550134', from: null, sms: true }));
    expect(await submit({ phone: '4155550134', from: null })).toBe(HOUR);
  });

  it('let at most 6 of many simultaneous requests for one phone reach the vendor', async () => {
    let asked = 0;
    let answer: () => void = () => undefined;
    const vendor = new Promise<void>((resolve) => (answer = resolve));
    const all = Promise.all(
      Array.from({ length: 600 }, (_, at) =>
        submit({ from: `10.1.${at}.1`, phone: '4155550134', sms: true, run: () => ((asked += 1), vendor) }),
      ),
    );
    answer();
    expect((await all).filter((made) => made === 'ok')).toHaveLength(6);
    expect(asked).toBe(6);
  });

  it('do not count a refused submission', async () => {
    await times(5, () => submit({ person: 'ada', from: '203.0.113.9' }));
    for (let count = 0; count < 30; count++) expect(await submit({ person: 'ada', from: '203.0.113.9' })).toBe(HOUR);
    await times(25, () => submit({ from: '203.0.113.9' }));
  });

  it('count a code as sent when the vendor may have sent it', () => {
    const waiting = submitted();
    const resending = withOtp().and(resendRequested('two'));
    const sent = [
      waiting,
      waiting.and(stepUp(['OTP'])),
      waiting.and({ type: 'SessionErrored', data: { attemptId: 'one', cause: 'VENDOR_UNINTELLIGIBLE' } }),
      waiting.and({ type: 'SessionErrored', data: { attemptId: 'one', cause: 'NO_VERDICT' } }),
      resending,
      resending.and(resent('two', 60)),
    ];
    const unsent = [
      waiting.and(stepUp(['KBA'])),
      waiting.and({
        type: 'IdentityVerified',
        data: { attemptId: 'one', verifiedAt: iso(1), duplicateGuard: false },
      }),
      waiting.and({ type: 'SessionErrored', data: { attemptId: 'one', cause: 'VENDOR_UNAVAILABLE' } }),
      waiting.and({ type: 'SessionExpired', data: { cause: 'VENDOR_SESSION_OVER' } }),
      waiting.and({
        type: 'SessionBlocked',
        data: { attemptId: 'one', reasonCode: 'TOO_MANY_ATTEMPTS', blockedUntil: iso(9) },
      }),
      resending.and({ type: 'AttemptAbandoned', data: { attemptId: 'two', cause: 'VENDOR_UNAVAILABLE' } }),
    ];
    const told = (sessions: readonly GivenSession[]): boolean[] =>
      sessions.map((session) => mayHaveSentSms(session.state as Session, 'two'));
    expect([told(sent), told(unsent)]).toEqual([sent.map(() => true), unsent.map(() => false)]);
  });
});

// Registrations of a party: when a new registration begins, when the reply of an earlier registration is returned, and
// when a registration is refused.
import 'reflect-metadata';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DomainError } from '../../../src/kernel/domain-error.js';
import { AGENT, Harness, LIVE, ProcessDied, said, TEST } from './harness.js';

let directory: string;
let harness: Harness;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parties-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));
beforeEach(() => {
  harness = new Harness(directory);
});
afterEach(() => harness.store.close());

/** Delays the vendor's answers until `release` is called. */
function holdVendor(): () => void {
  let release = (): void => undefined;
  harness.verifications.busy = new Promise((resolve) => (release = resolve));
  return release;
}
const untilAsked = async (): Promise<void> => {
  while (harness.verifications.registrations === 0) await new Promise(setImmediate);
};
const YEAR = 365 * 86_400;

describe('a registration', () => {
  it("opens a session of the party and returns the vendor's reply", async () => {
    const answer = await harness.process().register('body', { sessionId: 'session' });
    expect(answer).toEqual({ json: '{"registration":"session"}', accepted: true, subjectId: 'subject-of-session' });
    expect(await harness.process().facts()).toMatchObject({
      kind: 'agent',
      sessionIds: ['session'],
      authenticated: true,
      lockedUntil: null,
    });
  });

  it('stores nothing when a limit refuses it', async () => {
    harness.verifications.refusal = new DomainError('request.rate_limited', { retryAfterSeconds: 9 });
    await expect(harness.process().register()).rejects.toMatchObject({ code: 'request.rate_limited' });
    expect(await harness.events()).toEqual([]);
    expect(await harness.process().facts()).toBeNull();
  });

  it('is refused like an unknown party when the id is empty or longer than 128 characters', async () => {
    for (const id of ['', 'x'.repeat(129)]) {
      const named = { kind: 'agent', id } as const;
      await expect(harness.process().register('body', { named })).rejects.toMatchObject({
        code: 'party.recipient_unknown',
      });
      expect(await harness.process().facts(named)).toBeNull();
    }
    for (const id of ['x'.repeat(128), '🏠'.repeat(128), '.', '..', 'a/b', '%2F'])
      await harness.process().register('body', { named: { kind: 'agent', id } });
    expect(harness.verifications.registrations).toBe(6);
  });

  it('belongs only to its account, environment and kind of party', async () => {
    const service = harness.process();
    await service.register();
    expect(await service.facts(AGENT, { ...TEST, accountId: 'another' })).toBeNull();
    expect(await service.facts(AGENT, LIVE)).toBeNull();
    expect(await service.facts({ ...AGENT, kind: 'renter' })).toBeNull();
    expect(await service.facts()).not.toBeNull();
  });

  it('leaves nothing of the id or the body in the log', async () => {
    await harness
      .process()
      .register('a body with Zephyrine in it', { named: { kind: 'agent', id: 'zephyrine@home.test' } });
    const log = JSON.stringify(await harness.store.readAll(null, 100));
    expect(log).toContain('PartyRegistered');
    expect(log).not.toMatch(/zephyrine|home/i);
  });
});

describe('two registrations of one party at once', () => {
  it('make one vendor call and get the same answer when they are equal', async () => {
    const release = holdVendor();
    const [one, other] = [harness.process().register(), harness.process().register()];
    await untilAsked();
    release();
    expect((await one).json).toBe((await other).json);
    expect(harness.verifications.registrations).toBe(1);
    expect(await harness.events()).toEqual(['PartyRegistered']);
  });

  it('get the same answer even if the second request opens the session before the first does', async () => {
    let open = (): void => undefined;
    harness.verifications.opening = new Promise((resolve) => (open = resolve));
    const first = harness.process().register();
    while ((await harness.events()).length === 0) await new Promise(setImmediate);
    harness.verifications.opening = Promise.resolve();
    const release = holdVendor();
    const second = harness.process().register();
    await untilAsked();
    open();
    await new Promise(setImmediate);
    release();
    expect((await first).json).toBe((await second).json);
    expect(harness.verifications.registrations).toBe(1);
  });

  it('make one vendor call when they differ, and the second is refused with the time to wait', async () => {
    const release = holdVendor();
    const one = harness.process().register('one');
    await untilAsked();
    await expect(harness.process().register('other')).rejects.toMatchObject({
      code: 'screening.attempt_in_progress',
      detail: { retryAfterSeconds: expect.any(Number), rule: expect.stringContaining('Another registration') },
    });
    release();
    await one;
    expect(harness.verifications.registrations).toBe(1);
  });

  it('in many processes open one session', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => harness.process().register()));
    expect(new Set(answers.map(({ json }) => json)).size).toBe(1);
    expect(harness.verifications.registrations).toBe(1);
  });
});

describe('a repeated registration', () => {
  it('after a timeout gets the answer of the first, without another vendor call', async () => {
    harness.verifications.ends = { end: 'timed-out', status: 'SUBMITTED' };
    await expect(harness.process().register('body', { context: LIVE, sessionId: 'first' })).rejects.toMatchObject({
      code: 'service.upstream_timeout',
    });
    harness.later(5);
    harness.verifications.ends = { end: 'answered', status: 'VERIFIED' };
    harness.verifications.settle('first');
    const again = await harness.process().register('body', { context: LIVE });
    expect(again.json).toBe('{"registration":"first"}');
    expect(harness.verifications.registrations).toBe(1);
  });

  it('shortly after its challenge gets the same challenge', async () => {
    harness.verifications.ends = { end: 'answered', status: 'STEP_UP_REQUIRED' };
    const first = await harness.process().register();
    harness.later(8);
    expect(await harness.process().register()).toEqual(first);
    expect(harness.verifications.registrations).toBe(1);
  });

  it('begins again with another body, or when the settling time has passed', async () => {
    harness.verifications.ends = { end: 'answered', status: 'STEP_UP_REQUIRED' };
    await harness.process().register();
    await harness.process().register('other');
    harness.later(83);
    await harness.process().register('other');
    expect(harness.verifications.registrations).toBe(3);
  });

  it('begins again after a failed registration', async () => {
    harness.verifications.ends = { end: 'unavailable', status: 'ERROR' };
    await expect(harness.process().register()).rejects.toMatchObject({ code: 'vendor.unreachable' });
    harness.verifications.ends = { end: 'answered', status: 'VERIFIED' };
    await harness.process().register();
    expect(harness.verifications.registrations).toBe(2);
  });

  it.each([
    ['a right answer', TEST, 'VERIFIED', 'answers', 'answered'],
    ['an answer that the vendor did not judge', TEST, 'STEP_UP_REQUIRED', 'answers', 'unavailable'],
    ['an answer that the vendor did not judge, in live', LIVE, 'STEP_UP_REQUIRED', 'answers', 'unavailable'],
    ['another code', TEST, 'STEP_UP_REQUIRED', 'resend', 'answered'],
  ] as const)('begins again shortly after %s', async (_what, context, status, step, end) => {
    const { verifications } = harness;
    verifications.ends = { end: 'answered', status: 'STEP_UP_REQUIRED' };
    await harness.process().register('body', { context, sessionId: 'first' });
    const verifiedAt = status === 'VERIFIED' ? harness.now.toISOString() : null;
    verifications.goesOn('first', { status, verifiedAt }, { step, end, reply: said({}) });
    harness.later(8);
    expect((await harness.process().register('body', { context, sessionId: 'second' })).json).toBe(
      '{"registration":"second"}',
    );
    expect(verifications.registrations).toBe(2);
  });

  it('opens the session that a dead process did not open', async () => {
    const dying = harness.process();
    harness.verifications.steps.set = () => {
      throw new ProcessDied();
    };
    await expect(dying.register('body', { sessionId: 'first' })).rejects.toBeInstanceOf(ProcessDied);
    Reflect.deleteProperty(harness.verifications.steps, 'set');
    await expect(harness.process().register('other')).rejects.toMatchObject({ code: 'screening.attempt_in_progress' });
    expect((await harness.process().register('body')).json).toBe('{"registration":"first"}');
    expect(await harness.events()).toEqual(['PartyRegistered']);
  });

  it('with the same session id counts as the same registration', async () => {
    await harness.process().register('body', { sessionId: 'named' });
    harness.later(1_000);
    expect((await harness.process().register('body', { sessionId: 'named' })).json).toBe('{"registration":"named"}');
    expect(harness.verifications.registrations).toBe(1);
  });
});

describe('registering again', () => {
  it('is refused in live while the party is confirmed, and is possible afterwards', async () => {
    await harness.process().register('body', { context: LIVE });
    for (const body of ['body', 'other'])
      await expect(harness.process().register(body, { context: LIVE })).rejects.toMatchObject({
        code: 'party.already_confirmed',
      });
    harness.later(YEAR);
    await harness.process().register('body', { context: LIVE });
    expect(harness.verifications.registrations).toBe(2);
  });

  it('is refused in live when an answer has just confirmed the party, and the party stays confirmed', async () => {
    const { verifications } = harness;
    verifications.ends = { end: 'answered', status: 'STEP_UP_REQUIRED' };
    await harness.process().register('body', { context: LIVE, sessionId: 'first' });
    harness.later(5);
    const verifiedAt = harness.now.toISOString();
    verifications.goesOn('first', { status: 'VERIFIED', verifiedAt }, { step: 'answers', reply: said({}) });
    harness.later(1);
    await expect(harness.process().register('body', { context: LIVE })).rejects.toMatchObject({
      code: 'party.already_confirmed',
    });
    expect(verifications.registrations).toBe(1);
    expect(await harness.process().facts(AGENT, LIVE)).toMatchObject({ sessionIds: ['first'], authenticated: true });
  });

  it("is possible when the renter's report has expired, and not before", async () => {
    const named = { kind: 'renter', id: 'renter-1' } as const;
    harness.verifications.userType = 'CONSUMER';
    const register = () => harness.process().register('body', { named, context: LIVE });
    await harness.process().register('body', { named, context: LIVE, sessionId: 'first' });
    harness.reportExpiries.set('first', new Date(harness.now.getTime() + 30 * 86_400_000).toISOString());
    harness.later(30 * 86_400 - 1);
    await expect(register()).rejects.toMatchObject({ code: 'party.already_confirmed' });
    harness.later(1);
    await register();
    expect(harness.verifications.registrations).toBe(2);
    await expect(register()).rejects.toMatchObject({ code: 'party.already_confirmed' });
  });

  it('is possible when the bureau cannot be asked about the renter', async () => {
    const named = { kind: 'renter', id: 'renter-1' } as const;
    harness.verifications.userType = 'CONSUMER';
    const register = () => harness.process().register('body', { named, context: LIVE });
    await harness.process().register('body', { named, context: LIVE, sessionId: 'first' });
    await expect(register()).rejects.toMatchObject({ code: 'party.already_confirmed' });
    harness.unreachable.add('first');
    await register();
    expect(harness.verifications.registrations).toBe(2);
  });

  it('is possible when the person was erased, because the confirmation ends with the erasure', async () => {
    await harness.process().register('body', { context: LIVE, sessionId: 'first' });
    harness.erased.add('subject-of-first');
    expect((await harness.process().facts(AGENT, LIVE))?.authenticated).toBe(false);
    await harness.process().register('body', { context: LIVE });
    expect((await harness.process().facts(AGENT, LIVE))?.authenticated).toBe(true);
    expect(harness.verifications.registrations).toBe(2);
  });

  it('is refused in test only when the vendor demands it', async () => {
    await harness.process().register('one');
    await harness.process().register('two');
    harness.verifications.ends = { end: 'answered', status: 'VERIFIED', guard: true };
    await harness.process().register('three');
    await expect(harness.process().register('four')).rejects.toMatchObject({ code: 'party.already_confirmed' });
    await harness.process().look('expiry');
    await harness.process().register('four');
    expect(harness.verifications.registrations).toBe(4);
  });

  it('is refused with the end of the block while wrong answers block the session, and is possible afterwards', async () => {
    harness.verifications.ends = { end: 'answered', status: 'STEP_UP_REQUIRED' };
    await harness.process().register('body', { sessionId: 'blocked' });
    const step = harness.verifications.steps.get('blocked')!;
    const until = new Date(harness.now.getTime() + 86_400_000).toISOString();
    const reply = said({ userAuthenticated: false }, 423);
    harness.verifications.steps.set('blocked', {
      session: { ...step.session, status: 'BLOCKED', block: { reasonCode: 'TOO_MANY_ATTEMPTS', until } },
      end: 'answered',
      reply,
      decision: null,
      reviewed: false,
      step: 'answers',
    });
    for (const act of [
      () => harness.process().register(),
      () => harness.process().register('other'),
      () => harness.process().answerRegistration(),
      () => harness.process().answerRegistration({ method: 'resend' }),
      () => harness.process().authenticate(),
      () => harness.process().look('status'),
    ])
      await expect(act()).rejects.toMatchObject({ code: 'party.locked', detail: { blockedUntil: until } });
    expect((await harness.process().facts())?.lockedUntil).toBe(until);
    harness.later(86_400);
    await harness.process().register();
    expect(harness.verifications.registrations).toBe(2);
  });
});

describe('an answer to the challenge of a registration', () => {
  it("is refused with the vendor's number when the vendor gives one for a wrong answer", async () => {
    await harness.process().register('body', { sessionId: 'one' });
    const step = harness.verifications.steps.get('one')!;
    const session = { ...step.session, status: 'OTP_PENDING' as const };
    const reply = { ...said({ error: { code: 3008 } }, 401), code: 3008 };
    harness.verifications.steps.set('one', {
      session,
      end: 'answered',
      reply,
      decision: null,
      reviewed: false,
      step: 'answers',
    });
    await expect(harness.process().answerRegistration()).rejects.toMatchObject({
      code: 'vendor.refused',
      detail: { vendor: { reply, step: 'answers' } },
    });
  });

  it('is refused for an unknown party and for a party without a session', async () => {
    await expect(harness.process().answerRegistration()).rejects.toMatchObject({ code: 'party.recipient_unknown' });
    await harness.process().storeToken(AGENT, 'token');
    await expect(harness.process().answerRegistration()).rejects.toMatchObject({ code: 'party.no_challenge' });
  });

  it.each([
    ['wrong while the session is open', { end: 'answered', status: 'OTP_PENDING' }, null],
    ['refused by the vendor', { end: 'answered', status: 'BLOCKED' }, 'vendor.refused'],
    ['over at the vendor', { end: 'answered', status: 'EXPIRED' }, 'vendor.refused'],
    ['not put to the vendor', { end: 'not-asked', status: 'VERIFIED' }, 'party.no_challenge'],
    ['still with the vendor', { end: 'timed-out', status: 'OTP_PENDING' }, 'service.upstream_timeout'],
    ['unavailable at the vendor', { end: 'unavailable', status: 'OTP_PENDING' }, 'vendor.unreachable'],
    ['unintelligible', { end: 'unintelligible', status: 'ERROR' }, 'vendor.unreachable'],
  ] as const)('is %s', async (_what, { end, status }, code) => {
    await harness.process().register('body', { sessionId: 'one' });
    const step = harness.verifications.steps.get('one')!;
    const reply = end === 'answered' ? said({ a: 1 }, 422) : null;
    const session = { ...step.session, status };
    harness.verifications.steps.set('one', { session, end, reply, decision: null, reviewed: false, step: 'answers' });
    const answer = harness.process().answerRegistration();
    if (code === null) expect(await answer).toMatchObject({ accepted: false, json: '{"a":1}' });
    else
      await expect(answer).rejects.toMatchObject({
        code,
        detail: code === 'vendor.refused' ? { vendor: { reply, step: 'answers', subject: 'subject-of-one' } } : {},
      });
  });
});

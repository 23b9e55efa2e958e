// Re-authentication of a party on a real log. The test can delay the vendor's answers and kill processes.
import 'reflect-metadata';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { ExternalCall } from '../../../src/external-calls/external-call.js';
import { foldState } from '../../../src/kernel/projection.js';
import { partyCalls } from '../../../src/modules/parties/read/party-calls.js';
import type { PastOutcome } from '../../../src/ports/identity-vendor.js';
import type { PartyAnswer } from '../../../src/modules/parties/application/party-answer.js';
import { directReply, refusedWith, type DirectReply } from '../../support/direct-reply.js';
import { AGENT, Harness, LIVE, ProcessDied, RIGHT, said } from './harness.js';

const WRONG = '000000';
const ORGANIZATION = { kind: 'organization', id: 'org-1' } as const;

let directory: string;
let harness: Harness;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parties-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));
beforeEach(async () => {
  harness = new Harness(directory);
  await harness.process().register('body', { sessionId: 'session' });
});
afterEach(() => harness.store.close());

const keptEntries = (): string[] =>
  [...harness.kept.keys()].map((key) => key.replace(/^(\S+) party\/[^/]+\/(\w+).*/, '$1 $2'));

describe('a challenge', () => {
  it("is requested from the vendor with the person's token, and returns the vendor's reply", async () => {
    expect(await harness.process().authenticate()).toEqual({
      json: '{"otpEnabled":true}',
      accepted: true,
      subjectId: 'subject-of-session',
    });
    expect(harness.vendorHeard).toEqual([{ token: 'token-of-session', device: { jscPayload: 'fp' } }]);
    expect(await harness.process().answer(RIGHT)).toMatchObject({ json: '{"userAuthenticated":true}', accepted: true });
    expect((await harness.process().facts())?.authenticated).toBe(true);
  });

  it('is answered by positions, one for each question in order', async () => {
    await harness.process().authenticate();
    expect(await harness.process().answerKba([1])).toMatchObject({ accepted: false });
    expect(await harness.process().answerKba([2])).toMatchObject({ accepted: true });
    expect(harness.vendorHeard.at(-1)).toMatchObject({ answers: [{ questionId: 9, answerId: 2 }] });
  });

  it("stores the vendor's next token before the log has the right answer", async () => {
    for (const [named, first] of [
      [AGENT, 'token-of-session'],
      [ORGANIZATION, 'stored'],
    ] as const) {
      if (named === ORGANIZATION) await harness.process().storeToken(named, first);
      await harness.process().authenticate(named);
      harness.vendorSays = { kind: 'confirmed', personToken: 'renewed', reply: said({ UserToken: 'renewed' }) };
      const dying = harness.process((types) => types.includes('PartyReauthenticated'));
      await expect(dying.answer(RIGHT, { named })).rejects.toBeInstanceOf(ProcessDied);
      harness.vendorSays = null;
      harness.later(23);
      await harness.process().settle(named);
      await harness.process().authenticate(named);
      expect(harness.vendorHeard.at(-1)).toMatchObject({ token: 'renewed' });
    }
    await harness.process().storeToken(ORGANIZATION, 'second');
    harness.vendorSays = { kind: 'confirmed', personToken: 'of the first', reply: said({}) };
    await harness.process().answer(RIGHT, { named: ORGANIZATION });
    harness.vendorSays = null;
    await harness.process().authenticate(ORGANIZATION);
    expect(harness.vendorHeard.at(-1)).toMatchObject({ token: 'second' });
  });

  it('is required before an answer, and a token is required before a challenge', async () => {
    await expect(harness.process().answer(RIGHT)).rejects.toMatchObject({ code: 'party.no_challenge' });
    await expect(harness.process().resend()).rejects.toMatchObject({ code: 'party.no_challenge' });
    harness.verifications.ends = { end: 'answered', status: 'STEP_UP_REQUIRED' };
    const named = { kind: 'agent', id: 'other' } as const;
    await harness.process().register('body', { named });
    for (const act of [
      () => harness.process().authenticate(named),
      () => harness.process().look('status', named),
      () => harness.process().look('expiry', named),
      () => harness.process().resend(named),
    ])
      await expect(act()).rejects.toMatchObject({ code: 'party.token_missing' });
    await expect(harness.process().answer(RIGHT, { named })).rejects.toMatchObject({ code: 'party.no_challenge' });
  });

  it("leaves no code, token or vendor session in the log, and only the vendor's replies in the vault", async () => {
    await harness.process().authenticate();
    expect(keptEntries()).toEqual(['subject-of-session reply', 'subject-of-session challenge']);
    await harness.process().answer(RIGHT);
    expect(keptEntries()).toEqual(['subject-of-session reply', 'subject-of-session reply']);
    const log = JSON.stringify(await harness.store.readAll(null, 100));
    for (const secret of [RIGHT, 'token-of-session', 'vs-', 'Which?', 'agent-7']) expect(log).not.toContain(secret);
  });

  it("keeps the vendor's replies for an hour, and can be answered after that time while it is open", async () => {
    await harness.process().authenticate();
    harness.later(1_800);
    await harness.process().answer(WRONG);
    const started = (await harness.events()).length;
    harness.later(1_822);
    await harness.process().discardReplies();
    await harness.process().discardReplies();
    expect(keptEntries()).toEqual(['subject-of-session challenge', 'subject-of-session reply']);
    expect((await harness.events()).slice(started)).toEqual(['PartyRepliesDiscarded']);
    await expect(harness.process().answer(RIGHT)).resolves.toMatchObject({ accepted: true });
    harness.later(3_622);
    await harness.process().discardReplies();
    expect(keptEntries()).toEqual([]);
  });

  it('is on the list of replies to remove, under the time of its oldest reply, until its replies are removed', async () => {
    await harness.process().authenticate();
    const listed = async (): Promise<unknown> => {
      const events = (await harness.store.readAll(null, 100)).filter(({ stream }) => stream.startsWith('party-'));
      const followed = foldState(partyCalls, events);
      return followed && partyCalls.entries?.(followed);
    };
    const oldest = await listed();
    expect(oldest).toEqual([{ list: 'partyReplies=held', sort: expect.any(String) }]);
    harness.later(30);
    await harness.process().answer(WRONG);
    expect(await listed()).toEqual(oldest);
    harness.later(7_200);
    await harness.process().discardReplies();
    expect(await listed()).toEqual([]);
  });

  it('returns the reply to each answer, even when another call stores its own reply before the first is read', async () => {
    await harness.process().authenticate();
    const first = harness.process();
    const { make } = first.calls;
    first.calls.make = async (call, attempt, input) => {
      const made = await make.bind(first.calls)(call, attempt, input);
      await harness.process().answer(RIGHT);
      return made;
    };
    expect(await first.answer(WRONG)).toMatchObject({ accepted: false, json: '{"userAuthenticated":false}' });
  });

  it('cannot be answered or begun when the person has been erased', async () => {
    await harness.process().authenticate();
    harness.erased.add('subject-of-session');
    await expect(harness.process().answer(RIGHT)).rejects.toMatchObject({ code: 'party.no_challenge' });
    expect((await harness.process().facts())?.authenticated).toBe(false);
    expect((await harness.events()).at(-1)).toBe('ReauthenticationEnded');
  });
});

describe('a registration', () => {
  it("ends the challenge, so an answer to the challenge's question confirms no person", async () => {
    await harness.process().authenticate();
    harness.verifications.ends = { end: 'answered', status: 'BLOCKED' };
    await expect(harness.process().register('another person')).rejects.toMatchObject({ code: 'vendor.refused' });
    expect(keptEntries()).toEqual(['subject-of-session reply']);
    await expect(harness.process().answer(RIGHT)).rejects.toMatchObject({ code: 'party.no_challenge' });
    expect((await harness.process().facts())?.authenticated).toBe(false);
  });

  it('waits until the vendor has judged an open answer, and a wrong answer is counted', async () => {
    await harness.process().authenticate();
    let release = (): void => undefined;
    harness.vendorIsBusy = new Promise((resolve) => (release = resolve));
    const answer = harness.process().answer(WRONG);
    while (harness.vendorHeard.length < 2) await new Promise(setImmediate);
    await expect(harness.process().register('another person')).rejects.toMatchObject({
      code: 'screening.attempt_in_progress',
    });
    release();
    expect(await answer).toMatchObject({ accepted: false });
    await harness.process().register('another person');
    expect((await harness.events()).filter((type) => type === 'ReauthenticationRejected')).toHaveLength(1);
  });
});

describe('the authentication of a person who is erased', () => {
  it('ends, even if it was made with another token of the same person', async () => {
    await harness.process().authenticate();
    await harness.process().answer(RIGHT);
    await harness.process().storeToken(ORGANIZATION, 'token');
    await harness.process().authenticate(ORGANIZATION);
    await harness.process().answer(RIGHT, { named: ORGANIZATION });
    for (const named of [AGENT, ORGANIZATION]) expect((await harness.process().facts(named))?.authenticated).toBe(true);
    for (const one of [...harness.kept.keys()]) harness.erased.add(one.split(' ')[0]!);
    for (const named of [AGENT, ORGANIZATION])
      expect((await harness.process().facts(named))?.authenticated).toBe(false);
  });
});

describe('wrong answers', () => {
  it('lock the agent at the third, and every later call is refused with the time until the lock ends', async () => {
    await harness.process().authenticate();
    for (let number = 0; number < 2; number++)
      expect(await harness.process().answer(WRONG)).toMatchObject({
        accepted: false,
        json: '{"userAuthenticated":false}',
      });
    const until = new Date(harness.now.getTime() + 86_400_000).toISOString();
    await expect(harness.process().answer(WRONG)).rejects.toMatchObject({
      code: 'party.locked',
      detail: { blockedUntil: until, vendor: { reply: said({ userAuthenticated: false }, 422) } },
    });
    const heard = harness.vendorHeard.length;
    for (const act of [
      () => harness.process().answer(RIGHT),
      () => harness.process().answerKba([2]),
      () => harness.process().resend(),
      () => harness.process().authenticate(),
      () => harness.process().look('status'),
      () => harness.process().look('expiry'),
      () => harness.process().register('other'),
      () => harness.process().storeToken(AGENT, 'another'),
    ])
      await expect(act()).rejects.toMatchObject({ code: 'party.locked', detail: { blockedUntil: until } });
    expect(await harness.events()).not.toContain('VendorTokenStored');
    expect(harness.vendorHeard).toHaveLength(heard);
    harness.later(86_400);
    await harness.process().authenticate();
    expect(await harness.process().answer(RIGHT)).toMatchObject({ accepted: true });
  });

  it('reach the vendor at most three times over any number of processes and challenges', async () => {
    const processes = [harness.process(), harness.process(), harness.process()];
    const answersHeard = (): number =>
      harness.vendorHeard.filter((heard) => Object.hasOwn(heard as object, 'code')).length;
    for (let round = 0; round < 6; round++) {
      await harness
        .process()
        .authenticate()
        .catch(() => undefined);
      await Promise.allSettled(processes.flatMap((process) => [process.answer(WRONG), process.answer(WRONG)]));
    }
    expect(answersHeard()).toBe(3);
    expect((await harness.events()).filter((type) => type === 'ReauthenticationRejected')).toHaveLength(3);
    expect((await harness.events()).filter((type) => type === 'PartyLocked')).toHaveLength(1);
  });

  it('are counted for the person, over all agents of this person', async () => {
    const others = [2, 3].map((number) => ({ kind: 'agent', id: `agent-${number}` }) as const);
    for (const [index, named] of others.entries())
      await harness.process().register('body', { named, sessionId: `session-${index}` });
    for (const sessionId of ['session', 'session-0', 'session-1']) harness.personOf.set(sessionId, 'Ada');
    const [other, third] = others;
    for (const named of [AGENT, other, third]) await harness.process().authenticate(named);
    for (const named of [AGENT, other]) await harness.process().answer(WRONG, { named });
    const until = new Date(harness.now.getTime() + 86_400_000).toISOString();
    const locked = { code: 'party.locked', detail: { blockedUntil: until } };
    await expect(harness.process().answer(WRONG, { named: third })).rejects.toMatchObject(locked);
    const heard = harness.vendorHeard.length;
    for (const named of [AGENT, other, third])
      for (const act of [
        () => harness.process().answer(RIGHT, { named }),
        () => harness.process().authenticate(named),
        () => harness.process().resend(named),
      ])
        await expect(act()).rejects.toMatchObject(locked);
    expect(harness.vendorHeard).toHaveLength(heard);
    harness.later(86_400);
    await harness.process().authenticate(other);
    expect(await harness.process().answer(RIGHT, { named: other })).toMatchObject({ accepted: true });
  });

  it('are counted for the person of a token, over all organizations that store the token, even when one replaces its token', async () => {
    const named = (number: number) => ({ kind: 'organization', id: `org-${number}` }) as const;
    for (const number of [1, 2, 3, 4]) await harness.process().storeToken(named(number), 'token-of-session');
    for (const number of [1, 2, 3]) await harness.process().authenticate(named(number));
    await harness.process().answer(WRONG, { named: named(1) });
    await harness.process().storeToken(named(2), 'another');
    await harness.process().answer(WRONG, { named: named(2) });
    await expect(harness.process().answer(WRONG, { named: named(3) })).rejects.toMatchObject({ code: 'party.locked' });
    // The session of AGENT has this token, so AGENT is the same person.
    for (const party of [named(1), named(4), AGENT])
      await expect(harness.process().authenticate(party)).rejects.toMatchObject({ code: 'party.locked' });
    harness.later(30);
    await harness.process().authenticate(named(2));
    const log = await harness.store.readAll(null, 200);
    expect(JSON.stringify(log)).not.toContain('token-of-session');
  });

  it('of one person reach the vendor at most three times when many agents answer at once', async () => {
    const agents = [1, 2, 3, 4, 5, 6].map((number) => ({ kind: 'agent', id: `many-${number}` }) as const);
    for (const { id } of agents) harness.personOf.set(id, 'Ada');
    for (const named of agents) await harness.process().register('body', { named, sessionId: named.id });
    for (const named of agents) await harness.process().authenticate(named);
    const answersHeard = (): number =>
      harness.vendorHeard.filter((heard) => Object.hasOwn(heard as object, 'code')).length;
    for (let round = 0; round < 3; round++)
      await Promise.allSettled(agents.map((named) => harness.process().answer(WRONG, { named })));
    expect(answersHeard()).toBe(3);
  });

  it('make other requests refused with the time to wait while the vendor judges an answer', async () => {
    await harness.process().authenticate();
    let release = (): void => undefined;
    harness.vendorIsBusy = new Promise((resolve) => (release = resolve));
    const first = harness.process().answer(WRONG);
    while (harness.vendorHeard.length < 2) await new Promise(setImmediate);
    const later = { code: 'screening.attempt_in_progress', detail: { retryAfterSeconds: 1 } };
    await expect(harness.process().answer(RIGHT)).rejects.toMatchObject(later);
    await expect(harness.process().authenticate()).rejects.toMatchObject(later);
    release();
    expect(await first).toMatchObject({ accepted: false });
    expect(harness.vendorHeard).toHaveLength(2);
  });

  it('are judged once when they are sent again under the same attempt id', async () => {
    await harness.process().authenticate();
    const attemptId = 'named';
    expect(await harness.process().answer(WRONG, { attemptId })).toEqual(
      await harness.process().answer(WRONG, { attemptId }),
    );
    expect(harness.vendorHeard).toHaveLength(2);
  });
});

describe('codes', () => {
  it('are sent at most six times an hour to one phone over all agents with this phone, and only sent codes count', async () => {
    const other = { kind: 'agent', id: 'other' } as const;
    await harness.process().register('body', { named: other, sessionId: 'of-other' });
    for (const sessionId of ['session', 'of-other']) harness.personOf.set(sessionId, 'Ada');
    harness.vendorSays = { kind: 'unavailable' };
    for (let number = 0; number < 7; number++)
      await expect(harness.process().authenticate()).rejects.toMatchObject({ code: 'vendor.unreachable' });
    harness.vendorSays = null;
    for (let number = 0; number < 3; number++) {
      await harness.process().authenticate();
      await harness.process().authenticate(other);
      harness.later(30);
    }
    await expect(harness.process().authenticate(other)).rejects.toMatchObject({ code: 'request.rate_limited' });
    await expect(harness.process().resend()).rejects.toMatchObject({ code: 'request.rate_limited' });
    expect(await harness.process().answer(RIGHT)).toMatchObject({ accepted: true });
  });

  it('do not count when the vendor proves to be unavailable after the caller was answered', async () => {
    for (let number = 0; number < 7; number++) {
      const slow = harness.process();
      const { make } = slow.calls;
      let record: () => Promise<unknown> = async () => undefined;
      slow.calls.make = (async (...call) => {
        record = () => make.apply(slow.calls, call);
        return null;
      }) as typeof make;
      await expect(slow.authenticate()).rejects.toMatchObject({ code: 'service.upstream_timeout' });
      harness.vendorSays = { kind: 'unavailable' };
      await record();
    }
  });

  it('do not count when the recovery job learns that the vendor never received the call', async () => {
    for (let number = 0; number < 7; number++) {
      const slow = harness.process();
      slow.calls.make = async () => null;
      await expect(slow.authenticate()).rejects.toMatchObject({ code: 'service.upstream_timeout' });
      harness.later(23);
      await harness.process().settle();
      await harness.process().settle();
    }
    for (let number = 0; number < 6; number++) await harness.process().authenticate();
    await expect(harness.process().authenticate()).rejects.toMatchObject({ code: 'request.rate_limited' });
  });

  it('are sent at most six times an hour to the person of a stored token, over all organizations that store it', async () => {
    const named = (number: number) => ({ kind: 'organization', id: `org-${number}` }) as const;
    for (const number of [0, 1, 2, 3, 4, 5, 6]) await harness.process().storeToken(named(number), 'stored');
    for (const number of [0, 1, 2, 3, 4, 5]) await harness.process().authenticate(named(number));
    await expect(harness.process().authenticate(named(6))).rejects.toMatchObject({ code: 'request.rate_limited' });
  });

  it('are not sent again before the interval has passed', async () => {
    await harness.process().authenticate();
    await expect(harness.process().resend()).rejects.toMatchObject({
      code: 'screening.resend_too_early',
      detail: { retryAfterSeconds: 30 },
    });
  });
});

describe('a process that dies', () => {
  it.each([
    ['before it asks the vendor', 'ReauthenticationAnswerReceived', false],
    ['before it records the verdict', 'ReauthenticationRejected', true],
  ])('%s leaves an answer that counts only if the vendor judged it', async (_when, type, judged) => {
    await harness.process().authenticate();
    await expect(harness.process((types) => types.includes(type)).answer(WRONG)).rejects.toBeInstanceOf(ProcessDied);
    harness.later(23);
    await harness.process().settle();
    expect((await harness.events()).includes('ReauthenticationRejected')).toBe(judged);
    for (let left = judged ? 1 : 2; left > 0; left--)
      expect(await harness.process().answer(WRONG)).toMatchObject({ accepted: false });
    await expect(harness.process().answer(WRONG)).rejects.toMatchObject({ code: 'party.locked' });
  });

  it('between the request and the challenge leaves a challenge that the recovery job finds', async () => {
    const dying = harness.process((types) => types.includes('ReauthenticationChallenged'));
    await expect(dying.authenticate()).rejects.toBeInstanceOf(ProcessDied);
    await expect(harness.process().answer(RIGHT)).rejects.toMatchObject({ code: 'screening.attempt_in_progress' });
    harness.later(23);
    await harness.process().settle();
    expect(await harness.process().answer(RIGHT)).toMatchObject({ accepted: true });
  });

  it.each<[string, PastOutcome]>([
    ['a registration', { kind: 'registration', verdict: { kind: 'unavailable' } }],
    ['another code', { kind: 'resend', verdict: { kind: 'sent' } }],
    [
      'a challenge',
      { kind: 'reauthentication', verdict: { kind: 'step-up', vendorSession: 'vs', otp: true, kba: null } },
    ],
  ])(
    'leaves an answer that the vendor reports as %s, and the challenge ends when the settling time has passed',
    async (what, outcome) => {
      await harness.process().authenticate();
      const dying = harness.process((types) => types.includes('ReauthenticationRejected'));
      await expect(dying.answer(WRONG)).rejects.toBeInstanceOf(ProcessDied);
      for (const attemptId of harness.vendorAnswers.keys()) harness.vendorAnswers.set(attemptId, outcome);
      harness.later(5);
      await harness.process().settle();
      await expect(harness.process().register('other')).rejects.toMatchObject({
        code: 'screening.attempt_in_progress',
      });
      harness.later(78);
      await harness.process().settle();
      expect((await harness.events()).at(-1)).toBe('ReauthenticationEnded');
      await harness.process().register(`after ${what}`);
    },
  );

  it('leaves a challenge that the vendor reports as a registration; it ends when the settling time has passed', async () => {
    const dying = harness.process((types) => types.includes('ReauthenticationChallenged'));
    await expect(dying.authenticate()).rejects.toBeInstanceOf(ProcessDied);
    const outcome = { kind: 'registration', verdict: { kind: 'unavailable' } } as const;
    for (const attemptId of harness.vendorAnswers.keys()) harness.vendorAnswers.set(attemptId, outcome);
    harness.later(83);
    await harness.process().settle();
    expect((await harness.events()).at(-1)).toBe('ReauthenticationEnded');
  });

  it('before it opens the session of a registration leaves no challenge of the party in the vault', async () => {
    await harness.process().authenticate();
    const before = keptEntries().filter((entry) => entry.endsWith(' challenge'));
    expect(before).toHaveLength(1);
    harness.verifications.steps.set = () => {
      throw new ProcessDied();
    };
    await expect(harness.process().register('other')).rejects.toBeInstanceOf(ProcessDied);
    expect(keptEntries().filter((entry) => entry.endsWith(' challenge'))).toEqual([]);
  });

  it('after it queued a job without a kind, as earlier releases did, leaves the challenge to the recovery job', async () => {
    const mixed = harness.process();
    const make = mixed.calls.make.bind(mixed.calls);
    mixed.calls.make = (call, attempt) => {
      // Workers of earlier releases would run a job with one of these names.
      expect(['reauthenticate', 'verifyOtp', 'verifyKba', 'resendOtp']).not.toContain(call.operation);
      return make(call as ExternalCall<unknown, never>, attempt, { jscPayload: 'fp' });
    };
    await expect(mixed.authenticate()).rejects.toThrow('unknown kind');
    expect(harness.vendorHeard).toEqual([]);
    expect((await harness.events()).at(-1)).toBe('ReauthenticationRequested');
    harness.later(23);
    await harness.process().settle();
    expect((await harness.events()).at(-1)).toBe('ReauthenticationAbandoned');
  });

  it('before the vendor receives the call leaves nothing open', async () => {
    const dying = harness.process();
    dying.calls.make = async () => {
      throw new ProcessDied();
    };
    await expect(dying.authenticate()).rejects.toBeInstanceOf(ProcessDied);
    harness.later(23);
    await harness.process().settle();
    expect((await harness.events()).at(-1)).toBe('ReauthenticationAbandoned');
    await harness.process().authenticate();
  });
});

describe('a vendor with an outage or fault', () => {
  it.each([
    ['does not answer', { kind: 'timed-out' }, 'service.upstream_timeout'],
    ['is unavailable', { kind: 'unavailable' }, 'vendor.unreachable'],
    ['gives an unintelligible answer', { kind: 'unintelligible' }, 'vendor.unreachable'],
    ['gives an unintelligible answer in JSON', { kind: 'unintelligible', reply: said({}) }, 'vendor.unreachable'],
    ['names its outage', { kind: 'unavailable', reply: said({}, 503, 258) }, 'vendor.refused'],
    ['refuses the person', { kind: 'refused', reason: 'FRAUD_REPORTED', reply: said({}, 422, 18) }, 'vendor.refused'],
    ['refuses for another reason', { kind: 'refused-otherwise', reply: said({}, 400) }, 'vendor.refused'],
  ])('that %s is an error at the challenge', async (_what, says, code) => {
    harness.vendorSays = says;
    await expect(harness.process().authenticate()).rejects.toMatchObject({ code });
  });

  it.each([
    ['does not answer', { kind: 'timed-out' }, 'service.upstream_timeout'],
    ['is unavailable', { kind: 'unavailable' }, 'vendor.unreachable'],
    ['gives an unintelligible answer', { kind: 'unintelligible' }, 'vendor.unreachable'],
    ['refuses', { kind: 'refused-otherwise', reply: said({}, 400) }, 'vendor.refused'],
  ])('that %s is an error at status and expiry', async (_what, says, code) => {
    harness.vendorSays = says;
    await expect(harness.process().look('status')).rejects.toMatchObject({ code });
    expect((await harness.process().facts())?.authenticated).toBe(true);
    await expect(harness.process().look('expiry')).rejects.toMatchObject({ code });
    expect((await harness.process().facts())?.authenticated).toBe(false);
  });

  it.each(['status', 'expiry'] as const)(
    'that did not receive the %s causes an error, even if it answered an earlier request',
    async (asked) => {
      await harness.process().look(asked);
      const unheard = harness.process();
      unheard.calls.make = async (call, attempt) => call.recordNotAsked(attempt);
      await expect(unheard.look(asked)).rejects.toMatchObject({ code: 'vendor.unreachable' });
      harness.vendorSays = { kind: 'unavailable', reply: said({}, 503, 258) };
      await expect(harness.process().look(asked)).rejects.toMatchObject({ code: 'vendor.refused' });
      await expect(unheard.look(asked)).rejects.toMatchObject({ code: 'vendor.unreachable' });
    },
  );

  it('that could not be reached for an answer uses up no attempt', async () => {
    await harness.process().authenticate();
    harness.vendorSays = { kind: 'unavailable' };
    for (let number = 0; number < 4; number++)
      await expect(harness.process().answer(WRONG)).rejects.toMatchObject({ code: 'vendor.unreachable' });
    harness.vendorSays = null;
    expect(await harness.process().answer(RIGHT)).toMatchObject({ accepted: true });
  });
});

describe('the authentication at the vendor', () => {
  it("is queried and ended at the vendor, and the vendor's reply is passed on, even if it is null", async () => {
    expect(await harness.process().look('status')).toMatchObject({ json: '{"authenticated":true}', accepted: true });
    expect(await harness.process().look('expiry')).toMatchObject({ json: 'null', accepted: true });
    expect((await harness.process().facts())?.authenticated).toBe(false);
    await harness.process().look('expiry');
    await harness.process().authenticate();
    await harness.process().answer(RIGHT);
    expect((await harness.process().facts())?.authenticated).toBe(true);
  });

  it('has already ended in the service when a process dies during the vendor call that ends it', async () => {
    const dying = harness.process();
    dying.calls.make = async () => {
      throw new ProcessDied();
    };
    await expect(dying.look('expiry')).rejects.toBeInstanceOf(ProcessDied);
    expect((await harness.process().facts())?.authenticated).toBe(false);
  });

  it("does not end when the account's limit of vendor calls is used up; a process that cannot write to the log releases its call", async () => {
    const full = harness.process();
    full.calls.full = true;
    await expect(full.look('expiry')).rejects.toMatchObject({ code: 'request.rate_limited' });
    expect((await harness.process().facts())?.authenticated).toBe(true);
    const dying = harness.process((types) => types.includes('AuthenticationExpired'));
    await expect(dying.look('expiry')).rejects.toBeInstanceOf(ProcessDied);
    expect(dying.calls.admitted.size).toBe(0);
  });

  it('is refused for an unknown party', async () => {
    for (const act of [
      () => harness.process().look('status', ORGANIZATION),
      () => harness.process().authenticate(ORGANIZATION),
      () => harness.process().authenticate(AGENT, LIVE),
    ])
      await expect(act()).rejects.toMatchObject({ code: 'party.recipient_unknown' });
  });
});

// A decision of a vendor is never told as a failure of the vendor.
describe('the direct API, when its vendor answers in another form,', () => {
  const ASKED = [{ id: 9, text: 'Which?', answers: [1, 2].map((id) => ({ id, text: `Answer ${id}` })) }];
  const CHALLENGE = {
    success: true,
    userAuthenticated: false,
    authSession: expect.any(String),
    otpEnabled: true,
    kiqEnabled: true,
    clientReferenceId: expect.any(String),
    kba: { sessionId: expect.any(String), questions: ASKED },
    crossCoreFullResponse: null,
  };
  const OPEN = { kind: 'step-up', vendorSession: 'secret', otp: true, kba: ASKED };
  const payload = (more: object): object => ({ status: 200, payload: more, errors: [] });
  const FAILURES = [
    [{ kind: 'refused', reason: 'FRAUD_REPORTED' }, 422, 2018],
    [{ kind: 'refused', reason: 'DECEASED' }, 422, 3901],
    [{ kind: 'session-over' }, 504, 3009],
    [{ kind: 'locked', unblockAt: null }, 423, 300],
    [{ kind: 'unavailable' }, 502, 131],
    [{ kind: 'unintelligible' }, 502, 131],
    [{ kind: 'timed-out' }, 504, 131],
  ] as const;

  beforeEach(() => {
    harness.speaks = false;
  });
  const told = (answer: Promise<PartyAnswer>, says: object): Promise<DirectReply> => {
    harness.vendorSays = says;
    return directReply(answer);
  };

  it('tells the challenge, the wrong answers and the right answer', async () => {
    const { authenticate, answer, resend } = harness.process();
    const begun = await told(authenticate(), OPEN);
    expect(begun).toEqual(payload(CHALLENGE));
    expect(JSON.stringify(begun)).not.toContain('secret');
    for (const attemptsRemaining of [2, 1]) {
      const wrong = await told(answer(WRONG), { kind: 'wrong', attemptsRemaining: null });
      expect(wrong).toEqual({ ...payload({ ...CHALLENGE, success: false, attemptsRemaining }), status: 422 });
    }
    harness.later(31);
    expect(await told(resend(), { kind: 'sent' })).toEqual(payload(CHALLENGE));
    const right = await told(answer(RIGHT), { kind: 'confirmed', personToken: 'secret' });
    expect(right).toEqual(
      payload({
        ...CHALLENGE,
        userAuthenticated: true,
        UserToken: expect.not.stringContaining('secret'),
        otpEnabled: false,
        kiqEnabled: false,
        kba: null,
      }),
    );
    expect((right.payload as typeof CHALLENGE).authSession).toBe((begun.payload as typeof CHALLENGE).authSession);
  });

  it('locks the party at the third wrong answer', async () => {
    const { authenticate, answer } = harness.process();
    await told(authenticate(), OPEN);
    for (const status of [422, 422, 423])
      expect(await told(answer(WRONG), { kind: 'wrong', attemptsRemaining: null })).toMatchObject({ status });
  });

  it.each([...FAILURES, [{ kind: 'refused-otherwise' }, 400, 121]] as const)(
    'answers a request for a challenge that ends with %j by %i/%i',
    async (says, status, code) => {
      expect(await told(harness.process().authenticate(), says)).toEqual(refusedWith(status, code));
    },
  );

  it.each(FAILURES)('answers a code that ends with %j by %i/%i', async (says, status, code) => {
    const { authenticate, answer } = harness.process();
    await told(authenticate(), OPEN);
    expect(await told(answer(RIGHT), says)).toEqual(refusedWith(status, code));
  });

  it('tells whether the authentication is valid and since when, and that it was ended', async () => {
    const { look } = harness.process();
    const authenticatedAt = harness.now.toISOString();
    const expiresAt = new Date(harness.now.getTime() + 365 * 86_400_000).toISOString();
    expect(await told(look('status'), { kind: 'standing', authenticated: true })).toEqual(
      payload({ authenticated: true, authenticatedAt, expiresAt }),
    );
    expect(await told(look('status'), { kind: 'standing', authenticated: false })).toEqual(
      payload({ authenticated: false, authenticatedAt: null, expiresAt: null }),
    );
    for (const asked of ['status', 'expiry'] as const)
      for (const [kind, status, code] of [
        ['refused-otherwise', 400, 121],
        ['unavailable', 502, 131],
        ['timed-out', 504, 131],
      ] as const)
        expect(await told(look(asked), { kind })).toEqual(refusedWith(status, code));
    expect(await told(harness.process().look('expiry'), { kind: 'expired' })).toMatchObject({ payload: 'EXPIRED' });
  });
});

describe('a stored token', () => {
  it('identifies an organization, which only the right answer to a challenge confirms', async () => {
    await harness.process().storeToken(ORGANIZATION, '  any token ');
    expect(await harness.process().facts(ORGANIZATION)).toMatchObject({ sessionIds: [], authenticated: false });
    await harness.process().authenticate(ORGANIZATION);
    expect(harness.vendorHeard.at(-1)).toMatchObject({ token: '  any token ' });
    await harness.process().answer(RIGHT, { named: ORGANIZATION });
    expect((await harness.process().facts(ORGANIZATION))?.authenticated).toBe(true);
    expect(JSON.stringify(await harness.store.readAll(null, 100))).not.toContain('any token');
  });

  it('is used instead of earlier sessions; a later session has priority', async () => {
    await harness.process().storeToken(AGENT, 'stored');
    await harness.process().authenticate();
    expect(harness.vendorHeard.at(-1)).toMatchObject({ token: 'stored' });
    await harness.process().register('later', { sessionId: 'later' });
    await harness.process().authenticate();
    expect(harness.vendorHeard.at(-1)).toMatchObject({ token: 'token-of-later' });
  });
});

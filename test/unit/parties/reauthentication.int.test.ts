// Re-authentication of a party on a real log. The test can hold up the vendor and kill processes.
import 'reflect-metadata';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { ExternalCall } from '../../../src/external-calls/external-call.js';
import { foldState } from '../../../src/kernel/projection.js';
import { partyCalls } from '../../../src/modules/parties/read/party-calls.js';
import type { PastOutcome } from '../../../src/ports/identity-vendor.js';
import { AGENT, House, LIVE, ProcessDied, RIGHT, said } from './house.js';

const WRONG = '000000';
const ORGANIZATION = { kind: 'organization', id: 'org-1' } as const;

let directory: string;
let house: House;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parties-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));
beforeEach(async () => {
  house = new House(directory);
  await house.process().register('body', { sessionId: 'session' });
});
afterEach(() => house.store.close());

const keptEntries = (): string[] =>
  [...house.kept.keys()].map((key) => key.replace(/^(\S+) party\/[^/]+\/(\w+).*/, '$1 $2'));

describe('a challenge', () => {
  it("asks the vendor with the person's token, and returns the vendor's reply", async () => {
    expect(await house.process().authenticate()).toEqual({
      json: '{"otpEnabled":true}',
      accepted: true,
      subjectId: 'subject-of-session',
    });
    expect(house.vendorHeard).toEqual([{ token: 'token-of-session', device: { jscPayload: 'fp' } }]);
    expect(await house.process().answer(RIGHT)).toMatchObject({ json: '{"userAuthenticated":true}', accepted: true });
    expect((await house.process().facts())?.authenticated).toBe(true);
  });

  it('is answered by positions, one for each question in order', async () => {
    await house.process().authenticate();
    expect(await house.process().answerKba([1])).toMatchObject({ accepted: false });
    expect(await house.process().answerKba([2])).toMatchObject({ accepted: true });
    expect(house.vendorHeard.at(-1)).toMatchObject({ answers: [{ questionId: 9, answerId: 2 }] });
  });

  it('stores the next token that the vendor names before the log has the right answer', async () => {
    for (const [named, first] of [
      [AGENT, 'token-of-session'],
      [ORGANIZATION, 'stored'],
    ] as const) {
      if (named === ORGANIZATION) await house.process().storeToken(named, first);
      await house.process().authenticate(named);
      house.vendorSays = { kind: 'confirmed', personToken: 'renewed', reply: said({ UserToken: 'renewed' }) };
      const dying = house.process((types) => types.includes('PartyReauthenticated'));
      await expect(dying.answer(RIGHT, { named })).rejects.toBeInstanceOf(ProcessDied);
      house.vendorSays = null;
      house.later(23);
      await house.process().settle(named);
      await house.process().authenticate(named);
      expect(house.vendorHeard.at(-1)).toMatchObject({ token: 'renewed' });
    }
    await house.process().storeToken(ORGANIZATION, 'second');
    house.vendorSays = { kind: 'confirmed', personToken: 'of the first', reply: said({}) };
    await house.process().answer(RIGHT, { named: ORGANIZATION });
    house.vendorSays = null;
    await house.process().authenticate(ORGANIZATION);
    expect(house.vendorHeard.at(-1)).toMatchObject({ token: 'second' });
  });

  it('is needed before an answer, and a token before a challenge', async () => {
    await expect(house.process().answer(RIGHT)).rejects.toMatchObject({ code: 'party.no_challenge' });
    await expect(house.process().resend()).rejects.toMatchObject({ code: 'party.no_challenge' });
    house.verifications.ends = { end: 'answered', status: 'STEP_UP_REQUIRED' };
    const named = { kind: 'agent', id: 'other' } as const;
    await house.process().register('body', { named });
    for (const act of [
      () => house.process().authenticate(named),
      () => house.process().look('status', named),
      () => house.process().look('expiry', named),
      () => house.process().resend(named),
    ])
      await expect(act()).rejects.toMatchObject({ code: 'party.token_missing' });
    await expect(house.process().answer(RIGHT, { named })).rejects.toMatchObject({ code: 'party.no_challenge' });
  });

  it("leaves no code, token or vendor session in the log, and only the vendor's replies in the vault", async () => {
    await house.process().authenticate();
    expect(keptEntries()).toEqual(['subject-of-session reply', 'subject-of-session challenge']);
    await house.process().answer(RIGHT);
    expect(keptEntries()).toEqual(['subject-of-session reply', 'subject-of-session reply']);
    const log = JSON.stringify(await house.store.readAll(null, 100));
    for (const secret of [RIGHT, 'token-of-session', 'vs-', 'Which?', 'agent-7']) expect(log).not.toContain(secret);
  });

  it("keeps the vendor's replies for an hour, and can still be answered afterwards while it is open", async () => {
    await house.process().authenticate();
    house.later(1_800);
    await house.process().answer(WRONG);
    const started = (await house.events()).length;
    house.later(1_822);
    await house.process().discardReplies();
    await house.process().discardReplies();
    expect(keptEntries()).toEqual(['subject-of-session challenge', 'subject-of-session reply']);
    expect((await house.events()).slice(started)).toEqual(['PartyRepliesDiscarded']);
    await expect(house.process().answer(RIGHT)).resolves.toMatchObject({ accepted: true });
    house.later(3_622);
    await house.process().discardReplies();
    expect(keptEntries()).toEqual([]);
  });

  it('is on the list of replies to remove until they are removed, with its oldest reply first', async () => {
    await house.process().authenticate();
    const listed = async (): Promise<unknown> => {
      const events = (await house.store.readAll(null, 100)).filter(({ stream }) => stream.startsWith('party-'));
      const followed = foldState(partyCalls, events);
      return followed && partyCalls.entries?.(followed);
    };
    const oldest = await listed();
    expect(oldest).toEqual([{ list: 'partyReplies=held', sort: expect.any(String) }]);
    house.later(30);
    await house.process().answer(WRONG);
    expect(await listed()).toEqual(oldest);
    house.later(7_200);
    await house.process().discardReplies();
    expect(await listed()).toEqual([]);
  });

  it('is answered with its own reply, although another call comes before it is read', async () => {
    await house.process().authenticate();
    const first = house.process();
    const { make } = first.calls;
    first.calls.make = async (call, attempt, input) => {
      const made = await make.bind(first.calls)(call, attempt, input);
      await house.process().answer(RIGHT);
      return made;
    };
    expect(await first.answer(WRONG)).toMatchObject({ accepted: false, json: '{"userAuthenticated":false}' });
  });

  it('cannot be answered or begun once the person was erased', async () => {
    await house.process().authenticate();
    house.erased.add('subject-of-session');
    await expect(house.process().answer(RIGHT)).rejects.toMatchObject({ code: 'party.no_challenge' });
    expect((await house.process().facts())?.authenticated).toBe(false);
    expect((await house.events()).at(-1)).toBe('ReauthenticationEnded');
  });
});

describe('a registration', () => {
  it('ends the challenge, so an answer to its old question confirms no person', async () => {
    await house.process().authenticate();
    house.verifications.ends = { end: 'answered', status: 'BLOCKED' };
    await expect(house.process().register('another person')).rejects.toMatchObject({ code: 'vendor.refused' });
    expect(keptEntries()).toEqual(['subject-of-session reply']);
    await expect(house.process().answer(RIGHT)).rejects.toMatchObject({ code: 'party.no_challenge' });
    expect((await house.process().facts())?.authenticated).toBe(false);
  });

  it('waits for the verdict on an answer, and the answer counts', async () => {
    await house.process().authenticate();
    let release = (): void => undefined;
    house.vendorIsBusy = new Promise((resolve) => (release = resolve));
    const answer = house.process().answer(WRONG);
    while (house.vendorHeard.length < 2) await new Promise(setImmediate);
    await expect(house.process().register('another person')).rejects.toMatchObject({
      code: 'screening.attempt_in_progress',
    });
    release();
    expect(await answer).toMatchObject({ accepted: false });
    await house.process().register('another person');
    expect((await house.events()).filter((type) => type === 'ReauthenticationRejected')).toHaveLength(1);
  });
});

describe('the authentication of a person who is erased', () => {
  it('ends, whichever token it was made with', async () => {
    await house.process().authenticate();
    await house.process().answer(RIGHT);
    await house.process().storeToken(ORGANIZATION, 'token');
    await house.process().authenticate(ORGANIZATION);
    await house.process().answer(RIGHT, { named: ORGANIZATION });
    for (const named of [AGENT, ORGANIZATION]) expect((await house.process().facts(named))?.authenticated).toBe(true);
    for (const one of [...house.kept.keys()]) house.erased.add(one.split(' ')[0]!);
    for (const named of [AGENT, ORGANIZATION]) expect((await house.process().facts(named))?.authenticated).toBe(false);
  });
});

describe('wrong answers', () => {
  it('lock the agent with the third, and every later call is refused with the time until the lock ends', async () => {
    await house.process().authenticate();
    for (let number = 0; number < 2; number++)
      expect(await house.process().answer(WRONG)).toMatchObject({
        accepted: false,
        json: '{"userAuthenticated":false}',
      });
    const until = new Date(house.now.getTime() + 86_400_000).toISOString();
    await expect(house.process().answer(WRONG)).rejects.toMatchObject({
      code: 'party.locked',
      detail: { blockedUntil: until, vendor: { reply: said({ userAuthenticated: false }, 422) } },
    });
    const heard = house.vendorHeard.length;
    for (const act of [
      () => house.process().answer(RIGHT),
      () => house.process().answerKba([2]),
      () => house.process().resend(),
      () => house.process().authenticate(),
      () => house.process().look('status'),
      () => house.process().look('expiry'),
      () => house.process().register('other'),
      () => house.process().storeToken(AGENT, 'another'),
    ])
      await expect(act()).rejects.toMatchObject({ code: 'party.locked', detail: { blockedUntil: until } });
    expect(await house.events()).not.toContain('VendorTokenStored');
    expect(house.vendorHeard).toHaveLength(heard);
    house.later(86_400);
    await house.process().authenticate();
    expect(await house.process().answer(RIGHT)).toMatchObject({ accepted: true });
  });

  it('reach the vendor at most three times over any number of processes and challenges', async () => {
    const processes = [house.process(), house.process(), house.process()];
    const answersHeard = (): number =>
      house.vendorHeard.filter((heard) => Object.hasOwn(heard as object, 'code')).length;
    for (let round = 0; round < 6; round++) {
      await house
        .process()
        .authenticate()
        .catch(() => undefined);
      await Promise.allSettled(processes.flatMap((process) => [process.answer(WRONG), process.answer(WRONG)]));
    }
    expect(answersHeard()).toBe(3);
    expect((await house.events()).filter((type) => type === 'ReauthenticationRejected')).toHaveLength(3);
    expect((await house.events()).filter((type) => type === 'PartyLocked')).toHaveLength(1);
  });

  it('count against the person, through whichever agent they are given', async () => {
    const others = [2, 3].map((number) => ({ kind: 'agent', id: `agent-${number}` }) as const);
    for (const [index, named] of others.entries())
      await house.process().register('body', { named, sessionId: `session-${index}` });
    for (const sessionId of ['session', 'session-0', 'session-1']) house.personOf.set(sessionId, 'Ada');
    const [other, third] = others;
    for (const named of [AGENT, other, third]) await house.process().authenticate(named);
    for (const named of [AGENT, other]) await house.process().answer(WRONG, { named });
    const until = new Date(house.now.getTime() + 86_400_000).toISOString();
    const locked = { code: 'party.locked', detail: { blockedUntil: until } };
    await expect(house.process().answer(WRONG, { named: third })).rejects.toMatchObject(locked);
    const heard = house.vendorHeard.length;
    for (const named of [AGENT, other, third])
      for (const act of [
        () => house.process().answer(RIGHT, { named }),
        () => house.process().authenticate(named),
        () => house.process().resend(named),
      ])
        await expect(act()).rejects.toMatchObject(locked);
    expect(house.vendorHeard).toHaveLength(heard);
    house.later(86_400);
    await house.process().authenticate(other);
    expect(await house.process().answer(RIGHT, { named: other })).toMatchObject({ accepted: true });
  });

  it('count against the person of a token, over all organizations that store it, also when one replaces it in between', async () => {
    const named = (number: number) => ({ kind: 'organization', id: `org-${number}` }) as const;
    for (const number of [1, 2, 3, 4]) await house.process().storeToken(named(number), 'token-of-session');
    for (const number of [1, 2, 3]) await house.process().authenticate(named(number));
    await house.process().answer(WRONG, { named: named(1) });
    await house.process().storeToken(named(2), 'another');
    await house.process().answer(WRONG, { named: named(2) });
    await expect(house.process().answer(WRONG, { named: named(3) })).rejects.toMatchObject({ code: 'party.locked' });
    // The session of this agent has that token, so it is the same person.
    for (const party of [named(1), named(4), AGENT])
      await expect(house.process().authenticate(party)).rejects.toMatchObject({ code: 'party.locked' });
    house.later(30);
    await house.process().authenticate(named(2));
    const log = await house.store.readAll(null, 200);
    expect(JSON.stringify(log)).not.toContain('token-of-session');
  });

  it('of one person reach the vendor at most three times when many agents answer at once', async () => {
    const agents = [1, 2, 3, 4, 5, 6].map((number) => ({ kind: 'agent', id: `many-${number}` }) as const);
    for (const { id } of agents) house.personOf.set(id, 'Ada');
    for (const named of agents) await house.process().register('body', { named, sessionId: named.id });
    for (const named of agents) await house.process().authenticate(named);
    const answersHeard = (): number =>
      house.vendorHeard.filter((heard) => Object.hasOwn(heard as object, 'code')).length;
    for (let round = 0; round < 3; round++)
      await Promise.allSettled(agents.map((named) => house.process().answer(WRONG, { named })));
    expect(answersHeard()).toBe(3);
  });

  it('make another answer wait while the vendor has them', async () => {
    await house.process().authenticate();
    let release = (): void => undefined;
    house.vendorIsBusy = new Promise((resolve) => (release = resolve));
    const first = house.process().answer(WRONG);
    while (house.vendorHeard.length < 2) await new Promise(setImmediate);
    const later = { code: 'screening.attempt_in_progress', detail: { retryAfterSeconds: 1 } };
    await expect(house.process().answer(RIGHT)).rejects.toMatchObject(later);
    await expect(house.process().authenticate()).rejects.toMatchObject(later);
    release();
    expect(await first).toMatchObject({ accepted: false });
    expect(house.vendorHeard).toHaveLength(2);
  });

  it('are judged once when they are sent again under the same attempt id', async () => {
    await house.process().authenticate();
    const attemptId = 'named';
    expect(await house.process().answer(WRONG, { attemptId })).toEqual(
      await house.process().answer(WRONG, { attemptId }),
    );
    expect(house.vendorHeard).toHaveLength(2);
  });
});

describe('codes', () => {
  it('are sent six times an hour to one phone over all its agents, and only codes that were sent count', async () => {
    const other = { kind: 'agent', id: 'other' } as const;
    await house.process().register('body', { named: other, sessionId: 'of-other' });
    for (const sessionId of ['session', 'of-other']) house.personOf.set(sessionId, 'Ada');
    house.vendorSays = { kind: 'unavailable' };
    for (let number = 0; number < 7; number++)
      await expect(house.process().authenticate()).rejects.toMatchObject({ code: 'vendor.unreachable' });
    house.vendorSays = null;
    for (let number = 0; number < 3; number++) {
      await house.process().authenticate();
      await house.process().authenticate(other);
      house.later(30);
    }
    await expect(house.process().authenticate(other)).rejects.toMatchObject({ code: 'request.rate_limited' });
    await expect(house.process().resend()).rejects.toMatchObject({ code: 'request.rate_limited' });
    expect(await house.process().answer(RIGHT)).toMatchObject({ accepted: true });
  });

  it('do not count when the vendor turns out to be unavailable after the caller was answered', async () => {
    for (let number = 0; number < 7; number++) {
      const slow = house.process();
      const { make } = slow.calls;
      let record: () => Promise<unknown> = async () => undefined;
      slow.calls.make = (async (...call) => {
        record = () => make.apply(slow.calls, call);
        return null;
      }) as typeof make;
      await expect(slow.authenticate()).rejects.toMatchObject({ code: 'service.upstream_timeout' });
      house.vendorSays = { kind: 'unavailable' };
      await record();
    }
  });

  it('do not count when it turns out late that the vendor never saw the call', async () => {
    for (let number = 0; number < 7; number++) {
      const slow = house.process();
      slow.calls.make = async () => null;
      await expect(slow.authenticate()).rejects.toMatchObject({ code: 'service.upstream_timeout' });
      house.later(23);
      await house.process().settle();
      await house.process().settle();
    }
    for (let number = 0; number < 6; number++) await house.process().authenticate();
    await expect(house.process().authenticate()).rejects.toMatchObject({ code: 'request.rate_limited' });
  });

  it('are sent six times an hour to the person of a stored token, over all organizations that store it', async () => {
    const named = (number: number) => ({ kind: 'organization', id: `org-${number}` }) as const;
    for (const number of [0, 1, 2, 3, 4, 5, 6]) await house.process().storeToken(named(number), 'stored');
    for (const number of [0, 1, 2, 3, 4, 5]) await house.process().authenticate(named(number));
    await expect(house.process().authenticate(named(6))).rejects.toMatchObject({ code: 'request.rate_limited' });
  });

  it('are not sent again too early', async () => {
    await house.process().authenticate();
    await expect(house.process().resend()).rejects.toMatchObject({
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
    await house.process().authenticate();
    await expect(house.process((types) => types.includes(type)).answer(WRONG)).rejects.toBeInstanceOf(ProcessDied);
    house.later(23);
    await house.process().settle();
    expect((await house.events()).includes('ReauthenticationRejected')).toBe(judged);
    for (let left = judged ? 1 : 2; left > 0; left--)
      expect(await house.process().answer(WRONG)).toMatchObject({ accepted: false });
    await expect(house.process().answer(WRONG)).rejects.toMatchObject({ code: 'party.locked' });
  });

  it('between the request and the challenge leaves a challenge that the recovery job finds', async () => {
    const dying = house.process((types) => types.includes('ReauthenticationChallenged'));
    await expect(dying.authenticate()).rejects.toBeInstanceOf(ProcessDied);
    await expect(house.process().answer(RIGHT)).rejects.toMatchObject({ code: 'screening.attempt_in_progress' });
    house.later(23);
    await house.process().settle();
    expect(await house.process().answer(RIGHT)).toMatchObject({ accepted: true });
  });

  it.each<[string, PastOutcome]>([
    ['a registration', { kind: 'registration', verdict: { kind: 'unavailable' } }],
    ['another code', { kind: 'resend', verdict: { kind: 'sent' } }],
    [
      'a challenge',
      { kind: 'reauthentication', verdict: { kind: 'step-up', vendorSession: 'vs', otp: true, kba: null } },
    ],
  ])('leaves a call that ends once it is old enough when the vendor reports it as %s', async (what, outcome) => {
    await house.process().authenticate();
    const dying = house.process((types) => types.includes('ReauthenticationRejected'));
    await expect(dying.answer(WRONG)).rejects.toBeInstanceOf(ProcessDied);
    for (const attemptId of house.vendorAnswers.keys()) house.vendorAnswers.set(attemptId, outcome);
    house.later(5);
    await house.process().settle();
    await expect(house.process().register('other')).rejects.toMatchObject({ code: 'screening.attempt_in_progress' });
    house.later(78);
    await house.process().settle();
    expect((await house.events()).at(-1)).toBe('ReauthenticationEnded');
    await house.process().register(`after ${what}`);
  });

  it('leaves a challenge that ends once it is old enough when the vendor reports it as a registration', async () => {
    const dying = house.process((types) => types.includes('ReauthenticationChallenged'));
    await expect(dying.authenticate()).rejects.toBeInstanceOf(ProcessDied);
    const outcome = { kind: 'registration', verdict: { kind: 'unavailable' } } as const;
    for (const attemptId of house.vendorAnswers.keys()) house.vendorAnswers.set(attemptId, outcome);
    house.later(83);
    await house.process().settle();
    expect((await house.events()).at(-1)).toBe('ReauthenticationEnded');
  });

  it('before it opens the session of a registration leaves no challenge of the party in the vault', async () => {
    await house.process().authenticate();
    const before = keptEntries().filter((entry) => entry.endsWith(' challenge'));
    expect(before).toHaveLength(1);
    house.verifications.steps.set = () => {
      throw new ProcessDied();
    };
    await expect(house.process().register('other')).rejects.toBeInstanceOf(ProcessDied);
    expect(keptEntries().filter((entry) => entry.endsWith(' challenge'))).toEqual([]);
  });

  it('and that queued a job without a kind, as earlier releases did, leaves it to the recovery job', async () => {
    const mixed = house.process();
    const make = mixed.calls.make.bind(mixed.calls);
    mixed.calls.make = (call, attempt) => {
      // Workers of earlier releases would take a job of this name for one of theirs.
      expect(['reauthenticate', 'verifyOtp', 'verifyKba', 'resendOtp']).not.toContain(call.operation);
      return make(call as ExternalCall<unknown, never>, attempt, { jscPayload: 'fp' });
    };
    await expect(mixed.authenticate()).rejects.toThrow('unknown kind');
    expect(house.vendorHeard).toEqual([]);
    expect((await house.events()).at(-1)).toBe('ReauthenticationRequested');
    house.later(23);
    await house.process().settle();
    expect((await house.events()).at(-1)).toBe('ReauthenticationAbandoned');
  });

  it('whose call the vendor never saw leaves nothing open', async () => {
    const dying = house.process();
    dying.calls.make = async () => {
      throw new ProcessDied();
    };
    await expect(dying.authenticate()).rejects.toBeInstanceOf(ProcessDied);
    house.later(23);
    await house.process().settle();
    expect((await house.events()).at(-1)).toBe('ReauthenticationAbandoned');
    await house.process().authenticate();
  });
});

describe('a vendor in trouble', () => {
  it.each([
    ['does not answer', { kind: 'timed-out' }, 'service.upstream_timeout'],
    ['is unavailable', { kind: 'unavailable' }, 'vendor.unreachable'],
    ['gives an unintelligible answer', { kind: 'unintelligible' }, 'vendor.unreachable'],
    ['gives an unintelligible answer in JSON', { kind: 'unintelligible', reply: said({}) }, 'vendor.unreachable'],
    ['names its outage', { kind: 'unavailable', reply: said({}, 503, 258) }, 'vendor.refused'],
    ['refuses the person', { kind: 'refused', reason: 'FRAUD_REPORTED', reply: said({}, 422, 18) }, 'vendor.refused'],
    ['refuses for another reason', { kind: 'refused-otherwise', reply: said({}, 400) }, 'vendor.refused'],
  ])('that %s is an error at the challenge', async (_what, says, code) => {
    house.vendorSays = says;
    await expect(house.process().authenticate()).rejects.toMatchObject({ code });
  });

  it.each([
    ['does not answer', { kind: 'timed-out' }, 'service.upstream_timeout'],
    ['is unavailable', { kind: 'unavailable' }, 'vendor.unreachable'],
    ['gives an unintelligible answer', { kind: 'unintelligible' }, 'vendor.unreachable'],
    ['refuses', { kind: 'refused-otherwise', reply: said({}, 400) }, 'vendor.refused'],
  ])('that %s is an error at status and expiry', async (_what, says, code) => {
    house.vendorSays = says;
    await expect(house.process().look('status')).rejects.toMatchObject({ code });
    expect((await house.process().facts())?.authenticated).toBe(true);
    await expect(house.process().look('expiry')).rejects.toMatchObject({ code });
    expect((await house.process().facts())?.authenticated).toBe(false);
  });

  it.each(['status', 'expiry'] as const)(
    'that was not asked for the %s is an error, also when it answered before',
    async (asked) => {
      await house.process().look(asked);
      const unheard = house.process();
      unheard.calls.make = async (call, attempt) => call.recordNotAsked(attempt);
      await expect(unheard.look(asked)).rejects.toMatchObject({ code: 'vendor.unreachable' });
      house.vendorSays = { kind: 'unavailable', reply: said({}, 503, 258) };
      await expect(house.process().look(asked)).rejects.toMatchObject({ code: 'vendor.refused' });
      await expect(unheard.look(asked)).rejects.toMatchObject({ code: 'vendor.unreachable' });
    },
  );

  it('that could not be asked for an answer uses up no attempt', async () => {
    await house.process().authenticate();
    house.vendorSays = { kind: 'unavailable' };
    for (let number = 0; number < 4; number++)
      await expect(house.process().answer(WRONG)).rejects.toMatchObject({ code: 'vendor.unreachable' });
    house.vendorSays = null;
    expect(await house.process().answer(RIGHT)).toMatchObject({ accepted: true });
  });
});

describe('the authentication', () => {
  it('is queried and ended at the vendor, whose reply is passed on, even null', async () => {
    expect(await house.process().look('status')).toMatchObject({ json: '{"authenticated":true}', accepted: true });
    expect(await house.process().look('expiry')).toMatchObject({ json: 'null', accepted: true });
    expect((await house.process().facts())?.authenticated).toBe(false);
    await house.process().look('expiry');
    await house.process().authenticate();
    await house.process().answer(RIGHT);
    expect((await house.process().facts())?.authenticated).toBe(true);
  });

  it('has already ended here when a process dies during the vendor call that ends it', async () => {
    const dying = house.process();
    dying.calls.make = async () => {
      throw new ProcessDied();
    };
    await expect(dying.look('expiry')).rejects.toBeInstanceOf(ProcessDied);
    expect((await house.process().facts())?.authenticated).toBe(false);
  });

  it('does not end when the vendor has no place for the call, and the place is given back when the log is away', async () => {
    const full = house.process();
    full.calls.full = true;
    await expect(full.look('expiry')).rejects.toMatchObject({ code: 'request.rate_limited' });
    expect((await house.process().facts())?.authenticated).toBe(true);
    const dying = house.process((types) => types.includes('AuthenticationExpired'));
    await expect(dying.look('expiry')).rejects.toBeInstanceOf(ProcessDied);
    expect(dying.calls.admitted.size).toBe(0);
  });

  it('is refused for an unknown party', async () => {
    for (const act of [
      () => house.process().look('status', ORGANIZATION),
      () => house.process().authenticate(ORGANIZATION),
      () => house.process().authenticate(AGENT, LIVE),
    ])
      await expect(act()).rejects.toMatchObject({ code: 'party.recipient_unknown' });
  });
});

describe('a stored token', () => {
  it('makes an organization known, but confirms it only after it has authenticated', async () => {
    await house.process().storeToken(ORGANIZATION, '  any token ');
    expect(await house.process().facts(ORGANIZATION)).toMatchObject({ sessionIds: [], authenticated: false });
    await house.process().authenticate(ORGANIZATION);
    expect(house.vendorHeard.at(-1)).toMatchObject({ token: '  any token ' });
    await house.process().answer(RIGHT, { named: ORGANIZATION });
    expect((await house.process().facts(ORGANIZATION))?.authenticated).toBe(true);
    expect(JSON.stringify(await house.store.readAll(null, 100))).not.toContain('any token');
  });

  it('is used instead of earlier sessions, but not of later ones', async () => {
    await house.process().storeToken(AGENT, 'stored');
    await house.process().authenticate();
    expect(house.vendorHeard.at(-1)).toMatchObject({ token: 'stored' });
    await house.process().register('later', { sessionId: 'later' });
    await house.process().authenticate();
    expect(house.vendorHeard.at(-1)).toMatchObject({ token: 'token-of-later' });
  });
});

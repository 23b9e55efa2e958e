// Wrong answers of a person are counted exactly, over all sessions and processes
// (docs/contract/platform.md#wrong-answers-of-a-person). The use cases run on a real log. The test can delay the
// vendor's answers and kill processes.
import 'reflect-metadata';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ChallengeRecorder } from '../../../src/challenges/application/challenge-recorder.js';
import { ChallengeService } from '../../../src/challenges/application/challenge-service.js';
import { EmbeddedEventStore } from '../../../src/adapters/event-store/embedded.js';
import { idOf, type RecordedEvent } from '../../../src/kernel/domain-event.js';
import { type CallerContext, systemContext } from '../../../src/kernel/context.js';
import { newId } from '../../../src/kernel/ids.js';
import { FIRST_CHOICE } from '../../../src/kernel/vendor-choice.js';
import { DomainError } from '../../../src/kernel/domain-error.js';
import { PersonAnswers, streamsOf } from '../../../src/modules/screening/application/person-answers.js';
import { ScreeningPolicy } from '../../../src/modules/screening/application/screening-policy.js';
import { SessionSecrets } from '../../../src/modules/screening/application/session-secrets.js';
import { ExpireSession, ExpireSessionHandler } from '../../../src/modules/screening/application/expire-session.js';
import {
  SettleVerification,
  SettleVerificationHandler,
} from '../../../src/modules/screening/application/settle-verification.js';
import { AnswerStepUp, AnswerStepUpHandler } from '../../../src/modules/screening/application/answer-step-up.js';
import { SessionChallenges, StepUpCall } from '../../../src/modules/screening/application/session-challenges.js';
import { SubmissionLimits } from '../../../src/modules/screening/application/submission-limits.js';
import { CallsAtOnce } from '../../support/external-calls.js';
import { CountedInMemory } from '../../support/rate-limiter.js';
import { EarlierScreenings } from '../../../src/modules/screening/application/earlier-screenings.js';
import { GrantedSessions } from '../../../src/modules/screening/application/granted-sessions.js';
import { Registration } from '../../../src/modules/screening/application/registration.js';
import type { Applicant } from '../../../src/kernel/applicant.js';
import {
  SubmitScreening,
  SubmitScreeningHandler,
} from '../../../src/modules/screening/application/submit-screening.js';
import { UnblockPerson, UnblockPersonHandler } from '../../../src/modules/screening/application/unblock-person.js';
import { RegistrationRecorder } from '../../../src/modules/screening/application/registration-recorder.js';
import { screeningSession } from '../../../src/modules/screening/domain/screening-session.js';
import type { Session } from '../../../src/modules/screening/domain/session.js';
import { AggregateStore } from '../../../src/platform/aggregates/aggregate-store.js';
import { TestTraffic } from '../../../src/platform/aggregates/test-traffic.js';
import type { EventStore, StreamAppend, TogetherOutcome } from '../../../src/ports/event-store.js';
import type { AnswerVerdict, IdentityVendor } from '../../../src/ports/identity-vendor.js';
import type { ReadModels } from '../../../src/ports/read-models.js';
import type { Vault } from '../../../src/ports/vault.js';
import type { Vendors } from '../../../src/ports/vendors.js';
import type { Accounts } from '../../../src/published/accounts.js';
import type { KnownPersons } from '../../../src/published/known-persons.js';
import type { Reports } from '../../../src/published/reports.js';
import type { Screenings } from '../../../src/published/screenings.js';
import type { SessionGrants } from '../../../src/published/session-grants.js';
import { clockOf } from '../../support/clock.js';
import { NO_SHADOW, SetRoutes } from '../../support/vendor-routes.js';

const APPLICANT: Applicant = {
  userType: 'CONSUMER',
  firstName: 'Ada',
  lastName: 'Example',
  dateOfBirth: '04121990',
  ssn: '666123456',
  phoneNumber: '4155550134',
  phoneType: 'C',
  address: { street: '1 Main Street', city: 'San Francisco', state: 'CA', zip: '94105' },
  jscPayload: 'fp',
  termsAcceptedAt: '2026-03-01T12:00:00.000Z',
};
const CONTEXT = {
  accountId: 'account',
  environment: 'test',
  actor: { kind: 'platform-token', id: 'key' },
  correlationId: 'request',
  causationId: 'request',
} as const;
const LIVE = { ...CONTEXT, environment: 'live' } as const;
const OPERATOR = { ...systemContext('ops', null), reason: 'ticket 4711' };
const RIGHT = '123456';
const WRONG = '000000';

class ProcessDied extends Error {}

let directory: string;
let store: EmbeddedEventStore;
/** The contents of the vault. */
let kept: Map<string, Uint8Array>;
/** The verdict that the vendor has for each attempt. */
let vendorAnswers: Map<string, AnswerVerdict>;
/** The vendor answers when this promise resolves. */
let vendorIsBusy: Promise<void>;
let now: Date;
let registrations: number;
/** The number of answers that the vendor had to judge. */
let answersAsked: number;
let limiter: CountedInMemory;
let wrongTold: object[];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'person-limit-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));
beforeEach(() => {
  store = EmbeddedEventStore.open({ directory: join(directory, newId()), mapSizeBytes: 16 * 2 ** 20 });
  kept = new Map();
  vendorAnswers = new Map();
  vendorIsBusy = Promise.resolve();
  registrations = 0;
  answersAsked = 0;
  limiter = new CountedInMemory();
  wrongTold = [];
  now = new Date('2026-03-01T12:00:00.000Z');
});
afterEach(() => store.close());

/**
 * One of several processes on the same log. `dies` names the append at which the process is killed, before the append
 * is stored.
 */
function aProcess(dies: (stream: string, types: readonly string[]) => boolean = () => false) {
  const clock = clockOf(() => now);
  const policy = new ScreeningPolicy({
    vendorTimeoutSeconds: 20,
    otpResendIntervalSeconds: 30,
    stepUpTtlSeconds: 1_800,
    reviewSeconds: 604_800,
    applicantKeptSeconds: 604_800,
    stepUpAttempts: 3,
    blockSeconds: 86_400,
    reportValiditySeconds: 2_592_000,
    submitsPerMinutePerAddress: 0,
    submitsPerMinute: 0,
    submitsPerHourPerPerson: 0,
    wrongAnswersPerHourPerAddress: 20,
    smsPerHour: 0,
    smsPerDay: 0,
  });
  const log: EventStore = Object.assign(Object.create(store) as EventStore, {
    append: async (...[stream, expected, events]: Parameters<EventStore['append']>) => {
      if (
        dies(
          stream,
          events.map(({ type }) => type),
        )
      )
        throw new ProcessDied();
      return store.append(stream, expected, events);
    },
    // Executes one append after the other, like a store that keeps the first appends when a process dies.
    appendTogether: async (appends: readonly StreamAppend[]): Promise<TogetherOutcome> => {
      const revisions: number[] = [];
      for (const { stream, expected, events } of appends) {
        const outcome = await log.append(stream, expected, events);
        const stored = revisions.length;
        if (outcome.outcome === 'conflict') return { ...outcome, index: stored, stored };
        revisions.push(outcome.revision);
      }
      return { outcome: 'appended', revisions };
    },
    readStream: (...read: Parameters<EventStore['readStream']>) => store.readStream(...read),
  });
  const aggregates = new AggregateStore(log, { applyNow: async () => undefined } as unknown as ReadModels, clock, {
    appendConflict: () => undefined,
  });
  const vault = {
    ping: async () => undefined,
    installationKey: async () => Buffer.alloc(32, 1),
    put: async (subject: string, entry: string, value: Uint8Array) => void kept.set(subject + entry, value),
    get: async (subject: string, entry: string) => kept.get(subject + entry) ?? null,
    remove: async (subject: string, entry: string) => void kept.delete(subject + entry),
  } as unknown as Vault;
  const vendor = {
    register: async () => {
      registrations += 1;
      return { kind: 'step-up', vendorSession: 'v', otp: true, kba: null };
    },
    verifyOtp: async ({ attemptId }: { attemptId: string }, _session: string, code: string) => {
      const verdict: AnswerVerdict =
        code === RIGHT ? { kind: 'confirmed' } : { kind: 'wrong', attemptsRemaining: null };
      vendorAnswers.set(attemptId, verdict);
      answersAsked += 1;
      await vendorIsBusy;
      return verdict;
    },
    outcomeOf: async ({ attemptId }: { attemptId: string }) => {
      const verdict = vendorAnswers.get(attemptId);
      return verdict ? { kind: 'answer', verdict } : { kind: 'not-executed' };
    },
  } as unknown as IdentityVendor;
  const accounts = {
    find: async () => ({ products: ['CONSUMER', 'AGENT', 'PMC'], consumerPays: false, vendors: FIRST_CHOICE }),
    mayReachVendors: () => true,
  } as unknown as Accounts;
  const secrets = new SessionSecrets(vault, {
    knowsPersonBy: () => 'session',
    speaksDirect: () => true,
  } as unknown as Vendors);
  const answers = new PersonAnswers(aggregates, secrets, policy, clock, {
    wrongAnswer: ({ accountId, environment }, locked) => wrongTold.push({ accountId, environment, locked }),
  });
  const calls = new CallsAtOnce();
  const limits = new SubmissionLimits(limiter, vault, policy);
  const recorder = new RegistrationRecorder(aggregates, secrets, answers, policy, clock, limiter);
  const recording = new ChallengeRecorder(aggregates, answers, limiter, clock);
  const sessions = new SessionChallenges(secrets, policy);
  const challenges = new ChallengeService(aggregates, calls, vendor, answers, recording, limiter, clock);
  const registration = new Registration(
    aggregates,
    vendor,
    recorder,
    recording,
    sessions,
    secrets,
    new SetRoutes(),
    NO_SHADOW,
    clock,
  );
  const grants = { find: async () => null } as unknown as SessionGrants;
  const reports = { expiryOf: async () => null } as unknown as Reports;
  const prospects = { reportProspect: async () => 'possible' } as unknown as Screenings;
  const submit = new SubmitScreeningHandler(
    aggregates,
    new TestTraffic(),
    calls,
    registration,
    vault,
    secrets,
    accounts,
    new SetRoutes(),
    new GrantedSessions(aggregates, grants, reports, prospects, policy, clock),
    new EarlierScreenings(aggregates, reports, prospects, policy, clock),
    limits,
    answers,
    policy,
    clock,
  );
  const step = new AnswerStepUpHandler(
    aggregates,
    { applyNow: async () => undefined } as unknown as ReadModels,
    challenges,
    sessions,
    new StepUpCall(sessions, aggregates, vendor, recording),
    secrets,
    answers,
    limits,
    policy,
    clock,
  );
  const settle = new SettleVerificationHandler(
    aggregates,
    calls,
    registration,
    challenges,
    sessions,
    recorder,
    vendor,
    secrets,
    clock,
  );
  const unblock = new UnblockPersonHandler(
    aggregates,
    answers,
    {} as KnownPersons,
    { identityToken: async () => null } as unknown as Screenings,
    clock,
  );
  const expire = new ExpireSessionHandler(aggregates, clock);
  const counted = (holderId: string) => ({ holderId, attemptId: newId(), limit: policy.verdicts, context: CONTEXT });
  return {
    calls,
    opens: async (applicant: Applicant = APPLICANT, context: CallerContext = CONTEXT): Promise<string> =>
      (
        await submit.execute(
          new SubmitScreening(
            { sessionId: newId(), applicant, grantId: null, clientAddress: null, partyId: null, said: {} },
            context,
          ),
        )
      ).sessionId,
    answers: (
      sessionId: string,
      code: string,
      attemptId = newId(),
      { address = null, ...context }: CallerContext & { readonly address?: string | null } = CONTEXT,
    ): Promise<Session> =>
      step.execute(
        new AnswerStepUp({ sessionId, attemptId, given: { method: 'otp', code }, clientAddress: address }, context),
      ),
    unblocks: (sessionId: string) => unblock.execute(new UnblockPerson(sessionId, OPERATOR)),
    session: async (sessionId: string) => (await aggregates.load(screeningSession, sessionId)).state,
    recovers: (sessionId: string) => settle.execute(new SettleVerification(sessionId, AbortSignal.timeout(20_000))),
    /** Locks the person, as the vendor may do after a wrong answer in a re-authentication. */
    locks: async (sessionId: string, lockedUntil: string) => {
      const { state } = await aggregates.load(screeningSession, sessionId);
      if (state.status === 'NONE') throw new Error('There is no such session');
      return answers.countWrong(streamsOf(state), counted(sessionId), lockedUntil);
    },
    countsUnder: (names: readonly string[], lockedUntil: string | null) =>
      answers.countWrong(names, counted(newId()), lockedUntil),
    expires: (sessionId: string) => expire.execute(new ExpireSession(sessionId)),
    status: async (sessionId: string): Promise<string> =>
      (await aggregates.load(screeningSession, sessionId)).state.status,
  };
}

/** The events of the person's own stream. The streams under other names repeat them. */
const personEvents = async (): Promise<string[]> => {
  const events = (await store.readAll(null, 1_000)).filter(({ stream }: RecordedEvent) => stream.startsWith('person-'));
  const own = new Set(events.filter(({ type }) => type === 'ScreeningOpened').map(({ stream }) => stream));
  return events.filter(({ stream }) => own.has(stream)).map(({ type }) => type);
};
const countOf = async (type: string): Promise<number> => (await personEvents()).filter((each) => each === type).length;
const refused = { code: 'screening.attempt_in_progress' };

describe('an answer', () => {
  it("is refused before an event is stored when its account's limit of vendor calls is used up, and uses up no attempt", async () => {
    const service = aProcess();
    const sessionId = await service.opens();
    const before = await store.readAll(null, 1_000);
    service.calls.full = true;
    await expect(service.answers(sessionId, WRONG)).rejects.toMatchObject({ code: 'request.rate_limited' });
    expect(await store.readAll(null, 1_000)).toEqual(before);
    expect(vendorAnswers.size).toBe(0);
  });

  it('releases its vendor call when an answer in another session comes first', async () => {
    const service = aProcess();
    const sessions = [await service.opens(), await service.opens()] as const;
    for (const sessionId of sessions) await service.answers(sessionId, WRONG);
    await Promise.allSettled(sessions.map((sessionId) => service.answers(sessionId, WRONG)));
    expect(service.calls.admitted.size).toBe(0);
  });
});

describe('a right answer', () => {
  it('is cleared once when the process dies before the session records the answer', async () => {
    const survivor = aProcess();
    const sessionId = await survivor.opens();
    const dies = (_stream: string, types: readonly string[]): boolean => types[0] === 'IdentityVerified';
    await expect(aProcess(dies).answers(sessionId, RIGHT)).rejects.toBeInstanceOf(ProcessDied);
    expect([await countOf('AnswerCleared'), await survivor.status(sessionId)]).toEqual([1, 'OTP_PENDING']);
    now = new Date(now.getTime() + 30_000);
    await survivor.recovers(sessionId);
    expect([await countOf('AnswerCleared'), await survivor.status(sessionId)]).toEqual([1, 'VERIFIED']);
  });

  it('arrives too late when the person has been locked, and blocks the session that a dead process had left open', async () => {
    const service = aProcess();
    const [one, two] = [await service.opens(), await service.opens()];
    let release = (): void => undefined;
    vendorIsBusy = new Promise((resolve) => (release = resolve));
    const answer = service.answers(one, RIGHT);
    while (vendorAnswers.size < 1) await new Promise(setImmediate);
    const lockedUntil = '2026-03-01T18:00:00.000Z';
    const locking = aProcess((_stream, types) => types[0] === 'SessionBlocked').locks(one, lockedUntil);
    await expect(locking).rejects.toBeInstanceOf(ProcessDied);
    expect(await service.status(two)).toBe('STEP_UP_REQUIRED');
    release();
    expect(await answer).toMatchObject({ status: 'BLOCKED', blockedUntil: lockedUntil });
    expect(await service.status(two)).toBe('BLOCKED');
  });
});

describe('wrong answers of one person in several sessions', () => {
  it('block all sessions at the third, even for a right answer, without another request to the vendor', async () => {
    const service = aProcess();
    const [one, two] = [await service.opens(), await service.opens()];
    expect(await service.answers(one, WRONG)).toMatchObject({
      status: 'OTP_PENDING',
      stepUp: { attemptsRemaining: 2 },
    });
    expect(await service.answers(two, WRONG)).toMatchObject({
      status: 'OTP_PENDING',
      stepUp: { attemptsRemaining: 1 },
    });
    const blocked = { status: 'BLOCKED', reasonCode: 'TOO_MANY_ATTEMPTS', blockedUntil: '2026-03-02T12:00:00.000Z' };
    expect(await service.answers(one, WRONG)).toMatchObject(blocked);
    expect(await service.status(two)).toBe('BLOCKED');
    expect(await service.answers(two, RIGHT)).toMatchObject(blocked);
    expect(vendorAnswers.size).toBe(3);
    await expect(service.opens()).rejects.toMatchObject({ code: 'screening.person_blocked' });
    expect(kept.size).toBe(0);
  });

  it('are counted once and reach the vendor once when several processes receive the same answer at once', async () => {
    const processes = [aProcess(), aProcess(), aProcess()] as const;
    const sessionId = await processes[0].opens();
    const attemptId = newId();
    let release = (): void => undefined;
    vendorIsBusy = new Promise((resolve) => (release = resolve));
    const answers = processes.map((process) => process.answers(sessionId, WRONG, attemptId));
    // All calls return early, except the call that asks the vendor.
    await Promise.any(answers);
    release();
    await Promise.all(answers);
    expect([answersAsked, await countOf('AnswerAdmitted'), await countOf('WrongAnswerCounted')]).toEqual([1, 1, 1]);
  });

  it('reach the vendor at most three times when many processes send them at once', async () => {
    const processes = [aProcess(), aProcess(), aProcess()];
    const sessions = [await processes[0]!.opens(), await processes[1]!.opens()];
    let taken = 0;
    for (let round = 0; round < 12; round++) {
      const answers = processes.flatMap((process) => sessions.map((sessionId) => process.answers(sessionId, WRONG)));
      for (const answer of await Promise.allSettled(answers)) {
        if (answer.status === 'rejected') expect(answer.reason).toMatchObject(refused);
        else taken += 1;
      }
    }
    expect(taken).toBeGreaterThan(0);
    expect(vendorAnswers.size).toBe(3);
    expect([await countOf('WrongAnswerCounted'), await countOf('PersonLocked')]).toEqual([3, 1]);
    for (const sessionId of sessions) expect(await processes[0]!.status(sessionId)).toBe('BLOCKED');
  });

  it('wait for each other when the person has only one attempt left', async () => {
    const [one, other] = [aProcess(), aProcess()];
    const sessions = [await one.opens(), await one.opens()] as const;
    for (const sessionId of sessions) await one.answers(sessionId, WRONG);
    let release = (): void => undefined;
    vendorIsBusy = new Promise((resolve) => (release = resolve));
    const last = one.answers(sessions[0], RIGHT);
    while (vendorAnswers.size < 3) await new Promise(setImmediate);
    await expect(other.answers(sessions[1], WRONG)).rejects.toMatchObject(refused);
    release();
    expect(await last).toMatchObject({ status: 'VERIFIED' });
    expect(await other.answers(sessions[1], WRONG)).toMatchObject({ status: 'BLOCKED' });
  });

  it.each([
    [
      'before it admits the answer',
      (stream: string, types: readonly string[]) => stream.startsWith('person-') && types[0] === 'AnswerAdmitted',
      0,
    ],
    [
      "before the person's stream has the verdict",
      (stream: string, types: readonly string[]) => stream.startsWith('person-') && types[0] === 'WrongAnswerCounted',
      1,
    ],
    [
      'before the session has the verdict',
      (stream: string, types: readonly string[]) => stream.startsWith('screening-') && types[0] === 'OtpRejected',
      1,
    ],
  ])('are counted once when the process dies %s', async (_when, dies, wrong) => {
    const survivor = aProcess();
    const sessionId = await survivor.opens();
    await expect(aProcess(dies).answers(sessionId, WRONG)).rejects.toBeInstanceOf(ProcessDied);
    now = new Date(now.getTime() + 30_000);
    await survivor.recovers(sessionId);
    expect([await countOf('WrongAnswerCounted'), await survivor.status(sessionId)]).toEqual([
      wrong,
      wrong === 0 ? 'STEP_UP_REQUIRED' : 'OTP_PENDING',
    ]);
    // The next answer continues the count.
    expect(await survivor.answers(sessionId, WRONG)).toMatchObject({ stepUp: { attemptsRemaining: 2 - wrong } });
  });

  it('block the other sessions too when the process dies immediately after it locked the person', async () => {
    const survivor = aProcess();
    const [one, two] = [await survivor.opens(), await survivor.opens()];
    for (const sessionId of [one, two]) await survivor.answers(sessionId, WRONG);
    await expect(
      aProcess((_stream, types) => types.includes('SessionBlocked')).answers(one, WRONG),
    ).rejects.toBeInstanceOf(ProcessDied);
    // Until the lock ends, even a right answer is blocked.
    expect(await survivor.answers(two, RIGHT)).toMatchObject({ status: 'BLOCKED' });
    now = new Date(now.getTime() + 30_000);
    await survivor.recovers(one);
    expect(await survivor.status(one)).toBe('BLOCKED');
    expect([await countOf('WrongAnswerCounted'), await countOf('PersonLocked')]).toEqual([3, 1]);
  });
});

describe('a call that waits in its queue while its attempt ends', () => {
  /** Queues the next call of the process, and returns the function with which a worker makes the call later. */
  const queued = async (service: ReturnType<typeof aProcess>, asks: () => Promise<unknown>) => {
    const waits = new Promise<() => Promise<unknown>>((resolve) => {
      const make = service.calls.make.bind(service.calls);
      service.calls.make = async (...call) => {
        service.calls.make = make;
        resolve(() => make(...call));
        throw new ProcessDied();
      };
    });
    await expect(asks()).rejects.toBeInstanceOf(ProcessDied);
    return waits;
  };

  it('is not made when newer sessions have ended its session, and its answer is cleared', async () => {
    const service = aProcess();
    const sessionId = await service.opens();
    const taken = await queued(service, () => service.answers(sessionId, WRONG));
    await service.opens();
    await service.opens();
    expect(await service.status(sessionId)).toBe('EXPIRED');
    await taken();
    expect([vendorAnswers.size, await countOf('AnswerCleared')]).toEqual([0, 1]);
  });

  it('is not made when the recovery job has settled it, and the session continues', async () => {
    const service = aProcess();
    const sessionId = await service.opens();
    const taken = await queued(service, () => service.answers(sessionId, WRONG));
    now = new Date(now.getTime() + 30_000);
    await service.recovers(sessionId);
    await taken();
    expect([vendorAnswers.size, await service.status(sessionId)]).toEqual([0, 'STEP_UP_REQUIRED']);
  });

  it('registers no person in a session that ended without a verdict', async () => {
    const service = aProcess();
    const taken = await queued(service, () => service.opens());
    const [submitted] = await store
      .readAll(null, 1_000)
      .then((all) => all.filter(({ type }) => type === 'ScreeningSubmitted'));
    const sessionId = idOf(submitted!.stream);
    now = new Date(now.getTime() + 30_000);
    await service.recovers(sessionId);
    await taken();
    expect([registrations, await service.status(sessionId)]).toEqual([0, 'EXPIRED']);
  });
});

describe('step-ups of one person', () => {
  it('are at most two, and a third one ends the oldest', async () => {
    const service = aProcess();
    const sessions = [await service.opens(), await service.opens(), await service.opens()] as const;
    expect(await Promise.all(sessions.map((sessionId) => service.status(sessionId)))).toEqual([
      'EXPIRED',
      'STEP_UP_REQUIRED',
      'STEP_UP_REQUIRED',
    ]);
    await expect(service.answers(sessions[0], RIGHT)).rejects.toMatchObject({ code: 'screening.session_spent' });
  });

  it('are two also when several processes open five at once', async () => {
    const processes = [aProcess(), aProcess()];
    const sessions = await Promise.all(Array.from({ length: 5 }, (_, index) => processes[index % 2]!.opens()));
    const statuses = await Promise.all(sessions.map((sessionId) => processes[0]!.status(sessionId)));
    expect(statuses.sort()).toEqual(['EXPIRED', 'EXPIRED', 'EXPIRED', 'STEP_UP_REQUIRED', 'STEP_UP_REQUIRED']);
  });
});

describe('a read-only copy', () => {
  it('shows a step-up as open after its time has passed, because the copy cannot record the end', async () => {
    const sessionId = await aProcess().opens();
    now = new Date(now.getTime() + 7_200_000);
    const copy = aProcess(() => {
      throw new DomainError('service.read_only');
    });
    await copy.expires(sessionId);
    expect(await copy.status(sessionId)).toBe('STEP_UP_REQUIRED');
    await aProcess().expires(sessionId);
    expect(await copy.status(sessionId)).toBe('EXPIRED');
  });
});

const { ssn: _, ...WITHOUT_SSN } = APPLICANT;
const AGENT: Applicant = { ...WITHOUT_SSN, userType: 'AGENT', firstName: 'Zoë', lastName: "O'Brien-Straße" };

/** Submissions of one person. Each has another spelling or other details. */
const VARIED: readonly (readonly [what: string, context: CallerContext, applicants: readonly Applicant[]])[] = [
  ...[CONTEXT, LIVE].flatMap((context) => {
    const { environment } = context;
    return [
      [
        `without an SSN in ${environment}, with another phone`,
        context,
        ['4155550101', '4155550102', '4155550103', '4155550104'].map((phoneNumber) => ({ ...AGENT, phoneNumber })),
      ],
      [
        `without an SSN in ${environment}, with other spellings of names and birth date`,
        context,
        [
          AGENT,
          { ...AGENT, firstName: 'zoe', lastName: 'O\u2019BRIEN STRASSE', dateOfBirth: '4/12/1990' },
          { ...AGENT, firstName: ' Zo\u0065\u0308', lastName: 'O\u02BCBrien\u2013Straße', dateOfBirth: '1990-04-12' },
          { ...AGENT, middleName: 'M', lastName: 'O\uFF07Brien\u200BStraße', dateOfBirth: '04.12.1990' },
        ],
      ],
      [
        `with an SSN in ${environment}, and other birth dates`,
        context,
        ['04121990', '04131990', '04141990', '04151990'].map((dateOfBirth) => ({ ...APPLICANT, dateOfBirth })),
      ],
      [
        `with an SSN in ${environment}, and another first name, address or phone`,
        context,
        [
          APPLICANT,
          { ...APPLICANT, firstName: 'Bea' },
          { ...APPLICANT, firstName: 'Ada', phoneNumber: '4155550199' },
          { ...APPLICANT, firstName: 'Cleo', address: { street: '2 Main Street' }, userType: 'PMC' },
        ],
      ],
      [
        `with an SSN in ${environment}, in other spellings`,
        context,
        ['666123456', '666-12-3456', ' 666 12 3456', '\uFF16\uFF16\uFF16123456'].map((ssn) => ({ ...APPLICANT, ssn })),
      ],
    ] as const;
  }),
  [
    'with an SSN in live, and other last names',
    LIVE,
    ['Example', 'Sample', 'Other', 'Fourth'].map((lastName) => ({ ...APPLICANT, lastName })),
  ],
];

describe.each(VARIED)('wrong answers %s', (_what, context, [first, second, third, fourth]) => {
  it('block the person at the third, and no other submission avoids the block', async () => {
    const service = aProcess();
    const wrong = async (applicant: Applicant | undefined): Promise<[string, Session]> => {
      const sessionId = await service.opens(applicant, context);
      return [sessionId, await service.answers(sessionId, WRONG, newId(), context)];
    };
    const [, answered] = await wrong(first);
    expect(answered).toMatchObject({ status: 'OTP_PENDING', stepUp: { attemptsRemaining: 2 } });
    const [open] = await wrong(second);
    const blocked = { status: 'BLOCKED', reasonCode: 'TOO_MANY_ATTEMPTS', blockedUntil: '2026-03-02T12:00:00.000Z' };
    expect((await wrong(third))[1]).toMatchObject(blocked);
    expect(await service.answers(open, RIGHT, newId(), context)).toMatchObject(blocked);
    for (const again of [first, fourth])
      await expect(service.opens(again, context)).rejects.toMatchObject({ code: 'screening.person_blocked' });
    expect(answersAsked).toBe(3);
  });
});

describe('wrong answers under several names', () => {
  it('affect neither a person with the same name and another birth date, nor a person of another account', async () => {
    const service = aProcess();
    const sessionId = await service.opens(AGENT);
    for (let count = 0; count < 3; count++) await service.answers(sessionId, WRONG);
    expect(await service.status(sessionId)).toBe('BLOCKED');
    for (const other of [{ ...AGENT, dateOfBirth: '04131990' }, { ...AGENT, firstName: 'Ada' }, APPLICANT])
      expect(await service.status(await service.opens(other))).toBe('STEP_UP_REQUIRED');
    const elsewhere = { ...CONTEXT, accountId: 'another' };
    expect(await service.status(await service.opens(AGENT, elsewhere))).toBe('STEP_UP_REQUIRED');
  });

  it('leave two step-ups open, even with different phones', async () => {
    const service = aProcess();
    const sessions: string[] = [];
    for (const phoneNumber of ['4155550101', '4155550102', '4155550103'])
      sessions.push(await service.opens({ ...AGENT, phoneNumber }));
    expect(await Promise.all(sessions.map(service.status))).toEqual([
      'EXPIRED',
      'STEP_UP_REQUIRED',
      'STEP_UP_REQUIRED',
    ]);
  });

  it.each([1, 2, 3])(
    'are counted once under each name when the process dies before it stores count %s',
    async (diesAt) => {
      const survivor = aProcess();
      const sessionId = await survivor.opens();
      let counts = 0;
      const dies = (_stream: string, types: readonly string[]): boolean =>
        (types[0] === 'WrongAnswerCounted' || types[0] === 'OtpRejected') && ++counts === diesAt;
      await expect(aProcess(dies).answers(sessionId, WRONG)).rejects.toBeInstanceOf(ProcessDied);
      now = new Date(now.getTime() + 30_000);
      await survivor.recovers(sessionId);
      expect(await survivor.session(sessionId)).toMatchObject({ stepUp: { attemptsRemaining: 2 } });
      const events = await store.readAll(null, 1_000);
      expect(events.filter(({ type }) => type === 'WrongAnswerCounted')).toHaveLength(2);
    },
  );

  it('are reported to the observer once each, with the account', async () => {
    const service = aProcess();
    const sessionId = await service.opens();
    for (let count = 0; count < 3; count++) await service.answers(sessionId, WRONG);
    const told = { accountId: 'account', environment: 'test' };
    expect(wrongTold).toEqual([
      { ...told, locked: false },
      { ...told, locked: false },
      { ...told, locked: true },
    ]);
  });
});

describe('a lock that was stored before answers counted under other names', () => {
  it('stays valid, and so do the earlier counts', async () => {
    const service = aProcess();
    const personOf = async (lastName: string): Promise<string> => {
      const session = await service.session(await service.opens({ ...APPLICANT, lastName }));
      if (session.status === 'NONE') throw new Error('There is no such session');
      return session.personId;
    };
    // Counts only under the person's own id, like earlier versions.
    const lockedUntil = '2026-03-01T18:00:00.000Z';
    await service.countsUnder([await personOf('Locked')], lockedUntil);
    await expect(personOf('Locked')).rejects.toMatchObject({
      code: 'screening.person_blocked',
      detail: { blockedUntil: lockedUntil },
    });
    const counted = await personOf('Counted');
    for (let count = 0; count < 2; count++) await service.countsUnder([counted], null);
    const sessionId = await service.opens({ ...APPLICANT, lastName: 'Counted' });
    expect(await service.answers(sessionId, WRONG)).toMatchObject({ status: 'BLOCKED' });
  });
});

describe('wrong answers from one client address', () => {
  const from = (address: string | null) => ({ ...CONTEXT, address });
  const answer = async (place: number, code: string, address: string | null): Promise<Session> => {
    const service = aProcess();
    const sessionId = await service.opens({ ...APPLICANT, ssn: String(666_123_000 + place) });
    return service.answers(sessionId, code, newId(), from(address));
  };

  it('are refused after twenty an hour from one address, whichever person gives them, before the vendor receives them', async () => {
    for (let place = 0; place < 20; place++) await answer(place, WRONG, '203.0.113.1');
    const asked = answersAsked;
    const refusal = { code: 'request.rate_limited', detail: { retryAfterSeconds: 3_600 } };
    for (const code of [WRONG, RIGHT]) await expect(answer(20, code, '203.0.113.1')).rejects.toMatchObject(refusal);
    expect(answersAsked).toBe(asked);
    for (const address of ['203.0.113.2', null])
      expect(await answer(21, WRONG, address)).toMatchObject({ status: 'OTP_PENDING' });
    limiter.endWindows(3_600);
    expect(await answer(22, RIGHT, '203.0.113.1')).toMatchObject({ status: 'VERIFIED' });
  });

  it('count towards the limit of the address; right answers and refused answers do not', async () => {
    for (let place = 0; place < 19; place++) await answer(place, WRONG, '203.0.113.1');
    for (let place = 19; place < 22; place++) await answer(place, RIGHT, '203.0.113.1');
    await expect(answer(22, 'x', '203.0.113.1')).rejects.toMatchObject({ code: 'screening.otp_unusable' });
    await answer(23, WRONG, '203.0.113.1');
    await expect(answer(24, WRONG, '203.0.113.1')).rejects.toMatchObject({ code: 'request.rate_limited' });
  });
});

describe('an operator who unblocks a person', () => {
  it('ends the block under every name and in every session, and the events hold the reason', async () => {
    const service = aProcess();
    const phones = ['4155550101', '4155550102'].map((phoneNumber) => ({ ...AGENT, phoneNumber }));
    const [one, two] = [await service.opens(phones[0]), await service.opens(phones[1])];
    await service.answers(one, WRONG);
    for (let count = 0; count < 2; count++) await service.answers(two, WRONG);
    expect([await service.status(one), await service.status(two)]).toEqual(['BLOCKED', 'BLOCKED']);
    now = new Date(now.getTime() + 60_000);
    expect(await service.unblocks(one)).toMatchObject({ changed: true });
    expect(await service.session(two)).toMatchObject({ status: 'BLOCKED', blockedUntil: '2026-03-01T12:01:00.000Z' });
    const sessionId = await service.opens(phones[1]);
    expect(await service.answers(sessionId, WRONG)).toMatchObject({ stepUp: { attemptsRemaining: 2 } });
    expect(await service.answers(sessionId, RIGHT)).toMatchObject({ status: 'VERIFIED' });
    const ended = (await store.readAll(null, 1_000)).filter(({ type }) => /Unlocked|Lifted/.test(type));
    // Two persons, the name that they share, and two sessions.
    expect(ended.map(({ type }) => type).sort()).toEqual([
      'BlockLifted',
      'BlockLifted',
      'PersonUnlocked',
      'PersonUnlocked',
      'PersonUnlocked',
    ]);
    for (const { metadata } of ended) expect(metadata).toMatchObject({ reason: 'ticket 4711', accountId: 'account' });
  });

  it('changes nothing when it is repeated, or when the person is not blocked', async () => {
    const service = aProcess();
    const sessionId = await service.opens();
    expect(await service.unblocks(sessionId)).toMatchObject({ changed: false });
    for (let count = 0; count < 3; count++) await service.answers(sessionId, WRONG);
    expect(await service.unblocks(sessionId)).toMatchObject({ changed: true });
    const head = await store.head();
    expect(await service.unblocks(sessionId)).toMatchObject({ changed: false });
    expect(await store.head()).toBe(head);
  });

  it('gets an error when the session does not exist', async () => {
    for (const id of [newId(), 'x'])
      await expect(aProcess().unblocks(id)).rejects.toMatchObject({ code: 'screening.not_found' });
  });
});

// Sessions of parties, through which other modules verify persons (src/published/verifications.ts). The use cases of
// the platform run on a real log. The test chooses the vendor's answer to each call.
import 'reflect-metadata';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ChallengeRecorder } from '../../../src/challenges/application/challenge-recorder.js';
import { ChallengeService } from '../../../src/challenges/application/challenge-service.js';
import { EmbeddedEventStore } from '../../../src/adapters/event-store/embedded.js';
import type { ExternalCalls } from '../../../src/external-calls/external-calls.js';
import type { ActorKind } from '../../../src/kernel/actor.js';
import type { CallerContext } from '../../../src/kernel/context.js';
import type { RecordedEvent } from '../../../src/kernel/domain-event.js';
import { foldState } from '../../../src/kernel/projection.js';
import { screeningStatus } from '../../../src/modules/screening/read/screening-status.js';
import { DomainError } from '../../../src/kernel/domain-error.js';
import { newId } from '../../../src/kernel/ids.js';
import { Unavailable } from '../../../src/kernel/unavailable.js';
import { FIRST_CHOICE } from '../../../src/kernel/vendor-choice.js';
import type { VendorReply, VendorStep } from '../../../src/kernel/vendor-reply.js';
import {
  DiscardApplicant,
  DiscardApplicantHandler,
} from '../../../src/modules/screening/application/discard-applicant.js';
import {
  DiscardVendorReply,
  DiscardVendorReplyHandler,
} from '../../../src/modules/screening/application/discard-vendor-reply.js';
import { ErasePerson, ErasePersonHandler } from '../../../src/modules/screening/application/erase-person.js';
import { PersonsOfSessions } from '../../../src/modules/screening/application/persons-of-sessions.js';
import { PartyVerifications } from '../../../src/modules/screening/application/party-verifications.js';
import { PersonAnswers } from '../../../src/modules/screening/application/person-answers.js';
import { ScreeningDirectory } from '../../../src/modules/screening/application/screening-directory.js';
import { ScreeningPolicy } from '../../../src/modules/screening/application/screening-policy.js';
import { SessionSecrets } from '../../../src/modules/screening/application/session-secrets.js';
import {
  SettleVerification,
  SettleVerificationHandler,
} from '../../../src/modules/screening/application/settle-verification.js';
import { SubmissionLimits } from '../../../src/modules/screening/application/submission-limits.js';
import { AnswerStepUp, AnswerStepUpHandler } from '../../../src/modules/screening/application/answer-step-up.js';
import { SessionChallenges, StepUpCall } from '../../../src/modules/screening/application/session-challenges.js';
import { EarlierScreenings } from '../../../src/modules/screening/application/earlier-screenings.js';
import { GrantedSessions } from '../../../src/modules/screening/application/granted-sessions.js';
import { Registration } from '../../../src/modules/screening/application/registration.js';
import {
  SubmitScreening,
  SubmitScreeningHandler,
} from '../../../src/modules/screening/application/submit-screening.js';
import { RegistrationRecorder } from '../../../src/modules/screening/application/registration-recorder.js';
import { screeningSession, type SessionCommand } from '../../../src/modules/screening/domain/screening-session.js';
import { checkout, type CheckoutCommand } from '../../../src/modules/payments/domain/checkout.js';
import { PartyAccess } from '../../../src/modules/parties/application/party-access.js';
import { PartyDirectory } from '../../../src/modules/parties/application/party-directory.js';
import { PartyIds } from '../../../src/modules/parties/application/party-ids.js';
import { PartyPolicy } from '../../../src/modules/parties/application/party-policy.js';
import { PartyReferences } from '../../../src/modules/parties/application/party-references.js';
import { PartySecrets } from '../../../src/modules/parties/application/party-secrets.js';
import { RegisterParty, RegisterPartyHandler } from '../../../src/modules/parties/application/register-party.js';
import { party } from '../../../src/modules/parties/domain/party-decider.js';
import { eventsAbout } from '../../../src/ops/events-about.js';
import { AggregateStore } from '../../../src/platform/aggregates/aggregate-store.js';
import { TestTraffic } from '../../../src/platform/aggregates/test-traffic.js';
import type {
  AnswerVerdict,
  Applicant,
  IdentityVendor,
  KbaQuestion,
  PastOutcome,
  RegistrationVerdict,
  ResendVerdict,
} from '../../../src/ports/identity-vendor.js';
import type { EventStore } from '../../../src/ports/event-store.js';
import type { ReadModels } from '../../../src/ports/read-models.js';
import { NotAuthentic, SubjectErased, type Vault } from '../../../src/ports/vault.js';
import type { VendorCall } from '../../../src/ports/vendor-call.js';
import type { Vendors } from '../../../src/ports/vendors.js';
import type { Accounts } from '../../../src/published/accounts.js';
import type { Reports } from '../../../src/published/reports.js';
import type { GivenToParty, VerificationStep } from '../../../src/published/verifications.js';
import type { SessionGrants } from '../../../src/published/session-grants.js';
import { answerOf, type PartyAnswer } from '../../../src/modules/parties/application/party-answer.js';
import { CallProcesses } from '../../contract/external-calls/call-processes.js';
import { holdsIn } from '../../support/holds.js';
import { until } from '../../support/eventually.js';
import { CallsAtOnce } from '../../support/external-calls.js';
import { CountedInMemory } from '../../support/rate-limiter.js';
import { clockOf } from '../../support/clock.js';
import { directReply, refusedWith, type DirectReply } from '../../support/direct-reply.js';
import { NO_SHADOW, SetRoutes } from '../../support/vendor-routes.js';

const PARTY = '6f0c6b52-3a0b-8f0e-9a55-0d1f3c2b7a90';
const RENTER: Applicant = {
  userType: 'CONSUMER',
  firstName: 'Ada',
  lastName: 'Example',
  dateOfBirth: '04121990',
  ssn: '666123456',
  phoneNumber: '(415) 555-0134',
  jscPayload: 'fp',
};
const QUESTIONS: readonly KbaQuestion[] = [70, 71].map((id) => ({
  id,
  text: 'Which?',
  answers: [1, 2, 3].map((answer) => ({ id: answer, text: 'This' })),
}));
const by = (kind: ActorKind): CallerContext => ({
  accountId: 'account',
  environment: 'test',
  actor: { kind, id: 'key' },
  correlationId: 'request',
  causationId: 'request',
});
const SERVER = by('api-key');
const said = (status: number, body: string, code: number | null = null): { readonly reply: VendorReply } => ({
  reply: { status, body, code, field: null, message: null },
});
const STEP_UP = {
  kind: 'step-up',
  vendorSession: 'v',
  otp: true,
  kba: null,
  ...said(200, '{"otpEnabled": true}'),
} as const;
const KBA = {
  kind: 'step-up',
  vendorSession: 'v',
  otp: false,
  kba: QUESTIONS,
  ...said(200, '{"kiqEnabled":1.0}'),
} as const;
const RIGHT = { kind: 'confirmed', personToken: 'user-token', ...said(200, '{"UserToken":"user-token"}') } as const;
const WRONG = { kind: 'wrong', attemptsRemaining: null, ...said(422, '{"success":false}') } as const;

let persons = 0;
/** The limits count each of these renters alone. */
function anotherRenter(): Applicant {
  persons += 1;
  return { ...RENTER, ssn: String(666_200_000 + persons), phoneNumber: String(4_155_560_000 + persons) };
}

let directory: string;
let store: EmbeddedEventStore;
/** The contents of the vault, by subject and entry. */
let kept: Map<string, string>;
let erased: Set<string>;
let now: Date;
type Verdict = RegistrationVerdict | AnswerVerdict | ResendVerdict;
/** The vendor's answers to the next calls. `dies` stands for an answer that is never recorded. */
let vendorSays: (Verdict | (() => Promise<Verdict>) | 'dies')[];
let vendorKnows: PastOutcome;
/** The form in which the bureau knows a person. */
let bureauNeeds: 'session' | 'applicant';
/** The expiry of every session's report. */
let reportExpiresAt: string | null;
/** Whether the vendor answers in the form of the direct API. */
let vendorSpeaks: boolean;
/** The calls that reached the vendor. */
let asked: unknown[][];
/** The uses that the limits have counted. */
let limits: CountedInMemory;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'verifications-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));
beforeEach(() => {
  store = EmbeddedEventStore.open({ directory: join(directory, newId()), mapSizeBytes: 16 * 2 ** 20 });
  kept = new Map();
  erased = new Set();
  now = new Date('2026-03-01T12:00:00.000Z');
  vendorSays = [];
  vendorKnows = { kind: 'not-executed' };
  bureauNeeds = 'session';
  reportExpiresAt = null;
  vendorSpeaks = true;
  asked = [];
  limits = new CountedInMemory();
});
afterEach(() => store.close());

/** When a worker dies, its caller waits until the time limit. */
class Workers extends CallsAtOnce {
  override make: CallsAtOnce['make'] = (...call) => super.make(...call).catch(() => null);
}

function harness(calls: ExternalCalls = new Workers(), log: EventStore = store) {
  const clock = clockOf(() => now);
  const policy = new ScreeningPolicy({
    vendorTimeoutSeconds: 20,
    otpResendIntervalSeconds: 0,
    stepUpTtlSeconds: 1_800,
    reviewSeconds: 604_800,
    applicantKeptSeconds: 604_800,
    stepUpAttempts: 3,
    blockSeconds: 86_400,
    reportValiditySeconds: 2_592_000,
    submitsPerMinutePerAddress: 1,
    submitsPerMinute: 600,
    submitsPerHourPerPerson: 5,
    wrongAnswersPerHourPerAddress: 20,
    smsPerHour: 2,
    smsPerDay: 12,
  });
  const aggregates = new AggregateStore(log, { applyNow: async () => undefined } as unknown as ReadModels, clock, {
    appendConflict: () => undefined,
  });
  const open = <Value>(subject: string, value: Value): Value => {
    if (erased.has(subject)) throw new SubjectErased();
    return value;
  };
  const vault = {
    ping: async () => undefined,
    installationKey: async () => Buffer.alloc(32, 1),
    put: async (subject: string, entry: string, value: Uint8Array) =>
      void open(subject, kept).set(`${subject} ${entry}`, Buffer.from(value).toString()),
    get: async (subject: string, entry: string) => {
      const value = open(subject, kept).get(`${subject} ${entry}`);
      if (value === 'garbled') throw new NotAuthentic();
      if (value === 'away') throw new Unavailable();
      return value === undefined ? null : Buffer.from(value);
    },
    remove: async (subject: string, entry: string) => void kept.delete(`${subject} ${entry}`),
    erase: async (subject: string) => {
      erased.add(subject);
      for (const entry of kept.keys()) if (entry.startsWith(subject)) kept.delete(entry);
    },
  } as unknown as Vault;
  const says = async (...call: unknown[]): Promise<never> => {
    asked.push(call);
    const verdict = vendorSays.shift();
    if (verdict === undefined || verdict === 'dies') throw new Error('The worker died');
    return (typeof verdict === 'function' ? await verdict() : verdict) as never;
  };
  const vendor = {
    register: async (call: VendorCall, applicant: Applicant) => {
      if ((await call.mayAsk?.()) === false) return { kind: 'timed-out' };
      return says('register', applicant);
    },
    verifyOtp: (_call: unknown, session: string, code: string) => says('otp', session, code),
    verifyKba: (_call: unknown, session: string, answers: unknown) => says('kba', session, answers),
    resendOtp: (_call: unknown, session: string) => says('resend', session),
    outcomeOf: async (_call: unknown, session?: string) => {
      if (session !== undefined) asked.push(['outcome', session]);
      return vendorKnows;
    },
  } as unknown as IdentityVendor;
  const accounts = {
    find: async () => ({ products: ['CONSUMER', 'AGENT', 'PMC'], consumerPays: true, vendors: FIRST_CHOICE }),
    mayReachVendors: () => true,
  } as unknown as Accounts;
  const vendors = {
    knowsPersonBy: (capability: string) => (capability === 'credit' ? bureauNeeds : null),
    speaksDirect: () => vendorSpeaks,
  } as unknown as Vendors;
  const secrets = new SessionSecrets(vault, vendors);
  const answers = new PersonAnswers(aggregates, secrets, policy, clock, { wrongAnswer: () => undefined });
  const submissions = new SubmissionLimits(limits, vault, policy);
  const recorder = new RegistrationRecorder(aggregates, secrets, answers, policy, clock, limits);
  const recording = new ChallengeRecorder(aggregates, answers, limits, clock);
  const sessions = new SessionChallenges(secrets, policy);
  const challenges = new ChallengeService(aggregates, calls, vendor, answers, recording, limits, clock);
  const reports = { expiryOf: async () => reportExpiresAt, isOutOfReach: async () => false } as Reports;
  const screenings = new ScreeningDirectory(aggregates, vault, reports, answers, clock);
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
  const submitting = new SubmitScreeningHandler(
    aggregates,
    new TestTraffic(),
    calls,
    registration,
    vault,
    secrets,
    accounts,
    new SetRoutes(),
    new GrantedSessions(aggregates, grants, reports, screenings, policy, clock),
    new EarlierScreenings(aggregates, reports, screenings, policy, clock),
    submissions,
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
    submissions,
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
  const erase = new ErasePersonHandler(aggregates, vault, holdsIn(store, clock));
  const discard = new DiscardVendorReplyHandler(aggregates, secrets);
  const discardApplicant = new DiscardApplicantHandler(aggregates, secrets, reports, policy, clock);
  const verifications = new PartyVerifications(submitting, step, aggregates, log, secrets);
  const partyPolicy = new PartyPolicy({
    vendorTimeoutSeconds: 20,
    otpResendIntervalSeconds: 0,
    reauthValiditySeconds: 365 * 86_400,
    attempts: 3,
    lockSeconds: 86_400,
  });
  const [ids, partySecrets] = [new PartyIds(vault), new PartySecrets(vault, vendors)];
  const persons = new PersonsOfSessions(aggregates, secrets, submissions, vault);
  const references = new PartyReferences(screenings, accounts, persons, partySecrets);
  const directory = new PartyDirectory(ids, aggregates, screenings, references, partyPolicy, clock);
  const registering = new RegisterPartyHandler(
    new PartyAccess(ids, aggregates, directory, accounts, clock),
    ids,
    aggregates,
    verifications,
    directory,
    screenings,
    partySecrets,
    partyPolicy,
    clock,
  );
  return {
    aggregates,
    registration,
    directory,
    registersParty: (body: string) =>
      registering.execute(
        new RegisterParty(
          { named: { kind: 'renter', id: 'r-1' }, applicant: RENTER, body, sessionId: newId() },
          SERVER,
        ),
      ),
    verifications,
    screenings,
    answers,
    persons,
    settles: (sessionId: string) => settle.execute(new SettleVerification(sessionId, AbortSignal.timeout(20_000))),
    erases: (sessionId: string) => erase.execute(new ErasePerson(sessionId, SERVER)),
    discards: (sessionId: string) => discard.execute(new DiscardVendorReply(sessionId)),
    discardsApplicant: (sessionId: string) => discardApplicant.execute(new DiscardApplicant(sessionId)),
    submitsOnPage: (sessionId: string) =>
      submitting.execute(
        new SubmitScreening(
          { sessionId, applicant: RENTER, grantId: null, clientAddress: '192.0.2.1', partyId: null, said: {} },
          by('platform-token'),
        ),
      ),
    answersOnPage: (sessionId: string, clientAddress: string | null = null) =>
      step.execute(
        new AnswerStepUp(
          { sessionId, attemptId: newId(), given: { method: 'otp', code: '123456' }, clientAddress },
          by('platform-token'),
        ),
      ),
  };
}

/** Registers a session of the party. The vendor gives this verdict. */
async function registered(verdict: RegistrationVerdict | 'dies', applicant = RENTER) {
  const service = harness();
  const sessionId = newId();
  vendorSays.push(verdict);
  const step = await submit(service, sessionId, applicant);
  return { ...service, sessionId, step };
}

async function submit(
  { verifications }: Pick<ReturnType<typeof harness>, 'verifications'>,
  sessionId: string,
  applicant = RENTER,
  partyId = PARTY,
) {
  const admitted = await verifications.admit(sessionId, partyId, applicant, SERVER);
  return verifications.open(admitted, AbortSignal.timeout(20_000));
}

describe('a registration', () => {
  it("is verified when the vendor confirms the person, and passes on the vendor's reply unchanged", async () => {
    const verdict = { kind: 'confirmed', vendorSession: 'v', ...said(200, '{"score": 1.50}') } as const;
    const { step, sessionId, screenings } = await registered(verdict);
    expect(step).toMatchObject({
      end: 'answered',
      step: 'registration',
      reply: { status: 200, body: '{"score": 1.50}', code: null, field: null, message: null },
      session: {
        sessionId,
        status: 'VERIFIED',
        partyId: PARTY,
        verifiedAt: now.toISOString(),
        overallStatus: 'PAYMENT_PENDING',
      },
    });
    expect(await screenings.identityToken(sessionId)).toBe('v');
  });

  // A person must not pay for a report when the bureau cannot be asked about that person.
  it('may get a report only while its reference can be read from the vault; an outage of the vault is an error', async () => {
    const { sessionId, screenings, erases } = await registered({ kind: 'confirmed', vendorSession: 'v' });
    const entry = [...kept.keys()].find((key) => key.endsWith(`screening:${sessionId}`)) ?? '';
    const value = kept.get(entry) ?? '';
    const income = value.replace('"credit"', '"income"');
    for (const [content, expected] of [
      [value, 'possible'],
      [income, 'none'],
      ['garbled', 'none'],
    ] as const) {
      kept.set(entry, content);
      expect(await screenings.reportProspect(sessionId)).toBe(expected);
    }
    kept.delete(entry);
    expect(await screenings.reportProspect(sessionId)).toBe('none');
    kept.set(entry, 'away');
    await expect(screenings.reportProspect(sessionId)).rejects.toThrow(Unavailable);
    await erases(sessionId);
    expect(await screenings.reportProspect(sessionId)).toBe('person-erased');
  });

  it("that needs a step-up stays open, and passes on the vendor's reply", async () => {
    const { step } = await registered(KBA);
    expect(step).toMatchObject({
      end: 'answered',
      reply: { body: '{"kiqEnabled":1.0}' },
      session: { status: 'STEP_UP_REQUIRED' },
    });
  });

  it.each([
    [{ kind: 'refused', reason: 'FRAUD_REPORTED' }, 'answered', { status: 'BLOCKED', block: { until: null } }],
    [{ kind: 'input-refused', input: 'zip' }, 'answered', { status: 'ERROR' }],
    [{ kind: 'unavailable' }, 'unavailable', { status: 'ERROR' }],
    [{ kind: 'unintelligible' }, 'unintelligible', { status: 'ERROR' }],
    [{ kind: 'session-over' }, 'answered', { status: 'EXPIRED' }],
  ] as const)(
    "that the vendor ends with %j passes on the vendor's reply and throws no error",
    async (verdict, end, session) => {
      const refusal = said(422, '{"code":18}', 18);
      const { step } = await registered({ ...verdict, ...refusal } as RegistrationVerdict);
      expect(step).toMatchObject({ end, session, reply: refusal.reply, step: 'registration' });
    },
  );

  it('has no reply when the vendor sent none', async () => {
    expect((await registered({ kind: 'unavailable' })).step).toMatchObject({
      end: 'unavailable',
      reply: null,
      step: null,
    });
    expect((await registered({ kind: 'unintelligible' })).step).toMatchObject({ end: 'unintelligible', reply: null });
  });

  // A failure of the vendor does not count for the person, the address or the phone.
  it('that the vendor does not execute uses up no limit, even if it is repeated', async () => {
    const service = harness();
    for (let time = 0; time < 7; time++) {
      vendorSays.push({ kind: 'unavailable' });
      await expect(service.submitsOnPage(newId())).rejects.toMatchObject({ code: 'service.unavailable' });
    }
    vendorSays.push(STEP_UP);
    expect(await service.submitsOnPage(newId())).toMatchObject({ session: { status: 'STEP_UP_REQUIRED' } });
    await expect(service.submitsOnPage(newId())).rejects.toMatchObject({ code: 'request.rate_limited' });
  });

  it('that the recovery job ends because it never reached the vendor uses up no limit, even if it is repeated', async () => {
    const service = harness();
    for (let time = 0; time < 7; time++) {
      const sessionId = newId();
      vendorSays.push(async () => {
        now = new Date(now.getTime() + 30_000);
        await service.settles(sessionId);
        throw new Error('The worker died');
      });
      await expect(service.submitsOnPage(sessionId)).rejects.toMatchObject({ code: 'service.unavailable' });
      expect((await service.screenings.find(sessionId))?.status).toBe('EXPIRED');
    }
  });

  it('that ends before the vendor answers keeps nothing of the answer', async () => {
    const service = harness();
    const sessionId = newId();
    vendorSays.push(async () => {
      now = new Date(now.getTime() + 30_000);
      await service.settles(sessionId);
      return KBA;
    });
    await expect(service.submitsOnPage(sessionId)).rejects.toMatchObject({ code: 'service.unavailable' });
    expect([...kept.keys()].filter((key) => key.endsWith(`screening:${sessionId}`))).toEqual([]);
  });

  // One use is counted first. If another use were returned twice, the limit would allow one submission too many.
  it('that never reached the vendor uses up no limit, even if several recovery jobs find this', async () => {
    const service = harness();
    const real = async (): Promise<unknown> => {
      limits.endWindows(60);
      vendorSays.push(STEP_UP);
      return service.submitsOnPage(newId());
    };
    await real();
    for (let time = 0; time < 7; time++) {
      const sessionId = newId();
      limits.endWindows(60);
      vendorSays.push('dies');
      expect(await service.submitsOnPage(sessionId)).toMatchObject({ session: { status: 'SUBMITTED' } });
      now = new Date(now.getTime() + 30_000);
      await Promise.all([service.settles(sessionId), harness().settles(sessionId)]);
      await service.settles(sessionId);
    }
    expect(await real()).toMatchObject({ session: { status: 'STEP_UP_REQUIRED' } });
    await expect(real()).rejects.toMatchObject({ code: 'request.rate_limited' });
  });

  describe('a registration whose caller', () => {
    /** Changes the caller's next read of the log after the call. */
    function read(as: (load: () => Promise<never>, settles: () => Promise<void>) => Promise<never>) {
      const calls = new Workers();
      const service = harness(calls);
      const make = calls.make;
      calls.make = (async (call, attempt, input) => {
        await make(call, attempt, input);
        const load = service.aggregates.load.bind(service.aggregates) as (...of: unknown[]) => Promise<never>;
        jest.spyOn(service.aggregates, 'load').mockImplementationOnce((...of) =>
          as(
            () => load(...of),
            () => settlesLater(attempt.id),
          ),
        );
        return null;
      }) as typeof make;
      const settlesLater = (sessionId: string): Promise<void> => {
        now = new Date(now.getTime() + 30_000);
        return service.settles(sessionId);
      };
      const submits = async (verdict: Verdict | 'dies', sessionId = newId()): Promise<unknown> => {
        limits.endWindows(60);
        vendorSays.push(verdict);
        return service.submitsOnPage(sessionId).catch((error: unknown) => error);
      };
      return { ...service, submits, settlesLater };
    }
    const isAway = async (): Promise<never> => {
      throw new Unavailable('the log is away');
    };

    it('uses up no limit when its caller cannot read the log and the vendor never executed it', async () => {
      const { submits, settlesLater } = read(isAway);
      for (let time = 0; time < 7; time++) {
        const sessionId = newId();
        expect(await submits('dies', sessionId)).toMatchObject({ code: 'service.unavailable' });
        await settlesLater(sessionId);
      }
    });

    it('still counts the code that the vendor has sent when its caller cannot read the log', async () => {
      const { submits } = read(isAway);
      for (const code of ['service.unavailable', 'service.unavailable', 'request.rate_limited'])
        expect(await submits(STEP_UP)).toMatchObject({ code });
    });

    it('uses up no limit when its caller reads it as open just before the recovery job ends it', async () => {
      const { submits } = read(async (load, settles) => {
        const loaded = await load();
        await settles();
        return loaded;
      });
      for (let time = 0; time < 7; time++)
        expect(await submits('dies')).toMatchObject({ session: { status: 'SUBMITTED' } });
    });
  });

  it("finds the paid session of the same person that cannot get a report, even before the person's stream has the new session", async () => {
    const { sessionId, screenings, aggregates } = await registered({ kind: 'confirmed', vendorSession: 'v' });
    const payment = { transactionId: 'txn_1', ordinal: 0, observation: 1, status: 'SUCCEEDED' } as const;
    await screenings.paymentProgressed(sessionId, payment, SERVER);
    kept.clear();
    const [submitted] = await store.readStream(`screening-${sessionId}`);
    const data = submitted?.data as unknown as Omit<Extract<SessionCommand, { kind: 'submit' }>, 'kind'>;
    const later = newId();
    const times = { attemptId: newId(), settleAfter: now, giveUpAfter: now };
    await aggregates.execute(screeningSession, later, { kind: 'submit', ...data, ...times }, SERVER);
    expect(await screenings.paidInVain(later)).toEqual([{ sessionId, transactionId: 'txn_1' }]);
    // The payment now counts for another session, which may still get a report.
    const another = await registered({ kind: 'confirmed', vendorSession: 'v' });
    await screenings.paymentProgressed(another.sessionId, payment, SERVER);
    expect(await screenings.paidInVain(later)).toEqual([]);
  });

  it("without an answer in time stays open until the recovery job has asked the vendor, and then has the vendor's reply", async () => {
    const { step, sessionId, verifications, settles } = await registered('dies');
    expect(step).toMatchObject({ end: 'timed-out', reply: null, session: { status: 'SUBMITTED' } });
    expect(await verifications.latest(sessionId)).toMatchObject({ end: 'timed-out' });
    vendorKnows = { kind: 'registration', verdict: STEP_UP };
    now = new Date(now.getTime() + 30_000);
    await settles(sessionId);
    expect(await verifications.latest(sessionId)).toMatchObject({
      end: 'answered',
      reply: STEP_UP.reply,
      step: 'registration',
      session: { status: 'STEP_UP_REQUIRED' },
    });
  });

  it('that never reached the vendor ends as unavailable when the recovery job learns this', async () => {
    const { sessionId, verifications, settles } = await registered('dies');
    now = new Date(now.getTime() + 30_000);
    await settles(sessionId);
    expect(await verifications.latest(sessionId)).toMatchObject({ end: 'unavailable', reply: null });
  });

  describe('a registration that no worker took', () => {
    /** Submits while no worker runs. A worker runs again when the attempt is due. */
    async function left() {
      const calls = new Workers();
      const service = harness(calls);
      const sessionId = newId();
      calls.absent = true;
      const { end } = await submit(service, sessionId);
      calls.absent = false;
      expect([end, asked]).toEqual(['timed-out', []]);
      now = new Date(now.getTime() + 30_000);
      const latest = () => service.verifications.latest(sessionId);
      return { settles: () => service.settles(sessionId), latest, erases: () => service.erases(sessionId) };
    }

    it('is made by the recovery job while its input is kept, and the person can continue', async () => {
      const { settles, latest } = await left();
      vendorSays.push(STEP_UP);
      await settles();
      expect(await latest()).toMatchObject({ end: 'answered', session: { status: 'STEP_UP_REQUIRED' } });
      expect(asked).toEqual([['register', { ...RENTER, phoneNumber: '4155550134' }]]);
    });

    it('is EXPIRED and ends as unavailable when the vendor is unavailable for the recovery job too', async () => {
      const { settles, latest } = await left();
      vendorSays.push({ kind: 'unavailable' });
      await settles();
      expect((await latest())?.session.status).toBe('SUBMITTED');
      await settles();
      expect(await latest()).toMatchObject({ end: 'unavailable', session: { status: 'EXPIRED' } });
    });

    it("is made only once: after a second death, the vendor's record of the call decides", async () => {
      const { settles, latest } = await left();
      vendorSays.push('dies');
      await expect(settles()).rejects.toThrow('The worker died');
      expect((await latest())?.session.status).toBe('SUBMITTED');
      await settles();
      expect((await latest())?.session.status).toBe('EXPIRED');
      expect(asked).toHaveLength(1);
    });

    it('is made only once by two recovery jobs', async () => {
      const { settles, latest } = await left();
      vendorSays.push(STEP_UP);
      await Promise.all([settles(), settles()]);
      expect((await latest())?.session.status).toBe('STEP_UP_REQUIRED');
      expect(asked).toHaveLength(1);
    });

    it('is not made when the person has been erased', async () => {
      const { settles, erases } = await left();
      await erases();
      await settles();
      expect(asked).toEqual([]);
    });

    it('is made through the queue when a worker runs again', async () => {
      const processes = await CallProcesses.start();
      try {
        now = new Date();
        const calls = await processes.caller({ timeoutMs: 1_000 });
        const { verifications, registration, settles } = harness(calls);
        const sessionId = newId();
        expect(await submit({ verifications }, sessionId)).toMatchObject({
          end: 'timed-out',
        });
        await processes.worker([registration]);
        await until('the worker left the job', async () => (await calls.backlog('identity-vendor-test')).waiting === 0);
        now = new Date(now.getTime() + 30_000);
        vendorSays.push({ kind: 'confirmed', vendorSession: 'v' });
        await settles(sessionId);
        expect((await verifications.latest(sessionId))?.session.status).toBe('VERIFIED');
        expect(asked).toHaveLength(1);
        expect(await (await processes.connection()).keys('sealed:*')).toEqual([]);
      } finally {
        await processes.end();
      }
    });
  });

  it("that cannot be queued is EXPIRED, not a vendor's error, and its caller gets 503", async () => {
    const calls = new Workers();
    calls.make = async (call, attempt) => call.recordNotAsked(attempt);
    const service = harness(calls);
    const sessionId = newId();
    await expect(service.submitsOnPage(sessionId)).rejects.toMatchObject({
      code: 'service.unavailable',
      detail: { sessionId },
    });
    expect((await service.screenings.find(sessionId))?.status).toBe('EXPIRED');
    expect((await service.verifications.latest(sessionId))?.end).toBe('unavailable');
    // The failed registration used up no limit.
    await expect(service.submitsOnPage(newId())).rejects.toMatchObject({ code: 'service.unavailable' });
  });

  it('that is repeated under its session id gets the first reply, without another request to the vendor', async () => {
    const { sessionId, verifications } = await registered(STEP_UP);
    expect(await submit({ verifications }, sessionId)).toMatchObject({
      end: 'answered',
      reply: STEP_UP.reply,
    });
    expect(asked).toHaveLength(1);
    vendorSays.push(WRONG);
    await verifications.answer(sessionId, newId(), { method: 'otp', code: '000000' }, SERVER);
    expect(await submit({ verifications }, sessionId)).toMatchObject({
      end: 'not-asked',
      reply: null,
    });
  });

  it('sends the phone to the vendor without formatting, and other fields unchanged for the vendor to judge', async () => {
    await registered(STEP_UP, {
      userType: 'PMC',
      dateOfBirth: 'spring',
      phoneNumber: '+1 (415) 555',
      jscPayload: 'fp',
    });
    expect(asked).toEqual([
      ['register', { userType: 'PMC', dateOfBirth: 'spring', phoneNumber: '+1415555', jscPayload: 'fp' }],
    ]);
  });

  it('counts for the account and the person, not for an address; its code counts for the phone', async () => {
    await registered({ kind: 'confirmed', vendorSession: 'v' });
    await registered({ kind: 'confirmed', vendorSession: 'v' });
    await registered(STEP_UP);
    await registered(STEP_UP);
    await expect(registered(STEP_UP)).rejects.toMatchObject({ code: 'request.rate_limited' });
    expect(asked).toHaveLength(4);
  });

  it('does not count when it is withdrawn or repeated under its session id', async () => {
    const { sessionId, verifications } = await registered({ kind: 'confirmed', vendorSession: 'v' });
    for (let time = 0; time < 5; time++) {
      await verifications.withdraw(await verifications.admit(newId(), PARTY, RENTER, SERVER));
      await submit({ verifications }, sessionId);
    }
    for (let time = 0; time < 3; time++) await registered({ kind: 'confirmed', vendorSession: 'v' });
    expect(asked).toHaveLength(4);
  });

  it('without a phone counts for no phone', async () => {
    const { phoneNumber: _none, ...applicant } = RENTER;
    for (let time = 0; time < 4; time++) await registered(STEP_UP, { ...applicant, ssn: `66612345${time}` });
    expect(asked).toHaveLength(4);
  });

  it('is refused with the end of the lock when the person is locked', async () => {
    const until = '2026-03-01T18:00:00.000Z';
    const { step } = await registered({ kind: 'locked', unblockAt: until, ...said(423, '{}') });
    expect(step).toMatchObject({ end: 'answered', session: { block: { reasonCode: 'TOO_MANY_ATTEMPTS', until } } });
    await expect(registered(STEP_UP)).rejects.toMatchObject({
      code: 'screening.person_blocked',
      detail: { blockedUntil: until },
    });
  });

  it('is stored with its person in one append, before the vendor is called', async () => {
    vendorSays.push({ kind: 'confirmed', vendorSession: 'v' });
    const { appendTogether } = store;
    const appended: string[][] = [];
    store.appendTogether = (appends) => {
      appended.push(appends.flatMap(({ events }) => events.map(({ type }) => type)));
      expect(asked).toEqual([]);
      return appendTogether.call(store, appends);
    };
    await submit(harness(), newId());
    expect(appended[0]).toEqual([
      'ConsentGiven',
      'ScreeningOpened',
      'ScreeningCounted',
      'ScreeningSubmitted',
      'VerificationRequested',
    ]);
    expect(asked).toHaveLength(1);
  });

  it('stores nothing when it is only accepted and then withdrawn', async () => {
    const { verifications } = harness();
    const admitted = await verifications.admit(newId(), PARTY, RENTER, SERVER);
    expect(await store.readAll(null, 10)).toEqual([]);
    await verifications.withdraw(admitted);
    expect([await store.readAll(null, 10), asked]).toEqual([[], []]);
  });

  it('is not accepted when the limits or the person refuse it', async () => {
    await registered({ kind: 'locked', unblockAt: null });
    const head = await store.head();
    const { verifications } = harness();
    for (let time = 0; time < 6; time++)
      await expect(verifications.admit(newId(), PARTY, RENTER, SERVER)).rejects.toBeInstanceOf(DomainError);
    expect(await store.head()).toBe(head);
  });

  it("that is repeated while it is at the vendor waits for the vendor's answer", async () => {
    let answer = (): void => undefined;
    const busy = new Promise<void>((resolve) => (answer = resolve));
    vendorSays.push(() => busy.then(() => STEP_UP));
    const [ours, theirs] = [harness(), harness()];
    const sessionId = newId();
    const first = submit(ours, sessionId);
    await until('the vendor is asked', async () => asked.length === 1);
    const others = [
      submit(theirs, sessionId),
      theirs.verifications.latest(sessionId, AbortSignal.timeout(20_000)),
      ours.verifications.latest(sessionId, AbortSignal.timeout(20_000)),
    ];
    expect((await theirs.verifications.latest(sessionId))?.end).toBe('timed-out');
    expect((await theirs.verifications.latest(sessionId, AbortSignal.abort()))?.end).toBe('timed-out');
    answer();
    for (const step of [await first, ...(await Promise.all(others))])
      expect(step).toMatchObject({ end: 'answered', reply: STEP_UP.reply });
    expect(asked).toHaveLength(1);
  });

  it('is refused when the person has a completed session, unless that session belongs to the same party', async () => {
    const guarded = { kind: 'confirmed', vendorSession: 'v', duplicateGuard: true } as const;
    const agent: Applicant = { ...RENTER, userType: 'AGENT' };
    await registered(guarded, agent);
    expect((await registered(guarded, agent)).step.session.status).toBe('VERIFIED');
    const another = '0d1f3c2b-3a0b-8f0e-9a55-6f0c6b527a90';
    await expect(submit(harness(), newId(), agent, another)).rejects.toMatchObject({
      code: 'screening.already_registered',
    });
  });

  it('needs no payment for agents and organizations', async () => {
    const { step } = await registered({ kind: 'confirmed', vendorSession: 'v' }, { ...RENTER, userType: 'AGENT' });
    expect(step.session).toMatchObject({
      userType: 'AGENT',
      overallStatus: 'COMPLETED',
      paymentStatus: 'NOT_REQUIRED',
    });
  });
});

describe('an answer', () => {
  it("that is right makes the token of the answer the person's reference at the vendors", async () => {
    const { sessionId, verifications, screenings } = await registered(STEP_UP);
    expect(await screenings.identityToken(sessionId)).toBeNull();
    vendorSays.push(RIGHT);
    expect(await verifications.answer(sessionId, newId(), { method: 'otp', code: '123456' }, SERVER)).toMatchObject({
      end: 'answered',
      reply: RIGHT.reply,
      step: 'answers',
      session: { status: 'VERIFIED' },
    });
    const { credit, income } = FIRST_CHOICE;
    expect(await screenings.identityToken(sessionId)).toBe('user-token');
    const subject = {
      person: { kind: 'session', token: 'user-token' },
      purpose: 'TENANT_SCREENING',
      endUserType: null,
      askedBy: SERVER.accountId,
      consent: { acceptedAt: null, termsVersion: null },
    };
    expect(await screenings.reference(sessionId, 'credit')).toEqual({ vendor: credit, subject });
    // The income vendor accepts no tokens of the identity vendor.
    expect(await screenings.reference(sessionId, 'income')).toEqual({ vendor: income, subject: null });
  });

  it("without a token keeps the vendor session as the person's reference", async () => {
    const { sessionId, verifications, screenings } = await registered(STEP_UP);
    vendorSays.push({ kind: 'confirmed' });
    expect(await verifications.answer(sessionId, newId(), { method: 'otp', code: '123456' }, SERVER)).toMatchObject({
      end: 'answered',
      reply: null,
    });
    expect(await screenings.identityToken(sessionId)).toBe('v');
    expect(await screenings.reference(sessionId, 'credit')).toMatchObject({ subject: { person: { token: 'v' } } });
  });

  it('by positions answers the questions in their order', async () => {
    const { sessionId, verifications } = await registered(KBA);
    vendorSays.push(RIGHT);
    await verifications.answer(sessionId, newId(), { method: 'kba', positions: [3, 1] }, SERVER);
    expect(asked.at(-1)).toEqual([
      'kba',
      'v',
      [
        { questionId: 70, answerId: 3 },
        { questionId: 71, answerId: 1 },
      ],
    ]);
  });

  it.each([[[1]], [[1, 2, 3]], [[1, 4]], [[0, 1]], [[1, '2']], [[1.5, 2]], [[]]])(
    'with the positions %j is refused before the vendor receives it',
    async (positions) => {
      const { sessionId, verifications } = await registered(KBA);
      await expect(
        verifications.answer(sessionId, newId(), { method: 'kba', positions }, SERVER),
      ).rejects.toMatchObject({
        code: 'screening.kba_unusable',
        detail: { field: 'kba.answers' },
      });
      expect(asked).toHaveLength(1);
    },
  );

  it('that is wrong leaves the session open; the third blocks the session and the person, and the next does not reach the vendor', async () => {
    const { sessionId, verifications } = await registered(STEP_UP);
    vendorSays.push(WRONG, WRONG, { ...WRONG, ...said(423, '{"locked":true}') });
    const answer = () => verifications.answer(sessionId, newId(), { method: 'otp', code: '000000' }, SERVER);
    for (let time = 0; time < 2; time++)
      expect(await answer()).toMatchObject({ end: 'answered', reply: WRONG.reply, session: { status: 'OTP_PENDING' } });
    const until = '2026-03-02T12:00:00.000Z';
    const blocked = { status: 'BLOCKED', block: { reasonCode: 'TOO_MANY_ATTEMPTS', until } };
    expect(await answer()).toMatchObject({ end: 'answered', reply: { status: 423 }, session: blocked });
    expect(await answer()).toMatchObject({ end: 'not-asked', reply: null, session: blocked });
    expect(asked).toHaveLength(4);
    await expect(verifications.answer(sessionId, newId(), { method: 'resend' }, SERVER)).rejects.toMatchObject({
      code: 'screening.person_blocked',
      detail: { blockedUntil: until },
    });
  });

  it("that the vendor could not judge leaves the session as before, with the vendor's reply if there is one", async () => {
    const { sessionId, verifications } = await registered(STEP_UP);
    vendorSays.push({ kind: 'unavailable' }, { kind: 'unavailable', ...said(503, '{"code":720}', 720) });
    const open = { status: 'STEP_UP_REQUIRED' };
    const answer = () => verifications.answer(sessionId, newId(), { method: 'otp', code: '123456' }, SERVER);
    expect(await answer()).toMatchObject({ end: 'unavailable', reply: null, session: open });
    expect(await answer()).toMatchObject({ end: 'unavailable', reply: { code: 720 }, step: 'answers', session: open });
  });

  it('without a recorded end is settled by the recovery job, with its token', async () => {
    const { sessionId, verifications, screenings, settles } = await registered(STEP_UP);
    vendorSays.push('dies');
    const attemptId = newId();
    expect(await verifications.answer(sessionId, attemptId, { method: 'otp', code: '123456' }, SERVER)).toMatchObject({
      end: 'timed-out',
      reply: null,
    });
    vendorKnows = { kind: 'answer', verdict: RIGHT };
    now = new Date(now.getTime() + 30_000);
    await settles(sessionId);
    expect(await verifications.latest(sessionId)).toMatchObject({ end: 'answered', reply: RIGHT.reply });
    expect(await screenings.identityToken(sessionId)).toBe('user-token');
  });

  it.each<[string, Verdict, number]>([
    ['is right', { kind: 'confirmed' }, 1],
    ['cannot be judged', { kind: 'unavailable' }, 1],
    ['is wrong', WRONG, 0],
  ])(
    'that %s after the session has ended counts as a wrong answer only if it is wrong',
    async (_what, verdict, times) => {
      const service = harness();
      const sessionId = newId();
      vendorSays.push(STEP_UP, async () => {
        await service.aggregates.execute(screeningSession, sessionId, { kind: 'supersede' }, SERVER);
        return verdict;
      });
      await service.submitsOnPage(sessionId);
      const givenBack = jest.spyOn(limits, 'giveBack');
      await service.answersOnPage(sessionId, '192.0.2.1').catch(() => undefined);
      expect(givenBack.mock.calls.filter(([uses]) => uses.length > 0)).toHaveLength(times);
    },
  );

  it('with a token is recorded after the session has ended, but the token is not kept', async () => {
    const service = harness();
    const sessionId = newId();
    const keptOf = () => [...kept.keys()].filter((key) => key.endsWith(`screening:${sessionId}`));
    vendorSays.push(STEP_UP, async () => {
      await service.aggregates.execute(screeningSession, sessionId, { kind: 'supersede' }, SERVER);
      for (const key of keptOf()) kept.delete(key);
      return RIGHT;
    });
    await service.submitsOnPage(sessionId);
    await service.answersOnPage(sessionId).catch(() => undefined);
    expect((await store.readAll(null, 100)).map(({ type }) => type)).toContain('AnswerCleared');
    expect(keptOf()).toEqual([]);
  });

  it.each<PastOutcome>([
    { kind: 'registration', verdict: { kind: 'confirmed', vendorSession: 'w' } },
    { kind: 'resend', verdict: { kind: 'sent' } },
  ])('that the vendor reports as a $kind ends the session when the call is old enough', async (outcome) => {
    const { sessionId, verifications, settles } = await registered(STEP_UP);
    vendorSays.push('dies');
    await verifications.answer(sessionId, newId(), { method: 'otp', code: '123456' }, SERVER);
    vendorKnows = outcome;
    now = new Date(now.getTime() + 30_000);
    await settles(sessionId);
    expect(await verifications.latest(sessionId)).toMatchObject({ session: { status: 'OTP_PENDING' } });
    now = new Date(now.getTime() + 90_000);
    await settles(sessionId);
    expect(await verifications.latest(sessionId)).toMatchObject({ session: { status: 'ERROR' } });
  });

  it('that the recovery job settled before its worker got a reply keeps the token', async () => {
    const { sessionId, verifications, screenings, settles } = await registered(KBA);
    vendorKnows = { kind: 'answer', verdict: RIGHT };
    vendorSays.push(async () => {
      now = new Date(now.getTime() + 30_000);
      await settles(sessionId);
      return { kind: 'unavailable' };
    });
    await verifications.answer(sessionId, newId(), { method: 'kba', positions: [3, 1] }, SERVER);
    expect(await verifications.latest(sessionId)).toMatchObject({ session: { status: 'VERIFIED' } });
    expect(await screenings.identityToken(sessionId)).toBe('user-token');
  });

  it('that is repeated under its id is not judged again, and gets the first reply while that reply is the newest', async () => {
    const { sessionId, verifications } = await registered(STEP_UP);
    vendorSays.push(WRONG, RIGHT);
    const [first, second] = [newId(), newId()];
    for (let time = 0; time < 2; time++)
      expect(await verifications.answer(sessionId, first, { method: 'otp', code: '000000' }, SERVER)).toMatchObject({
        end: 'answered',
        reply: WRONG.reply,
      });
    await verifications.answer(sessionId, second, { method: 'otp', code: '123456' }, SERVER);
    expect(await verifications.answer(sessionId, second, { method: 'otp', code: '123456' }, SERVER)).toMatchObject({
      reply: RIGHT.reply,
    });
    expect(await verifications.answer(sessionId, first, { method: 'otp', code: '000000' }, SERVER)).toMatchObject({
      end: 'not-asked',
      reply: null,
    });
    expect(asked).toHaveLength(3);
  });

  it('is refused after the session has ended', async () => {
    const { sessionId, verifications } = await registered({ kind: 'confirmed', vendorSession: 'v' });
    await expect(
      verifications.answer(sessionId, newId(), { method: 'otp', code: '123456' }, SERVER),
    ).rejects.toMatchObject({
      code: 'screening.session_spent',
    });
  });

  it('that is right is cleared for the person before the session records it', async () => {
    const { sessionId, verifications } = await registered(STEP_UP);
    vendorSays.push(RIGHT);
    await verifications.answer(sessionId, newId(), { method: 'otp', code: '123456' }, SERVER);
    const types = (await store.readAll(null, 1_000)).map(({ type }) => type);
    expect(types.slice(-3)).toEqual(['AnswerCleared', 'AnswerCleared', 'IdentityVerified']);
  });
});

describe('an answer', () => {
  it('that never reached the vendor does not count as a wrong answer of its address', async () => {
    const service = harness();
    vendorSays.push(STEP_UP);
    const { sessionId } = await service.submitsOnPage(newId());
    for (let time = 0; time < 21; time++) {
      vendorSays.push('dies');
      await expect(service.answersOnPage(sessionId, '192.0.2.9')).rejects.toMatchObject({
        code: 'service.upstream_timeout',
      });
      now = new Date(now.getTime() + 30_000);
      await service.settles(sessionId);
    }
    vendorSays.push(RIGHT);
    expect(await service.answersOnPage(sessionId, '192.0.2.9')).toMatchObject({ status: 'VERIFIED' });
  });
});

describe('another code by SMS', () => {
  it('that the vendor never sent does not count for the phone', async () => {
    const { sessionId, verifications, settles } = await registered(STEP_UP);
    const resend = () => verifications.answer(sessionId, newId(), { method: 'resend' }, SERVER);
    for (let time = 0; time < 4; time++) {
      now = new Date(now.getTime() + 30_000);
      vendorSays.push('dies');
      expect(await resend()).toMatchObject({ end: 'timed-out' });
      now = new Date(now.getTime() + 30_000);
      await settles(sessionId);
    }
    vendorSays.push({ kind: 'sent', ...said(200, '{"sent":true}') });
    expect(await resend()).toMatchObject({ end: 'answered', step: 'resend' });
  });

  it("returns the vendor's reply, and counts for the phone", async () => {
    const { sessionId, verifications } = await registered(STEP_UP);
    vendorSays.push({ kind: 'sent', ...said(200, '{"sent":true}') });
    expect(await verifications.answer(sessionId, newId(), { method: 'resend' }, SERVER)).toMatchObject({
      end: 'answered',
      reply: { body: '{"sent":true}' },
      step: 'resend',
      session: { status: 'OTP_PENDING' },
    });
    await expect(verifications.answer(sessionId, newId(), { method: 'resend' }, SERVER)).rejects.toMatchObject({
      code: 'request.rate_limited',
    });
  });
});

// A decision of a vendor is never told as a failure of the vendor.
describe('the direct API, when its vendor answers in another form,', () => {
  beforeEach(() => {
    vendorSpeaks = false;
  });

  const told = (step: VerificationStep | Promise<VerificationStep>, asked: VendorStep): Promise<DirectReply> => {
    const answered = async (): Promise<PartyAnswer> => answerOf(await step, asked, now);
    return directReply(answered());
  };
  const challenge = (sessionId: string, more: object): object => ({
    success: true,
    userAuthenticated: false,
    authSession: sessionId,
    otpEnabled: false,
    kiqEnabled: false,
    clientReferenceId: sessionId,
    kba: null,
    crossCoreFullResponse: null,
    ...more,
  });
  const asking = async (verdict: RegistrationVerdict) => {
    const { sessionId, verifications } = await registered(verdict, anotherRenter());
    return {
      sessionId,
      answers: (verdict: Verdict, given: GivenToParty = { method: 'otp', code: '123456' }): Promise<DirectReply> => {
        vendorSays.push(verdict);
        const answered = verifications.answer(sessionId, newId(), given, SERVER);
        return told(answered, given.method === 'resend' ? 'resend' : 'answers');
      },
    };
  };

  it.each<[verdict: RegistrationVerdict, status: number, code: number, field?: string]>([
    [{ kind: 'refused', reason: 'IDENTITY_NOT_FOUND' }, 422, 3014],
    [{ kind: 'refused', reason: 'FRAUD_REPORTED' }, 422, 2018],
    [{ kind: 'refused', reason: 'SANCTIONS_MATCH' }, 422, 2503],
    [{ kind: 'refused', reason: 'ALERT_LIST_MATCH' }, 422, 1999],
    [{ kind: 'refused', reason: 'DECEASED' }, 422, 3901],
    [{ kind: 'refused', reason: 'MINOR_CONSUMER' }, 422, 2010],
    [{ kind: 'input-refused', input: 'first-name' }, 400, 2013, 'firstName'],
    [{ kind: 'input-refused', input: 'middle-name' }, 400, 2013, 'middleName'],
    [{ kind: 'input-refused', input: 'last-name' }, 400, 2045, 'lastName'],
    [{ kind: 'input-refused', input: 'date-of-birth' }, 400, 2405, 'dob'],
    [{ kind: 'input-refused', input: 'ssn' }, 400, 2013, 'ssn'],
    [{ kind: 'input-refused', input: 'phone' }, 400, 2013, 'phoneNumber'],
    [{ kind: 'input-refused', input: 'email' }, 400, 2013, 'email'],
    [{ kind: 'input-refused', input: 'company-name' }, 400, 2013, 'companyName'],
    [{ kind: 'input-refused', input: 'address' }, 400, 2407, 'currentAddress'],
    [{ kind: 'input-refused', input: 'city' }, 400, 2407, 'currentCity'],
    [{ kind: 'input-refused', input: 'state' }, 400, 2407, 'currentState'],
    [{ kind: 'input-refused', input: 'zip' }, 400, 2049, 'currentZip'],
    [{ kind: 'input-refused', input: 'device' }, 400, 2013, 'jscPayload'],
    [{ kind: 'input-refused', input: 'ssn-missing' }, 400, 2403, 'ssn'],
    [{ kind: 'input-refused', input: 'middle-name-missing' }, 400, 2406, 'middleName'],
    [{ kind: 'input-refused', input: 'generation-code-missing' }, 400, 2404, 'lastName'],
    [{ kind: 'input-refused', input: 'format' }, 400, 2013],
    [{ kind: 'input-refused', input: 'more-identification' }, 400, 2092],
    [{ kind: 'input-refused', input: 'unspecified' }, 400, 2002],
    [{ kind: 'report-expired' }, 422, 2802],
    [{ kind: 'product-not-enabled' }, 422, 2004],
    [{ kind: 'session-over' }, 504, 2500],
    [{ kind: 'locked', unblockAt: '2026-03-02T12:00:00.000Z' }, 423, 300],
    [{ kind: 'locked', unblockAt: null }, 423, 300],
    [{ kind: 'unavailable' }, 502, 131],
    [{ kind: 'unintelligible' }, 502, 131],
    [{ kind: 'timed-out' }, 504, 131],
  ])('answers a registration that ends with %j by %i/%i', async (...[verdict, status, code, field]) => {
    for (const reply of [{}, said(409, '{"state":"declined"}')]) {
      const { step } = await registered({ ...verdict, ...reply }, anotherRenter());
      expect(await told(step, 'registration')).toEqual(refusedWith(status, code, field));
    }
  });

  it('says that the person is confirmed, with references of the service instead of the tokens of the vendor', async () => {
    const { step, sessionId } = await registered({
      kind: 'confirmed',
      vendorSession: 'secret',
      ...said(200, '{"ok":1}'),
    });
    const reply = await told(step, 'registration');
    const { UserToken, ...payload } = reply.payload as { readonly UserToken: string };
    expect(payload).toEqual(challenge(sessionId, { userAuthenticated: true }));
    expect(UserToken).toMatch(/^[0-9a-f-]{36}$/);
    expect(reply).toMatchObject({ status: 200, errors: [] });
    expect(JSON.stringify(reply)).not.toContain('secret');
  });

  it.each([
    [true, null],
    [false, QUESTIONS],
    [true, QUESTIONS],
  ] as const)('says which challenge is open when a code is %s', async (otp, kba) => {
    const { step, sessionId } = await registered({ kind: 'step-up', vendorSession: 'v', otp, kba });
    expect(await told(step, 'registration')).toEqual({
      status: 200,
      payload: challenge(sessionId, {
        otpEnabled: otp,
        kiqEnabled: kba !== null,
        kba: kba && { sessionId, questions: QUESTIONS },
      }),
      errors: [],
    });
  });

  it('counts wrong answers, locks the person at the third, and confirms a right answer', async () => {
    const wrong = { kind: 'wrong', attemptsRemaining: null } as const;
    const both = { kind: 'step-up', vendorSession: 'v', otp: true, kba: QUESTIONS } as const;
    const { sessionId, answers } = await asking(both);
    const open = { success: false, otpEnabled: true, kiqEnabled: true, kba: { sessionId, questions: QUESTIONS } };
    expect(await answers(wrong)).toEqual({
      status: 422,
      payload: challenge(sessionId, { ...open, attemptsRemaining: 2 }),
      errors: [],
    });
    expect(await answers({ kind: 'sent' }, { method: 'resend' })).toEqual({
      status: 200,
      payload: challenge(sessionId, { ...open, success: true }),
      errors: [],
    });
    expect(await answers(wrong, { method: 'kba', positions: [1, 2] })).toEqual({
      status: 422,
      payload: challenge(sessionId, { ...open, otpEnabled: false, attemptsRemaining: 1 }),
      errors: [],
    });
    expect(await answers(wrong, { method: 'kba', positions: [1, 2] })).toEqual(refusedWith(423, 300));

    const other = await asking({ ...both, vendorSession: 'w' });
    expect(await other.answers({ kind: 'confirmed', personToken: 'secret' })).toMatchObject({
      status: 200,
      payload: { userAuthenticated: true, UserToken: expect.not.stringContaining('secret') },
    });
  });

  it.each<[verdict: AnswerVerdict & ResendVerdict, status: number, code: number]>([
    [{ kind: 'refused', reason: 'FRAUD_REPORTED' }, 422, 2018],
    [{ kind: 'session-over' }, 504, 2500],
    [{ kind: 'locked', unblockAt: null }, 423, 300],
    [{ kind: 'unavailable' }, 502, 131],
    [{ kind: 'unintelligible' }, 502, 131],
    [{ kind: 'timed-out' }, 504, 131],
  ])(
    'answers a code that ends with %j by %i/%i, and the same after another code was asked for',
    async (verdict, status, code) => {
      for (const given of [{ method: 'otp', code: '123456' }, { method: 'resend' }] as const) {
        const { answers } = await asking({ kind: 'step-up', vendorSession: 'v', otp: true, kba: null });
        expect(await answers(verdict, given)).toEqual(refusedWith(status, code));
      }
    },
  );

  it('gives an equal request the reply of the first, and begins another registration after a wrong answer', async () => {
    const service = harness();
    vendorSays.push(STEP_UP);
    const first = await directReply(service.registersParty('body'));
    expect(await directReply(service.registersParty('body'))).toEqual(first);
    expect(asked).toHaveLength(1);
    vendorSays.push({ kind: 'wrong', attemptsRemaining: 2 });
    const { authSession } = first.payload as { readonly authSession: string };
    await service.verifications.answer(authSession, newId(), { method: 'otp', code: '000000' }, SERVER);
    vendorSays.push(STEP_UP);
    await directReply(service.registersParty('body'));
    expect(asked).toHaveLength(3);
  });

  it.each<[end: RegistrationVerdict | null, reply: object]>([
    [
      { kind: 'confirmed', vendorSession: 'v' },
      { status: 200, payload: { userAuthenticated: true }, errors: [] },
    ],
    [{ kind: 'refused', reason: 'DECEASED' }, refusedWith(422, 3901)],
    [null, refusedWith(504, 2500)],
  ])('tells an equal request that people check the person, and later that they ended with %j', async (end, reply) => {
    const service = harness();
    const review = { kind: 'under-review', vendorSession: 'v', lookAgainAfter: 60 } as const;
    vendorSays.push(review);
    const first = await directReply(service.registersParty('body'));
    const { authSession } = first.payload as { readonly authSession: string };
    const payload = challenge(authSession, { underReview: true, reviewUntil: expect.any(String) });
    expect(first).toEqual({ status: 200, payload, errors: [] });
    expect(await directReply(service.registersParty('body'))).toEqual(first);
    const other = await directReply(service.registersParty('another body'));
    expect(other).toMatchObject({ status: 409, errors: [{ errorMessage: expect.stringContaining('People') }] });
    const code = service.verifications.answer(authSession, newId(), { method: 'otp', code: '123456' }, SERVER);
    await expect(code).rejects.toMatchObject({ code: 'screening.attempt_in_progress' });

    now = new Date(now.getTime() + 30 * 86_400_000);
    vendorKnows = { kind: 'registration', verdict: end ?? review };
    await service.settles(authSession);
    expect(await directReply(service.registersParty('body'))).toMatchObject(reply);
    expect(asked.filter(([operation]) => operation === 'register')).toHaveLength(1);
    now = new Date(now.getTime() + 86_400_000);
    vendorSays.push(STEP_UP);
    expect(await directReply(service.registersParty('body'))).toMatchObject({ payload: { otpEnabled: true } });
  });

  it('keeps no answer of the vendor', async () => {
    await registered(STEP_UP);
    expect([...kept.keys()].filter((key) => key.includes('vendor-reply'))).toEqual([]);
  });
});

describe('the kept reply of the vendor', () => {
  it('is in the vault before the log has the verdict, and the vault keeps only the newest reply of a session', async () => {
    const { sessionId, verifications } = await registered(STEP_UP);
    vendorSays.push(WRONG);
    const { append } = store;
    let before: string | undefined;
    store.append = (stream, ...rest) => {
      if (rest[1].some(({ type }) => type === 'OtpRejected')) before = replyOf(sessionId);
      return append.call(store, stream, ...rest);
    };
    const attemptId = newId();
    await verifications.answer(sessionId, attemptId, { method: 'otp', code: '000000' }, SERVER);
    expect(JSON.parse(before ?? 'null')).toEqual({ attemptId, step: 'answers', reply: WRONG.reply });
    expect([...kept.keys()].filter((entry) => entry.includes('vendor-reply'))).toHaveLength(1);
  });

  it('is not returned before the log has the verdict, and is returned after the recovery job has recorded the verdict', async () => {
    const { sessionId, verifications, settles } = await registered(STEP_UP);
    vendorSays.push(RIGHT);
    const { appendTogether } = store;
    store.appendTogether = (appends) =>
      appends.some(({ events }) => events.some(({ type }) => type === 'IdentityVerified'))
        ? Promise.reject(new Error('The worker died'))
        : appendTogether.call(store, appends);
    const attemptId = newId();
    expect(await verifications.answer(sessionId, attemptId, { method: 'otp', code: '123456' }, SERVER)).toMatchObject({
      end: 'timed-out',
      reply: null,
      session: { status: 'OTP_PENDING' },
    });
    expect(replyOf(sessionId)).toContain(attemptId);
    store.appendTogether = appendTogether;
    vendorKnows = { kind: 'answer', verdict: RIGHT };
    now = new Date(now.getTime() + 30_000);
    await settles(sessionId);
    expect(await verifications.latest(sessionId)).toMatchObject({ end: 'answered', reply: RIGHT.reply });
  });

  it('does not exist for a session of the platform', async () => {
    const { submitsOnPage } = harness();
    vendorSays.push(STEP_UP);
    await submitsOnPage(newId());
    expect([...kept.keys()].filter((entry) => entry.includes('vendor-reply'))).toEqual([]);
  });

  it('is removed an hour after the session has ended, and the removal does not change the session', async () => {
    const { sessionId, verifications, screenings, discards } = await registered(STEP_UP);
    expect(await heldSince(sessionId)).toBeNull();
    await discards(sessionId);
    expect(await verifications.latest(sessionId)).toMatchObject({ reply: STEP_UP.reply });
    vendorSays.push({ kind: 'refused', reason: 'DECEASED', ...said(422, '{"code":9001}', 9001) });
    await verifications.answer(sessionId, newId(), { method: 'otp', code: '123456' }, SERVER);
    expect(await heldSince(sessionId)).toBe(now.toISOString());
    const before = await screenings.find(sessionId);
    now = new Date(now.getTime() + 3_600_000);
    for (let time = 0; time < 2; time++) await discards(sessionId);
    expect(replyOf(sessionId)).toBeUndefined();
    expect(await heldSince(sessionId)).toBeNull();
    expect(await screenings.find(sessionId)).toEqual(before);
    expect(statusOf(await store.readStream(`screening-${sessionId}`)).updatedAt).toBe(before?.updatedAt);
    expect(await verifications.latest(sessionId)).toMatchObject({ end: 'answered', reply: null, step: 'answers' });
    expect((await store.readAll(null, 100)).filter(({ type }) => type === 'VendorReplyDiscarded')).toHaveLength(1);
  });

  it('is not listed for removal in a session of the platform', async () => {
    const { submitsOnPage } = harness();
    const sessionId = newId();
    vendorSays.push({ kind: 'confirmed', vendorSession: 'v', ...said(200, '{}') });
    await submitsOnPage(sessionId);
    expect(await heldSince(sessionId)).toBeNull();
  });

  it('is erased with the person', async () => {
    const { sessionId, verifications, screenings, erases } = await registered(STEP_UP);
    await erases(sessionId);
    expect(kept.size).toBe(0);
    expect(await verifications.latest(sessionId)).toMatchObject({
      end: 'not-asked',
      reply: null,
      session: { status: 'EXPIRED' },
    });
    expect(await screenings.identityToken(sessionId)).toBeNull();
  });

  it('does not exist when the person was erased during the call to the vendor', async () => {
    const service = harness();
    const sessionId = newId();
    vendorSays.push('dies');
    await submit(service, sessionId);
    const { subjectId } = (await service.screenings.find(sessionId))!;
    erased.add(subjectId);
    vendorKnows = { kind: 'registration', verdict: STEP_UP };
    now = new Date(now.getTime() + 30_000);
    await service.settles(sessionId);
    expect(await service.verifications.latest(sessionId)).toMatchObject({ end: 'unintelligible', reply: null });
    expect(kept.size).toBe(0);
  });
});

describe('for an operator', () => {
  const checkoutOf = (sessionId: string): CheckoutCommand => ({
    kind: 'open',
    now,
    guardSeconds: 60,
    newest: { sessionId, registeredAt: now.toISOString() },
    attemptId: newId(),
    subjectId: newId(),
    currency: 'usd',
    connectedAccount: null,
    amountCents: 3_500,
    applicationFeeCents: 0,
    reportFlags: {},
  });
  const about = (sessionId: string) => eventsAbout(sessionId, store, { idsIn: async () => [] });

  it("the timeline of a session names its party, and contains nothing of the vendor's replies", async () => {
    const { sessionId, verifications, aggregates, erases } = await registered(STEP_UP);
    const registration = { sessionId, bodyHash: 'hash', registeredAt: now.toISOString() };
    await aggregates.execute(party, PARTY, { kind: 'register', of: 'renter', after: null, ...registration }, SERVER);
    await aggregates.execute(checkout, PARTY, checkoutOf(sessionId), SERVER);
    vendorSays.push(RIGHT);
    await verifications.answer(sessionId, newId(), { method: 'otp', code: '123456' }, SERVER);
    await erases(sessionId);
    const told = await about(sessionId);
    expect(told.filter(({ stream }) => stream.endsWith(PARTY))).toMatchObject([
      { stream: `party-${PARTY}`, type: 'PartyRegistered' },
      { stream: `checkout-${PARTY}`, type: 'CheckoutOpened' },
    ]);
    expect(told.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['ScreeningOpened', 'StepUpRequired', 'IdentityVerified', 'SubjectKeyDestroyed']),
    );
    expect(JSON.stringify(told)).not.toMatch(/user-token|otpEnabled|Ada|666123456|4155550134/);
  });

  it('the timeline of a session of the platform has no party', async () => {
    const { submitsOnPage } = harness();
    const sessionId = newId();
    vendorSays.push(STEP_UP);
    await submitsOnPage(sessionId);
    expect((await about(sessionId)).filter(({ stream }) => /^(party|checkout)-/.test(stream))).toEqual([]);
  });
});

describe('a page with a token of the same account', () => {
  it('does not find the session of a party, and neither does a server of another account', async () => {
    const { sessionId, verifications, answersOnPage } = await registered(STEP_UP);
    const hidden = { code: 'screening.not_found' };
    await expect(answersOnPage(sessionId)).rejects.toMatchObject(hidden);
    for (const stranger of [{ accountId: 'other' }, { environment: 'live' } as const])
      await expect(
        verifications.answer(sessionId, newId(), { method: 'otp', code: '123456' }, { ...SERVER, ...stranger }),
      ).rejects.toMatchObject(hidden);
    expect(asked).toHaveLength(1);
  });
});

const statusOf = (history: readonly RecordedEvent[]) => foldState(screeningStatus, history)!;

/** The time from which the recovery job counts the hour, or null if the job has nothing to remove. */
async function heldSince(sessionId: string): Promise<string | null> {
  const entries = screeningStatus.entries!(statusOf(await store.readStream(`screening-${sessionId}`)));
  return entries.find(({ list }) => list === 'vendorReply=held')?.sort ?? null;
}

/** The kept reply, as the vault stores it. */
function replyOf(sessionId: string): string | undefined {
  return [...kept].find(([entry]) => entry.endsWith(`vendor-reply:${sessionId}`))?.[1];
}

describe('a person who re-authenticates', () => {
  const limit = { attemptsAllowed: 3, lockSeconds: 86_400 };

  it('shares the count of wrong answers with the sessions: one in a session and two here lock the person and the session', async () => {
    const first = await registered({ kind: 'confirmed', vendorSession: 'known' });
    const { sessionId, verifications, persons, answers } = await registered(STEP_UP);
    vendorSays.push(WRONG);
    await verifications.answer(sessionId, newId(), { method: 'otp', code: '000000' }, SERVER);
    const ids = await persons.idsOf(first.sessionId, 'known', SERVER);
    expect(ids).toHaveLength(3);
    const answer = () => ({ holderId: PARTY, attemptId: newId(), limit, context: SERVER });
    const until = new Date(now.getTime() + 86_400_000).toISOString();
    for (const lockedUntil of [null, until]) {
      const given = answer();
      expect(await answers.admit(ids, given, now)).toEqual({ kind: 'admitted' });
      for (let time = 0; time < 2; time++)
        expect(await answers.countWrong(ids, given, null)).toMatchObject({ lockedUntil });
    }
    expect(await answers.lockedUntil(ids, SERVER)).toBe(until);
    expect(await answers.admit(ids, answer(), now)).toEqual({ kind: 'locked', lockedUntil: until });
    expect((await verifications.latest(sessionId))?.session).toMatchObject({ status: 'BLOCKED', block: { until } });
    const events = await eventsAbout(sessionId, store, { idsIn: async () => [] });
    expect(events.filter(({ type }) => type === 'WrongAnswerCounted')).toHaveLength(3);
  });

  it('has a name derived from the token, which depends on the environment and not on the session', async () => {
    const { sessionId, persons } = await registered({ kind: 'confirmed', vendorSession: 'known' });
    const [personId, ssn, named] = await persons.idsOf(sessionId, 'known', SERVER);
    expect(await persons.idsOf(null, 'known', SERVER)).toEqual([named]);
    expect(await persons.idsOf(null, 'known', { ...SERVER, environment: 'live' })).not.toEqual([named]);
    expect(new Set([personId, ssn, named]).size).toBe(3);
  });

  it('has the newest token as the reference at every vendor that accepts it, until the erasure', async () => {
    const { sessionId, persons, screenings, erases } = await registered({ kind: 'confirmed', vendorSession: 'known' });
    await persons.keepToken(sessionId, 'renewed');
    expect(await screenings.identityToken(sessionId)).toBe('renewed');
    expect(await screenings.reference(sessionId, 'credit')).toMatchObject({
      subject: { person: { token: 'renewed' } },
    });
    await erases(sessionId);
    await persons.keepToken(sessionId, 'later');
    expect(await screenings.identityToken(sessionId)).toBeNull();
  });

  it('gets codes that count for the phone of the session, like every other code to that phone', async () => {
    const { sessionId, persons } = await registered(STEP_UP);
    const codes = await persons.codesTo(sessionId, ['person', 'named'], SERVER);
    await limits.admit(codes);
    await expect(limits.admit(codes)).rejects.toMatchObject({ code: 'request.rate_limited' });
    await limits.admit(await persons.codesTo(null, ['named'], SERVER));
  });

  it('is refused while one of the names is locked, and refused answers use up no attempt under the other names', async () => {
    const { sessionId, persons, answers } = await registered({ kind: 'confirmed', vendorSession: 'known' });
    const ids = await persons.idsOf(sessionId, 'known', SERVER);
    const answer = { holderId: PARTY, attemptId: newId(), limit, context: SERVER };
    await answers.countWrong(ids.slice(1), answer, new Date(now.getTime() + 1_000).toISOString());
    for (let number = 0; number < 4; number++)
      expect(await answers.admit(ids, { ...answer, attemptId: newId() }, now)).toMatchObject({ kind: 'locked' });
    now = new Date(now.getTime() + 1_000);
    expect(await answers.admit(ids, { ...answer, attemptId: newId() }, now)).toEqual({ kind: 'admitted' });
  });
});

describe('a process that dies while it registers a party', () => {
  /** A log that executes one append after the other, until the process dies after this event. */
  const dyingAfter = (last: string): EventStore => {
    const append: EventStore['append'] = async (...appended) => {
      const outcome = await store.append(...appended);
      if (appended[2].some(({ type }) => type === last)) throw new Error('The process died');
      return outcome;
    };
    return Object.assign(Object.create(store) as EventStore, {
      append,
      appendTogether: async (appends: Parameters<EventStore['appendTogether']>[0]) => {
        for (const { stream, expected, events } of appends) await append(stream, expected, events);
        return { outcome: 'appended', revisions: [] };
      },
      readStream: (...read: Parameters<EventStore['readStream']>) => store.readStream(...read),
    });
  };
  const typesOf = async (): Promise<string[]> => (await store.readAll(null, 100)).map(({ type }) => type);
  const renter = (service: ReturnType<typeof harness>) => service.directory.find('renter', 'r-1', SERVER);

  it.each(['PartyRegistered', 'ScreeningOpened', 'ScreeningCounted'])(
    'after %s leaves a registration that the same request continues, with one session and one vendor call',
    async (last) => {
      await expect(harness(new Workers(), dyingAfter(last)).registersParty('body')).rejects.toThrow('died');
      expect((await typesOf()).at(-1)).toBe(last);
      await expect(harness().registersParty('another')).rejects.toMatchObject({
        code: 'screening.attempt_in_progress',
      });
      vendorSays.push({ kind: 'confirmed', vendorSession: 'v', ...said(200, '{"score":1}') });
      expect(await harness().registersParty('body')).toMatchObject({ json: '{"score":1}', accepted: true });
      const types = await typesOf();
      for (const once of ['PartyRegistered', 'ScreeningOpened', 'ScreeningCounted', 'ScreeningSubmitted'])
        expect([once, types.filter((type) => type === once)]).toEqual([once, [once]]);
      expect(await renter(harness())).toMatchObject({ authenticated: true });
      expect(asked).toHaveLength(1);
    },
  );

  it.each(['PartyRegistered', 'ScreeningOpened', 'ScreeningCounted'])(
    'after %s does no harm when the request is not sent again',
    async (last) => {
      vendorSays.push({ kind: 'confirmed', vendorSession: 'v', ...said(200, '{"score":1}') });
      await harness().registersParty('first');
      const before = await renter(harness());
      await expect(harness(new Workers(), dyingAfter(last)).registersParty('second')).rejects.toThrow('died');
      expect(before).toMatchObject({ authenticated: true, sessionIds: [expect.any(String)] });
      expect(await renter(harness())).toEqual(before);
      now = new Date(now.getTime() + 20_000);
      vendorSays.push({ kind: 'confirmed', vendorSession: 'w', ...said(200, '{"score":2}') });
      expect(await harness().registersParty('third')).toMatchObject({ json: '{"score":2}' });
      expect(asked).toHaveLength(2);
    },
  );

  it('after it has opened the session leaves the session to the recovery job, which ends the session if the vendor was never called', async () => {
    await expect(harness(new Workers(), dyingAfter('VerificationRequested')).registersParty('body')).rejects.toThrow(
      'died',
    );
    const [{ stream } = { stream: '' }] = (await store.readAll(null, 100)).slice(-1);
    now = new Date(now.getTime() + 30_000);
    await harness().settles(stream.replace('screening-', ''));
    expect((await typesOf()).at(-1)).toBe('SessionExpired');
    vendorSays.push({ kind: 'confirmed', vendorSession: 'v', ...said(200, '{"score":1}') });
    expect(await harness().registersParty('body')).toMatchObject({ json: '{"score":1}' });
    expect(asked).toHaveLength(1);
  });
});

const HOUR_MS = 3_600_000;
const later = (ms: number): void => void (now = new Date(now.getTime() + ms));

describe('a person under review by people at the vendor', () => {
  const REVIEW = { kind: 'under-review', vendorSession: 'review-1', lookAgainAfter: 60 } as const;
  const says = (verdict: RegistrationVerdict): void => void (vendorKnows = { kind: 'registration', verdict });

  it('is verified days later, and the vendor is asked by its own session', async () => {
    const { settles, screenings, sessionId } = await registered(REVIEW);
    expect(await screenings.find(sessionId)).toMatchObject({
      status: 'SUBMITTED',
      reviewUntil: new Date(now.getTime() + 7 * 24 * HOUR_MS).toISOString(),
    });
    says(REVIEW);
    await settles(sessionId);
    expect(asked).toHaveLength(1);
    for (const pause of [60_000, HOUR_MS, 24 * HOUR_MS]) {
      later(pause);
      await settles(sessionId);
    }
    expect(await screenings.find(sessionId)).toMatchObject({ status: 'SUBMITTED' });
    says({ kind: 'confirmed', vendorSession: 'confirmed-1' });
    later(24 * HOUR_MS);
    await settles(sessionId);
    expect(asked.slice(1)).toEqual([1, 2, 3, 4].map(() => ['outcome', 'review-1']));
    expect(await screenings.find(sessionId)).toMatchObject({ status: 'VERIFIED', reviewUntil: null });
    expect(await screenings.identityToken(sessionId)).toBe('confirmed-1');
  });

  it('is not asked about more often while the vendor is away, and leaves no secrets when the time is over', async () => {
    const { settles, screenings, sessionId } = await registered(REVIEW);
    vendorKnows = { kind: 'unavailable' };
    later(60_000);
    for (let time = 0; time < 3; time++) await settles(sessionId);
    expect(asked).toHaveLength(2);
    later(7 * 24 * HOUR_MS);
    await settles(sessionId);
    expect(await screenings.find(sessionId)).toMatchObject({ status: 'EXPIRED' });
    expect([...kept.keys()].filter((key) => key.endsWith(`screening:${sessionId}`))).toEqual([]);
  });

  it('leaves no secrets when the people refuse the person', async () => {
    const { settles, screenings, sessionId } = await registered(REVIEW);
    says({ kind: 'refused', reason: 'IDENTITY_NOT_FOUND' });
    later(HOUR_MS);
    await settles(sessionId);
    expect(await screenings.find(sessionId)).toMatchObject({ status: 'BLOCKED' });
    expect([...kept.keys()].filter((key) => key.endsWith(`screening:${sessionId}`))).toEqual([]);
  });

  it('can be erased, and a later decision has no effect', async () => {
    const { settles, erases, screenings, sessionId } = await registered(REVIEW);
    await erases(sessionId);
    says({ kind: 'confirmed', vendorSession: 'confirmed-1' });
    later(HOUR_MS);
    await settles(sessionId);
    expect(await screenings.find(sessionId)).toMatchObject({ status: 'EXPIRED' });
    expect(asked).toHaveLength(1);
  });

  it('gets the same session for the same id, and a refusal for another id, without a second call', async () => {
    // Each process counts for itself, so that the limit of the address plays no part.
    const another = () => {
      limits = new CountedInMemory();
      return harness();
    };
    const sessionId = newId();
    vendorSays.push(REVIEW);
    await another().submitsOnPage(sessionId);
    expect(await another().submitsOnPage(sessionId)).toMatchObject({ sessionId, session: { status: 'SUBMITTED' } });
    later(HOUR_MS);
    await expect(another().submitsOnPage(newId())).rejects.toMatchObject({ code: 'screening.attempt_in_progress' });
    expect(asked).toHaveLength(1);
  });
});

describe('a person for a bureau that needs the person itself', () => {
  const entries = (): string[] => [...kept.keys()].filter((key) => key.includes(' applicant:'));
  const person = { kind: 'applicant', applicant: { firstName: 'Ada', ssn: '666123456' } };
  const CONFIRMED = { kind: 'confirmed', vendorSession: 'v' } as const;

  beforeEach(() => void (bureauNeeds = 'applicant'));

  it('is sealed before the vendor is called, without the facts about the device', async () => {
    let before: unknown = null;
    const service = harness();
    vendorSays.push(async () => {
      before = entries().map((key) => JSON.parse(kept.get(key) ?? '') as unknown);
      return CONFIRMED;
    });
    await submit(service, newId(), { ...RENTER, ipAddress: '192.0.2.1', hdimPayload: 'hd' });
    const { jscPayload: _, phoneNumber: _phone, ...known } = RENTER;
    expect(before).toEqual([{ ...known, phoneNumber: '4155550134' }]);
  });

  it('has a report when the verdict is learnt late', async () => {
    const { settles, screenings, sessionId } = await registered('dies');
    vendorKnows = { kind: 'registration', verdict: CONFIRMED };
    later(30_000);
    await settles(sessionId);
    expect(await screenings.find(sessionId)).toMatchObject({ status: 'VERIFIED' });
    expect(await screenings.reportProspect(sessionId)).toBe('possible');
    expect(await screenings.reference(sessionId, 'credit')).toMatchObject({ subject: { person } });
  });

  it('is forgotten when the report is released', async () => {
    const { discardsApplicant, screenings, sessionId } = await registered(CONFIRMED);
    await discardsApplicant(sessionId);
    expect(entries()).toHaveLength(1);
    reportExpiresAt = '2026-04-01T12:00:00.000Z';
    await discardsApplicant(sessionId);
    expect(entries()).toEqual([]);
    expect(await screenings.reportProspect(sessionId)).toBe('possible');
  });

  it('is forgotten when the time is over, and then has no report', async () => {
    const { discardsApplicant, screenings, sessionId } = await registered(CONFIRMED);
    later(7 * 24 * HOUR_MS - 1);
    await discardsApplicant(sessionId);
    expect(await screenings.reportProspect(sessionId)).toBe('possible');
    later(1);
    await discardsApplicant(sessionId);
    expect(entries()).toEqual([]);
    expect(await screenings.reportProspect(sessionId)).toBe('none');
    expect(await screenings.reference(sessionId, 'credit')).toMatchObject({ subject: null });
  });

  it.each<[string, RegistrationVerdict]>([
    ['refuses the person', { kind: 'refused', reason: 'IDENTITY_NOT_FOUND' }],
    ['is away', { kind: 'unavailable' }],
  ])('is forgotten when the session ends because the vendor %s', async (_why, verdict) => {
    await registered(verdict);
    expect(entries()).toEqual([]);
  });

  it('is forgotten when the vendor never executed the registration', async () => {
    const { settles, sessionId } = await registered('dies');
    expect(entries()).toHaveLength(1);
    later(30_000);
    await settles(sessionId);
    expect(entries()).toEqual([]);
  });

  it('is not sealed when the bureau takes sessions, and for an agent, who has no report', async () => {
    await registered(CONFIRMED, { ...RENTER, userType: 'AGENT' });
    bureauNeeds = 'session';
    await registered(CONFIRMED);
    expect(entries()).toEqual([]);
  });

  it('has no report after an erasure', async () => {
    const { erases, screenings, sessionId } = await registered(CONFIRMED);
    await erases(sessionId);
    expect(await screenings.reportProspect(sessionId)).toBe('person-erased');
    expect(await screenings.reference(sessionId, 'credit')).toBeNull();
  });
});

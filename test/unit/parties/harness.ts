// The use cases of parties on a real log. The test can delay the vendor's answers and kill processes. The sessions are
// fakes.
import { join } from 'node:path';
import { ChallengeRecorder } from '../../../src/challenges/application/challenge-recorder.js';
import { ChallengeService } from '../../../src/challenges/application/challenge-service.js';
import { EmbeddedEventStore } from '../../../src/adapters/event-store/embedded.js';
import type { Applicant } from '../../../src/kernel/applicant.js';
import type { CallerContext } from '../../../src/kernel/context.js';
import { type DomainError } from '../../../src/kernel/domain-error.js';
import { derivedId, newId } from '../../../src/kernel/ids.js';
import { FIRST_CHOICE } from '../../../src/kernel/vendor-choice.js';
import type { VendorReply } from '../../../src/kernel/vendor-reply.js';
import {
  AnswerRegistration,
  AnswerRegistrationHandler,
} from '../../../src/modules/parties/application/answer-registration.js';
import { AskForStanding, EndAuthentication } from '../../../src/modules/parties/application/authentication-calls.js';
import {
  LookAfterAuthentication,
  LookAfterAuthenticationHandler,
} from '../../../src/modules/parties/application/look-after-authentication.js';
import {
  DiscardPartyReplies,
  DiscardPartyRepliesHandler,
} from '../../../src/modules/parties/application/discard-party-replies.js';
import { PartyAccess, type NamedParty } from '../../../src/modules/parties/application/party-access.js';
import type { PartyAnswer } from '../../../src/modules/parties/application/party-answer.js';
import { PartyDirectory } from '../../../src/modules/parties/application/party-directory.js';
import { PartyIds } from '../../../src/modules/parties/application/party-ids.js';
import { PartyPolicy } from '../../../src/modules/parties/application/party-policy.js';
import { PartyReferences } from '../../../src/modules/parties/application/party-references.js';
import { PartySecrets } from '../../../src/modules/parties/application/party-secrets.js';
import { PartyChallenges, ReauthenticationCall } from '../../../src/modules/parties/application/party-challenges.js';
import { Reauthenticate, ReauthenticateHandler } from '../../../src/modules/parties/application/reauthenticate.js';
import { RegisterParty, RegisterPartyHandler } from '../../../src/modules/parties/application/register-party.js';
import {
  SettleReauthentication,
  SettleReauthenticationHandler,
} from '../../../src/modules/parties/application/settle-reauthentication.js';
import {
  StoreVendorToken,
  StoreVendorTokenHandler,
} from '../../../src/modules/parties/application/store-vendor-token.js';
import { PersonsOfSessions } from '../../../src/modules/screening/application/persons-of-sessions.js';
import { PersonAnswers } from '../../../src/modules/screening/application/person-answers.js';
import type { ScreeningPolicy } from '../../../src/modules/screening/application/screening-policy.js';
import { SubmissionLimits } from '../../../src/modules/screening/application/submission-limits.js';
import type { SessionSecrets } from '../../../src/modules/screening/application/session-secrets.js';
import { AggregateStore } from '../../../src/platform/aggregates/aggregate-store.js';
import { TestTraffic } from '../../../src/platform/aggregates/test-traffic.js';
import type { EventStore } from '../../../src/ports/event-store.js';
import type { IdentityVendor, PastOutcome } from '../../../src/ports/identity-vendor.js';
import type { ReadModels } from '../../../src/ports/read-models.js';
import { SubjectErased, type Vault } from '../../../src/ports/vault.js';
import type { Vendors } from '../../../src/ports/vendors.js';
import type { Accounts } from '../../../src/published/accounts.js';
import type { AnswerCounts } from '../../../src/published/answer-counts.js';
import type { KnownPersons } from '../../../src/published/known-persons.js';
import type { ScreeningFacts, Screenings } from '../../../src/published/screenings.js';
import {
  Verifications,
  type AdmittedSubmission,
  type GivenToParty,
  type VerificationStep,
} from '../../../src/published/verifications.js';
import { CallsAtOnce } from '../../support/external-calls.js';
import { CountedInMemory } from '../../support/rate-limiter.js';
import { clockOf } from '../../support/clock.js';

export const AGENT: NamedParty = { kind: 'agent', id: 'agent-7' };
export const TEST: CallerContext = {
  accountId: 'account',
  environment: 'test',
  actor: { kind: 'api-key', id: 'key' },
  correlationId: 'request',
  causationId: 'request',
};
export const LIVE: CallerContext = { ...TEST, environment: 'live' };
const APPLICANT: Applicant = { userType: 'AGENT', lastName: 'Example', jscPayload: 'fp' };
export const RIGHT = '123456';
/** The real time for which a caller waits for the attempt of another caller. */
const TIMEOUT_SECONDS = 2;

export class ProcessDied extends Error {}

export function said(body: object, status = 200, code: number | null = null): VendorReply {
  return { status, body: JSON.stringify(body), code, field: null, message: null };
}

interface PlayedSubmission extends AdmittedSubmission {
  readonly partyId: string;
  readonly context: CallerContext;
}

/** Sessions as the screening module would make them. The test decides how the sessions end. */
export class PlayedVerifications extends Verifications {
  /** The end of the next registration. */
  ends: Pick<VerificationStep, 'end'> & { status: ScreeningFacts['status']; guard?: true } = {
    end: 'answered',
    status: 'VERIFIED',
  };
  /** The user type of the persons who register. */
  userType: ScreeningFacts['userType'] = 'AGENT';
  /** The vendor answers a registration when this promise resolves. */
  busy: Promise<void> = Promise.resolve();
  /** A session is opened when this promise resolves. */
  opening: Promise<void> = Promise.resolve();
  /** Refuses the next submission before an event is stored. */
  refusal: DomainError | null = null;
  /** The number of calls to the vendor. */
  registrations = 0;
  /** The number of submissions that are neither opened nor withdrawn. */
  admitted = 0;
  readonly steps = new Map<string, VerificationStep>();
  private readonly partyOf = new Map<string, string>();

  constructor(private readonly now: () => Date) {
    super();
  }

  override async admit(
    sessionId: string,
    partyId: string,
    _applicant: Applicant,
    context: CallerContext,
  ): Promise<PlayedSubmission> {
    if (this.refusal) throw this.refusal;
    this.admitted += 1;
    return { sessionId, partyId, context };
  }

  override async open(admitted: PlayedSubmission, within: AbortSignal): Promise<VerificationStep> {
    const { sessionId, partyId, context } = admitted;
    await this.opening;
    if (this.steps.has(sessionId)) {
      await this.withdraw();
      return (await this.latest(sessionId, within)) ?? this.stepOf(sessionId);
    }
    this.admitted -= 1;
    this.registrations += 1;
    this.partyOf.set(sessionId, partyId);
    const session = this.facts(sessionId, context);
    this.steps.set(sessionId, { session, end: 'timed-out', reply: null, decision: null, reviewed: false, step: null });
    await this.busy;
    this.settle(sessionId);
    return this.stepOf(sessionId);
  }

  override async withdraw(): Promise<void> {
    this.admitted -= 1;
  }

  /** Records the vendor's answer immediately. */
  settle(sessionId: string): void {
    const { session } = this.stepOf(sessionId);
    const { end, status, guard = false } = this.ends;
    const answered = end === 'answered';
    const at = this.now().toISOString();
    this.steps.set(sessionId, {
      session: {
        ...session,
        status: end === 'timed-out' ? 'SUBMITTED' : status,
        verifiedAt: answered && status === 'VERIFIED' ? at : null,
        duplicateGuard: guard,
        updatedAt: at,
      },
      end,
      reply: answered ? said({ registration: sessionId }) : null,
      decision: null,
      reviewed: false,
      step: answered ? 'registration' : null,
    });
  }

  /** Changes the facts of a session and its latest step. */
  goesOn(
    sessionId: string,
    session: Partial<ScreeningFacts>,
    step: Partial<Omit<VerificationStep, 'session'>> = {},
  ): void {
    const before = this.stepOf(sessionId);
    this.steps.set(sessionId, { ...before, ...step, session: { ...before.session, ...session } });
  }

  override answer = (sessionId: string): Promise<VerificationStep> => Promise.resolve(this.stepOf(sessionId));

  override async latest(sessionId: string, within?: AbortSignal): Promise<VerificationStep | null> {
    const latest = (): VerificationStep | null => this.steps.get(sessionId) ?? null;
    while (within?.aborted === false && latest()?.end === 'timed-out') await new Promise(setImmediate);
    return latest();
  }

  private stepOf(sessionId: string): VerificationStep {
    const step = this.steps.get(sessionId);
    if (!step) throw new Error(`No session ${sessionId}`);
    return step;
  }

  private facts(sessionId: string, { accountId, environment }: CallerContext): ScreeningFacts {
    const at = this.now().toISOString();
    return {
      sessionId,
      accountId,
      environment,
      userType: this.userType,
      endUserType: null,
      purpose: null,
      subjectId: `subject-of-${sessionId}`,
      status: 'SUBMITTED',
      paymentStatus: 'NOT_REQUIRED',
      overallStatus: 'SUBMITTED',
      paidBy: null,
      vendors: FIRST_CHOICE,
      block: null,
      verifiedAt: null,
      duplicateGuard: false,
      reviewUntil: null,
      intendedRecipientId: null,
      grantId: null,
      partyId: this.partyOf.get(sessionId) ?? null,
      createdAt: at,
      updatedAt: at,
    };
  }
}

export class Harness {
  readonly store: EmbeddedEventStore;
  readonly limiter = new CountedInMemory();
  now = new Date('2026-03-01T12:00:00.000Z');
  readonly verifications: PlayedVerifications;
  /** The contents of the vault, by subject and entry. */
  readonly kept = new Map<string, Uint8Array>();
  readonly erased = new Set<string>();
  /** The expiry of reports by session. The expiry may be in the past or the future. */
  readonly reportExpiries = new Map<string, string>();
  /** The outcome that the vendor has for each attempt. */
  readonly vendorAnswers = new Map<string, PastOutcome>();
  /** The person that each session confirms. Each session without an entry confirms a different person. */
  readonly personOf = new Map<string, string>();
  /** The newest token of a session's person, by session, when the vendor has renewed the token. */
  readonly tokens = new Map<string, string>();
  /** The tokens and inputs that the vendor received. */
  readonly vendorHeard: unknown[] = [];
  /** The sessions for whose reports the service cannot ask the bureau. */
  readonly unreachable = new Set<string>();
  /** The vendor answers when this promise resolves. */
  vendorIsBusy: Promise<void> = Promise.resolve();
  /** Whether the vendor's answers have the form of the direct API. */
  speaks = true;
  private readonly vendors = { speaksDirect: () => this.speaks } as unknown as Vendors;
  /** The vendor's next answers, instead of a verdict of the fake vendor. */
  vendorSays: object | null = null;

  constructor(directory: string) {
    this.store = EmbeddedEventStore.open({ directory: join(directory, newId()), mapSizeBytes: 16 * 2 ** 20 });
    this.verifications = new PlayedVerifications(() => this.now);
  }

  private aggregatesOn(log: EventStore): AggregateStore {
    const clock = clockOf(() => this.now);
    return new AggregateStore(log, { applyNow: async () => undefined } as unknown as ReadModels, clock, {
      appendConflict: () => undefined,
    });
  }

  later(seconds: number): void {
    this.now = new Date(this.now.getTime() + seconds * 1_000);
  }

  async events(): Promise<string[]> {
    return (await this.store.readAll(null, 1_000)).map(({ type }) => type);
  }

  /**
   * One of several processes on the same log. `dies` names the append at which the process is killed, before the append
   * is stored.
   */
  process(dies: (types: readonly string[]) => boolean = () => false) {
    const clock = clockOf(() => this.now);
    const { store, verifications } = this;
    const policy = new PartyPolicy({
      vendorTimeoutSeconds: TIMEOUT_SECONDS,
      otpResendIntervalSeconds: 30,
      reauthValiditySeconds: 365 * 86_400,
      attempts: 3,
      lockSeconds: 86_400,
    });
    const log: EventStore = Object.assign(Object.create(store) as EventStore, {
      append: async (...[stream, expected, events]: Parameters<EventStore['append']>) => {
        if (dies(events.map(({ type }) => type))) throw new ProcessDied();
        return store.append(stream, expected, events);
      },
      readStream: (...read: Parameters<EventStore['readStream']>) => store.readStream(...read),
    });
    const aggregates = this.aggregatesOn(log);
    const secrets = new PartySecrets(this.vault(), this.vendors);
    const screenings = {
      find: async (sessionId: string) => verifications.steps.get(sessionId)?.session ?? null,
      identityToken: async (sessionId: string) => {
        const { verifiedAt = null, subjectId = '' } = verifications.steps.get(sessionId)?.session ?? {};
        return verifiedAt === null || this.erased.has(subjectId)
          ? null
          : (this.tokens.get(sessionId) ?? `token-of-${sessionId}`);
      },
      reportProspect: async (sessionId: string) => {
        const expiresAt = this.reportExpiries.get(sessionId);
        const isOver = expiresAt !== undefined && this.now >= new Date(expiresAt);
        return isOver || this.unreachable.has(sessionId) ? 'none' : 'possible';
      },
    } as unknown as Screenings;
    const accounts = {
      find: async () => ({ vendors: FIRST_CHOICE }),
      mayReachVendors: () => true,
    } as unknown as Accounts;
    const ids = new PartyIds(this.vault());
    const counts = this.counts(aggregates);
    const persons = this.persons(aggregates);
    const references = new PartyReferences(screenings, accounts, persons, secrets);
    const directory = new PartyDirectory(ids, aggregates, screenings, references, policy, clock);
    const access = new PartyAccess(ids, aggregates, directory, accounts, clock);
    const recorder = new ChallengeRecorder(aggregates, counts, this.limiter, clock);
    const calls = new CallsAtOnce();
    const vendor = this.vendor();
    const parties = new PartyChallenges(references, secrets, persons, policy);
    const challenges = new ChallengeService(aggregates, calls, vendor, counts, recorder, this.limiter, clock);
    const reauthentication = new ReauthenticateHandler(
      access,
      references,
      aggregates,
      challenges,
      parties,
      new ReauthenticationCall(parties, aggregates, vendor, recorder),
      secrets,
      counts,
      persons,
      policy,
      clock,
    );
    const reauthenticate = (
      step: Reauthenticate['request']['step'],
      { named = AGENT, attemptId = newId(), context = TEST } = {},
    ): Promise<PartyAnswer> => reauthentication.execute(new Reauthenticate({ named, attemptId, step }, context));
    const register = new RegisterPartyHandler(
      access,
      ids,
      aggregates,
      verifications,
      directory,
      screenings,
      secrets,
      policy,
      clock,
    );
    const answerRegistration = new AnswerRegistrationHandler(access, verifications, clock);
    const look = new LookAfterAuthenticationHandler(
      access,
      references,
      calls,
      new AskForStanding(vendor, references, secrets),
      new EndAuthentication(vendor, references, secrets),
      secrets,
      aggregates,
      policy,
      clock,
    );
    const storing = new StoreVendorTokenHandler(access, aggregates, new TestTraffic(), secrets, clock);
    const discard = new DiscardPartyRepliesHandler(aggregates, secrets, clock);
    const settle = new SettleReauthenticationHandler(aggregates, challenges, parties, clock);
    return {
      calls,
      directory,
      ids,
      register: (body = 'body', { named = AGENT, context = TEST, sessionId = newId() } = {}): Promise<PartyAnswer> =>
        register.execute(new RegisterParty({ named, applicant: APPLICANT, body, sessionId }, context)),
      answerRegistration: (given: GivenToParty = { method: 'otp', code: RIGHT }): Promise<PartyAnswer> =>
        answerRegistration.execute(new AnswerRegistration({ named: AGENT, attemptId: newId(), given }, TEST)),
      authenticate: (named = AGENT, context = TEST): Promise<PartyAnswer> =>
        reauthenticate({ method: 'start', device: { jscPayload: 'fp' } }, { named, context }),
      answer: (code: unknown, { attemptId = newId(), named = AGENT } = {}): Promise<PartyAnswer> =>
        reauthenticate({ method: 'otp', code }, { named, attemptId }),
      answerKba: (positions: readonly unknown[]): Promise<PartyAnswer> => reauthenticate({ method: 'kba', positions }),
      resend: (named = AGENT): Promise<PartyAnswer> => reauthenticate({ method: 'resend' }, { named }),
      look: (asked: 'status' | 'expiry', named = AGENT): Promise<PartyAnswer> =>
        look.execute(new LookAfterAuthentication({ named, asked, attemptId: newId() }, TEST)),
      storeToken: (named: NamedParty, token: string) => storing.execute(new StoreVendorToken(named, token, TEST)),
      settle: async (named = AGENT): Promise<void> => {
        const partyId = (await ids.of(named.kind, named.id, TEST)) ?? '';
        await settle.execute(new SettleReauthentication(partyId, AbortSignal.timeout(20_000)));
      },
      discardReplies: async (named = AGENT): Promise<void> =>
        discard.execute(new DiscardPartyReplies((await ids.of(named.kind, named.id, TEST)) ?? '')),
      facts: (named = AGENT, context = TEST) => directory.find(named.kind, named.id, context),
    };
  }

  /** The real counter of the screening module. */
  private counts(aggregates: AggregateStore): AnswerCounts {
    const clock = clockOf(() => this.now);
    const policy = {} as ScreeningPolicy;
    return new PersonAnswers(aggregates, {} as SessionSecrets, policy, clock, { wrongAnswer: () => undefined });
  }

  private persons(aggregates: AggregateStore): KnownPersons {
    const limits = new SubmissionLimits(this.limiter, this.vault(), {
      limits: { smsPerHour: 6, smsPerDay: 12 },
    } as ScreeningPolicy);
    const persons = new PersonsOfSessions(aggregates, {} as SessionSecrets, limits, this.vault());
    const codesTo = persons.codesTo.bind(persons, null);
    persons.codesTo = (sessionId, personIds, environment) =>
      codesTo(sessionId === null ? personIds : [`phone-of-${this.personOf.get(sessionId) ?? sessionId}`], environment);
    persons.keepToken = async (sessionId, token) => void this.tokens.set(sessionId, token);
    const idsOfToken = persons.idsOf.bind(persons, null);
    persons.idsOf = async (sessionId, token, owner) => [
      ...(sessionId === null ? [] : [derivedId('person', this.personOf.get(sessionId) ?? sessionId)]),
      ...(await idsOfToken(token, owner)),
    ];
    return persons;
  }

  private vault(): Vault {
    const { kept, erased } = this;
    const open = (subject: string): void => {
      if (erased.has(subject)) throw new SubjectErased();
    };
    return {
      installationKey: async () => Buffer.alloc(32, 1),
      put: async (subject: string, entry: string, value: Uint8Array) => {
        open(subject);
        kept.set(`${subject} ${entry}`, value);
      },
      get: async (subject: string, entry: string) => {
        open(subject);
        return kept.get(`${subject} ${entry}`) ?? null;
      },
      remove: async (subject: string, entry: string) => void kept.delete(`${subject} ${entry}`),
    } as unknown as Vault;
  }

  private vendor(): IdentityVendor {
    const answered = async (
      kind: PastOutcome['kind'],
      { attemptId }: { attemptId: string },
      verdict: object,
    ): Promise<object> => {
      const says = this.vendorSays ?? verdict;
      this.vendorAnswers.set(attemptId, { kind, verdict: says } as unknown as PastOutcome);
      await this.vendorIsBusy;
      return says;
    };
    const judged = (right: boolean): object =>
      right
        ? { kind: 'confirmed', reply: said({ userAuthenticated: true }) }
        : { kind: 'wrong', attemptsRemaining: null, reply: said({ userAuthenticated: false }, 422) };
    return {
      reauthenticate: async (call: { attemptId: string }, token: string, device: object) => {
        this.vendorHeard.push({ token, device });
        return answered('reauthentication', call, {
          kind: 'step-up',
          vendorSession: `vs-${call.attemptId}`,
          otp: true,
          kba: [{ id: 9, text: 'Which?', answers: [1, 2].map((id) => ({ id, text: `Answer ${id}` })) }],
          reply: said({ otpEnabled: true }),
        });
      },
      verifyOtp: async (call: { attemptId: string }, session: string, code: string) => {
        this.vendorHeard.push({ session, code });
        return answered('answer', call, judged(code === RIGHT));
      },
      verifyKba: async (call: { attemptId: string }, session: string, answers: readonly { answerId: number }[]) => {
        this.vendorHeard.push({ session, answers });
        return answered('answer', call, judged(answers[0]?.answerId === 2));
      },
      resendOtp: async (call: { attemptId: string }) =>
        answered('resend', call, { kind: 'sent', reply: said({ otpEnabled: true }) }),
      authenticationStatus: async () =>
        this.vendorSays ?? { kind: 'standing', authenticated: true, reply: said({ authenticated: true }) },
      expireAuthentication: async () =>
        this.vendorSays ?? {
          kind: 'expired',
          reply: { status: 200, body: 'null', code: null, field: null, message: null },
        },
      outcomeOf: async ({ attemptId }: { attemptId: string }) =>
        this.vendorAnswers.get(attemptId) ?? { kind: 'not-executed' },
    } as unknown as IdentityVendor;
  }
}

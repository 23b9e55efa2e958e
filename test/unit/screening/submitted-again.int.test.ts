// Submissions, also those that are repeated because the process died before its reply was stored
// (docs/contract/general.md#idempotency-keys).
import 'reflect-metadata';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ChallengeRecorder } from '../../../src/challenges/application/challenge-recorder.js';
import { EmbeddedEventStore } from '../../../src/adapters/event-store/embedded.js';
import { SystemClock } from '../../../src/kernel/clock.js';
import type { CallerContext } from '../../../src/kernel/context.js';
import { newId } from '../../../src/kernel/ids.js';
import { FIRST_CHOICE } from '../../../src/kernel/vendor-choice.js';
import { PersonAnswers } from '../../../src/modules/screening/application/person-answers.js';
import { ScreeningPolicy } from '../../../src/modules/screening/application/screening-policy.js';
import { SessionSecrets } from '../../../src/modules/screening/application/session-secrets.js';
import { SubmissionLimits } from '../../../src/modules/screening/application/submission-limits.js';
import { EarlierScreenings } from '../../../src/modules/screening/application/earlier-screenings.js';
import { GrantedSessions } from '../../../src/modules/screening/application/granted-sessions.js';
import { Registration } from '../../../src/modules/screening/application/registration.js';
import type { SaidByPage } from '../../../src/modules/screening/application/submission.js';
import type { Applicant } from '../../../src/kernel/applicant.js';
import {
  SubmitScreening,
  SubmitScreeningHandler,
} from '../../../src/modules/screening/application/submit-screening.js';
import { RegistrationRecorder } from '../../../src/modules/screening/application/registration-recorder.js';
import { SessionChallenges } from '../../../src/modules/screening/application/session-challenges.js';
import { AggregateStore } from '../../../src/platform/aggregates/aggregate-store.js';
import { TestTraffic } from '../../../src/platform/aggregates/test-traffic.js';
import type { IdentityVendor, RegistrationVerdict } from '../../../src/ports/identity-vendor.js';
import type { EventStore, StreamAppend, TogetherOutcome } from '../../../src/ports/event-store.js';
import type { ReadModels } from '../../../src/ports/read-models.js';
import type { Vendors } from '../../../src/ports/vendors.js';
import type { Reports } from '../../../src/published/reports.js';
import type { Screenings } from '../../../src/published/screenings.js';
import type { BegunSession, SessionGrants } from '../../../src/published/session-grants.js';
import type { Vault } from '../../../src/ports/vault.js';
import { CallsAtOnce } from '../../support/external-calls.js';
import { CountedInMemory } from '../../support/rate-limiter.js';
import type { VendorCall } from '../../../src/ports/vendor-call.js';
import { NO_SHADOW, SetRoutes } from '../../support/vendor-routes.js';
import type { Accounts } from '../../../src/published/accounts.js';

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

function asBefore(appends: readonly StreamAppend[]): readonly StreamAppend[] {
  return appends
    .filter(({ events }) => events[0]?.type !== 'ScreeningCounted')
    .map((append) => ({
      ...append,
      events: append.events.map((event) => {
        const { countedAs: _, registeredAs: __, ...data } = event.data;
        return { ...event, data };
      }),
    }));
}

describe('a submission', () => {
  let directory: string;
  let store: EmbeddedEventStore;
  let verdict: RegistrationVerdict | 'dies';
  /** The verdicts of the vendors that have their own. */
  let verdicts: Readonly<Record<string, RegistrationVerdict>>;
  /** The vendors that were called, in order. */
  let asked: (string | undefined)[];
  let routes: SetRoutes;
  let calls: number;
  /** The applicant of the vendor's latest call. */
  let told: Applicant;
  let externalCalls: CallsAtOnce;
  let begun: BegunSession | null;
  /** The number of joint appends that are stored before the process dies. */
  let diesAfter: number;
  /** Whether sessions are stored without the other names of their persons, like in earlier releases. */
  let storesAsBefore: boolean;
  let kept: Map<string, Uint8Array>;
  let submit: (
    sessionId: string,
    applicant?: Applicant,
    grantId?: string | null,
    said?: SaidByPage,
    context?: CallerContext,
  ) => Promise<{ readonly sessionId: string; readonly session: { readonly status: string } }>;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'submit-'));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));
  /** Whether the bureau can be asked about the person. */
  let reportCanBeHad: boolean;
  /** The expiry of the released report; null if no report exists. */
  let reportExpiresAt: string | null;

  beforeEach(() => {
    reportCanBeHad = true;
    reportExpiresAt = null;
    store = EmbeddedEventStore.open({ directory: join(directory, newId()), mapSizeBytes: 16 * 2 ** 20 });
    calls = 0;
    verdicts = {};
    asked = [];
    routes = new SetRoutes();
    const clock = new SystemClock();
    const policy = new ScreeningPolicy({
      vendorTimeoutSeconds: 20,
      otpResendIntervalSeconds: 30,
      stepUpTtlSeconds: 1_800,
      reviewSeconds: 604_800,
      applicantKeptSeconds: 604_800,
      stepUpAttempts: 3,
      blockSeconds: 86_400,
      reportValiditySeconds: 2_592_000,
      submitsPerMinutePerAddress: 30,
      submitsPerMinute: 600,
      submitsPerHourPerPerson: 5,
      wrongAnswersPerHourPerAddress: 20,
      smsPerHour: 6,
      smsPerDay: 12,
    });
    diesAfter = Infinity;
    storesAsBefore = false;
    const log = Object.assign(Object.create(store) as EventStore, {
      readStream: (...read: Parameters<EventStore['readStream']>) => store.readStream(...read),
      append: (...append: Parameters<EventStore['append']>) => store.append(...append),
      // A dying process stores the first appends, like a store that executes one append after the other.
      appendTogether: async (appends: readonly StreamAppend[]): Promise<TogetherOutcome> => {
        if (storesAsBefore) return store.appendTogether(asBefore(appends));
        if (diesAfter >= appends.length) return store.appendTogether(appends);
        for (const { stream, expected, events } of appends.slice(0, diesAfter))
          await store.append(stream, expected, events);
        throw new Error('the process died');
      },
    });
    const aggregates = new AggregateStore(log, { applyNow: async () => undefined } as unknown as ReadModels, clock, {
      appendConflict: () => undefined,
    });
    kept = new Map();
    const vault = {
      ping: async () => undefined,
      installationKey: async () => Buffer.alloc(32, 1),
      put: async (subject: string, entry: string, value: Uint8Array) => void kept.set(subject + entry, value),
    } as unknown as Vault;
    const vendor = {
      register: async (call: VendorCall, applicant: Applicant) => {
        calls += 1;
        asked.push(call.vendor);
        const own = verdicts[call.vendor ?? ''];
        if (own !== undefined) return own;
        told = applicant;
        if (verdict === 'dies') throw new Error('the process died');
        return verdict;
      },
    } as unknown as IdentityVendor;
    const accounts = {
      find: async () => ({ products: ['CONSUMER', 'AGENT'], consumerPays: false, vendors: FIRST_CHOICE }),
      mayReachVendors: () => true,
    } as unknown as Accounts;
    const grants = {
      find: async (grantId: string) =>
        grantId === 'grant'
          ? { grantId, recipientAccountId: null, userType: 'CONSUMER', endUserType: null, applicationFeeCents: null }
          : null,
      begin: async (_grantId: string, sessionId: string, replaces: string | null) => {
        if ((begun?.sessionId ?? null) === replaces) begun = { sessionId, begunAt: clock.now().toISOString() };
        return begun;
      },
      moveDetails: async () => undefined,
    } as unknown as SessionGrants;
    begun = null;
    const reports = { expiryOf: async () => reportExpiresAt } as unknown as Reports;
    const secrets = new SessionSecrets(vault, {
      knowsPersonBy: () => 'session',
      speaksDirect: () => true,
    } as unknown as Vendors);
    externalCalls = new CallsAtOnce();
    const answers = new PersonAnswers(aggregates, secrets, policy, clock, { wrongAnswer: () => undefined });
    const limiter = new CountedInMemory();
    const submissions = new SubmissionLimits(limiter, vault, policy);
    const recorder = new RegistrationRecorder(aggregates, secrets, answers, policy, clock, limiter);
    const recording = new ChallengeRecorder(aggregates, answers, limiter, clock);
    const screenings = {
      reportProspect: async () => (reportCanBeHad ? 'possible' : 'none'),
    } as unknown as Screenings;
    const handler = new SubmitScreeningHandler(
      aggregates,
      new TestTraffic(),
      externalCalls,
      new Registration(
        aggregates,
        vendor,
        recorder,
        recording,
        new SessionChallenges(secrets, policy),
        secrets,
        routes,
        NO_SHADOW,
        clock,
      ),
      vault,
      secrets,
      accounts,
      routes,
      new GrantedSessions(aggregates, grants, reports, screenings, policy, clock),
      new EarlierScreenings(aggregates, reports, screenings, policy, clock),
      submissions,
      answers,
      policy,
      clock,
    );
    submit = (sessionId, applicant = APPLICANT, grantId = null, said = {}, context = CONTEXT) =>
      handler.execute(
        new SubmitScreening({ sessionId, applicant, grantId, clientAddress: null, partyId: null, said }, context),
      );
  });

  afterEach(() => store.close());

  it("is refused while its account's limit of vendor calls is used up: nothing is stored, requested or counted", async () => {
    verdict = { kind: 'confirmed', vendorSession: 'v' };
    externalCalls.full = true;
    for (let time = 0; time < 7; time++)
      await expect(submit(newId(), APPLICANT, 'grant')).rejects.toMatchObject({
        code: 'request.rate_limited',
        detail: { retryAfterSeconds: 1 },
      });
    expect([await store.readAll(null, 10), calls, begun]).toEqual([[], 0, null]);
  });

  describe('whose route has a fallback', () => {
    const second = { identity: 'acme', credit: 'acme', income: 'voie' };
    const confirmed: RegistrationVerdict = { kind: 'confirmed', vendorSession: 'v' };
    beforeEach(() => {
      routes.second = second;
    });

    it('goes to the fallback when the first vendor is unavailable, and the log records the vendors before the call', async () => {
      verdicts = { idv: { kind: 'unavailable' }, acme: confirmed };
      const { session } = await submit(newId());
      expect(session).toMatchObject({ status: 'VERIFIED', vendors: second });
      expect(asked).toEqual(['idv', 'acme']);
      const types = (await store.readAll(null, 20)).map(({ type }) => type);
      expect(types.slice(-3)).toEqual(['VendorFellBack', 'IdentityVerified', 'ScreeningCompleted']);
    });

    it('ends when the fallback is unavailable too, without a third call', async () => {
      verdict = { kind: 'unavailable' };
      await expect(submit(newId())).rejects.toMatchObject({ code: 'service.unavailable' });
      expect(asked).toEqual(['idv', 'acme']);
    });

    // The first vendor may have executed and billed these calls.
    it.each(['timed-out', 'unintelligible'] as const)('stays with a first vendor whose verdict is %s', async (kind) => {
      verdicts = { idv: { kind }, acme: confirmed };
      expect((await submit(newId())).session).toMatchObject({ vendors: FIRST_CHOICE });
      expect(asked).toEqual(['idv']);
    });

    it('goes on at the fallback when the process died before the call of the fallback', async () => {
      const sessionId = newId();
      verdicts = { idv: { kind: 'unavailable' } };
      verdict = 'dies';
      await expect(submit(sessionId)).rejects.toThrow('the process died');
      const stored = await store.readStream(`screening-${sessionId}`);
      expect(stored.at(-1)).toMatchObject({ type: 'VendorFellBack', data: { vendors: second } });
    });
  });

  it('goes to the vendors of the route', async () => {
    routes.chosen = { identity: 'acme', credit: 'acme', income: 'voie' };
    verdict = { kind: 'confirmed', vendorSession: 'v' };
    expect((await submit(newId())).session).toMatchObject({ vendors: routes.chosen });
    expect(asked).toEqual(['acme']);
  });

  it('releases its vendor call when it is repeated', async () => {
    const sessionId = newId();
    verdict = { kind: 'confirmed', vendorSession: 'v' };
    await submit(sessionId);
    await submit(sessionId);
    expect(externalCalls.admitted.size).toBe(0);
  });

  it.each([
    ["O'Brien", '666123456', '424edcbc-1c65-864f-9ea2-9651f0ac5c32', "O'Brien"],
    ['O\u2019Brien', '666123456', '424edcbc-1c65-864f-9ea2-9651f0ac5c32', "O'Brien"],
    ['O\u02bcBrien', '666123456', '85767bba-06e3-88a3-817d-b73b395006b0', "O'Brien"],
    ['\u02bbAkana', '666123456', '3cc72dd7-2014-806f-8a46-586175cfbdb1', "'Akana"],
    ['Nun\u0303ez', '666123456', '6c85ad63-ebba-8260-9964-82423434f49e', 'Nu\u00f1ez'],
    ['Jean-Luc', '666123456', '3bc535b2-1ca4-8b93-8786-f70b35eabfe6', 'Jean-Luc'],
    ['O\u02bcBrien', undefined, '2b5ea782-7054-8986-96fe-1ed65d3ec0b4', "O'Brien"],
  ])(
    'belongs for %j (SSN %s) to the person that this spelling has always named, and the vendor gets the simplified name',
    async (lastName, ssn, personId, folded) => {
      verdict = { kind: 'confirmed', vendorSession: 'v' };
      const { ssn: _, ...withoutSsn } = APPLICANT;
      await submit(newId(), { ...withoutSsn, userType: 'AGENT', lastName, ...(ssn !== undefined && { ssn }) });
      expect((await store.readAll(null, 2))[1]).toMatchObject({
        type: 'ScreeningOpened',
        stream: `person-${personId}`,
      });
      expect(told.lastName).toBe(folded);
    },
  );

  it('gets the same session when it is repeated, without another request to the vendor', async () => {
    const sessionId = newId();
    verdict = { kind: 'confirmed', vendorSession: 'v' };
    const first = await submit(sessionId);
    expect(await submit(sessionId)).toMatchObject({ sessionId, session: { status: first.session.status } });
    expect(calls).toBe(1);
  });

  it('opens the session once when a process died between the append for the person and the append for the session', async () => {
    const sessionId = newId();
    verdict = { kind: 'confirmed', vendorSession: 'v' };
    diesAfter = 2;
    await expect(submit(sessionId)).rejects.toThrow('died');
    expect((await store.readAll(null, 10)).map(({ type }) => type)).toEqual(['ConsentGiven', 'ScreeningOpened']);
    diesAfter = Infinity;
    expect(await submit(sessionId)).toMatchObject({ sessionId, session: { status: 'VERIFIED' } });
    const types = (await store.readAll(null, 10)).map(({ type }) => type);
    expect(types.filter((type) => type === 'ScreeningOpened' || type === 'ScreeningSubmitted')).toHaveLength(2);
    expect([calls, externalCalls.admitted.size]).toEqual([1, 0]);
  });

  it("under the id of another person's session is refused, and nothing about the new person is stored", async () => {
    const sessionId = newId();
    verdict = { kind: 'confirmed', vendorSession: 'v' };
    await submit(sessionId);
    const head = await store.head();
    await expect(submit(sessionId, { ...APPLICANT, ssn: '666123457' })).rejects.toMatchObject({
      code: 'request.idempotency_key_reused',
    });
    expect([await store.head(), calls, externalCalls.admitted.size]).toEqual([head, 1, 0]);
  });

  it("that is repeated waits for the recovery job when the vendor's verdict was not recorded", async () => {
    const sessionId = newId();
    verdict = 'dies';
    await expect(submit(sessionId)).rejects.toThrow('died');
    expect(await submit(sessionId)).toMatchObject({ sessionId, session: { status: 'SUBMITTED' } });
    expect(calls).toBe(1);
  });

  it('that is repeated is refused neither because of itself nor because of its own lock; a submission under another id is refused', async () => {
    const sessionId = newId();
    verdict = { kind: 'confirmed', vendorSession: 'v', duplicateGuard: true };
    await submit(sessionId);
    expect(await submit(sessionId)).toMatchObject({ session: { status: 'VERIFIED' } });
    await expect(submit(newId())).rejects.toMatchObject({ code: 'screening.already_registered' });

    const locked = newId();
    const other: Applicant = { ...APPLICANT, ssn: '666123457' };
    verdict = { kind: 'locked', unblockAt: null };
    await expect(submit(locked, other)).rejects.toMatchObject({ code: 'screening.person_blocked' });
    expect(await submit(locked, other)).toMatchObject({ session: { status: 'BLOCKED' } });
    await expect(submit(newId(), other)).rejects.toMatchObject({ code: 'screening.person_blocked' });
    expect(calls).toBe(2);
  });

  it("is not a duplicate when the person's report is not possible", async () => {
    verdict = { kind: 'confirmed', vendorSession: 'v', duplicateGuard: true };
    await submit(newId());
    await expect(submit(newId())).rejects.toMatchObject({ code: 'screening.already_registered' });
    reportCanBeHad = false;
    expect(await submit(newId())).toMatchObject({ session: { status: 'VERIFIED' } });
  });

  it('keeps the address of the unit with the person, and the log says only that there is one', async () => {
    verdict = { kind: 'confirmed', vendorSession: 'v' };
    const unitAddress = { address: '7 Elm Street', city: 'Springfield', state: 'IL', zip: '62701' };
    const [sessionId, without] = [newId(), newId()];
    await submit(sessionId, APPLICANT, null, { unitAddress });
    const [submitted] = await store.readStream(`screening-${sessionId}`);
    const { subjectId } = submitted?.data as { readonly subjectId: string };
    expect(submitted?.data).toMatchObject({ unitAddressKept: true });
    expect(JSON.stringify(await store.readAll(null, 100))).not.toMatch(/Elm|Springfield|62701/);
    expect(JSON.parse(Buffer.from(kept.get(`${subjectId}unit-address:${sessionId}`)!).toString())).toEqual({
      unitAddress,
    });
    await submit(without);
    expect((await store.readStream(`screening-${without}`))[0]?.data).not.toHaveProperty('unitAddressKept');
    expect(kept.has(`${subjectId}unit-address:${without}`)).toBe(false);
  });

  it('belongs to the same person for all accents, hyphens, spaces and cases of the name', async () => {
    verdict = { kind: 'confirmed', vendorSession: 'token' } as RegistrationVerdict;
    const personOf = async (firstName: string, lastName = 'Example'): Promise<unknown> => {
      const id = newId();
      await submit(id, { ...APPLICANT, firstName, lastName });
      return (await store.readStream(`screening-${id}`))[0]?.data;
    };
    const [first, ...spelled] = (await Promise.all([
      personOf('Annabella'),
      personOf('anna-bella'),
      personOf('Ánna bella.'),
      personOf('Someone'),
    ])) as { readonly personId: string }[];
    expect(spelled.map(({ personId }) => personId === first?.personId)).toEqual([true, true, false]);
  });

  it('opens one session for a grant, and another only when the first has ended without success', async () => {
    const [first, second, third] = [newId(), newId(), newId()];
    const another = { ...APPLICANT, ssn: '666123458' };
    verdict = { kind: 'refused', reason: 'IDENTITY_NOT_FOUND' };
    await expect(submit(first, APPLICANT, 'grant')).rejects.toMatchObject({
      code: 'screening.identity_not_found',
    });
    verdict = { kind: 'confirmed', vendorSession: 'v' };
    expect(await submit(second, another, 'grant')).toMatchObject({ session: { status: 'VERIFIED', grantId: 'grant' } });
    expect(await submit(second, another, 'grant')).toMatchObject({ sessionId: second });
    await expect(submit(third, another, 'grant')).rejects.toMatchObject({ code: 'request.forbidden' });
    expect(calls).toBe(2);
  });

  it('opens another session for a grant when the person is verified, but has no report and cannot get one', async () => {
    verdict = { kind: 'confirmed', vendorSession: 'v' };
    await submit(newId(), APPLICANT, 'grant');
    const isAnother = { code: 'request.forbidden' };
    await expect(submit(newId(), APPLICANT, 'grant')).rejects.toMatchObject(isAnother);
    reportCanBeHad = false;
    reportExpiresAt = '2026-03-02T12:00:00.000Z';
    await expect(submit(newId(), APPLICANT, 'grant')).rejects.toMatchObject(isAnother);
    reportExpiresAt = null;
    expect(await submit(newId(), APPLICANT, 'grant')).toMatchObject({ session: { status: 'VERIFIED' } });
    reportCanBeHad = true;
    await expect(submit(newId(), APPLICANT, 'grant')).rejects.toMatchObject(isAnother);
  });

  it("opens no session for a user type other than the grant's", async () => {
    await expect(submit(newId(), { ...APPLICANT, userType: 'AGENT' }, 'grant')).rejects.toMatchObject({
      code: 'request.invalid',
      detail: { field: 'person.userType' },
    });
    expect(calls).toBe(0);
  });

  describe('a live submission while a completed screening of the person is valid', () => {
    const LIVE = { ...CONTEXT, environment: 'live' } as const;
    const another = (applicant: Applicant): ReturnType<typeof submit> =>
      submit(newId(), applicant, null, undefined, LIVE);
    const OBRIEN: Applicant = { ...APPLICANT, lastName: "O'Brien" };
    const registered = { code: 'screening.already_registered' };

    beforeEach(async () => {
      verdict = { kind: 'confirmed', vendorSession: 'v' };
      await another(OBRIEN);
    });

    it.each([
      ['first name', { firstName: 'Bea' }],
      ['spelling of the last name', { lastName: ' o\u2019BRIEN' }],
      ['spelling of the SSN', { ssn: '666-12-3456' }],
      ['spelling of the birth date', { dateOfBirth: '1990-04-12' }],
      ['phone and address', { phoneNumber: '4155550199', address: { street: '2 Main Street' } }],
    ])('is refused with another %s', async (_what, more) => {
      await expect(another({ ...OBRIEN, ...more })).rejects.toMatchObject(registered);
      expect(calls).toBe(1);
    });

    it.each([
      ['last name', { lastName: 'Miller' }],
      ['birth date', { dateOfBirth: '04131990' }],
      ['SSN', { ssn: '666123457' }],
      ['user type', { userType: 'AGENT' as const }],
    ])('is sent to the vendor with another %s', async (_what, more) => {
      expect(await another({ ...OBRIEN, ...more })).toMatchObject({ session: { status: 'VERIFIED' } });
      expect(calls).toBe(2);
    });
  });

  it('in live is refused by SSN and birth date when the earlier session was stored without the last name', async () => {
    const live = { ...CONTEXT, environment: 'live' } as const;
    verdict = { kind: 'confirmed', vendorSession: 'v' };
    storesAsBefore = true;
    await submit(newId(), APPLICANT, null, undefined, live);
    storesAsBefore = false;
    for (const lastName of ['Example', 'Miller'])
      await expect(submit(newId(), { ...APPLICANT, lastName }, null, undefined, live)).rejects.toMatchObject({
        code: 'screening.already_registered',
      });
    expect(calls).toBe(1);
  });
});

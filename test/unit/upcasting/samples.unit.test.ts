// Every event type that may ever have been stored has a sample here, as the log keeps it. Stored types and shapes never change silently. The test
// fails for a type without a sample, for a sample that is read differently, and for an emitted event of another shape. A sample is never edited. A
// new version, or a new optional field, is a new file `<Type>.json` or `<Type>.<variant>.json`. The file has the earlier events (`after`), the event,
// and the resulting state of the aggregate.
import 'reflect-metadata';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { UPCASTING } from '../../../src/modules/stored-events.module.js';
import { PROJECTIONS } from '../../support/declarations.js';
import { fold, type Decider } from '../../../src/kernel/decider.js';
import { categoryOf, type DomainEvent, type RecordedEvent } from '../../../src/kernel/domain-event.js';
import { isId } from '../../../src/kernel/ids.js';
import { foldState } from '../../../src/kernel/projection.js';
import { accessKey } from '../../../src/modules/accounts/domain/access-key.js';
import { account } from '../../../src/modules/accounts/domain/account.js';
import { credit } from '../../../src/modules/accounts/domain/credit.js';
import { dashboardToken } from '../../../src/modules/accounts/domain/dashboard-token.js';
import { sessionGrant } from '../../../src/modules/accounts/domain/session-grant.js';
import { accountHolds } from '../../../src/modules/holds/domain/account-holds.js';
import { incomeReportView } from '../../../src/modules/income/domain/income-report-view.js';
import { type IncomeCommand, incomeSession } from '../../../src/modules/income/domain/income-session.js';
import { operatorKeys } from '../../../src/modules/operators/domain/operator-keys.js';
import { operatorUses } from '../../../src/modules/operators/domain/operator-uses.js';
import { party, type PartyCommand } from '../../../src/modules/parties/domain/party-decider.js';
import { checkout, type CheckoutCommand } from '../../../src/modules/payments/domain/checkout.js';
import {
  payment,
  type IntentStatus,
  type ObservedIntent,
  type PaymentCommand,
} from '../../../src/modules/payments/domain/payment.js';
import { report, type ReportCommand } from '../../../src/modules/reports/domain/report.js';
import { reportLooks } from '../../../src/modules/reports/domain/report-view.js';
import { share } from '../../../src/modules/reports/domain/share.js';
import { consent } from '../../../src/modules/screening/domain/consent.js';
import { shareRegister } from '../../../src/modules/reports/domain/share-register.js';
import { type PersonCommand, screenedPerson } from '../../../src/modules/screening/domain/screened-person.js';
import { type SessionCommand, screeningSession } from '../../../src/modules/screening/domain/screening-session.js';
import { vendorComparisons } from '../../../src/modules/screening/domain/vendor-comparisons.js';
import type { PaymentProgress } from '../../../src/modules/screening/domain/session.js';
import {
  vendorRoutes,
  type VendorRoutesCommand,
  type VendorRoutesEvent,
  type VendorRoutesState,
} from '../../../src/modules/vendors/domain/vendor-routes.js';
import { delivery, type DeliveryCommand } from '../../../src/modules/webhooks/domain/delivery.js';
import { feed } from '../../../src/modules/webhooks/domain/feed.js';
import { testEvent } from '../../../src/modules/webhooks/domain/test-event.js';
import { webhookEndpoint } from '../../../src/modules/webhooks/domain/endpoint.js';
import { genesisOf, linkTo } from '../../../src/platform/audit/chain.js';
import { given } from '../../support/decider.js';
import { approvalOf, keyedOperator } from '../../support/operator-approvals.js';
import * as income from '../income/histories.js';
import * as parties from '../parties/histories.js';
import * as reports from '../reports/histories.js';
import * as webhooks from '../webhooks/histories.js';
import { answerKba, answerOtp, at, record, resend, SUBMIT } from '../screening/sessions.js';

/** Events that other readers use, and that do not change the state of their aggregate. */
const SAYS_NOTHING_ABOUT_STATE: ReadonlySet<string> = new Set([
  'DashboardTokenIssued',
  'ScreeningCompleted',
  'WebhookHealthNotified',
]);

/** Types of earlier releases, which are still read but no longer emitted. */
const RETIRED: ReadonlySet<string> = new Set(['DeliveryAttemptStarted']);

interface Sample {
  readonly after: readonly string[];
  readonly event: Omit<RecordedEvent, 'position'>;
  readonly state: object;
}

const SAMPLES = join(import.meta.dirname, 'samples');
const MODULES = join(import.meta.dirname, '../../../src/modules');
const samples = new Map(
  readdirSync(SAMPLES).map((file) => [
    file.replace(/\.json$/, ''),
    JSON.parse(readFileSync(join(SAMPLES, file), 'utf8')) as Sample,
  ]),
);

const domainFiles = readdirSync(MODULES, { recursive: true, encoding: 'utf8' })
  .filter((path) => /^[^/]+\/domain\/[^/]+\.ts$/.test(path))
  .map((path) => join(MODULES, path));
const emittedTypes = domainFiles
  .flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/\bDomainEvent<\s*'([^']+)'/g)].map(([, type]) => type as string),
  )
  .sort();

const asRecorded = (event: Sample['event']): RecordedEvent => ({ ...event, position: '' });
/** The events up to and including the sample, as the application reads them. */
const history = ({ after, event }: Sample): RecordedEvent[] =>
  [...after.map((name) => samples.get(name)!.event), event].map((one) => UPCASTING.apply(asRecorded(one)));

describe('stored events', () => {
  const deciders = new Map<string, Decider<unknown, never, DomainEvent>>();

  beforeAll(async () => {
    for (const file of domainFiles) {
      for (const exported of Object.values((await import(file)) as Record<string, unknown>)) {
        if (typeof exported === 'object' && exported !== null && 'decide' in exported && 'evolve' in exported) {
          const decider = exported as Decider<unknown, never, DomainEvent>;
          deciders.set(decider.category, decider);
        }
      }
    }
  });

  it('are found in the domain by the test', () => {
    expect(emittedTypes.length).toBeGreaterThanOrEqual(33);
    expect([...deciders.keys()]).toEqual(expect.arrayContaining(['screening', 'person', 'account', 'access_key']));
  });

  it('never share a type', () => {
    expect(emittedTypes).toEqual([...new Set(emittedTypes)]);
  });

  it('have a sample of every type', () => {
    const sampled = new Set([...samples.values()].map(({ event }) => event.type));
    expect(emittedTypes.filter((type) => !sampled.has(type))).toEqual([]);
  });

  it.each([...samples])('%s: has a type that is emitted, or is read as an emitted type', (name, { event }) => {
    expect(name === event.type || name.startsWith(`${event.type}.`)).toBe(true);
    expect(emittedTypes).toContain(UPCASTING.apply(asRecorded(event)).type);
  });

  it.each([...samples])(
    '%s: has the form of a stored event, and its chain link verifies',
    (_name, { after, event }) => {
      const { chain, ...metadata } = event.metadata;
      expect(Object.keys(event)).toEqual(['id', 'stream', 'revision', 'type', 'data', 'metadata']);
      expect(Object.keys(event.metadata)).toEqual([
        'schemaVersion',
        'accountId',
        'environment',
        'occurredAt',
        '$correlationId',
        '$causationId',
        'actor',
        'chain',
      ]);
      expect(isId(event.id)).toBe(true);
      expect(metadata.schemaVersion).toBe(Number(/\.v(\d+)$/.exec(event.type)?.[1] ?? 1));
      const before = after.length === 0 ? null : samples.get(after.at(-1)!)!.event;
      expect([event.revision, chain.prev]).toEqual(
        before ? [before.revision + 1, before.metadata.chain.hash] : [0, genesisOf(event.stream)],
      );
      expect(linkTo(chain.prev, { ...event, metadata })).toEqual(chain);
    },
  );

  it.each([...samples])('%s: leads to the state in the sample', (_name, sample) => {
    const category = categoryOf(sample.event.stream);
    const decider = deciders.get(category);
    if (!decider) throw new Error(`No decider reads ${category}`);
    expect(fold(decider, history(sample))).toMatchObject(sample.state);
    // Without the event, the state must differ, unless the event does not change the state.
    if (!decider.newestOnly && !SAYS_NOTHING_ABOUT_STATE.has(sample.event.type))
      expect(fold(decider, history(sample).slice(0, -1))).not.toEqual(fold(decider, history(sample)));
  });

  it.each([...samples])('%s: is known to the read models of its category', (_name, sample) => {
    for (const projection of PROJECTIONS.filter(({ category }) => category === categoryOf(sample.event.stream))) {
      expect(projection.view(foldState(projection, history(sample)))).not.toBeNull();
    }
  });

  it('are emitted in the shape of a sample', () => {
    const emitted = everyEvent();
    expect([...new Set(emitted.map(({ type }) => type))].sort()).toEqual(
      emittedTypes.filter((type) => !RETIRED.has(type)),
    );
    for (const { type, data } of emitted) {
      const shapes = [...samples.values()].filter(({ event }) => event.type === type).map(({ event }) => event.data);
      expect({ type, data, known: shapes.some((shape) => sameShape(shape, data)) }).toEqual({
        type,
        data,
        known: true,
      });
    }
  });
});

/** Compares names and types of fields. Null matches any value, and an empty list matches any list. */
function sameShape(one: unknown, other: unknown): boolean {
  if (one === null || other === null) return true;
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === 0 || other.length === 0 || sameShape(one[0], other[0]);
  if (typeof one !== 'object' || typeof other !== 'object') return typeof one === typeof other;
  const keys = Object.keys(one).sort();
  return (
    keys.join() === Object.keys(other).sort().join() &&
    keys.every((key) => sameShape((one as Record<string, unknown>)[key], (other as Record<string, unknown>)[key]))
  );
}

/** Emits each event type at least once, through commands. */
function everyEvent(): DomainEvent[] {
  const events: DomainEvent[] = [];
  const run = <State, Command, Event extends DomainEvent>(
    decider: Decider<State, Command, Event>,
    ...commands: Command[]
  ): void => {
    let session = given(decider);
    for (const command of commands) {
      const decision = session.when(command);
      expect({ command, decided: decision.events.length > 0 }).toEqual({ command, decided: true });
      events.push(...decision.events);
      session = decision.decided;
    }
  };
  const stepUp = record(
    'record-registration',
    'registration',
    { kind: 'step-up', otp: true, questions: [{ questionId: 1, answerCount: 4 }], duplicateGuard: true },
    1,
  );
  const answers = [{ questionId: 1, answerId: 2 }];
  run(
    screeningSession,
    SUBMIT,
    record('record-registration', 'registration', { kind: 'confirmed', duplicateGuard: false }),
  );
  run(screeningSession, SUBMIT, record('record-registration', 'registration', { kind: 'input-refused', input: 'zip' }));
  const vendors = { identity: 'acme', credit: 'acme', income: 'voie' };
  run(screeningSession, SUBMIT, { kind: 'fall-back', now: at(1), attemptId: 'registration', vendors });
  const route = { weights: { idv: 90, acme: 10 }, fallback: null };
  const environments = ['live'] as const;
  run<VendorRoutesState, VendorRoutesCommand, VendorRoutesEvent>(
    vendorRoutes,
    { kind: 'route', capability: 'identity', route },
    { kind: 'route', capability: 'identity', route: { ...route, weights: { idv: 1 }, shadow: 'acme' } },
    { kind: 'route', capability: 'identity', route: null },
    { kind: 'pause', vendor: 'acme', environments },
    { kind: 'resume', vendor: 'acme', environments },
  );
  const erasure = { kind: 'screening', id: 'session', accountId: 'account', subjectIds: ['subject'] } as const;
  const holding = { holdId: 'hold', matter: '2026-114', orderedBy: 'counsel', until: null };
  run(
    accountHolds,
    { kind: 'place', ...holding, covers: { kind: 'session', id: 'session', subjectId: 'subject' } },
    { kind: 'defer', now: at(1), erasure: { ...erasure, sessionIds: 'all' } },
    { kind: 'release', now: at(2), holdId: 'hold' },
    { kind: 'finish', erasure },
  );
  run(accountHolds, { kind: 'place', ...holding, covers: { kind: 'account', id: 'account' } });
  const confirmed = { vendor: 'idv', verdict: 'confirmed' } as const;
  const refused = { vendor: 'acme', verdict: 'refused' } as const;
  run(vendorComparisons, { kind: 'record', sessionId: 'session', first: confirmed, shadow: refused });
  const [ann, bob] = [keyedOperator('ann'), keyedOperator('bob')];
  const act = { act: 'hold release', subject: 'hold', reason: 'closed' } as const;
  const asked = { ...act, requestId: 'request', requestedBy: 'ann', expiresAt: '2030-01-01T00:00:00.000Z' };
  const approved = { ...act, approval: approvalOf(asked, ann, bob), by: 'ann', now: at(0) };
  run(
    operatorKeys,
    ann.added,
    bob.added,
    { kind: 'use-approval', approved },
    { kind: 'revoke', operator: 'bob', approved: null },
  );
  const subject = { kind: 'screening', id: 'session' } as const;
  run(operatorUses, { kind: 'record', tool: 'timeline', subject, purpose: 'a dispute', options: [] });
  run(screeningSession, SUBMIT, { kind: 'give-up', now: at(100), attemptId: 'registration' });
  const person = { kind: 'needs-user', until: '2030-01-01T00:00:00.000Z' } as const;
  run(screeningSession, SUBMIT, record('record-registration', 'registration', person, 1));
  const review = record('record-registration', 'registration', { kind: 'under-review', lookAgainAfter: 60 }, 1);
  run(
    screeningSession,
    SUBMIT,
    { kind: 'record-applicant-sealed', neededBy: ['credit'] },
    record('record-registration', 'registration', { kind: 'confirmed', duplicateGuard: false }),
    { kind: 'record-applicant-discarded' },
  );
  run(screeningSession, SUBMIT, review, { kind: 'look-later', now: at(61), attemptId: 'registration' });
  run(screeningSession, SUBMIT, stepUp, { kind: 'expire', now: at(4_000) });
  run(screeningSession, SUBMIT, stepUp, { kind: 'supersede' });
  const block = { kind: 'block', attemptId: 'elsewhere', lockedUntil: '2026-03-02T12:00:00.000Z' } as const;
  run(screeningSession, { ...SUBMIT, countedAs: ['name'], registeredAs: 'name' } as SessionCommand, stepUp, block, {
    kind: 'lift-block',
    now: at(60),
  });
  run(
    screeningSession,
    SUBMIT,
    stepUp,
    resend('r', 40),
    record('record-verdict', 'r', { kind: 'sent' }),
    answerOtp('o'),
    record('record-verdict', 'o', { kind: 'wrong', attemptsRemaining: null }),
    answerKba('k', { answers }),
    record('record-verdict', 'k', { kind: 'wrong', attemptsRemaining: null }),
    answerKba('l', { answers }),
    record('record-verdict', 'l', { kind: 'unavailable' }),
    answerKba('m', { answers }),
    record('record-verdict', 'm', { kind: 'locked', unblockAt: null }),
  );
  const limit = { attemptsAllowed: 1, lockSeconds: 60 };
  const admit = (attemptId: string): PersonCommand => ({
    kind: 'admit-answer',
    now: at(0),
    sessionId: 'session',
    attemptId,
    giveUpAfter: at(82),
    limit,
  });
  run(screenedPerson, admit('a'), { kind: 'clear-answer', sessionId: 'session', attemptId: 'a' }, admit('b'), {
    kind: 'count-wrong',
    now: at(0),
    sessionId: 'session',
    attemptId: 'b',
    lockedUntil: null,
    limit,
  });
  run(
    screenedPerson,
    { kind: 'open', personId: 'person', sessionId: 'session', salt: 'salt' },
    { kind: 'count-session', sessionId: 'counted' },
    { kind: 'record-lock', sessionId: 'session', lockedUntil: '2026-03-02T12:00:00.000Z' },
    { kind: 'unlock', sessionId: 'session', now: at(60) },
    { kind: 'record-erasure', subjectId: 'subject' },
  );
  run(screenedPerson, { kind: 'store-salt', salt: 'salt' });
  const settings = {
    feeCents: 1,
    currency: 'eur',
    payer: 'consumer',
    provisionedForLive: true,
    prepaidBilling: true,
    purposeRequired: true,
    connectedPaymentAccount: 'acct_1',
    products: ['PMC'],
    applicationFeeCents: 1,
    maxApplicationFeeCents: 2,
    refundAfterDays: 14,
    exchangesPerMinute: 5,
    submitsPerMinute: 7,
    productIds: [1],
    terms: { version: '1', text: { en: ['Yes.'], es: ['Sí.'] } },
    supportContact: 'help@example.com',
    brand: { displayName: 'Example Homes' },
    vendors: { identity: 'acme' },
  } as const;
  run(
    account,
    { kind: 'open', name: 'Example', parentId: null, settings },
    {
      kind: 'set',
      settings: {
        ...{ provisionedForLive: false, prepaidBilling: false, connectedPaymentAccount: null, terms: null },
        purposeRequired: false,
        vendors: { identity: null },
      },
    },
    {
      kind: 'issue-dashboard-token',
      tokenId: 'token',
      userId: 'user',
      role: 'OWNER',
      expiresAt: '2026-03-01T12:00:00.000Z',
    },
    {
      kind: 'wish-behaviour',
      capability: 'credit',
      wish: { behaviour: 'slow', until: '2026-03-01T13:00:01.000Z' },
    },
    {
      kind: 'certify',
      now: new Date('2026-03-01T12:00:00.000Z'),
      certification: {
        purposes: ['TENANT_SCREENING'],
        endUserTypes: ['PROPERTY_MANAGEMENT'],
        by: 'user_17',
        textDigest: 'a'.repeat(64),
        until: '2027-03-01T12:00:00.000Z',
      },
    },
    { kind: 'turn-clock', machine: new Date('2026-03-01T12:00:01.000Z'), bySeconds: 3_600 },
  );
  run(testEvent, { type: 'screening.completed', data: { session_id: 'session', user_type: 'CONSUMER' } });
  run(dashboardToken, { kind: 'revoke' });
  const issue = { kind: 'issue', accountId: 'account', environment: 'test', keyHash: 'hash' } as const;
  run(
    accessKey,
    { ...issue, use: { kind: 'publishable', allowedOrigins: ['https://a.test'], perMinute: 3 } },
    { kind: 'allow-origins', allowedOrigins: ['https://b.test'] },
    { kind: 'limit-exchanges', perMinute: 9 },
    { kind: 'deactivate' },
  );
  run(accessKey, { ...issue, use: { kind: 'secret' } });
  run(accessKey, { ...issue, use: { kind: 'api', clientClass: 'first_party' } });
  run(
    credit,
    { kind: 'add', credits: 2, reference: 'invoice' },
    { kind: 'reserve', reservationId: 'a' },
    { kind: 'debit', reservationId: 'a' },
    { kind: 'reserve', reservationId: 'b' },
    { kind: 'release', reservationId: 'b' },
    { kind: 'reserve', reservationId: 'c' },
    { kind: 'reserve', reservationId: 'd' },
    { kind: 'reserve', reservationId: 'e', sessionId: 'session' },
  );
  run(
    sessionGrant,
    {
      kind: 'mint',
      terms: {
        mintedBy: 'account',
        onBehalfOf: null,
        environment: 'test',
        userType: null,
        recipientAccountId: null,
        detailsSubject: 'details',
        tokenHash: 'hash',
        expiresAt: '2026-03-01T12:15:00.000Z',
      },
    },
    { kind: 'consume', presentation: { now: at(0), accountId: 'account', environment: 'test' }, tokenId: 'token' },
    { kind: 'begin-session', now: at(0), sessionId: 'session', replaces: null },
    { kind: 'record-details-moved', subjectId: 'subject' },
  );
  run(
    sessionGrant,
    {
      kind: 'mint',
      terms: {
        mintedBy: 'account',
        onBehalfOf: null,
        environment: 'test',
        userType: null,
        recipientAccountId: null,
        detailsSubject: 'details',
        tokenHash: 'hash',
        expiresAt: '2026-03-01T12:15:00.000Z',
      },
    },
    { kind: 'record-held' },
    { kind: 'record-erased' },
  );
  const terms = {
    mintedBy: 'account',
    onBehalfOf: null,
    environment: 'test',
    userType: null,
    recipientAccountId: null,
    detailsSubject: null,
    applicationFeeCents: 500,
    tokenHash: 'hash',
    expiresAt: '2026-03-01T12:15:00.000Z',
  } as const;
  run(sessionGrant, { kind: 'mint', terms });
  const { applicationFeeCents: _, ...others } = terms;
  run(sessionGrant, { kind: 'mint', terms: { ...others, endUserType: 'PROPERTY_MANAGEMENT' } });
  run(sessionGrant, { kind: 'mint', terms: { ...others, externalIdHash: 'hash' } });
  run(sessionGrant, { kind: 'mint', terms: { ...others, purpose: 'LEASE_RENEWAL' } });
  run(
    incomeSession,
    income.open(['PAYROLL', 'BANKING'], 'screening'),
    income.started('first'),
    income.noOutcome('first', 0, 1),
    income.userAction('first', 1, 1),
    income.failure('first', 'NO_MATCH', 2),
    income.started('second', 3),
    income.report('second', 4),
  );
  run(incomeSession, income.open(['PAYROLL']), income.started('first'), income.failure('first', 'VENDOR_ERROR', 1));
  run(incomeSession, income.open(), { kind: 'end-erased' });
  run(incomeSession, income.open(), { kind: 'record-erasure' });
  run(incomeSession, { ...income.open(), grantId: 'grant' } as IncomeCommand);
  run(screeningSession, { ...SUBMIT, grantId: 'grant' } as SessionCommand);
  run(screeningSession, { ...SUBMIT, grantId: 'grant', externalIdHash: 'hash' } as SessionCommand);
  run(screeningSession, {
    ...SUBMIT,
    termsVersion: '1',
    endUserType: 'REAL_ESTATE_AGENT',
    productId: 1,
    unitAddressKept: true,
  } as SessionCommand);
  run(screeningSession, { ...SUBMIT, purpose: 'LEASE_RENEWAL' } as SessionCommand);
  const { termsAcceptedAt: _heldByItsServer, ...ofParty } = SUBMIT;
  run(
    screeningSession,
    { ...ofParty, partyId: 'party' } as SessionCommand,
    record('record-registration', 'registration', { kind: 'confirmed', duplicateGuard: false }),
    { kind: 'record-reply-discarded' },
  );
  run(screeningSession, { ...SUBMIT, grantId: 'grant', intendedRecipientId: 'recipient' } as SessionCommand);
  const view = { kind: 'view', incomeSessionId: 'income', viewerAccountId: 'account' } as const;
  run(incomeReportView, { ...view, read: { purpose: 'TENANT_SCREENING' } });
  run(incomeReportView, { ...view, read: { purpose: 'TENANT_SCREENING', endUserType: 'PROPERTY_MANAGEMENT' } });
  run(
    party,
    parties.register(),
    parties.reauthenticate(),
    parties.record('auth', parties.CHALLENGED),
    parties.resend('r', 60),
    parties.record('r', { kind: 'sent' }),
    parties.answerOtp('a'),
    parties.record('a', parties.WRONG),
    parties.answerKba('b'),
    parties.record('b', { kind: 'unavailable' }),
    parties.answerOtp('c'),
    parties.record('c', { kind: 'confirmed' }),
    { kind: 'expire', now: at(70) },
    { kind: 'record-replies-discarded', until: at(4_000) },
    parties.reauthenticate('again', 80),
    parties.record('again', { kind: 'refused', reason: 'DECEASED' }),
    parties.reauthenticate('last', 90),
    parties.record('last', { kind: 'locked', unblockAt: null }),
    { kind: 'unlock', now: at(100) },
  );
  run(
    party,
    { ...parties.reauthenticate(), reference: { ...parties.REFERENCE, personIds: ['person'] } } as PartyCommand,
    parties.record('auth', parties.CHALLENGED),
  );
  run(party, parties.storeToken(), { kind: 'record-token-erasure', subjectId: 'token-subject' });
  const price = { amountCents: 3_500, applicationFeeCents: 0 };
  const open = {
    kind: 'open',
    sessionId: 'session',
    ordinal: 0,
    ...price,
    currency: 'usd',
    connectedAccount: null,
  } as const;
  const seen = (status: IntentStatus, fields: Partial<ObservedIntent> = {}): PaymentCommand => ({
    kind: 'observe',
    basedOn: 99,
    intent: {
      id: 'pi_1',
      status,
      amountCents: 3_500,
      receivedCents: 3_600,
      refundedCents: 0,
      currency: 'usd',
      lastErrorCode: null,
      ...fields,
    },
  });
  run(
    payment,
    open,
    seen('requires_payment_method'),
    { kind: 'choose-amount', amountCents: 3_600, applicationFeeCents: 0, intentCents: 3_500 },
    seen('requires_action'),
    seen('processing'),
    seen('requires_payment_method', { lastErrorCode: 'card_declined' }),
    seen('requires_confirmation'),
    seen('succeeded'),
    { kind: 'carry-over', from: 'session', to: 'newer' },
    seen('succeeded', { refundedCents: 100 }),
  );
  run(payment, open, seen('canceled'));
  const planned = [
    { ...open, subjectId: 'subject', refundAfterDays: 14 },
    seen('succeeded'),
    { kind: 'plan-refund', sessionId: 'session', refusedAt: at(0) },
  ] as const;
  run(payment, ...planned, { kind: 'drop-refund-plan' });
  run(
    payment,
    ...planned,
    { kind: 'request-refund', sessionId: 'session', reasonCode: 'report_unavailable', keepsReport: false },
    { kind: 'refuse-refund', refusals: 0, code: 'balance_insufficient' },
    seen('succeeded', { refundedCents: 3_600 }),
  );
  run(payment, open, seen('succeeded'), {
    kind: 'request-refund',
    sessionId: 'session',
    reasonCode: 'other',
    keepsReport: true,
  });
  run(payment, open, seen('requires_payment_method', { amountCents: 50 }));
  run(
    payment,
    {
      kind: 'take-from-checkout',
      ...{ sessionId: 'session', reference: 'chk_party_0', ordinal: 0, amountCents: 3_500, currency: 'usd' },
      ...{ paymentIntentId: 'pi_1', applicationFeeCents: 0, connectedAccount: null, refundAfterDays: 14 },
      asked: { amountCents: 3_500, currency: 'usd' },
    },
    { kind: 'extend', to: 'newer', newer: [] },
    {
      kind: 'request-refund',
      ...{ sessionId: 'newer', reasonCode: 'other', keepsReport: false, others: ['session'] },
    },
    seen('succeeded', { refundedCents: 3_500 }),
    seen('succeeded', { refundedCents: 0 }),
  );
  run(payment, open, seen('requires_payment_method'), { kind: 'look-up', basedOn: 2 });
  const opening: CheckoutCommand = {
    kind: 'open',
    now: at(0),
    guardSeconds: 60,
    newest: { sessionId: 'session', registeredAt: at(0).toISOString() },
    attemptId: 'attempt',
    subjectId: 'subject',
    amountCents: 3_500,
    applicationFeeCents: 0,
    currency: 'usd',
    connectedAccount: null,
    reportFlags: { excludeBackground: true },
  };
  const session: CheckoutCommand = {
    kind: 'record-session',
    ordinal: 0,
    checkoutSessionId: 'cs_1',
    expiresAt: at(60).toISOString(),
  };
  const ended = (status: 'expired' | 'complete', toReplace: boolean): CheckoutCommand => ({
    kind: 'observe',
    now: at(1),
    session: {
      id: 'cs_1',
      status,
      payment: status === 'expired' ? null : { intentId: 'pi_1', amountCents: 3_500, currency: 'usd' },
    },
    toReplace,
  });
  run(checkout, opening, { kind: 'abandon', ordinal: 0 });
  run(checkout, opening, session, ended('expired', true));
  run(checkout, opening, session, ended('expired', false));
  run(
    checkout,
    opening,
    session,
    { kind: 'look-up', basedOn: 2 },
    { kind: 'register', sessionId: 'newer', registeredAt: at(1).toISOString() },
    ended('complete', false),
    { kind: 'record-refund', ordinal: 0 },
  );
  run(checkout, { ...opening, refundAfterDays: 14 });
  const progress: PaymentProgress = { transactionId: 'txn_1', ordinal: 0, observation: 1, status: 'SUCCEEDED' };
  run(
    screeningSession,
    SUBMIT,
    { kind: 'record-payment', payment: progress },
    record('record-registration', 'registration', { kind: 'confirmed', duplicateGuard: false }),
    { kind: 'record-payment', payment: { ...progress, status: 'CARRIED_OVER' } },
  );
  run(
    report,
    reports.request(),
    { kind: 'refuse', now: reports.at(6), attemptId: reports.FIRST, reason: 'NO_RECORD', upstreamCode: null },
    reports.request(reports.SECOND),
    { kind: 'fail', now: reports.at(7), attemptId: reports.SECOND, cause: 'PERSON_ERASED' },
  );
  run(report, reports.request(), reports.release(), {
    kind: 'end-pulls',
    transactionId: 'txn',
    reasonCode: 'other',
    evenIfReleased: true,
  });
  run(report, { kind: 'end-pulls', transactionId: 'txn', reasonCode: 'duplicate', evenIfReleased: false });
  run(report, { kind: 'carry-over', transactionId: 'txn' });
  const outOfCredit = {
    kind: 'fail',
    now: reports.at(7),
    attemptId: reports.FIRST,
    cause: 'CREDIT_EXHAUSTED',
  } as const;
  run(report, reports.request(), outOfCredit);
  run(
    report,
    reports.request(),
    { kind: 'no-verdict', now: reports.at(1), attemptId: reports.FIRST, reason: 'unintelligible' },
    { kind: 'await', now: reports.at(1), attemptId: reports.FIRST, lookAgainAfter: 60 },
    { kind: 'no-verdict', now: reports.at(90_000), attemptId: reports.FIRST, reason: 'timed-out' },
    reports.request(reports.SECOND),
  );
  run(reportLooks, {
    kind: 'record',
    sessionId: 'session',
    reportId: 'report',
    viewerAccountId: 'account',
    purpose: 'TENANT_SCREENING',
    format: 'json',
    shareId: null,
  });
  run(reportLooks, {
    kind: 'record',
    sessionId: 'session',
    reportId: 'report',
    viewerAccountId: 'account',
    purpose: 'TENANT_SCREENING',
    endUserType: 'PROPERTY_MANAGEMENT',
    format: 'html',
    shareId: null,
    digest: 'salt.digest',
  });
  run(report, reports.request(), { ...reports.release(), bodyDigest: 'salt.digest' } as ReportCommand);
  run(consent, {
    kind: 'give',
    recordedBy: 'PAGE',
    acceptedAt: '2026-03-01T12:00:00.000Z',
    termsVersion: 'standard-1',
    language: 'en',
    textDigest: 'digest',
  });
  run(reportLooks, {
    kind: 'record-refusal',
    sessionId: 'session',
    viewerAccountId: 'account',
    purpose: 'TENANT_SCREENING',
    format: 'json',
    code: 'report.access_denied',
  });
  run(shareRegister, { kind: 'register', shareId: 'share' });
  run(share, reports.consent(), { kind: 'revoke', now: reports.at(1) });
  run(share, reports.link());
  const { ENDPOINT: endpointId, PLACED, SCHEDULED, PING, OK, DOWN } = webhooks;
  run(
    webhookEndpoint,
    webhooks.register(),
    { kind: 'change', endpointId, url: 'https://b.example.com', enabledEvents: ['report.shared'], notifies: true },
    { kind: 'change', endpointId, signatures: ['v1', 'v1a'], maxPerSecond: 5, key: webhooks.KEY },
    { kind: 'rotate', endpointId, secretId: 'secret', previousExpiresAt: webhooks.at(1) },
    webhooks.exhausted('a', 1),
    webhooks.delivered('b', 2),
    webhooks.exhausted('c', 3, 1),
    webhooks.exhausted('d', 4, 1),
    webhooks.exhausted('e', 5, 1),
    { kind: 'note-notified', endpointId, about: 'event' },
    { kind: 'disable-overdue', now: webhooks.at(300_000) },
    { kind: 'change', endpointId },
    { kind: 'change', endpointId, resume: { resumeId: 'resume', environment: 'test', from: 3, head: 7 } },
    { kind: 'end-resume', endpointId, resumeId: 'resume' },
    { kind: 'delete', endpointId },
  );
  run(
    delivery,
    { kind: 'schedule', delivery: SCHEDULED },
    webhooks.record(1, DOWN, 1),
    webhooks.redeliver(2),
    webhooks.record(2, OK, 3, { of: 'redelivery' }),
  );
  run(delivery, { kind: 'schedule', delivery: SCHEDULED }, {
    ...webhooks.record(1, DOWN, 1),
    policy: { ladder: [], jitter: 0 },
  } as DeliveryCommand);
  run(delivery, { kind: 'schedule', delivery: PLACED }, { kind: 'cancel', cause: 'ENDPOINT_DISABLED' });
  run(feed, webhooks.published(1));
  run(delivery, { kind: 'schedule', delivery: PING }, webhooks.record(1, DOWN, 1, { of: 'ping' }));
  return events;
}

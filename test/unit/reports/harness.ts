// The use cases of the reports module on a real event store, vault and prepaid credit. The bureau, the browser and the
// sessions and accounts of other modules are fakes, and each test decides what they do.
import { mkdtemp, rm } from 'node:fs/promises';
import type { CallerContext } from '../../../src/kernel/context.js';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedEventStore } from '../../../src/adapters/event-store/embedded.js';
import { DiskVault } from '../../../src/adapters/vault/disk.js';
import { MasterKeys } from '../../../src/adapters/vault/master-keys.js';
import type { ExternalCalls } from '../../../src/external-calls/external-calls.js';
import type { DomainEvent, RecordedEvent } from '../../../src/kernel/domain-event.js';
import { newId } from '../../../src/kernel/ids.js';
import { tokenOf, type VendorSubject } from '../../../src/kernel/vendor-subject.js';
import { FIRST_CHOICE, type VendorChoice } from '../../../src/kernel/vendor-choice.js';
import { AccountCredit } from '../../../src/modules/accounts/application/account-credit.js';
import { credit } from '../../../src/modules/accounts/domain/credit.js';
import { ConsentToShare, ConsentToShareHandler } from '../../../src/modules/reports/application/consent-to-share.js';
import { OpenReport, OpenReportHandler } from '../../../src/modules/reports/application/open-report.js';
import {
  OpenReportOnServer,
  OpenReportOnServerHandler,
} from '../../../src/modules/reports/application/open-report-on-server.js';
import { ReportPull } from '../../../src/modules/reports/application/report-pull.js';
import { ReadPurposes } from '../../../src/modules/reports/application/read-purposes.js';
import { ReadRefusals } from '../../../src/modules/reports/application/read-refusals.js';
import { ReportAccess } from '../../../src/modules/reports/application/report-access.js';
import { ReportPolicy } from '../../../src/modules/reports/application/report-policy.js';
import { ReportRelease } from '../../../src/modules/reports/application/report-release.js';
import { ReportViewer, type OpenedReport } from '../../../src/modules/reports/application/report-viewer.js';
import { RevokeSharing, RevokeSharingHandler } from '../../../src/modules/reports/application/revoke-sharing.js';
import type { ReportRequest } from '../../../src/modules/reports/application/served-pages.js';
import { SettleReport, SettleReportHandler } from '../../../src/modules/reports/application/settle-report.js';
import { ShareRecipient, type NamedRecipient } from '../../../src/modules/reports/application/share-recipient.js';
import { WhenReportSettled } from '../../../src/modules/reports/application/when-report-settled.js';
import { report, type ReportState } from '../../../src/modules/reports/domain/report.js';
import {
  reportView,
  type ReportViewEvent,
  type ViewedReport,
} from '../../../src/modules/reports/domain/report-view.js';
import type { ActiveShare, RevokedShare } from '../../../src/modules/reports/domain/share.js';
import { AggregateStore, unstored } from '../../../src/platform/aggregates/aggregate-store.js';
import { GroupedStream } from '../../../src/platform/aggregates/grouped-stream.js';
import { asNewEvent, recordedEvents } from '../../../src/platform/aggregates/recorded-events.js';
import {
  CreditBureau,
  type CreditScore,
  type ReportVerdict,
  type VendorReport,
} from '../../../src/ports/credit-bureau.js';
import { CallsAtOnce } from '../../support/external-calls.js';
import { CountedInMemory } from '../../support/rate-limiter.js';
import type { Vendors } from '../../../src/ports/vendors.js';
import type { ReadModels } from '../../../src/ports/read-models.js';
import type { VendorCall } from '../../../src/ports/vendor-call.js';
import { Accounts, type AccountFacts } from '../../../src/published/accounts.js';
import { Checkouts, type ReportFlags } from '../../../src/published/checkouts.js';
import { Parties, type PartyFacts, type PartyKind } from '../../../src/published/parties.js';
import {
  Screenings,
  type ReportProspect,
  type ScreenedFor,
  type ScreeningFacts,
  type VendorReference,
} from '../../../src/published/screenings.js';
import { SessionGrants, type BegunSession, type GrantFacts } from '../../../src/published/session-grants.js';
import { SetClock } from '../../support/clock.js';
import { ofSession } from '../../support/subjects.js';

export const SCORE: CreditScore = {
  value: 712,
  model: 'VantageScore 4.0',
  min: 300,
  max: 850,
  factors: ['Balances are high'],
  date: '2026-03-01',
};
export const REPORT: VendorReport = {
  consumer: { name: 'Ada Example', addresses: ['1 Main Street'], birthYear: 1990 },
  tradeLines: [
    {
      creditor: 'First Bank',
      type: 'REVOLVING',
      account: '1234',
      openedOn: '2019-05-01',
      status: 'CURRENT',
      balanceCents: 123_456,
      limitCents: null,
      pastDueCents: 0,
      paymentHistory: '000100',
    },
  ],
  publicRecords: [],
  inquiries: [{ subscriber: 'Example Homes', date: '2026-01-02', purpose: 'TENANT_SCREENING' }],
  background: [],
  housingCourt: [],
};
/** The request from which that report came. */
export const REQUEST: ReportRequest = {
  environment: 'live',
  requestedBy: 'Acme Homes',
  logo: null,
  endUserType: 'PROPERTY_MANAGEMENT',
  property: '12 Elm Street, Apt 4, Austin, TX 78701',
  verified: { how: 'otp', at: '2026-03-01T11:58:00.000Z' },
};
export const GIVEN: ReportVerdict = { kind: 'report', score: SCORE, report: REPORT };

/** The vendors of every session. The account has chosen other vendors since. */
const VENDORS: VendorChoice = { identity: 'acme', credit: 'acme', income: 'voie' };

/** Answers the prepared results, and remembers the attempt ids. */
export class PlayedBureau extends CreditBureau {
  readonly asked: string[] = [];
  /** The answers to the next calls, in order. The last answer is repeated. */
  answers: (ReportVerdict | Promise<ReportVerdict>)[] = [GIVEN];

  override async pullReport({ attemptId, vendor, signal }: VendorCall, subject: VendorSubject): Promise<ReportVerdict> {
    if (vendor !== VENDORS.credit || tokenOf(subject) !== `person-at-${vendor}`)
      throw new Error("Not the session's vendor");
    this.asked.push(attemptId);
    const answer = this.answers[0];
    if (answer === undefined) throw new Error('Nothing to answer');
    if (this.answers.length > 1) this.answers = this.answers.slice(1);
    return Promise.race([
      answer,
      new Promise<ReportVerdict>((resolve) =>
        signal?.addEventListener('abort', () => resolve({ kind: 'timed-out' }), { once: true }),
      ),
    ]);
  }
}

class PlayedScreenings extends Screenings {
  readonly sessions = new Map<string, ScreeningFacts>();
  readonly erased = new Set<string>();
  /** Sessions whose person the bureau does not know. */
  readonly unknown = new Set<string>();

  override async find(sessionId: string): Promise<ScreeningFacts | null> {
    return this.sessions.get(sessionId) ?? null;
  }
  override async reference(sessionId: string, capability: 'credit' | 'income'): Promise<VendorReference | null> {
    const vendor = this.sessions.get(sessionId)?.vendors[capability];
    if (vendor === undefined || this.erased.has(sessionId)) return null;
    return { vendor, subject: this.unknown.has(sessionId) ? null : ofSession(`person-at-${vendor}`) };
  }
  override identityToken(): Promise<never> {
    throw new Error('Not asked');
  }
  override async screenedFor(sessionId: string): Promise<ScreenedFor | null> {
    const session = this.sessions.get(sessionId);
    return session === undefined ? null : { ...session, unitAddress: null, verifiedBy: 'outright' };
  }
  override async reportProspect(sessionId: string): Promise<ReportProspect> {
    if (this.erased.has(sessionId)) return 'person-erased';
    return this.unknown.has(sessionId) ? 'none' : 'possible';
  }
  override paidInVain(): Promise<never> {
    throw new Error('Not a matter of reports');
  }
  override paymentProgressed(): Promise<void> {
    throw new Error('Not a matter of reports');
  }
}

class PlayedAccounts extends Accounts {
  readonly known = new Map<string, AccountFacts>();

  override async find(accountId: string): Promise<AccountFacts | null> {
    return this.known.get(accountId) ?? null;
  }
  override mayReachVendors(account: AccountFacts, environment: 'live' | 'test'): boolean {
    return environment === 'test' || account.provisionedForLive;
  }
  override async mayRead(readerId: string, ownerId: string): Promise<boolean> {
    return readerId === ownerId || this.known.get(ownerId)?.parentId === readerId;
  }
  override async childrenOf(): Promise<never> {
    throw new Error('not asked of it here');
  }
}

class PlayedCheckouts extends Checkouts {
  readonly flags = new Map<string, ReportFlags>();

  override async reportFlags(partyId: string): Promise<ReportFlags> {
    return this.flags.get(partyId) ?? {};
  }
}

/** Parties by the integrator's ids, all in the test environment. */
class PlayedParties extends Parties {
  readonly known = new Map<string, PartyFacts>();

  override async find(
    kind: PartyKind,
    id: string,
    { accountId, environment }: CallerContext,
  ): Promise<PartyFacts | null> {
    return this.known.get(`${accountId} ${environment} ${kind} ${id}`) ?? null;
  }

  set(kind: PartyKind, id: string, accountId: string, facts: Partial<PartyFacts> = {}): PartyFacts {
    const key = `${accountId} test ${kind} ${id}`;
    const party = {
      partyId: newId(),
      kind,
      sessionIds: [],
      authenticated: true,
      lockedUntil: null,
      ...this.known.get(key),
      ...facts,
    };
    this.known.set(key, party);
    return party;
  }
}

class PlayedGrants extends SessionGrants {
  readonly known = new Map<string, GrantFacts>();

  override async find(grantId: string): Promise<GrantFacts | null> {
    return this.known.get(grantId) ?? null;
  }
  override begin(): Promise<BegunSession> {
    throw new Error('Not a matter of reports');
  }
  override moveDetails(): Promise<void> {
    throw new Error('Not a matter of reports');
  }
}

/** Read models for tests that read only the log. */
const UNREAD = { applyNow: async () => undefined } as unknown as ReadModels;

/** The text that every test's reply has. */
export const REPLY = 'the reply';

/** A view is recorded when the reply is shown. */
export async function afterShown(opened: OpenedReport): Promise<OpenedReport> {
  await opened.shown(REPLY);
  return opened;
}

/** One of several processes of an installation. Processes share only the log, the vault and the fakes. */
export class Process {
  readonly access: ReportAccess;
  readonly release: ReportRelease;
  readonly showing: ReportViewer;
  readonly refusals: ReadRefusals;
  readonly pull: ReportPull;
  readonly aggregates: AggregateStore;
  readonly credit: AccountCredit;
  readonly open: (sessionId: string, context: CallerContext) => Promise<OpenedReport>;
  readonly openOnServer: (sessionId: string, context: CallerContext) => Promise<OpenedReport>;
  readonly consent: (sessionId: string, recipient: NamedRecipient, context: CallerContext) => Promise<ActiveShare>;
  readonly revoke: (
    sessionId: string,
    recipientAccountId: string,
    context: CallerContext,
  ) => Promise<readonly [RevokedShare, ...RevokedShare[]]>;
  readonly revokeAll: (
    sessionId: string,
    listedIds: readonly string[],
    context: CallerContext,
  ) => Promise<readonly [RevokedShare, ...RevokedShare[]]>;
  readonly settle: (sessionId: string) => Promise<ReportState>;
  readonly whenSettled: WhenReportSettled;

  constructor(
    { store, vault, clock, bureau, screenings, accounts, grants, policy }: Harness,
    readModels: ReadModels = UNREAD,
    calls: ExternalCalls = new CallsAtOnce(),
  ) {
    const aggregates = new AggregateStore(store, readModels, clock, { appendConflict: () => undefined });
    const streams = new GroupedStream(store, clock, { appendConflict: () => undefined });
    const prepaid = new AccountCredit(streams, accounts);
    const limiter = new CountedInMemory();
    const access = new ReportAccess(aggregates, screenings, accounts, limiter, policy, clock);
    const vendors = { speaksDirect: () => true } as unknown as Vendors;
    const pull = new ReportPull(aggregates, screenings, bureau, vendors, vault, prepaid, policy, clock);
    const release = new ReportRelease(aggregates, calls, pull, prepaid, policy, clock);
    const showing = new ReportViewer(aggregates, streams, vault, screenings, accounts, clock);
    const recipients = new ShareRecipient(grants, accounts);
    const refusals = new ReadRefusals(streams, screenings, limiter);
    const purposes = new ReadPurposes(accounts, grants, screenings, clock);
    const opening = new OpenReportHandler(access, purposes, release, showing, refusals, clock);
    const openingOnServer = new OpenReportOnServerHandler(access, purposes, release, showing, refusals);
    const consenting = new ConsentToShareHandler(
      aggregates,
      access,
      purposes,
      recipients,
      release,
      vault,
      limiter,
      policy,
      clock,
    );
    const revoking = new RevokeSharingHandler(aggregates, access, recipients, limiter, policy, clock);
    const recovering = new SettleReportHandler(aggregates, pull, clock);
    this.access = access;
    this.release = release;
    this.showing = showing;
    this.refusals = refusals;
    this.pull = pull;
    this.aggregates = aggregates;
    this.credit = prepaid;
    this.open = async (sessionId, context) =>
      afterShown(await opening.execute(new OpenReport(sessionId, 'json', context)));
    this.openOnServer = async (sessionId, context) =>
      afterShown(await openingOnServer.execute(new OpenReportOnServer(sessionId, 'html', context)));
    this.consent = (sessionId, recipient, context) =>
      consenting.execute(new ConsentToShare(sessionId, recipient, context));
    this.revoke = (sessionId, recipientAccountId, context) =>
      revoking.execute(new RevokeSharing(sessionId, { recipientAccountId }, context));
    this.revokeAll = (sessionId, listedIds, context) =>
      revoking.execute(new RevokeSharing(sessionId, { listedIds }, context));
    this.settle = async (sessionId) => {
      await recovering.execute(new SettleReport(sessionId, new AbortController().signal));
      return (await aggregates.load(report, sessionId)).state;
    };
    this.whenSettled = new WhenReportSettled(prepaid);
  }
}

const LIMITS: ReportPolicy['limits'] = {
  reportValiditySeconds: 30 * 86_400,
  shareWindowSeconds: null,
  vendorTimeoutSeconds: 1,
  retryIntervalSeconds: 600,
  pdfLinkSeconds: 300,
  readsPerMinute: 60,
  sharesPerMinute: 10,
  pdfsPerMinute: 10,
  servedPagesOnly: false,
};

export class Harness {
  readonly clock = new SetClock();
  readonly bureau = new PlayedBureau();
  readonly screenings = new PlayedScreenings();
  readonly accounts = new PlayedAccounts();
  readonly grants = new PlayedGrants();
  readonly parties = new PlayedParties();
  readonly checkouts = new PlayedCheckouts();
  readonly policy: ReportPolicy;

  private constructor(
    readonly folder: string,
    readonly store: EmbeddedEventStore,
    readonly vault: DiskVault,
    limits: Partial<ReportPolicy['limits']>,
  ) {
    this.policy = new ReportPolicy({ ...LIMITS, ...limits }, 'https://service.example.test');
  }

  static async build(limits: Partial<ReportPolicy['limits']> = {}): Promise<Harness> {
    const folder = await mkdtemp(join(tmpdir(), 'reports-'));
    const keys = MasterKeys.parse(`test:${Buffer.alloc(32, 7).toString('base64')}`);
    const clock = new SetClock();
    return new Harness(
      folder,
      EmbeddedEventStore.open({ directory: join(folder, 'events'), mapSizeBytes: 64 * 2 ** 20 }),
      DiskVault.open({ directory: join(folder, 'vault'), keys, clock, mapSizeBytes: 64 * 2 ** 20 }),
      limits,
    );
  }

  async close(): Promise<void> {
    await this.store.close();
    await this.vault.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Adds an account with this prepaid credit. An account with null needs no credit. */
  async account(credits: number | null = null, facts: Partial<AccountFacts> = {}): Promise<string> {
    const accountId = newId();
    this.accounts.known.set(accountId, {
      accountId,
      name: 'Acme Homes',
      parentId: null,
      feeCents: 0,
      currency: 'usd',
      consumerPays: false,
      provisionedForLive: false,
      products: ['CONSUMER'],
      productIds: [],
      termsVersions: [],
      terms: null,
      supportContact: null,
      brand: { displayName: 'Acme Homes', logo: null, privacyUrl: null },
      connectedPaymentAccount: credits === null ? 'acct_1' : null,
      prepaidBilling: credits !== null,
      purposeRequired: false,
      certification: null,
      submitsPerMinute: null,
      applicationFeeCents: null,
      maxApplicationFeeCents: null,
      refundAfterDays: null,
      vendors: FIRST_CHOICE,
      ...facts,
    });
    if (credits !== null && credits > 0)
      await new Process(this).aggregates.execute(
        credit,
        accountId,
        { kind: 'add', credits, reference: 'invoice' },
        this.as(accountId),
      );
    return accountId;
  }

  /** Adds a direct child account, with which a page may share reports. */
  childOf(accountId: string): Promise<string> {
    return this.account(null, { parentId: accountId });
  }

  /** Adds a verified, completed consumer session in the test environment. */
  session(accountId: string, facts: Partial<ScreeningFacts> = {}): string {
    const sessionId = facts.sessionId ?? newId();
    this.screenings.sessions.set(sessionId, {
      sessionId,
      accountId,
      environment: 'test',
      userType: 'CONSUMER',
      endUserType: null,
      purpose: null,
      subjectId: newId(),
      status: 'VERIFIED',
      paymentStatus: 'NOT_REQUIRED',
      overallStatus: 'COMPLETED',
      paidBy: null,
      block: null,
      vendors: VENDORS,
      verifiedAt: this.clock.now().toISOString(),
      duplicateGuard: false,
      reviewUntil: null,
      intendedRecipientId: null,
      grantId: null,
      partyId: null,
      createdAt: this.clock.now().toISOString(),
      updatedAt: this.clock.now().toISOString(),
      ...facts,
    });
    return sessionId;
  }

  as(accountId: string, environment: 'live' | 'test' = 'test'): CallerContext {
    const correlationId = newId();
    return {
      accountId,
      environment,
      actor: { kind: 'platform-token', id: 'key-1' },
      correlationId,
      causationId: correlationId,
    };
  }

  /** Stores the view of a report as earlier releases did, in a stream of its own, and returns the stream. */
  async lookedEarlier(viewed: ViewedReport, context: CallerContext): Promise<string> {
    const stream = `${reportView.category}-${newId()}`;
    const event: ReportViewEvent = { type: 'ReportViewed', data: viewed };
    const events = recordedEvents(stream, unstored(reportView.initial), [event], {
      ...context,
      moment: { occurredAt: this.clock.now().toISOString() },
    });
    await this.store.append(stream, 'no-stream', events.map(asNewEvent));
    return stream;
  }

  /** The event types in a stream. */
  async types(category: string, id: string): Promise<string[]> {
    return (await this.store.readStream(`${category}-${id}`)).map(({ type }) => type);
  }

  async ofType<Event extends DomainEvent>(type: Event['type']): Promise<RecordedEvent<Event>[]> {
    return (await this.store.readAll(null, 100_000)).filter((event) => event.type === type) as RecordedEvent<Event>[];
  }

  /** The unreserved credit, and the number of reservations. */
  async credit(accountId: string): Promise<{ readonly balance: number; readonly reserved: number }> {
    const { state } = await new Process(this).aggregates.load(credit, accountId);
    return { balance: state.balance, reserved: state.reserved.length };
  }
}

export const NOBODY: NamedRecipient = { grantId: null, recipientAccountId: null };

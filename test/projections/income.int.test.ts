// Income sessions from the opening to the report, on a real event store, vault and Redis, with a fake vendor in memory.
import { createHmac, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { EmbeddedEventStore } from '../../src/adapters/event-store/embedded.js';
import type { RedisReadModels } from '../../src/adapters/read-models/redis.js';
import { DiskVault } from '../../src/adapters/vault/disk.js';
import { MasterKeys } from '../../src/adapters/vault/master-keys.js';
import type { ErrorCode } from '../../src/kernel/error-codes.js';
import type { ActionContext } from '../../src/kernel/context.js';
import { derivedId, newId } from '../../src/kernel/ids.js';
import { FIRST_CHOICE, type VendorChoice } from '../../src/kernel/vendor-choice.js';
import { DomainError } from '../../src/kernel/domain-error.js';
import { foldState, openCallsIn } from '../../src/kernel/projection.js';
import { RecordedConsents } from '../../src/modules/screening/application/recorded-consents.js';
import { AccountGrants } from '../../src/modules/accounts/application/account-grants.js';
import { GrantDetails } from '../../src/modules/accounts/application/grant-details.js';
import { IssueGrant, IssueGrantHandler } from '../../src/modules/accounts/application/issue-grant.js';
import {
  EraseIncomePerson,
  EraseIncomePersonHandler,
} from '../../src/modules/income/application/erase-income-person.js';
import type { ExternalCalls } from '../../src/external-calls/external-calls.js';
import { IncomePolicy } from '../../src/modules/income/application/income-policy.js';
import { IncomeProgress } from '../../src/modules/income/application/income-progress.js';
import { IncomeSecrets } from '../../src/modules/income/application/income-secrets.js';
import {
  OpenIncomeSession,
  OpenIncomeSessionHandler,
  type IncomeInquiry,
} from '../../src/modules/income/application/open-income-session.js';
import { incomePublisher } from '../../src/modules/income/application/publish.js';
import {
  SettleIncomeSession,
  SettleIncomeSessionHandler,
} from '../../src/modules/income/application/settle-income-session.js';
import { incomeSession, vendorOf } from '../../src/modules/income/domain/income-session.js';
import { ViewIncomeReport, ViewIncomeReportHandler } from '../../src/modules/income/application/view-income-report.js';
import { inquiryEntry, reportEntry } from '../../src/modules/income/domain/income.js';
import { incomeReportResult, incomeStatusResult } from '../../src/modules/income/http/platform/income-result.js';
import { incomeStatus, IncomeStatusReader, type IncomeStatus } from '../../src/modules/income/read/income-status.js';
import { AggregateStore } from '../../src/platform/aggregates/aggregate-store.js';
import { TestTraffic } from '../../src/platform/aggregates/test-traffic.js';
import {
  IncomeVendor,
  type IncomeOutcome,
  type IncomeReport,
  type IncomeRoute,
  type IncomeStart,
} from '../../src/ports/income-vendor.js';
import { saltEntry } from '../../src/ports/salted-digest.js';
import type { VendorCall } from '../../src/ports/vendor-call.js';
import { SubjectErased } from '../../src/ports/vault.js';
import { Accounts, type AccountFacts } from '../../src/published/accounts.js';
import { Screenings, type ScreeningFacts, type VendorReference } from '../../src/published/screenings.js';
import { CallProcesses } from '../contract/external-calls/call-processes.js';
import { holdsIn } from '../support/holds.js';
import { CountedInMemory } from '../support/rate-limiter.js';
import { until } from '../support/eventually.js';
import { CallsAtOnce } from '../support/external-calls.js';
import { tokenOf, type VendorSubject } from '../../src/kernel/vendor-subject.js';
import { readModelsIn } from '../support/read-models.js';
import { RedisServer } from '../support/redis.js';
import { SetClock } from '../support/clock.js';
import { ofSession } from '../support/subjects.js';
import { SetRoutes } from '../support/vendor-routes.js';

const REPORT: IncomeReport = {
  employers: [{ name: 'Canary Mills', title: null, startedOn: '2020-02-03', endedOn: null }],
  income: { annualGrossCents: 8_450_000, currency: 'usd', payFrequency: 'BIWEEKLY' },
  paystubs: [{ payDate: '2026-02-27', grossCents: 325_000, netCents: 241_000 }],
};
const NO_MATCH: IncomeOutcome = { kind: 'failed', reason: 'NO_MATCH' };
const COMPLETED: IncomeOutcome = { kind: 'completed', report: REPORT };

type Followed = Parameters<typeof incomeStatus.view>[0];

/** Begins one inquiry for each attempt, and answers as the test says. */
class VendorInMemory extends IncomeVendor {
  readonly inquiries = new Map<string, string>();
  readonly begun: {
    readonly route: IncomeRoute;
    readonly vendor: string | undefined;
    readonly person: string | null;
  }[] = [];
  /** The vendor of every call. */
  readonly vendors: (string | undefined)[] = [];
  outcomes: Record<IncomeRoute, IncomeOutcome> = { PAYROLL: COMPLETED, BANKING: COMPLETED };
  trouble: Exclude<IncomeStart, { kind: 'started' }> | null = null;
  asked = 0;
  /** The number of next starts that hang until their caller gives up. */
  hanging = 0;

  override async start(
    { attemptId, vendor, signal }: VendorCall,
    route: IncomeRoute,
    subject: VendorSubject | null,
  ): Promise<IncomeStart> {
    const person = subject && tokenOf(subject);
    this.asked++;
    this.vendors.push(vendor);
    if (this.trouble) return this.trouble;
    if (this.hanging-- > 0)
      return new Promise((resolve) => signal?.addEventListener('abort', () => resolve({ kind: 'timed-out' })));
    let inquiry = this.inquiries.get(attemptId);
    if (inquiry === undefined) {
      inquiry = `${route}:vendor-inquiry-${attemptId}`;
      this.inquiries.set(attemptId, inquiry);
      this.begun.push({ route, vendor, person });
    }
    return { kind: 'started', inquiry };
  }

  override async outcomeOf({ vendor }: VendorCall, inquiry: string): Promise<IncomeOutcome> {
    this.asked++;
    this.vendors.push(vendor);
    if (![...this.inquiries.values()].includes(inquiry)) throw new Error('No session began this inquiry');
    return this.trouble ?? this.outcomes[inquiry.split(':')[0] as IncomeRoute];
  }
}

const DEMO = newId();
const CHILD = newId();
const GRANDCHILD = newId();
const UNRELATED = newId();
const PARENTS = new Map([
  [CHILD, DEMO],
  [GRANDCHILD, CHILD],
]);

const unneeded = (): Promise<never> => Promise.reject(new Error('Not a matter of income'));

class KnownAccounts extends Accounts {
  vendors: VendorChoice = FIRST_CHOICE;
  override async find(accountId: string): Promise<AccountFacts | null> {
    const known = [DEMO, CHILD, GRANDCHILD, UNRELATED].includes(accountId);
    return known
      ? ({
          accountId,
          parentId: PARENTS.get(accountId) ?? null,
          provisionedForLive: accountId === UNRELATED,
          vendors: this.vendors,
        } as AccountFacts)
      : null;
  }
  override mayReachVendors(account: AccountFacts, environment: 'live' | 'test'): boolean {
    return environment === 'test' || account.provisionedForLive;
  }
  override async mayRead(readerId: string, ownerId: string): Promise<boolean> {
    return readerId === ownerId || PARENTS.get(ownerId) === readerId;
  }
  override childrenOf = unneeded;
}

class KnownScreenings extends Screenings {
  override identityToken = unneeded;
  override screenedFor = unneeded;
  override reportProspect = unneeded;
  override paidInVain = unneeded;
  readonly known = new Map<string, ScreeningFacts>();
  erased = false;
  add(facts: Partial<ScreeningFacts> = {}): ScreeningFacts {
    const sessionId = newId();
    const screening = {
      sessionId,
      accountId: DEMO,
      environment: 'test',
      subjectId: newId(),
      status: 'VERIFIED',
      vendors: FIRST_CHOICE,
      ...facts,
    } as ScreeningFacts;
    this.known.set(sessionId, screening);
    return screening;
  }
  override async find(sessionId: string): Promise<ScreeningFacts | null> {
    return this.known.get(sessionId) ?? null;
  }
  override async reference(sessionId: string, referring: 'income' | 'banking'): Promise<VendorReference | null> {
    const vendors = this.known.get(sessionId)?.vendors;
    const vendor = vendors?.[referring] ?? vendors?.income ?? '';
    return this.erased
      ? null
      : { vendor, subject: vendor === 'begins-without' ? null : ofSession(`person-at-${vendor}`) };
  }
  override async paymentProgressed(): Promise<void> {
    throw new Error('not asked of it here');
  }
}

const OPERATOR = {
  accountId: null,
  environment: null,
  actor: { kind: 'operator', id: 'ops' },
  correlationId: 'erasure',
  causationId: 'erasure',
} as const;

function contextOf(
  accountId = DEMO,
  environment: 'live' | 'test' = 'test',
): ActionContext & { accountId: string; environment: 'live' | 'test' } {
  return {
    accountId,
    environment,
    actor: { kind: 'platform-token', id: 'key' },
    correlationId: newId(),
    causationId: newId(),
  };
}

/** A process that dies at the effect with the number `at`, before or after the effect. */
class Mortality {
  private count = 0;
  constructor(
    private readonly at: number,
    private readonly when: 'before' | 'after',
  ) {}

  bind<T extends object>(target: T, methods: readonly (keyof T)[]): T {
    return new Proxy(target, {
      get: (of, name) => {
        const value: unknown = Reflect.get(of, name);
        if (typeof value !== 'function') return value;
        const method = (...input: unknown[]): unknown => value.apply(of, input) as unknown;
        if (!(methods as readonly PropertyKey[]).includes(name)) return method;
        return async (...input: unknown[]) => {
          const dies = this.count++ === this.at;
          if (dies && this.when === 'before') throw new Error('killed');
          const result = await method(...input);
          if (dies) throw new Error('killed');
          return result;
        };
      },
    });
  }

  get struck(): boolean {
    return this.count > this.at;
  }
}

describe('income sessions', () => {
  const clock = new SetClock(Date.now());
  const policy = new IncomePolicy({
    vendorTimeoutSeconds: 20,
    sessionTtlSeconds: 1_800,
    sessionsPerScreening: 0,
    sessionsPerMinute: 0,
    sessionsPerMinutePerAccount: 0,
    readsPerMinute: 0,
  });
  const accounts = new KnownAccounts();
  let folder: string;
  let redis: RedisServer;
  let store: EmbeddedEventStore;
  let vault: DiskVault;
  let readModels: RedisReadModels;
  let statuses: IncomeStatusReader;
  let screenings: KnownScreenings;
  let vendor: VendorInMemory;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'income-'));
    redis = await RedisServer.start();
    store = EmbeddedEventStore.open({ directory: join(folder, 'events') });
    vault = DiskVault.open({
      directory: join(folder, 'vault'),
      keys: MasterKeys.parse(`k:${randomBytes(32).toString('base64')}`),
      clock,
    });
    readModels = readModelsIn(redis, store, [incomeStatus]);
    statuses = new IncomeStatusReader(readModels, accounts, { caughtUp: async () => undefined }, vault);
  });

  beforeEach(() => {
    vendor = new VendorInMemory();
    screenings = new KnownScreenings();
  });

  afterAll(async () => {
    await store.close();
    await vault.close();
    await redis.stop();
    await rm(folder, { recursive: true, force: true });
  });

  interface Process {
    readonly progress: IncomeProgress;
    open(
      inquiry?: Partial<IncomeInquiry>,
      context?: ReturnType<typeof contextOf>,
      id?: string,
      grantId?: string | null,
    ): Promise<string>;
    settle(id: string, noticed?: boolean): Promise<unknown>;
    view(
      id: string,
      reach?: 'own' | 'own-and-children',
      context?: ReturnType<typeof contextOf>,
    ): ReturnType<ViewIncomeReportHandler['execute']>;
    erase(id: string): Promise<{ readonly subjectId: string }>;
  }

  /** The service as one process runs it. */
  function process(mortality = new Mortality(-1, 'before'), calls: ExternalCalls = new CallsAtOnce()): Process {
    const aggregates = new AggregateStore(mortality.bind(store, ['append']), readModels, clock, {
      appendConflict: () => undefined,
    });
    const secrets = new IncomeSecrets(mortality.bind(vault, ['put', 'remove']));
    const progress = new IncomeProgress(
      aggregates,
      mortality.bind(vendor, ['start', 'outcomeOf']),
      secrets,
      screenings,
      policy,
      clock,
    );
    const grants = new AccountGrants(aggregates, new GrantDetails(mortality.bind(vault, ['put', 'erase'])), clock);
    const opening = new OpenIncomeSessionHandler(
      aggregates,
      new TestTraffic(),
      accounts,
      screenings,
      grants,
      new RecordedConsents(aggregates, accounts),
      calls,
      new SetRoutes(accounts.vendors),
      progress,
      secrets,
      new CountedInMemory(),
      policy,
      clock,
    );
    const settling = new SettleIncomeSessionHandler(aggregates, progress, clock);
    const viewing = new ViewIncomeReportHandler(
      aggregates,
      secrets,
      accounts,
      screenings,
      grants,
      clock,
      new CountedInMemory(),
      policy,
    );
    const erasing = new EraseIncomePersonHandler(aggregates, mortality.bind(vault, ['erase']), holdsIn(store, clock));
    return {
      progress,
      open: (inquiry = {}, context = contextOf(), id = newId(), grantId = null) =>
        opening.execute(
          new OpenIncomeSession(
            {
              incomeSessionId: id,
              inquiry: { screeningSessionId: null, routes: ['PAYROLL', 'BANKING'], ...inquiry },
              grantId,
              clientAddress: null,
              consent: {},
            },
            context,
          ),
        ),
      settle: (id, noticed) => settling.execute(new SettleIncomeSession(id, new AbortController().signal, noticed)),
      view: (id, reach = 'own', context = contextOf()) => viewing.execute(new ViewIncomeReport(id, reach, context)),
      erase: (id) => erasing.execute(new EraseIncomePerson(id, OPERATOR)),
    };
  }

  const eventsOf = async (id: string): Promise<string[]> =>
    (await store.readStream(`income-${id}`)).map(({ type }) => type);
  const statusOf = async (id: string): Promise<IncomeStatus> =>
    (await statuses.findOwn(id, { accountId: DEMO, environment: 'test' }))!;
  const followed = async (id: string): Promise<Followed> =>
    foldState(incomeStatus, await store.readStream(`income-${id}`))!;
  const dueAt = (doc: Followed): string | null =>
    incomeStatus.entries?.(doc).find(({ list }) => list === openCallsIn('test'))?.sort ?? null;
  const viewOf = async (id: string): Promise<object> =>
    incomeStatusResult(id, await statusOf(id), { reportUrl: (session) => `https://api.example.test/${session}` });
  const refused = async (act: Promise<unknown>): Promise<ErrorCode> => {
    try {
      await act;
    } catch (error) {
      if (error instanceof DomainError) return error.code;
      throw error;
    }
    throw new Error('Nothing was refused');
  };

  /**
   * Advances the clock until the session is due and settles it, as the recovery job does. The function repeats this
   * until the session ends, at most `times` times.
   */
  async function recover(id: string, times = 100, by = process()): Promise<void> {
    for (let time = 0; time < times; time++) {
      const due = dueAt(await followed(id));
      if (due === null) return;
      clock.time = Math.max(clock.time, Date.parse(due));
      await by.settle(id);
    }
  }

  /** The published events of the session. */
  async function published(id: string): Promise<object[]> {
    const history = await store.readStream(`income-${id}`);
    const translated = history.map((event, index) =>
      incomePublisher.types.has(event.type)
        ? incomePublisher.publish(history.slice(0, index + 1), { reportUrl: null, incomeReportUrl: null })
        : null,
    );
    return translated.flatMap((event) => (event ? [{ type: event.type, ...event.data }] : []));
  }

  it('complete by payroll with one report, one event and the matching status', async () => {
    const id = await process().open();
    const { createdAt } = await statusOf(id);
    expect(await viewOf(id)).toEqual({
      income_session_id: id,
      status: 'IN_PROGRESS',
      route: 'PAYROLL',
      created_at: createdAt,
      updated_at: expect.any(String),
    });
    await recover(id);
    expect(await eventsOf(id)).toEqual([
      'IncomeSessionOpened',
      'RouteRequested',
      'RouteStarted',
      'IncomeReportReleased',
    ]);
    const { updatedAt } = await statusOf(id);
    expect(await viewOf(id)).toEqual({
      income_session_id: id,
      status: 'COMPLETED',
      route: 'PAYROLL',
      report_url: `https://api.example.test/${id}`,
      created_at: createdAt,
      updated_at: updatedAt,
      completed_at: updatedAt,
    });
    expect(incomeStatusResult(id, await statusOf(id), { reportUrl: () => null })).not.toHaveProperty('report_url');
    expect(await published(id)).toEqual([{ type: 'income_report.completed', income_session_id: id, route: 'PAYROLL' }]);
    expect(vendor.begun).toEqual([{ route: 'PAYROLL', vendor: 'voie', person: null }]);
    const subject = derivedId('income-subject', id);
    expect(await vault.get(subject, inquiryEntry(id))).toBeNull();
    expect(await vault.get(subject, reportEntry(id))).not.toBeNull();
  });

  it('fall back from payroll to banking without a published event', async () => {
    vendor.outcomes.PAYROLL = NO_MATCH;
    const screening = screenings.add();
    const id = await process().open({ screeningSessionId: screening.sessionId });
    await recover(id, 1);
    expect((await followed(id)).session).toMatchObject({
      status: 'IN_PROGRESS',
      route: 'BANKING',
      attempt: { started: true },
    });
    expect(await published(id)).toEqual([]);
    await recover(id);
    expect(await published(id)).toEqual([
      {
        type: 'income_report.completed',
        income_session_id: id,
        route: 'BANKING',
        screening_session_id: screening.sessionId,
      },
    ]);
    expect(vendor.begun).toEqual([
      { route: 'PAYROLL', vendor: 'voie', person: 'person-at-voie' },
      { route: 'BANKING', vendor: 'voie', person: 'person-at-voie' },
    ]);
    // The vault keeps the person's data under the person's subject.
    expect(await vault.get(screening.subjectId, reportEntry(id))).not.toBeNull();
  });

  it('show how the vendor is opened while the person must act there, round by round, and keep the address in the vault only', async () => {
    const until = (minutes: number): string => new Date(clock.time + minutes * 60_000).toISOString();
    const [first, second] = [until(30), until(45)];
    vendor.outcomes.PAYROLL = { kind: 'needs-user', open: { url: 'https://vendor.test/canary-1' }, until: first };
    const id = await process().open();
    await recover(id, 2);
    const actionOf = async () => statuses.userActionOf(id, await statusOf(id));
    expect(await actionOf()).toEqual({ open: { url: 'https://vendor.test/canary-1' }, until: first });
    expect(incomeStatusResult(id, await statusOf(id), { reportUrl: () => null }, await actionOf())).toMatchObject({
      status: 'IN_PROGRESS',
      user_action: { until: first, url: 'https://vendor.test/canary-1' },
    });
    vendor.outcomes.PAYROLL = { kind: 'needs-user', open: { sdk: 'link', token: 'canary-2' }, until: second };
    await process().settle(id, true);
    expect(await actionOf()).toEqual({ open: { sdk: 'link', token: 'canary-2' }, until: second });
    const log = JSON.stringify(await store.readStream(`income-${id}`));
    expect([log, JSON.stringify(await followed(id))].join()).not.toContain('canary');
    vendor.outcomes.PAYROLL = { kind: 'in-progress' };
    await process().settle(id, true);
    expect(await actionOf()).toBeNull();
    vendor.outcomes.PAYROLL = COMPLETED;
    await process().settle(id, true);
    const about = { income_session_id: id, route: 'PAYROLL' };
    expect(await published(id)).toEqual([
      { type: 'income_report.user_action_required', ...about, until: first },
      { type: 'income_report.user_action_required', ...about, until: second },
      { type: 'income_report.completed', ...about },
    ]);
    expect(await vault.get(derivedId('income-subject', id), inquiryEntry(id))).toBeNull();
  });

  it('expire when the person has not acted within the round', async () => {
    const until = new Date(clock.time + 600_000).toISOString();
    vendor.outcomes.PAYROLL = { kind: 'needs-user', open: { url: 'https://vendor.test/' }, until };
    const id = await process().open();
    await recover(id);
    expect([await viewOf(id), new Date(clock.time).toISOString()]).toEqual([
      expect.objectContaining({ status: 'EXPIRED', updated_at: until }),
      until,
    ]);
    expect(await vault.get(derivedId('income-subject', id), inquiryEntry(id))).toBeNull();
  });

  it.each(['NO_MATCH', 'VENDOR_ERROR'] as const)(
    'fail once with the reason %s when every route has failed',
    async (reason) => {
      vendor.outcomes = { PAYROLL: NO_MATCH, BANKING: { kind: 'failed', reason } };
      const id = await process().open();
      await recover(id);
      expect(await viewOf(id)).toMatchObject({ status: 'FAILED', route: 'BANKING', reason_code: reason });
      expect(await viewOf(id)).not.toHaveProperty('completed_at');
      expect(await published(id)).toEqual([
        { type: 'income_report.failed', income_session_id: id, route: 'BANKING', reason_code: reason },
      ]);
      expect(await vault.get(derivedId('income-subject', id), inquiryEntry(id))).toBeNull();
    },
  );

  it('ask a vendor of its own about bank transactions, which gets its own reference to the person', async () => {
    vendor.outcomes.PAYROLL = NO_MATCH;
    const vendors = { ...FIRST_CHOICE, banking: 'cashflow' };
    const { sessionId } = screenings.add({ vendors });
    const id = await process().open({ screeningSessionId: sessionId });
    await recover(id);
    expect(vendor.begun).toEqual([
      { route: 'PAYROLL', vendor: 'voie', person: 'person-at-voie' },
      { route: 'BANKING', vendor: 'cashflow', person: 'person-at-cashflow' },
    ]);
    expect(await viewOf(id)).toMatchObject({ status: 'COMPLETED', route: 'BANKING' });
    const [opened] = await store.readStream(`income-${id}`);
    expect(opened?.data).toMatchObject({ vendor: 'voie', bankingVendor: 'cashflow' });
    // A session of an earlier release names one vendor, which has both routes.
    const { bankingVendor: _, ...before } = opened?.data as { readonly bankingVendor: string };
    const state = incomeSession.evolve(incomeSession.initial, { type: 'IncomeSessionOpened', data: before } as never);
    expect(vendorOf(state as never, 'BANKING')).toBe('voie');
  });

  it("use the vendor of their screening with that vendor's reference, even if the account has chosen another vendor since", async () => {
    vendor.outcomes.PAYROLL = NO_MATCH;
    const { sessionId } = screenings.add({ vendors: { ...FIRST_CHOICE, income: 'acme' } });
    const id = await process().open({ screeningSessionId: sessionId });
    await recover(id);
    expect((await statusOf(id)).status).toBe('COMPLETED');
    expect(vendor.begun).toEqual([
      { route: 'PAYROLL', vendor: 'acme', person: 'person-at-acme' },
      { route: 'BANKING', vendor: 'acme', person: 'person-at-acme' },
    ]);
    expect(new Set(vendor.vendors)).toEqual(new Set(['acme']));
  });

  it("use the account's vendor when they have no screening, and keep this vendor", async () => {
    accounts.vendors = { ...FIRST_CHOICE, income: 'acme' };
    const id = await process().open();
    accounts.vendors = FIRST_CHOICE;
    await recover(id);
    expect((await statusOf(id)).status).toBe('COMPLETED');
    expect([vendor.begun, new Set(vendor.vendors)]).toEqual([
      [{ route: 'PAYROLL', vendor: 'acme', person: null }],
      new Set(['acme']),
    ]);
  });

  it('begin without a reference when their vendor cannot use sessions of the identity vendor', async () => {
    const { sessionId } = screenings.add({ vendors: { ...FIRST_CHOICE, income: 'begins-without' } });
    await process().open({ screeningSessionId: sessionId });
    expect(vendor.begun).toEqual([{ route: 'PAYROLL', vendor: 'begins-without', person: null }]);
  });

  it.each([{ kind: 'unavailable' }, { kind: 'timed-out' }, { kind: 'unintelligible' }] as const)(
    'do not fail when a vendor is $kind, and the inquiry begins when the vendor works again',
    async (trouble) => {
      vendor.trouble = trouble;
      const id = await process().open();
      expect(await statusOf(id)).toMatchObject({ status: 'CREATED', route: 'PAYROLL' });
      await recover(id, 5);
      expect((await statusOf(id)).status).toBe('CREATED');
      vendor.trouble = null;
      await recover(id, 1);
      expect((await statusOf(id)).status).toBe('IN_PROGRESS');
      vendor.trouble = trouble;
      await recover(id, 5);
      expect((await statusOf(id)).status).toBe('IN_PROGRESS');
      vendor.trouble = null;
      await recover(id);
      expect((await statusOf(id)).status).toBe('COMPLETED');
      expect(vendor.begun).toHaveLength(1);
    },
  );

  it('end as EXPIRED after half an hour without an outcome, after fewer than a hundred requests, and publish nothing', async () => {
    vendor.outcomes.PAYROLL = { kind: 'in-progress' };
    const id = await process().open();
    const opened = Date.parse((await statusOf(id)).createdAt);
    const { updatedAt } = await statusOf(id);
    await recover(id, 5);
    expect((await statusOf(id)).updatedAt).toBe(updatedAt);
    await recover(id);
    const { status, updatedAt: endedAt } = await statusOf(id);
    expect(status).toBe('EXPIRED');
    expect(Date.parse(endedAt) - opened).toBe(1_800_000);
    expect(vendor.asked).toBeLessThan(100);
    expect(await published(id)).toEqual([]);
  });

  it('find a report that became ready during a longer outage of the service', async () => {
    const id = await process().open();
    clock.time += 7_200_000;
    await process().settle(id);
    expect((await statusOf(id)).status).toBe('COMPLETED');
  });

  it('cause no request to the vendor before they are due', async () => {
    const id = await process().open();
    const { asked } = vendor;
    await process().settle(id);
    expect(vendor.asked).toBe(asked);
  });

  it('cause a request to the vendor before they are due when the vendor has sent a notice', async () => {
    const id = await process().open();
    await process().settle(id, true);
    expect((await statusOf(id)).status).toBe('COMPLETED');
  });

  it('stay the same when they are opened again with the same id', async () => {
    const id = newId();
    await process().open({}, contextOf(), id);
    expect(await process().open({}, contextOf(), id)).toBe(id);
    expect(await eventsOf(id)).toEqual(['IncomeSessionOpened', 'RouteRequested', 'RouteStarted']);
    expect(vendor.begun).toHaveLength(1);
  });

  describe.each(['before', 'after'] as const)('a process that dies %s any one of its effects', (when) => {
    it('leaves a session that the recovery job continues with one inquiry for each route, one report and one event', async () => {
      vendor.outcomes.PAYROLL = NO_MATCH;
      let struck = 0;
      for (let effect = 0; ; effect++) {
        const id = newId();
        const begunBefore = vendor.begun.length;
        const mortality = new Mortality(effect, when);
        const mortal = process(mortality);
        const life = (async () => {
          await mortal.open({}, contextOf(), id);
          await recover(id, 100, mortal);
        })();
        const died = await life.then(
          () => false,
          () => true,
        );
        if ((await eventsOf(id)).length === 0) {
          // The process died before it stored anything, so neither a session nor an inquiry exists.
          expect(vendor.begun).toHaveLength(begunBefore);
          continue;
        }
        await recover(id);
        expect([effect, (await eventsOf(id)).filter((type) => type !== 'RouteAwaited')]).toEqual([
          effect,
          [
            'IncomeSessionOpened',
            'RouteRequested',
            'RouteStarted',
            'RouteFailed',
            'RouteRequested',
            'RouteStarted',
            'IncomeReportReleased',
          ],
        ]);
        expect(vendor.begun.slice(begunBefore).map(({ route }) => route)).toEqual(['PAYROLL', 'BANKING']);
        expect(await published(id)).toHaveLength(1);
        expect((await process().view(id)).report).toEqual(REPORT);
        expect(died).toBe(mortality.struck);
        if (!mortality.struck) break;
        struck++;
      }
      // A session with a fallback has at least this many appends, vault entries and vendor calls.
      expect(struck).toBeGreaterThanOrEqual(10);
    });
  });

  describe('income sessions at the queue of the vendor', () => {
    let calls: CallProcesses;
    beforeEach(async () => {
      calls = await CallProcesses.start();
    });
    afterEach(() => calls.end());

    /**
     * A process that serves requests, while another process makes the calls. `share` is the limit of an account's
     * simultaneous calls. 0 means no limit.
     */
    async function serving(share = 0): Promise<Process> {
      await calls.worker([process().progress], { drainMs: 1 });
      return process(undefined, await calls.caller({ timeoutMs: 60_000, share }));
    }

    it('are begun by a worker before the opening is answered, and leave nothing in Redis', async () => {
      const id = await (await serving()).open();
      expect(await eventsOf(id)).toEqual(['IncomeSessionOpened', 'RouteRequested', 'RouteStarted']);
      expect((await statusOf(id)).status).toBe('IN_PROGRESS');
      expect(await (await calls.connection()).keys('sealed:*')).toEqual([]);
    });

    it('begin later when no worker can call the vendor now', async () => {
      const api = await serving();
      await calls.server.kill9();
      const id = await api.open();
      expect((await store.readStream(`income-${id}`)).at(-1)?.data).toMatchObject({ cause: 'VENDOR_UNAVAILABLE' });
      expect(vendor.asked).toBe(0);
      await calls.server.startAgain();
      await recover(id);
      expect((await statusOf(id)).status).toBe('COMPLETED');
    });

    it('leave room for other accounts, even if many sessions of one account hang', async () => {
      const api = await serving(2);
      vendor.hanging = 2;
      const refused: string[] = [];
      for (let count = 0; count < 66; count++) {
        const id = newId();
        void api.open({}, contextOf(), id).catch(({ code }: { readonly code?: ErrorCode }) => {
          if (code === 'request.rate_limited') refused.push(id);
        });
      }
      await until('the excess is refused', () => refused.length === 64);
      await until('the others hang', () => vendor.asked === 2);
      expect((await Promise.all(refused.map(eventsOf))).flat()).toEqual([]);
      expect(await eventsOf(await api.open({}, contextOf(CHILD)))).toContain('RouteStarted');
    });

    it("no longer count for the account's limit when they are opened again", async () => {
      const api = await serving(1);
      const id = newId();
      for (let time = 0; time < 3; time++) await api.open({}, contextOf(), id);
      expect(await eventsOf(await api.open())).toContain('RouteStarted');
    });
  });

  it('record one outcome when several processes ask the vendor at the same time', async () => {
    const id = await process().open();
    clock.time += 5_000;
    await Promise.all(Array.from({ length: 8 }, () => process().settle(id)));
    expect(await eventsOf(id)).toEqual([
      'IncomeSessionOpened',
      'RouteRequested',
      'RouteStarted',
      'IncomeReportReleased',
    ]);
  });

  it.each([true, false])(
    'move the details of their grant to the person, even if a process dies on the way (linked to a screening: %s)',
    async (linked) => {
      const minting = new IssueGrantHandler(
        new AggregateStore(store, readModels, clock, { appendConflict: () => undefined }),
        new TestTraffic(),
        accounts,
        new GrantDetails(vault),
        clock,
        { ttlSeconds: 900 },
      );
      const { accountId, environment, ...who } = contextOf();
      const wishes = {
        onBehalfOf: null,
        userType: null,
        endUserType: null,
        purpose: null,
        recipientAccountId: null,
        applicationFeeCents: null,
        details: { external_id: 'canary' },
      };
      for (let effect = 0; effect < 3; effect++) {
        const { grantId } = await minting.execute(new IssueGrant(wishes, { accountId, environment, ...who }));
        const [id, screening] = [newId(), linked ? screenings.add() : null];
        const open = (mortality?: Mortality): Promise<string> =>
          process(mortality).open({ screeningSessionId: screening?.sessionId ?? null }, contextOf(), id, grantId);
        const mortality = new Mortality(effect, 'before');
        await expect(open(mortality)).rejects.toThrow();
        expect(mortality.struck).toBe(true);
        for (const _again of [1, 2]) await open();
        const subjectId = screening?.subjectId ?? derivedId('income-subject', id);
        expect((await store.readStream(`income-${id}`))[0]?.data).toMatchObject({ grantId, subjectId });
        expect(Buffer.from((await vault.get(subjectId, grantId))!).toString()).toContain('canary');
        await expect(vault.get(derivedId('session-grant', grantId), grantId)).rejects.toThrow(SubjectErased);
        expect((await store.readStream(`session_grant-${grantId}`)).map(({ type }) => type)).toEqual([
          'GrantMinted',
          'GrantDetailsEntrusted',
        ]);
      }
    },
  );

  describe('the linked screening', () => {
    it('must belong to the account, in the same environment', async () => {
      for (const foreign of [{ accountId: UNRELATED }, { accountId: CHILD }, { environment: 'live' }] as const) {
        expect(await refused(process().open({ screeningSessionId: screenings.add(foreign).sessionId }))).toBe(
          'screening.not_found',
        );
      }
      for (const unknown of [newId(), 'nonsense'])
        expect(await refused(process().open({ screeningSessionId: unknown }))).toBe('screening.not_found');
    });

    it.each(['SUBMITTED', 'STEP_UP_REQUIRED', 'OTP_PENDING', 'KBA_PENDING', 'BLOCKED', 'EXPIRED', 'ERROR'] as const)(
      'is refused when it is %s',
      async (status) => {
        expect(await refused(process().open({ screeningSessionId: screenings.add({ status }).sessionId }))).toBe(
          'request.invalid',
        );
        expect(vendor.begun).toEqual([]);
      },
    );

    it('is not found when its person was erased, and an open session of this person ends', async () => {
      const screening = screenings.add();
      const id = await process().open({ screeningSessionId: screening.sessionId });
      await vault.erase(screening.subjectId);
      screenings.erased = true;
      expect(await refused(process().open({ screeningSessionId: screening.sessionId }))).toBe('screening.not_found');
      await recover(id);
      expect((await statusOf(id)).status).toBe('EXPIRED');
      expect((await eventsOf(id)).at(-1)).toBe('IncomeSessionExpired');
      expect(await published(id)).toEqual([]);
    });
  });

  it('must be allowed to reach vendors when its traffic is live', async () => {
    expect(await refused(process().open({}, contextOf(DEMO, 'live')))).toBe('account.not_live');
    expect(await refused(process().open({}, contextOf(newId())))).toBe('request.unauthenticated');
    expect(vendor.asked).toBe(0);
  });

  describe('the report', () => {
    it('has the documented shape, and every look is recorded', async () => {
      const id = await process().open({}, contextOf(CHILD));
      clock.time += 5_000;
      await process().settle(id);
      const before = (await store.readAll(null, 10_000)).at(-1)!.position;
      const viewed = await process().view(id, 'own-and-children', contextOf(DEMO));
      expect(incomeReportResult(viewed)).toEqual({
        income_session_id: id,
        route: 'PAYROLL',
        generated_at: viewed.generatedAt,
        employers: [{ name: 'Canary Mills', title: null, started_on: '2020-02-03', ended_on: null }],
        income: { annual_gross_cents: 8_450_000, currency: 'usd', pay_frequency: 'BIWEEKLY' },
        paystubs: [{ pay_date: '2026-02-27', gross_cents: 325_000, net_cents: 241_000 }],
      });
      await process().view(id, 'own', contextOf(CHILD));
      const traces = await store.readAll(before, 10);
      expect(
        traces.map(({ type, data, metadata: { accountId, actor } }) => ({ type, data, accountId, actor })),
      ).toEqual(
        [DEMO, CHILD].map((viewerAccountId) => ({
          type: 'IncomeReportViewed',
          data: { incomeSessionId: id, viewerAccountId, purpose: 'TENANT_SCREENING' },
          accountId: CHILD,
          actor: { kind: 'platform-token', id: 'key' },
        })),
      );
      expect(new Set(traces.map(({ stream }) => stream)).size).toBe(2);
      const history = await store.readStream(`income-${id}`);
      const released = history.find(({ type }) => type === 'IncomeReportReleased')?.data as { bodyDigest: string };
      const { subjectId } = history[0]?.data as { subjectId: string };
      const salt = await vault.get(subjectId, saltEntry(reportEntry(id), released.bodyDigest));
      const stored = await vault.get(subjectId, reportEntry(id));
      const hmac = createHmac('sha256', salt ?? '')
        .update(stored ?? '')
        .digest('base64url');
      expect(released.bodyDigest).toBe(`${released.bodyDigest.split('.')[0]}.${hmac}`);
      // The events contain neither the report nor the inquiry.
      expect(JSON.stringify(await store.readAll(null, 10_000))).not.toMatch(/Canary|vendor-inquiry|8450000/);
    });

    it('is not ready for a session that is not completed, and no look is recorded', async () => {
      const open = await process().open();
      vendor.outcomes = { PAYROLL: NO_MATCH, BANKING: NO_MATCH };
      const failed = await process().open();
      await recover(failed);
      const before = (await store.readAll(null, 10_000)).at(-1)!.position;
      for (const id of [open, failed]) expect(await refused(process().view(id))).toBe('income.report_not_ready');
      expect(await store.readAll(before, 10)).toEqual([]);
    });

    it('is not found after the person was erased', async () => {
      const screening = screenings.add();
      const id = await process().open({ screeningSessionId: screening.sessionId });
      await recover(id);
      expect((await process().view(id)).report).toEqual(REPORT);
      await vault.erase(screening.subjectId);
      expect(await refused(process().view(id))).toBe('request.not_found');
    });
  });

  describe('erasing the person of a session without a screening', () => {
    const erasures = async (id: string): Promise<number> =>
      (await eventsOf(id)).filter((type) => type === 'IncomePersonErased').length;

    it('removes the report, and keeps the outcome, the published events and the status', async () => {
      const id = await process().open();
      await recover(id);
      expect((await process().view(id)).report).toEqual(REPORT);
      const before = { events: await eventsOf(id), published: await published(id), view: await viewOf(id) };
      clock.time += 60_000;
      const subjectId = derivedId('income-subject', id);
      expect(await process().erase(id)).toEqual({ subjectId });
      await expect(vault.get(subjectId, reportEntry(id))).rejects.toThrow(SubjectErased);
      for (const reach of ['own', 'own-and-children'] as const)
        expect(await refused(process().view(id, reach))).toBe('request.not_found');
      expect({
        events: (await eventsOf(id)).slice(0, -1),
        published: await published(id),
        view: await viewOf(id),
      }).toEqual(before);
      const { type, data, metadata } = (await store.readStream(`income-${id}`)).at(-1)!;
      expect({ type, data, metadata }).toMatchObject({
        type: 'IncomePersonErased',
        data: { subjectId },
        metadata: {
          accountId: DEMO,
          environment: 'test',
          actor: { kind: 'operator', id: 'ops' },
          $correlationId: 'erasure',
        },
      });
      expect((await followed(id)).session.erased).toBe(true);
    });

    it('records nothing new when it is repeated, and returns the same result', async () => {
      const id = await process().open();
      await recover(id);
      const first = await process().erase(id);
      const events = await eventsOf(id);
      expect(await process().erase(id)).toEqual(first);
      expect(await eventsOf(id)).toEqual(events);
    });

    it('ends an open session, and the vendor is no longer asked', async () => {
      vendor.outcomes.PAYROLL = { kind: 'in-progress' };
      const id = await process().open();
      await process().erase(id);
      expect(await eventsOf(id)).toEqual([
        'IncomeSessionOpened',
        'RouteRequested',
        'RouteStarted',
        'IncomePersonErased',
        'IncomeSessionExpired',
      ]);
      const { asked } = vendor;
      clock.time += 7_200_000;
      await process().settle(id);
      expect([(await statusOf(id)).status, vendor.asked, await published(id)]).toEqual(['EXPIRED', asked, []]);
    });

    it.each(['before', 'after'] as const)(
      'is finished by the next run when a run dies %s any one of its effects, and is recorded only after the vault has erased',
      async (when) => {
        for (let effect = 0; ; effect++) {
          const id = await process().open();
          await recover(id);
          const mortality = new Mortality(effect, when);
          const died = await process(mortality)
            .erase(id)
            .then(
              () => false,
              () => true,
            );
          expect(died).toBe(mortality.struck);
          if ((await erasures(id)) > 0)
            await expect(vault.get(derivedId('income-subject', id), reportEntry(id))).rejects.toThrow(SubjectErased);
          await process().erase(id);
          expect([effect, await erasures(id), await refused(process().view(id))]).toEqual([
            effect,
            1,
            'request.not_found',
          ]);
          if (!died) {
            // The erasure has two effects: one in the vault, and one in the log.
            expect(effect).toBe(2);
            break;
          }
        }
      },
    );

    it('leaves no report when another process requests the outcome at the same time', async () => {
      const id = await process().open();
      clock.time += 5_000;
      await Promise.all([process().settle(id), process().erase(id), process().settle(id), process().erase(id)]);
      await recover(id);
      expect(await erasures(id)).toBe(1);
      await expect(vault.get(derivedId('income-subject', id), reportEntry(id))).rejects.toThrow(SubjectErased);
    });

    it('is refused for a session with a screening, which the error names, and erases nothing', async () => {
      const screening = screenings.add();
      const id = await process().open({ screeningSessionId: screening.sessionId });
      await recover(id);
      const events = await eventsOf(id);
      const message = `This income session belongs to the screening session ${screening.sessionId}; erase the person behind that one instead.`;
      await expect(process().erase(id)).rejects.toMatchObject({
        code: 'request.invalid',
        detail: { details: [{ field: 'session', message }] },
      });
      expect(await eventsOf(id)).toEqual(events);
      expect((await process().view(id)).report).toEqual(REPORT);
    });

    it.each([
      ['unknown', newId()],
      ['malformed', 'nonsense'],
      ['empty', ''],
    ])('is refused for an id that is %s', async (_what, id) => {
      await expect(process().erase(id)).rejects.toMatchObject({
        code: 'request.not_found',
        detail: { field: 'session' },
      });
    });
  });

  describe('access to a session', () => {
    let id: string;
    beforeAll(async () => {
      vendor = new VendorInMemory();
      screenings = new KnownScreenings();
      id = await process().open({}, contextOf(CHILD));
      clock.time += 5_000;
      await process().settle(id);
    });

    it.each([
      ['its own account', CHILD, 'test', true, true],
      ['the parent', DEMO, 'test', false, true],
      ['a child', GRANDCHILD, 'test', false, false],
      ['an unrelated account', UNRELATED, 'test', false, false],
      ['its own account in another environment', CHILD, 'live', false, false],
      ['the parent in another environment', DEMO, 'live', false, false],
    ] as const)('is correct for %s', async (_who, accountId, environment, own, server) => {
      expect((await statuses.findOwn(id, { accountId, environment })) !== null).toBe(own);
      expect((await statuses.findReadable(id, { accountId, environment })) !== null).toBe(server);
      for (const [reach, allowed] of [
        ['own', own],
        ['own-and-children', server],
      ] as const) {
        const viewing = process().view(id, reach, contextOf(accountId, environment));
        if (allowed) expect((await viewing).report).toEqual(REPORT);
        else expect(await refused(viewing)).toBe('request.not_found');
      }
    });

    it('is limited to servers and to pages with a token of the grant when the session was opened under a grant', async () => {
      const grantId = newId();
      const granted = await process().open({}, contextOf(CHILD), newId(), grantId);
      clock.time += 5_000;
      await process().settle(granted);
      for (const [caller, allowed] of [
        [{ ...contextOf(CHILD), grantId }, true],
        [{ ...contextOf(CHILD), grantId: newId() }, false],
        [contextOf(CHILD), false],
      ] as const) {
        expect((await statuses.findOwn(granted, caller)) !== null).toBe(allowed);
        const viewing = process().view(granted, 'own', caller);
        if (allowed) expect((await viewing).report).toEqual(REPORT);
        else expect(await refused(viewing)).toBe('request.not_found');
      }
      expect(await statuses.findReadable(granted, contextOf(CHILD))).not.toBeNull();
      expect((await process().view(granted, 'own-and-children', contextOf(CHILD))).report).toEqual(REPORT);
    });

    it('answers "not found" for a session that does not exist', async () => {
      for (const unknown of [newId(), 'nonsense', '', id.toUpperCase()]) {
        expect(await statuses.findOwn(unknown, contextOf(CHILD))).toBeNull();
        expect(await statuses.findReadable(unknown, contextOf(CHILD))).toBeNull();
        expect(await refused(process().view(unknown, 'own', contextOf(CHILD)))).toBe('request.not_found');
      }
    });
  });

  describe('the read model of income sessions', () => {
    const replayed = async (id: string): Promise<IncomeStatus> => incomeStatus.view(await followed(id));

    it('equals its replay from the log, and a second replay changes nothing', async () => {
      vendor.outcomes.PAYROLL = NO_MATCH;
      const id = await process().open();
      await recover(id);
      await process().erase(id);
      expect(await replayed(id)).toEqual(await statusOf(id));
      expect(await replayed(id)).toEqual(await replayed(id));
      // The subscription delivers the events again that were applied at once. The document must not return to an
      // earlier state.
      const history = await store.readStream(`income-${id}`);
      await readModels.applyNow(history.slice(0, 3));
      await readModels.applyNow(history);
      expect(await statusOf(id)).toEqual(await replayed(id));
    });

    it('has the time at which a session is due, and no time after the session has ended', () => {
      const event = {
        stream: `income-${newId()}`,
        metadata: { accountId: DEMO, environment: 'test', occurredAt: '2026-03-01T12:00:00.000Z' },
      };
      const fold = (...events: object[]): Followed =>
        foldState(
          incomeStatus,
          events.map((one) => ({ ...event, ...one }) as never),
        )!;
      const opened = {
        type: 'IncomeSessionOpened',
        data: {
          routes: ['PAYROLL'],
          screeningSessionId: null,
          subjectId: 'subject',
          expiresAt: '2026-03-01T12:30:00.000Z',
        },
      };
      const requested = {
        type: 'RouteRequested',
        data: { route: 'PAYROLL', attemptId: 'first', settleAfter: '2026-03-01T12:00:22.000Z' },
      };
      const ended = { type: 'IncomeSessionExpired', data: { cause: 'NO_OUTCOME' } };
      expect([fold(opened), fold(opened, requested), fold(opened, requested, ended)].map(dueAt)).toEqual([
        '2026-03-01T12:30:00.000Z',
        '2026-03-01T12:00:22.000Z',
        null,
      ]);
      expect(() => fold(opened, { type: 'SomethingElse', data: {} })).toThrow(
        'income_status does not know SomethingElse',
      );
      expect(() => fold(requested)).toThrow('does not begin with an opened session');
    });
  });
});

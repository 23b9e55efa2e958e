// Reports of renters, and their links to agents and organizations, as servers use them through the direct API.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CallerContext } from '../../../src/kernel/context.js';
import { DomainError, type DomainErrorDetail } from '../../../src/kernel/domain-error.js';
import { newId } from '../../../src/kernel/ids.js';
import type { VendorReply } from '../../../src/kernel/vendor-reply.js';
import { PartyReports, type NamedParty } from '../../../src/modules/reports/application/party-reports.js';
import { LinkReport, LinkReportHandler } from '../../../src/modules/reports/application/link-report.js';
import {
  OpenLinkedReport,
  OpenLinkedReportHandler,
} from '../../../src/modules/reports/application/open-linked-report.js';
import {
  OpenRenterReport,
  OpenRenterReportHandler,
} from '../../../src/modules/reports/application/open-renter-report.js';
import { ReadCreditScore, ReadCreditScoreHandler } from '../../../src/modules/reports/application/read-credit-score.js';
import {
  ReadReportExpiry,
  ReadReportExpiryHandler,
} from '../../../src/modules/reports/application/read-report-expiry.js';
import { ReadPurposes } from '../../../src/modules/reports/application/read-purposes.js';
import { ReportAccess } from '../../../src/modules/reports/application/report-access.js';
import type { OpenedReport } from '../../../src/modules/reports/application/report-viewer.js';
import { UnlinkReport, UnlinkReportHandler } from '../../../src/modules/reports/application/unlink-report.js';
import { report } from '../../../src/modules/reports/domain/report.js';
import type { ReportViewEvent } from '../../../src/modules/reports/domain/report-view.js';
import { shareIdOf, type ShareEvent } from '../../../src/modules/reports/domain/share.js';
import type { ReportVerdict } from '../../../src/ports/credit-bureau.js';
import type { PartyFacts } from '../../../src/published/parties.js';
import { Reports } from '../../../src/published/reports.js';
import type { ScreeningFacts } from '../../../src/published/screenings.js';
import { CountedInMemory } from '../../support/rate-limiter.js';
import { afterShown, GIVEN, Harness, Process, REPORT, SCORE } from './harness.js';

const AGENT: NamedParty = { kind: 'agent', id: 'agent-1' };
const OFFICE: NamedParty = { kind: 'organization', id: 'agent-1' };

/** The bureau's own text. No program would write these numbers in this way. */
const TEXT = `{"score":${JSON.stringify(SCORE).replace('712', '7.12e2')},"report":${JSON.stringify(REPORT)}, "more": 1.0}`;
const REPLIED: ReportVerdict = { ...GIVEN, reply: reply(200, TEXT) };

function reply(status: number, body: string, code: number | null = null): VendorReply {
  return { status, body, code, field: null, message: null };
}

let harness: Harness;
let there: Process;
let parties: Harness['parties'];
let purposes: ReadPurposes;

beforeAll(async () => {
  harness = await Harness.build();
  ({ parties } = harness);
  there = new Process(harness);
  purposes = new ReadPurposes(harness.accounts, harness.grants, harness.screenings, harness.clock);
  harness.bureau.answers = [REPLIED];
});
afterAll(() => harness.close());

class Directory extends Reports {
  override async expiryOf(sessionId: string): Promise<string | null> {
    const { state } = await there.aggregates.load(report, sessionId);
    return state.status === 'RELEASED' ? state.expiresAt : null;
  }
  override isOutOfReach(): Promise<never> {
    throw new Error('Not a matter of reading reports');
  }
}

/** An account with its server. */
class Integrator {
  readonly limiter = new CountedInMemory();
  readonly context: CallerContext;

  private constructor(readonly accountId: string) {
    this.context = { ...harness.as(accountId), actor: { kind: 'api-key', id: 'key-1' } };
  }

  static async withCredit(credits: number | null = null): Promise<Integrator> {
    const integrator = new Integrator(await harness.account(credits));
    integrator.registered();
    parties.set('agent', AGENT.id, integrator.accountId);
    parties.set('organization', OFFICE.id, integrator.accountId);
    return integrator;
  }

  /** Registers the renter, verified unless `facts` say otherwise. */
  registered(facts: Partial<ScreeningFacts> = {}): string {
    const { partyId, sessionIds } = parties.set('renter', 'renter-1', this.accountId);
    const sessionId = harness.session(this.accountId, { partyId, ...facts });
    this.renter({ sessionIds: [...sessionIds, sessionId] });
    return sessionId;
  }

  renter(facts: Partial<PartyFacts>): PartyFacts {
    return parties.set('renter', 'renter-1', this.accountId, facts);
  }

  get sessionId(): string {
    return this.renter({}).sessionIds.at(-1)!;
  }

  async open(renterId = 'renter-1', context = this.context): Promise<OpenedReport> {
    const { opened } = await new OpenRenterReportHandler(
      this.access,
      purposes,
      this.reports,
      there.showing,
      there.refusals,
    ).execute(new OpenRenterReport(renterId, { format: 'json', leaveOut: {} }, context));
    return afterShown(opened);
  }

  async openAs(recipient: NamedParty, context = this.context, renterId = 'renter-1'): Promise<OpenedReport> {
    const opening = new OpenLinkedReportHandler(this.access, purposes, this.reports, there.showing, there.refusals);
    const query = { format: 'html', leaveOut: {} } as const;
    return afterShown((await opening.execute(new OpenLinkedReport({ recipient, renterId, query }, context))).opened);
  }

  score(recipient: NamedParty, context = this.context, renterId = 'renter-1'): Promise<number | null> {
    return new ReadCreditScoreHandler(this.access, purposes, this.reports, parties, there.showing).execute(
      new ReadCreditScore(recipient, renterId, context),
    );
  }

  link(recipient: NamedParty, context = this.context, renterId = 'renter-1'): Promise<void> {
    return new LinkReportHandler(
      there.aggregates,
      this.reports,
      this.access,
      purposes,
      harness.vault,
      new CountedInMemory(),
      harness.policy,
      harness.clock,
    ).execute(new LinkReport(recipient, renterId, context));
  }

  unlink(recipient: NamedParty, context = this.context, renterId = 'renter-1'): Promise<void> {
    return new UnlinkReportHandler(
      there.aggregates,
      this.reports,
      this.access,
      new CountedInMemory(),
      harness.policy,
      harness.clock,
    ).execute(new UnlinkReport(recipient, renterId, context));
  }

  expiry(renterId = 'renter-1', context = this.context): Promise<string | null> {
    return new ReadReportExpiryHandler(this.reports, new Directory()).execute(new ReadReportExpiry(renterId, context));
  }

  private get access(): ReportAccess {
    return new ReportAccess(
      there.aggregates,
      harness.screenings,
      harness.accounts,
      this.limiter,
      harness.policy,
      harness.clock,
    );
  }
  private get reports(): PartyReports {
    const { screenings, checkouts, vault, clock } = harness;
    return new PartyReports(parties, screenings, checkouts, there.release, new Directory(), vault, clock);
  }
}

async function refusal(work: Promise<unknown>): Promise<{ code: string; detail: DomainErrorDetail }> {
  const error: unknown = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof DomainError)) throw new Error('Was not refused', { cause: error });
  return { code: error.code, detail: error.detail };
}
const codeOf = async (work: Promise<unknown>): Promise<string> => (await refusal(work)).code;

async function sharesOf({ sessionId }: Integrator, { partyId }: PartyFacts): Promise<string[]> {
  return harness.types('share', shareIdOf(sessionId, partyId));
}

describe('the report of a renter', () => {
  it("has the bureau's own text, is pulled once, and is read again without billing", async () => {
    const owner = await Integrator.withCredit(1);
    expect(await owner.open()).toMatchObject({
      sessionId: owner.sessionId,
      score: SCORE,
      report: REPORT,
      text: TEXT,
      json: null,
    });
    expect(await owner.open()).toMatchObject({ text: TEXT });
    expect(await harness.credit(owner.accountId)).toEqual({ balance: 0, reserved: 0 });
  });

  it("has the bureau's own text only for sessions of a party", async () => {
    const owner = await Integrator.withCredit();
    owner.registered({ partyId: null });
    expect((await owner.open()).text).toBeUndefined();
  });

  it('is refused for each of these reasons, and is checked for them in this order', async () => {
    const owner = await Integrator.withCredit(0);
    const until = new Date(harness.clock.time + 60_000).toISOString();
    const live = { environment: 'live' } as const;
    const sessionId = owner.registered({ ...live, overallStatus: 'PAYMENT_PENDING' });
    owner.renter({ authenticated: false, lockedUntil: until });
    expect(await codeOf(owner.open('renter-2'))).toBe('party.renter_unknown');
    expect(await refusal(owner.open())).toEqual({ code: 'party.locked', detail: { blockedUntil: until } });
    owner.renter({ lockedUntil: null });
    expect(await codeOf(owner.open())).toBe('party.not_confirmed');
    owner.renter({ authenticated: true });
    expect(await codeOf(owner.open())).toBe('account.not_live');
    harness.session(owner.accountId, { sessionId, overallStatus: 'PAYMENT_PENDING' });
    expect(await codeOf(owner.open())).toBe('report.consumer_has_not_paid');
    harness.session(owner.accountId, { sessionId });
    expect(await codeOf(owner.open())).toBe('report.credit_exhausted');
    expect(await harness.types('report', sessionId)).toEqual([]);
  });

  it('belongs to the newest session in which the renter was verified', async () => {
    const owner = await Integrator.withCredit();
    const verified = owner.registered();
    owner.registered({ status: 'STEP_UP_REQUIRED', overallStatus: 'STEP_UP_REQUIRED' });
    owner.renter({ sessionIds: [...owner.renter({}).sessionIds, newId()] });
    expect(await owner.open()).toMatchObject({ sessionId: verified });
  });

  it('is refused for a renter who was never verified', async () => {
    const owner = await Integrator.withCredit();
    owner.renter({ sessionIds: [newId()] });
    expect(await codeOf(owner.open())).toBe('party.not_confirmed');
  });

  it('is read and linked while it is valid, even after the confirmation has expired; a new report needs a confirmation', async () => {
    const owner = await Integrator.withCredit();
    await owner.open();
    owner.renter({ authenticated: false });
    expect(await owner.open()).toMatchObject({ text: TEXT });
    await owner.link(AGENT);
    expect(await owner.score(AGENT)).toBe(712);
    harness.clock.pass(30 * 86_400);
    expect(await codeOf(owner.open())).toBe('party.not_confirmed');
    owner.renter({ authenticated: true });
    owner.registered();
    await owner.open();
    // The newest registration is not confirmed. The report of an older registration does not count for the newest one.
    owner.registered({ status: 'STEP_UP_REQUIRED', overallStatus: 'STEP_UP_REQUIRED' });
    owner.renter({ authenticated: false });
    for (const read of [() => owner.open(), () => owner.link(AGENT)])
      expect(await codeOf(read())).toBe('party.not_confirmed');
  });

  it('expires after 30 days', async () => {
    const owner = await Integrator.withCredit();
    expect(await owner.expiry()).toBeNull();
    const { expiresAt } = await owner.open();
    expect(await owner.expiry()).toBe(expiresAt);
    harness.clock.pass(30 * 86_400);
    expect(await codeOf(owner.open())).toBe('report.expired');
    expect(await owner.expiry()).toBe(expiresAt);
    owner.registered();
    expect(await owner.expiry()).toBeNull();
  });

  it.each<[ReportVerdict, number]>([
    [{ kind: 'refused', reason: 'FILE_FROZEN', upstreamCode: 9132 }, 422],
    [{ kind: 'refused', reason: 'FILE_CONDITION', upstreamCode: 10_015 }, 500],
  ])(
    "%j: the bureau's reply is the error for ten minutes, and then the bureau is asked again",
    async (verdict, status) => {
      const owner = await Integrator.withCredit();
      const said = reply(status, `{"error":{"code":1e1}}`, 10);
      harness.bureau.answers = [{ ...verdict, reply: said }, REPLIED];
      harness.bureau.asked.length = 0;
      const refused = (again: object): object => ({
        code: 'vendor.refused',
        detail: { vendor: { reply: said, step: 'report' }, ...again },
      });
      expect(await refusal(owner.open())).toEqual(refused({}));
      harness.clock.pass(10);
      expect([await refusal(owner.open()), await refusal(owner.link(AGENT))]).toEqual(
        [1, 2].map(() => refused({ retryAfterSeconds: 590 })),
      );
      expect(harness.bureau.asked).toHaveLength(1);
      harness.clock.pass(590);
      expect(await owner.open()).toMatchObject({ sessionId: expect.any(String) });
    },
  );

  it.each<[ReportVerdict, number]>([
    [{ kind: 'session-over' }, 401],
    [{ kind: 'unavailable' }, 500],
    [{ kind: 'unintelligible' }, 418],
  ])("%j: the bureau's reply is the error", async (verdict, status) => {
    const owner = await Integrator.withCredit();
    const said = reply(status, `{"error":{"code":1e1}}`, 10);
    harness.bureau.answers = [{ ...verdict, reply: said }, REPLIED];
    expect(await refusal(owner.open())).toEqual({
      code: 'vendor.refused',
      detail: { vendor: { reply: said, step: 'report' } },
    });
    harness.bureau.answers = [REPLIED];
  });

  it.each<[ReportVerdict, string]>([
    [{ kind: 'refused', reason: 'FILE_FROZEN', upstreamCode: null }, 'report.file_frozen'],
    [{ kind: 'unavailable' }, 'vendor.unreachable'],
    [{ kind: 'unintelligible' }, 'vendor.unreachable'],
    [{ kind: 'timed-out' }, 'service.upstream_timeout'],
  ])('%j without a reply: the error is %s', async (verdict, code) => {
    const owner = await Integrator.withCredit();
    harness.bureau.answers = [verdict];
    expect(await codeOf(owner.open())).toBe(code);
    harness.bureau.answers = [REPLIED];
  });

  it('is refused with the stored reply of the bureau while its pull is open, without another request to the bureau', async () => {
    const owner = await Integrator.withCredit();
    const said = reply(418, '{}', 4_242);
    harness.bureau.answers = [{ kind: 'unintelligible', reply: said }, REPLIED];
    harness.bureau.asked.length = 0;
    const refusals = [await refusal(owner.open()), await refusal(owner.open()), await refusal(owner.link(AGENT))];
    expect(refusals.map(({ detail }) => detail.vendor?.reply)).toEqual([said, said, said]);
    expect(harness.bureau.asked).toHaveLength(1);
    harness.bureau.answers = [REPLIED];
  });

  it('does not repeat the reply of an earlier attempt', async () => {
    const owner = await Integrator.withCredit();
    harness.bureau.answers = [{ kind: 'unavailable', reply: reply(500, '{}', 9001) }, { kind: 'unavailable' }];
    expect(await codeOf(owner.open())).toBe('vendor.refused');
    expect(await codeOf(owner.open())).toBe('vendor.unreachable');
    harness.bureau.answers = [REPLIED];
  });

  it('is refused when the account has read reports too often', async () => {
    const owner = await Integrator.withCredit();
    for (let count = 0; count < harness.policy.limits.readsPerMinute; count += 1)
      await owner.limiter.take([{ key: `report-reads:${owner.accountId}:test`, limit: 60, windowSeconds: 60 }]);
    for (const reading of [owner.open(), owner.openAs(AGENT), owner.score(AGENT)])
      expect(await codeOf(reading)).toBe('request.rate_limited');
  });
});

describe('a link to an agent or organization', () => {
  it('pulls the report, needs no payment, and lets the agent see the released report', async () => {
    const owner = await Integrator.withCredit(1);
    const sessionId = owner.registered({ overallStatus: 'PAYMENT_PENDING' });
    await owner.link(AGENT);
    expect(await harness.credit(owner.accountId)).toEqual({ balance: 0, reserved: 0 });
    expect(await owner.openAs(AGENT)).toMatchObject({ sessionId, text: TEXT });
    expect(await owner.score(AGENT)).toBe(712);
    const shared = (await harness.ofType<ShareEvent>('ReportShared')).find(
      (event) => event.data.sessionId === sessionId,
    );
    const { partyId } = parties.set('agent', AGENT.id, owner.accountId);
    expect(shared?.data).toMatchObject({
      recipientAccountId: owner.accountId,
      recipientPartyId: partyId,
      purpose: 'TENANT_SCREENING',
    });
    const views = (await harness.ofType<ReportViewEvent>('ReportViewed')).filter(
      (event) => event.data.sessionId === sessionId,
    );
    const viewed = {
      viewerAccountId: owner.accountId,
      purpose: 'TENANT_SCREENING',
      shareId: shareIdOf(sessionId, partyId),
    };
    expect(views.map(({ data, metadata }) => [data, metadata.actor])).toEqual(
      ['html', 'score'].map((format) => [
        expect.objectContaining({ ...viewed, format }),
        { kind: 'api-key', id: 'key-1' },
      ]),
    );
  });

  it('is for one party only: an organization with the same id as the agent sees nothing', async () => {
    const owner = await Integrator.withCredit();
    await owner.link(AGENT);
    expect(await codeOf(owner.openAs(OFFICE))).toBe('party.report_not_linked');
    expect(await owner.score(OFFICE)).toBeNull();
  });

  it('is refused for each of these reasons, and is checked for them in this order', async () => {
    const owner = await Integrator.withCredit(0);
    const until = new Date(harness.clock.time + 60_000).toISOString();
    owner.renter({ authenticated: false, lockedUntil: until });
    parties.set('agent', AGENT.id, owner.accountId, { lockedUntil: until });
    expect(await codeOf(owner.link({ kind: 'agent', id: 'nobody' }, owner.context, 'nobody'))).toBe(
      'party.renter_unknown',
    );
    expect(await codeOf(owner.link({ kind: 'agent', id: 'nobody' }))).toBe('party.recipient_unknown');
    expect(await codeOf(owner.link(AGENT))).toBe('party.locked');
    parties.set('agent', AGENT.id, owner.accountId, { lockedUntil: null, authenticated: false });
    expect(await codeOf(owner.link(AGENT))).toBe('party.locked');
    owner.renter({ lockedUntil: null });
    expect(await codeOf(owner.link(AGENT))).toBe('party.not_confirmed');
    owner.renter({ authenticated: true });
    expect(await codeOf(owner.link(AGENT))).toBe('report.credit_exhausted');
    expect(await sharesOf(owner, parties.set('agent', AGENT.id, owner.accountId))).toEqual([]);
  });

  it("is not made when the bureau refuses the report, and the bureau's reply is the error", async () => {
    const owner = await Integrator.withCredit();
    harness.bureau.answers = [
      { kind: 'refused', reason: 'FILE_FROZEN', upstreamCode: 9132, reply: reply(422, '{}', 9132) },
    ];
    expect(await codeOf(owner.link(AGENT))).toBe('vendor.refused');
    harness.bureau.answers = [REPLIED];
    expect(await codeOf(owner.openAs(AGENT))).toBe('party.report_not_linked');
  });

  it('cannot be made to an expired report', async () => {
    const owner = await Integrator.withCredit();
    await owner.open();
    harness.clock.pass(30 * 86_400);
    expect(await codeOf(owner.link(AGENT))).toBe('report.expired');
  });

  it('is made once, is ended once, and can then be made again', async () => {
    const owner = await Integrator.withCredit();
    const agent = parties.set('agent', AGENT.id, owner.accountId);
    await owner.unlink(AGENT);
    await Promise.all([owner.link(AGENT), owner.link(AGENT)]);
    expect(await sharesOf(owner, agent)).toEqual(['ReportShared']);
    await Promise.all([owner.unlink(AGENT), owner.unlink(AGENT)]);
    await owner.unlink(AGENT);
    expect(await sharesOf(owner, agent)).toEqual(['ReportShared', 'SharingRevoked']);
    expect(await codeOf(owner.openAs(AGENT))).toBe('party.report_not_linked');
    expect(await owner.score(AGENT)).toBeNull();
    await owner.link(AGENT);
    expect(await sharesOf(owner, agent)).toEqual(['ReportShared', 'SharingRevoked', 'ReportShared']);
    expect(await owner.score(AGENT)).toBe(712);
  });

  // A report that a consumer no longer shares must not become visible again after a lock.
  it('can be ended while both parties are locked', async () => {
    const owner = await Integrator.withCredit();
    await owner.link(AGENT);
    const lockedUntil = new Date(harness.clock.time + 60_000).toISOString();
    const agent = parties.set('agent', AGENT.id, owner.accountId, { lockedUntil });
    owner.renter({ lockedUntil });
    await owner.unlink(AGENT);
    expect(await sharesOf(owner, agent)).toEqual(['ReportShared', 'SharingRevoked']);
  });

  it('shows the older report after the renter has registered again, until it is made again', async () => {
    const owner = await Integrator.withCredit();
    const older = owner.sessionId;
    await owner.link(AGENT);
    const newer = owner.registered();
    expect(await owner.openAs(AGENT)).toMatchObject({ sessionId: older });
    await owner.link(AGENT);
    expect(await owner.openAs(AGENT)).toMatchObject({ sessionId: newer });
    await owner.unlink(AGENT);
    expect(await codeOf(owner.openAs(AGENT))).toBe('party.report_not_linked');
  });

  it('lasts 24 months, longer than the report, even if the renter is locked or no longer confirmed', async () => {
    const owner = await Integrator.withCredit();
    await owner.link(AGENT);
    harness.clock.pass(700 * 86_400);
    owner.renter({ authenticated: false, lockedUntil: new Date(harness.clock.time + 1_000).toISOString() });
    expect(await owner.openAs(AGENT)).toMatchObject({ text: TEXT });
    harness.clock.pass(32 * 86_400);
    expect(await codeOf(owner.openAs(AGENT))).toBe('party.link_over');
    expect(await owner.score(AGENT)).toBeNull();
  });

  it('shows nothing to a recipient who is unknown, locked or not authenticated', async () => {
    const owner = await Integrator.withCredit();
    await owner.link(AGENT);
    const nobody: NamedParty = { kind: 'agent', id: 'nobody' };
    expect(await codeOf(owner.openAs(nobody))).toBe('party.recipient_unknown');
    expect(await codeOf(owner.score(nobody))).toBe('party.recipient_unknown');
    expect(await codeOf(owner.openAs(AGENT, owner.context, 'nobody'))).toBe('party.renter_unknown');
    expect(await owner.score(AGENT, owner.context, 'nobody')).toBeNull();
    const until = new Date(harness.clock.time + 60_000).toISOString();
    parties.set('agent', AGENT.id, owner.accountId, { authenticated: false, lockedUntil: until });
    expect(await codeOf(owner.openAs(AGENT))).toBe('party.locked');
    expect(await codeOf(owner.score(AGENT))).toBe('party.locked');
    parties.set('agent', AGENT.id, owner.accountId, { lockedUntil: null });
    expect(await codeOf(owner.openAs(AGENT))).toBe('party.recipient_not_authenticated');
    expect(await owner.score(AGENT)).toBeNull();
  });

  it('can be used only in its account and environment', async () => {
    const owner = await Integrator.withCredit();
    await owner.link(AGENT);
    const other = await Integrator.withCredit();
    const live = { ...owner.context, environment: 'live' as const };
    expect(await codeOf(other.openAs(AGENT))).toBe('party.report_not_linked');
    expect(await codeOf(owner.openAs(AGENT, live))).toBe('party.recipient_unknown');
    expect(await codeOf(owner.open('renter-1', live))).toBe('party.renter_unknown');
    expect(await codeOf(owner.link(AGENT, live))).toBe('party.renter_unknown');
    expect(await codeOf(owner.unlink(AGENT, live))).toBe('party.renter_unknown');
    expect(await codeOf(owner.expiry('renter-1', live))).toBe('party.renter_unknown');
  });

  it('shows nothing of a renter who was erased', async () => {
    const owner = await Integrator.withCredit();
    await owner.link(AGENT);
    await harness.vault.erase(harness.screenings.sessions.get(owner.sessionId)!.subjectId);
    expect(await codeOf(owner.openAs(AGENT))).toBe('party.report_not_linked');
    expect(await owner.score(AGENT)).toBeNull();
    expect(await codeOf(owner.open())).toBe('report.expired');
  });
});

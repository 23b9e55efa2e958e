// The conditions for opening a report, the cost, and the number of requests to the bureau.
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { EmbeddedEventStore } from '../../../src/adapters/event-store/embedded.js';
import type { RecordedEvent } from '../../../src/kernel/domain-event.js';
import { newId } from '../../../src/kernel/ids.js';
import type { Certification } from '../../../src/kernel/permissible-purpose.js';
import { credit } from '../../../src/modules/accounts/domain/credit.js';
import {
  nextAttemptId,
  report,
  type PullRefusal,
  type ReportEvent,
} from '../../../src/modules/reports/domain/report.js';
import type { ReportViewEvent } from '../../../src/modules/reports/domain/report-view.js';
import { shareIdOf } from '../../../src/modules/reports/domain/share.js';
import type { ReportVerdict } from '../../../src/ports/credit-bureau.js';
import { type AppendOutcome, type EventStore, EventStoreUnavailable } from '../../../src/ports/event-store.js';
import type { AccountFacts } from '../../../src/published/accounts.js';
import type { ScreeningFacts } from '../../../src/published/screenings.js';
import { saltEntry } from '../../../src/ports/salted-digest.js';
import { SubjectErased } from '../../../src/ports/vault.js';
import { until } from '../../support/eventually.js';
import { GIVEN, Harness, NOBODY, Process, REPLY, REPORT, SCORE } from './harness.js';

const DAY = 86_400;
let harness: Harness;
let here: Process;
let there: Process;

beforeAll(async () => {
  harness = await Harness.build();
});
afterAll(() => harness.close());
beforeEach(() => {
  here = new Process(harness);
  there = new Process(harness);
  harness.bureau.asked.length = 0;
  harness.bureau.answers = [GIVEN];
});

const conditionOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'opened',
    (error: { code?: string; message: string }) => error.code ?? error.message,
  );
const viewsOf = async (sessionId: string) =>
  (await harness.ofType<ReportViewEvent>('ReportViewed')).filter(({ data }) => data.sessionId === sessionId);

describe('the digests of a report', () => {
  it('prove the body and the reply with the salt beside the body, until the person is erased', async () => {
    const accountId = await harness.account();
    const subjectId = newId();
    const sessionId = harness.session(accountId, { subjectId });
    await here.open(sessionId, harness.as(accountId));
    const [released] = (await harness.store.readStream(`report-${sessionId}`)).slice(-1) as RecordedEvent<
      Extract<ReportEvent, { type: 'ReportReleased' }>
    >[];
    const { bodyDigest = '', reportId = '' } = released?.data ?? {};
    const entry = `report:${reportId}`;
    const salt = await harness.vault.get(subjectId, saltEntry(entry, bodyDigest));
    const body = await harness.vault.get(subjectId, entry);
    const digestOf = (value: Uint8Array | string): string =>
      `${bodyDigest.split('.')[0]}.${createHmac('sha256', salt ?? '')
        .update(value)
        .digest('base64url')}`;
    expect(digestOf(body ?? '')).toBe(bodyDigest);
    expect((await viewsOf(sessionId))[0]?.data.digest).toBe(digestOf(REPLY));
    await harness.vault.erase(subjectId);
    await expect(harness.vault.get(subjectId, saltEntry(entry, bodyDigest))).rejects.toThrow(SubjectErased);
  });
});

describe('a refused read of a report', () => {
  const refusalsOf = async (sessionId: string) =>
    (await harness.store.readStream(`report_looks-${sessionId}`)).filter(({ type }) => type === 'ReportReadRefused');

  it('is recorded with its reader and code in the account of the session, up to ten times a minute for each reader', async () => {
    const accountId = await harness.account();
    const [stranger, other] = [await harness.account(), await harness.account()];
    const sessionId = harness.session(accountId, { overallStatus: 'PAYMENT_PENDING' });
    const refused = { sessionId, purpose: 'TENANT_SCREENING', format: 'json' };
    for (let read = 0; read < 12; read++)
      expect(await conditionOf(here.open(sessionId, harness.as(accountId)))).toBe('report.consumer_has_not_paid');
    expect(await refusalsOf(sessionId)).toHaveLength(10);
    expect(await conditionOf(here.open(sessionId, harness.as(stranger)))).toBe('sharing.not_found');
    expect(await conditionOf(here.openOnServer(sessionId, harness.as(other)))).toBe('screening.not_found');
    await until('the last refusal is recorded', async () => (await refusalsOf(sessionId)).length === 12);
    const recorded = await refusalsOf(sessionId);
    expect(recorded.map(({ data }) => data).slice(-3)).toEqual([
      { ...refused, viewerAccountId: accountId, code: 'report.consumer_has_not_paid' },
      { ...refused, viewerAccountId: stranger, code: 'sharing.not_found' },
      { ...refused, format: 'html', viewerAccountId: other, code: 'screening.not_found' },
    ]);
    expect(new Set(recorded.map(({ metadata }) => metadata.accountId))).toEqual(new Set([accountId]));
  });

  it('is not recorded for a session that does not exist, and after an outage', async () => {
    const accountId = await harness.account();
    expect(await conditionOf(here.open(newId(), harness.as(accountId)))).toBe('screening.not_found');
    const sessionId = harness.session(accountId);
    harness.bureau.answers = [{ kind: 'unavailable' }];
    expect(await conditionOf(here.open(sessionId, harness.as(accountId)))).toBe('service.unavailable');
    expect(await refusalsOf(sessionId)).toEqual([]);
  });
});

describe('an account that must certify its purposes', () => {
  const certification: Certification = {
    purposes: ['LEASE_RENEWAL'],
    endUserTypes: ['PROPERTY_MANAGEMENT'],
    by: 'user_17',
    textDigest: 'a'.repeat(64),
    until: '2099-01-01T00:00:00.000Z',
  };
  const named = { purpose: 'LEASE_RENEWAL', endUserType: 'PROPERTY_MANAGEMENT' } as const;
  const uncertified = 'report.purpose_not_certified';

  it('reads with a certified purpose, which the pull, the view and the share record', async () => {
    const accountId = await harness.account(null, { purposeRequired: true, certification });
    const sessionId = harness.session(accountId, named);
    await here.open(sessionId, harness.as(accountId));
    await here.consent(sessionId, { grantId: null, recipientAccountId: null }, harness.as(accountId));
    const [requested] = await harness.store.readStream(`report-${sessionId}`);
    expect(requested?.data).toMatchObject({ purpose: 'LEASE_RENEWAL' });
    expect((await viewsOf(sessionId)).map(({ data }) => data)).toMatchObject([named]);
    const [shared] = await harness.store.readStream(`share-${shareIdOf(sessionId, accountId)}`);
    expect(shared?.data).toMatchObject({ purpose: 'LEASE_RENEWAL' });
  });

  it.each<[string, Partial<AccountFacts>, Partial<ScreeningFacts>]>([
    ['the account has certified nothing', { certification: null }, named],
    ['no purpose is named', {}, { ...named, purpose: null }],
    ['no end user is named', {}, { ...named, endUserType: null }],
    ['another purpose is named', {}, { ...named, purpose: 'TENANT_SCREENING' }],
    ['another end user is named', {}, { ...named, endUserType: 'INDEPENDENT_OWNER' }],
    ['the certification is over', { certification: { ...certification, until: '2020-01-01T00:00:00.000Z' } }, named],
  ])('refuses a read and a consent without a pull if %s, and records the refusal', async (_, facts, session) => {
    const accountId = await harness.account(null, { purposeRequired: true, certification, ...facts });
    const sessionId = harness.session(accountId, session);
    const caller = harness.as(accountId);
    expect(await conditionOf(here.open(sessionId, caller))).toBe(uncertified);
    expect(await conditionOf(here.openOnServer(sessionId, caller))).toBe(uncertified);
    const recipient = { grantId: null, recipientAccountId: null };
    expect(await conditionOf(here.consent(sessionId, recipient, caller))).toBe(uncertified);
    expect(await harness.types('report', sessionId)).toEqual([]);
    const refused = await harness.store.readStream(`report_looks-${sessionId}`);
    expect(refused.map(({ data }) => data)).toMatchObject([{ code: uncertified }, { code: uncertified }]);
  });

  it('lets the request name what the session does not name, and nothing else', async () => {
    const accountId = await harness.account(null, { purposeRequired: true, certification });
    const caller = { ...harness.as(accountId), named };
    const sessionId = harness.session(accountId);
    await here.open(sessionId, caller);
    expect((await viewsOf(sessionId)).map(({ data }) => data)).toMatchObject([named]);
    const other = harness.session(accountId, { ...named, purpose: 'TENANT_SCREENING' });
    expect(await conditionOf(here.open(other, caller))).toBe(uncertified);
  });

  it('needs its own certification to read a report that is shared with it', async () => {
    const [owner, recipient] = [await harness.account(), await harness.account(null, { purposeRequired: true })];
    const sessionId = harness.session(owner, { ...named, intendedRecipientId: recipient });
    await here.consent(sessionId, { grantId: null, recipientAccountId: null }, harness.as(owner));
    expect(await conditionOf(here.open(sessionId, harness.as(recipient)))).toBe(uncertified);
    await here.open(sessionId, harness.as(owner));
  });
});

describe('the first read of a report', () => {
  it('pulls the report, keeps it encrypted, debits one credit and records the reader', async () => {
    const accountId = await harness.account(2);
    const sessionId = harness.session(accountId);
    const opened = await here.open(sessionId, harness.as(accountId));
    const now = harness.clock.now();
    expect(opened).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{14}7/),
      sessionId,
      score: SCORE,
      report: REPORT,
      generatedAt: now.toISOString(),
      expiresAt: new Date(now.getTime() + 30 * DAY * 1_000).toISOString(),
      json: Buffer.from(JSON.stringify({ score: SCORE, report: REPORT })),
      request: expect.any(Function),
      marked: expect.any(Function),
      shown: expect.any(Function),
    });
    expect(await harness.types('report', sessionId)).toEqual(['ReportRequested', 'ReportReleased']);
    expect(await harness.credit(accountId)).toEqual({ balance: 1, reserved: 0 });
    const [view] = await viewsOf(sessionId);
    expect(view?.data).toEqual({
      sessionId,
      reportId: opened.id,
      viewerAccountId: accountId,
      purpose: 'TENANT_SCREENING',
      format: 'json',
      shareId: null,
      digest: expect.stringMatching(/^[\w-]{12}\.[\w-]{43}$/),
    });
    expect(view?.metadata).toMatchObject({
      accountId,
      environment: 'test',
      actor: { kind: 'platform-token', id: 'key-1' },
    });
    expect((await harness.store.readStream(`report-${sessionId}`))[0]?.metadata.actor).toEqual({
      kind: 'platform-token',
      id: 'key-1',
    });
    expect(JSON.stringify(await harness.store.readAll(null, 100_000))).not.toContain('Ada Example');
  });

  it('is the only read that pulls and bills; later reads return the stored report, whatever the balance', async () => {
    const accountId = await harness.account(1);
    const sessionId = harness.session(accountId);
    const made = { request: expect.any(Function), marked: expect.any(Function), shown: expect.any(Function) };
    const first = { ...(await here.open(sessionId, harness.as(accountId))), ...made };
    harness.clock.pass(10 * DAY);
    expect(await there.open(sessionId, harness.as(accountId))).toEqual(first);
    expect(await there.openOnServer(sessionId, harness.as(accountId))).toEqual(first);
    expect(harness.bureau.asked).toHaveLength(1);
    expect(await harness.credit(accountId)).toEqual({ balance: 0, reserved: 0 });
    expect((await viewsOf(sessionId)).map(({ data }) => data.format)).toEqual(['json', 'json', 'html']);
  });

  it('pulls the report once even if many readers in different processes read at once', async () => {
    const accountId = await harness.account(1);
    const sessionId = harness.session(accountId);
    let give: (verdict: ReportVerdict) => void = () => undefined;
    harness.bureau.answers = [new Promise((resolve) => (give = resolve))];
    const opened = Promise.all(
      Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? here : there).open(sessionId, harness.as(accountId))),
    );
    while (harness.bureau.asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
    give(GIVEN);
    const reports = await opened;
    expect(new Set(reports.map((one) => JSON.stringify(one))).size).toBe(1);
    expect(harness.bureau.asked).toHaveLength(1);
    expect(await harness.credit(accountId)).toEqual({ balance: 0, reserved: 0 });
  });

  it('is refused when the credit is used up, even when many sessions need the last credit at once', async () => {
    const accountId = await harness.account(1);
    const sessions = Array.from({ length: 8 }, () => harness.session(accountId));
    const outcomes = await Promise.all(
      sessions.map((sessionId, index) =>
        conditionOf((index % 2 === 0 ? here : there).open(sessionId, harness.as(accountId))),
      ),
    );
    expect(outcomes.sort()).toEqual(['opened', ...Array.from({ length: 7 }, () => 'report.credit_exhausted')].sort());
    expect(harness.bureau.asked).toHaveLength(1);
    expect(await harness.credit(accountId)).toEqual({ balance: 0, reserved: 0 });
  });

  it('leaves nothing in the log if credit is missing, however often a caller tries', async () => {
    const accountId = await harness.account(0);
    const sessionId = harness.session(accountId);
    for (const process of [here, there, here])
      expect(await conditionOf(process.open(sessionId, harness.as(accountId)))).toBe('report.credit_exhausted');
    expect(await harness.types('report', sessionId)).toEqual([]);
    expect(harness.bureau.asked).toEqual([]);
  });

  it('needs no credit when the account is paid through a connected payment account', async () => {
    const accountId = await harness.account(null);
    expect(await conditionOf(here.open(harness.session(accountId), harness.as(accountId)))).toBe('opened');
  });

  it('returns a report without a score', async () => {
    const accountId = await harness.account();
    harness.bureau.answers = [{ kind: 'report', score: null, report: REPORT }];
    const sessionId = harness.session(accountId);
    expect(await here.open(sessionId, harness.as(accountId))).toMatchObject({ score: null, report: REPORT });
    expect((await here.aggregates.load(report, sessionId)).state).toMatchObject({ status: 'RELEASED', scored: false });
  });
});

describe('every look at a report', () => {
  const viewers = Array.from({ length: 50 }, (_, index) => `key-${index}`);
  const by = (accountId: string, id: string) => ({
    ...harness.as(accountId),
    actor: { kind: 'platform-token', id } as const,
  });
  const looksAt = (sessionId: string) => harness.store.readStream(`report_looks-${sessionId}`);
  /** A process with another `append` for the streams of looks. */
  const withAppends = (append: (...args: Parameters<EventStore['append']>) => Promise<AppendOutcome>): Process => {
    const store = Object.create(harness.store, {
      append: {
        value: (...args: Parameters<EventStore['append']>) =>
          args[0].startsWith('report_looks-') ? append(...args) : harness.store.append(...args),
      },
    }) as EmbeddedEventStore;
    return new Process(Object.create(harness, { store: { value: store } }) as Harness);
  };

  it('is recorded with its reader and request in the one stream of the session, even when many readers look at once', async () => {
    const accountId = await harness.account();
    const sessionId = harness.session(accountId);
    await here.open(sessionId, harness.as(accountId));
    const contexts = viewers.map((id) => by(accountId, id));
    await Promise.all(contexts.map((context, index) => (index % 2 === 0 ? here : there).open(sessionId, context)));
    const [, ...looks] = await looksAt(sessionId);
    const told = ({ actor, $correlationId, $causationId }: RecordedEvent['metadata']) =>
      JSON.stringify([actor, $correlationId, $causationId]);
    expect(looks.map(({ metadata }) => told(metadata)).sort()).toEqual(
      contexts
        .map(({ actor, correlationId, causationId }) =>
          told({ actor, $correlationId: correlationId, $causationId: causationId } as RecordedEvent['metadata']),
        )
        .sort(),
    );
    expect(looks.every(({ data }) => (data as { sessionId: string }).sessionId === sessionId)).toBe(true);
    expect(await viewsOf(sessionId)).toHaveLength(viewers.length + 1);
  });

  it('fails when it cannot be recorded, and the next look is recorded again', async () => {
    const accountId = await harness.account();
    const sessionId = harness.session(accountId);
    let broken = true;
    const process = withAppends(async (...args) => {
      if (broken) throw new EventStoreUnavailable('The disk is full');
      return harness.store.append(...args);
    });
    const refused = await Promise.all(viewers.map((id) => conditionOf(process.open(sessionId, by(accountId, id)))));
    expect(new Set(refused)).toEqual(new Set(['The disk is full']));
    expect(await looksAt(sessionId)).toEqual([]);
    broken = false;
    expect(await conditionOf(process.open(sessionId, harness.as(accountId)))).toBe('opened');
    expect(await looksAt(sessionId)).toHaveLength(1);
  });
});

describe('when the bureau gives no report', () => {
  it.each<[PullRefusal, string]>([
    ['FILE_FROZEN', 'report.file_frozen'],
    ['FILE_BLOCKED', 'report.file_blocked'],
    ['NO_RECORD', 'report.no_record'],
    ['MINOR', 'report.file_condition'],
    ['FILE_CONDITION', 'report.file_condition'],
  ])(
    'with %s, the error is %s, and the bureau is asked again after ten minutes, without cost until it gives the report',
    async (reason, code) => {
      const accountId = await harness.account(1);
      const sessionId = harness.session(accountId, { paymentStatus: 'SUCCEEDED' });
      const refused: ReportVerdict = { kind: 'refused', reason, upstreamCode: null };
      harness.bureau.answers = [refused, refused, GIVEN];
      const hears = async (seconds: number, asked: number): Promise<void> => {
        for (const process of [here, there])
          for (const opening of [
            process.open(sessionId, harness.as(accountId)),
            process.openOnServer(sessionId, harness.as(accountId)),
            process.consent(sessionId, NOBODY, harness.as(accountId)),
          ])
            await expect(opening).rejects.toMatchObject({
              code,
              detail: { reasonCode: reason, retryAfterSeconds: seconds },
            });
        expect(harness.bureau.asked).toHaveLength(asked);
        expect(await harness.credit(accountId)).toEqual({ balance: 1, reserved: 0 });
      };
      await hears(600, 1);
      harness.clock.pass(599);
      await hears(1, 1);
      harness.clock.pass(1);
      await hears(600, 2);
      harness.clock.pass(600);
      expect(await conditionOf(there.open(sessionId, harness.as(accountId)))).toBe('opened');
      expect(new Set(harness.bureau.asked).size).toBe(3);
      expect(await harness.credit(accountId)).toEqual({ balance: 0, reserved: 0 });
    },
  );

  it('and refuses, the bureau is asked only once more, although three readers ask at the moment when the interval ends', async () => {
    const accountId = await harness.account(1);
    const sessionId = harness.session(accountId);
    harness.bureau.answers = [{ kind: 'refused', reason: 'FILE_FROZEN', upstreamCode: 9132 }];
    await conditionOf(here.open(sessionId, harness.as(accountId)));
    harness.clock.pass(600);
    await Promise.all(
      [here, there, here].map((process) => conditionOf(process.open(sessionId, harness.as(accountId)))),
    );
    expect(harness.bureau.asked).toHaveLength(2);
  });

  it('and refuses while the interval is 0, the next read asks the bureau at once, and the error names no time', async () => {
    const harness = await Harness.build({ retryIntervalSeconds: 0 });
    try {
      const [process, accountId] = [new Process(harness), await harness.account(1)];
      const sessionId = harness.session(accountId);
      harness.bureau.answers = [{ kind: 'refused', reason: 'FILE_FROZEN', upstreamCode: 9132 }, GIVEN];
      await expect(process.open(sessionId, harness.as(accountId))).rejects.toMatchObject({
        detail: expect.not.objectContaining({ retryAfterSeconds: expect.anything() }),
      });
      expect(await conditionOf(process.open(sessionId, harness.as(accountId)))).toBe('opened');
    } finally {
      await harness.close();
    }
  });

  it.each<[ReportVerdict, string]>([
    [{ kind: 'session-over' }, 'report.expired'],
    [{ kind: 'unavailable' }, 'service.unavailable'],
  ])(
    'and says %j, the error is %s, the credit is given back, and a later read tries again',
    async (verdict, condition) => {
      const accountId = await harness.account(1);
      const sessionId = harness.session(accountId);
      harness.bureau.answers = [verdict, GIVEN];
      expect(await conditionOf(here.open(sessionId, harness.as(accountId)))).toBe(condition);
      expect(await harness.credit(accountId)).toEqual({ balance: 1, reserved: 0 });
      expect(await viewsOf(sessionId)).toEqual([]);
      expect(await conditionOf(there.open(sessionId, harness.as(accountId)))).toBe('opened');
      expect(new Set(harness.bureau.asked).size).toBe(2);
      expect(await harness.credit(accountId)).toEqual({ balance: 0, reserved: 0 });
    },
  );

  it.each<[ReportVerdict, string, ReportEvent['type'][]]>([
    [{ kind: 'timed-out' }, 'service.upstream_timeout', []],
    [{ kind: 'unintelligible' }, 'service.unavailable', ['ReportPullAwaited']],
    [{ kind: 'pending', lookAgainAfter: 120 }, 'service.unavailable', ['ReportPullAwaited']],
  ])(
    'and says %j, the error is %s and the pull stays open, because only the same attempt causes no second bill',
    async (verdict, condition, recorded) => {
      const accountId = await harness.account(1);
      const sessionId = harness.session(accountId);
      harness.bureau.answers = [verdict];
      expect(await conditionOf(here.open(sessionId, harness.as(accountId)))).toBe(condition);
      expect(await harness.types('report', sessionId)).toEqual(['ReportRequested', ...recorded]);
      expect(await harness.credit(accountId)).toEqual({ balance: 0, reserved: 1 });
    },
  );

  it('and is still at work, the next caller learns at once when to ask, and the recovery job gets the report', async () => {
    const accountId = await harness.account(1);
    const sessionId = harness.session(accountId);
    harness.bureau.answers = [{ kind: 'pending', lookAgainAfter: 120 }, GIVEN];
    for (const process of [here, there])
      await expect(process.open(sessionId, harness.as(accountId))).rejects.toMatchObject({
        code: 'service.unavailable',
        detail: { retryAfterSeconds: 120 },
      });
    expect(harness.bureau.asked).toHaveLength(1);
    harness.clock.pass(120);
    expect(await there.settle(sessionId)).toMatchObject({ status: 'RELEASED' });
    expect(new Set(harness.bureau.asked).size).toBe(1);
    expect(await harness.credit(accountId)).toEqual({ balance: 0, reserved: 0 });
  });

  it('every waiting caller gets the same error', async () => {
    const accountId = await harness.account(1);
    const sessionId = harness.session(accountId);
    let give: (verdict: ReportVerdict) => void = () => undefined;
    harness.bureau.answers = [new Promise((resolve) => (give = resolve))];
    const outcomes = Promise.all(
      [here, there, here, there].map((process) => conditionOf(process.open(sessionId, harness.as(accountId)))),
    );
    while (harness.bureau.asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
    give({ kind: 'refused', reason: 'FILE_FROZEN', upstreamCode: 9132 });
    expect(new Set(await outcomes)).toEqual(new Set(['report.file_frozen']));
    expect(harness.bureau.asked).toHaveLength(1);
  });

  it('a caller that waits for an endless pull gets an error when the time limit of a pull has passed', async () => {
    const accountId = await harness.account(1);
    const sessionId = harness.session(accountId);
    harness.bureau.answers = [{ kind: 'timed-out' }];
    await conditionOf(here.open(sessionId, harness.as(accountId)));
    expect(await conditionOf(there.open(sessionId, harness.as(accountId)))).toBe('service.upstream_timeout');
    expect(harness.bureau.asked).toHaveLength(1);
  });
});

describe('a report that was not pulled and cannot be pulled', () => {
  it.each(['the bureau does not know the person', 'the session of the vendor is over'])(
    'has a separate error, and not the error of an expired report, when %s',
    async (why) => {
      const accountId = await harness.account(1);
      const sessionId = harness.session(accountId);
      if (why.startsWith('the bureau')) harness.screenings.unknown.add(sessionId);
      harness.bureau.answers = [{ kind: 'session-over' }];
      await expect(here.open(sessionId, harness.as(accountId))).rejects.toMatchObject({
        code: 'report.expired',
        detail: { reasonCode: 'REPORT_NOT_AVAILABLE' },
      });
    },
  );

  it('has the error of an expired report when the person was erased', async () => {
    const accountId = await harness.account(1);
    const sessionId = harness.session(accountId);
    harness.screenings.erased.add(sessionId);
    await expect(here.open(sessionId, harness.as(accountId))).rejects.toMatchObject({
      code: 'report.expired',
      detail: expect.not.objectContaining({ reasonCode: expect.anything() }),
    });
  });
});

describe('a person without a readable reference at the bureau', () => {
  it.each([0, 1])(
    'with %i credits causes no request to the bureau, and the reason is recorded once with its time',
    async (credits) => {
      const accountId = await harness.account(credits);
      const sessionId = harness.session(accountId);
      harness.screenings.unknown.add(sessionId);
      const failedAt = harness.clock.now().toISOString();
      for (let time = 0; time < 3; time++) {
        expect(await conditionOf(here.open(sessionId, harness.as(accountId)))).toBe('report.expired');
        harness.clock.pass(700);
      }
      const [asked, failed, ...more] = await harness.store.readStream(`report-${sessionId}`);
      expect([asked?.type, failed?.type, failed?.data, more]).toEqual([
        'ReportRequested',
        'ReportPullFailed',
        { attemptId: nextAttemptId(sessionId, report.initial), cause: 'VENDOR_SESSION_OVER', failedAt },
        [],
      ]);
      await here.whenSettled.handle(failed!);
      expect([harness.bureau.asked, await harness.credit(accountId)]).toEqual([[], { balance: credits, reserved: 0 }]);
    },
  );

  it('is recorded once when many readers ask at once', async () => {
    const accountId = await harness.account();
    const sessionId = harness.session(accountId);
    harness.screenings.unknown.add(sessionId);
    const all = [here, there, here, there].map((process) =>
      conditionOf(process.open(sessionId, harness.as(accountId))),
    );
    expect(new Set(await Promise.all(all))).toEqual(new Set(['report.expired']));
    expect(await harness.types('report', sessionId)).toEqual(['ReportRequested', 'ReportPullFailed']);
  });

  it("causes a request again when the vault can open the person's reference again", async () => {
    const accountId = await harness.account(1);
    const sessionId = harness.session(accountId);
    harness.screenings.unknown.add(sessionId);
    await conditionOf(here.open(sessionId, harness.as(accountId)));
    harness.screenings.unknown.delete(sessionId);
    expect(await conditionOf(here.open(sessionId, harness.as(accountId)))).toBe('opened');
    expect(await harness.credit(accountId)).toEqual({ balance: 0, reserved: 0 });
  });
});

describe('when the person was erased', () => {
  it('before the first read, no report is pulled and no credit reserved, and this is recorded once', async () => {
    const accountId = await harness.account(1);
    const sessionId = harness.session(accountId);
    harness.screenings.erased.add(sessionId);
    for (const process of [here, there])
      expect(await conditionOf(process.open(sessionId, harness.as(accountId)))).toBe('report.expired');
    expect(await harness.types('report', sessionId)).toEqual(['ReportRequested', 'ReportPullFailed']);
    expect(harness.bureau.asked).toEqual([]);
    expect(await harness.credit(accountId)).toEqual({ balance: 1, reserved: 0 });
  });

  it('during the pull, no report is kept, and the credit is returned', async () => {
    const accountId = await harness.account(1);
    const subjectId = newId();
    const sessionId = harness.session(accountId, { subjectId });
    await harness.vault.erase(subjectId);
    expect(await conditionOf(here.open(sessionId, harness.as(accountId)))).toBe('report.expired');
    expect(await harness.types('report', sessionId)).toEqual(['ReportRequested', 'ReportPullFailed']);
    expect(await harness.credit(accountId)).toEqual({ balance: 1, reserved: 0 });
  });

  it('after the pull, neither the owner nor a recipient sees the report', async () => {
    const accountId = await harness.account();
    const recipient = await harness.childOf(accountId);
    const subjectId = newId();
    const sessionId = harness.session(accountId, { subjectId });
    await here.consent(sessionId, { grantId: null, recipientAccountId: recipient }, harness.as(accountId));
    await harness.vault.erase(subjectId);
    expect(await conditionOf(here.open(sessionId, harness.as(accountId)))).toBe('report.expired');
    expect(await conditionOf(here.open(sessionId, harness.as(recipient)))).toBe('sharing.expired');
    expect(
      await conditionOf(
        here.consent(
          sessionId,
          { grantId: null, recipientAccountId: await harness.childOf(accountId) },
          harness.as(accountId),
        ),
      ),
    ).toBe('report.expired');
  });
});

describe('the owner does not get the report', () => {
  const blocked = (reasonCode: string, seconds: number | null): Partial<ScreeningFacts> => ({
    status: 'BLOCKED',
    overallStatus: 'BLOCKED',
    block: {
      reasonCode,
      until: seconds === null ? null : new Date(harness.clock.time + seconds * 1_000).toISOString(),
    },
  });
  it.each<[string, string, () => Partial<ScreeningFacts>]>([
    ['of an agent, who has no credit report', 'report.access_denied', () => ({ userType: 'AGENT' })],
    ['of an organization', 'report.access_denied', () => ({ userType: 'PMC' })],
    ['while the identity is not found', 'screening.identity_not_found', () => blocked('IDENTITY_NOT_FOUND', null)],
    ['during a permanent block', 'screening.person_blocked', () => blocked('FRAUD_REPORTED', null)],
    ['during a block with an end', 'screening.person_blocked', () => blocked('TOO_MANY_ATTEMPTS', 60)],
    ['after a block has ended', 'report.too_many_attempts', () => blocked('TOO_MANY_ATTEMPTS', 0)],
    [
      'while an answer is awaited',
      'report.not_completed',
      () => ({ status: 'OTP_PENDING', overallStatus: 'OTP_PENDING' }),
    ],
    ['after an error', 'report.not_completed', () => ({ status: 'ERROR', overallStatus: 'ERROR' })],
    [
      'while a payment is awaited',
      'report.consumer_has_not_paid',
      () => ({ overallStatus: 'PAYMENT_PENDING', paymentStatus: 'PENDING' }),
    ],
    [
      'after a failed payment',
      'report.consumer_has_not_paid',
      () => ({ overallStatus: 'PAYMENT_FAILED', paymentStatus: 'FAILED' }),
    ],
  ])('%s: the error is %s, and no report is pulled', async (_, condition, facts) => {
    const accountId = await harness.account(1);
    const sessionId = harness.session(accountId, facts());
    expect(await conditionOf(here.open(sessionId, harness.as(accountId)))).toBe(condition);
    expect(await conditionOf(here.openOnServer(sessionId, harness.as(accountId)))).toBe(condition);
    expect(harness.bureau.asked).toEqual([]);
    expect(await harness.credit(accountId)).toEqual({ balance: 1, reserved: 0 });
  });

  it('for live traffic that may not reach vendors', async () => {
    const accountId = await harness.account();
    const sessionId = harness.session(accountId, { environment: 'live' });
    expect(await conditionOf(here.open(sessionId, harness.as(accountId, 'live')))).toBe('account.not_live');
  });

  it('of a session that does not exist, is malformed or belongs to the other environment', async () => {
    const accountId = await harness.account();
    const sessionId = harness.session(accountId);
    for (const id of [newId(), 'x', ''])
      expect(await conditionOf(here.open(id, harness.as(accountId)))).toBe('screening.not_found');
    expect(await conditionOf(here.open(sessionId, harness.as(accountId, 'live')))).toBe('screening.not_found');
  });

  it('after 30 days, even if the account has no credit', async () => {
    const accountId = await harness.account(1);
    const sessionId = harness.session(accountId);
    await here.open(sessionId, harness.as(accountId));
    harness.clock.pass(30 * DAY - 1);
    expect(await conditionOf(here.open(sessionId, harness.as(accountId)))).toBe('opened');
    harness.clock.pass(1);
    expect(await conditionOf(here.open(sessionId, harness.as(accountId)))).toBe('report.expired');
    expect(await conditionOf(here.openOnServer(sessionId, harness.as(accountId)))).toBe('report.expired');
  });
});

describe('a server with a secret key', () => {
  it('reads its own sessions and those of direct children whose account pays, and gets the same 404 for all others', async () => {
    const parent = await harness.account(0);
    const child = await harness.account(1, { parentId: parent });
    const grandchild = await harness.account(1, { parentId: child });
    const sessionId = harness.session(child);
    expect(await here.openOnServer(sessionId, harness.as(parent))).toMatchObject({ sessionId });
    expect(await harness.credit(child)).toEqual({ balance: 0, reserved: 0 });
    const [view] = await viewsOf(sessionId);
    expect([view?.data.viewerAccountId, view?.metadata.accountId]).toEqual([parent, child]);
    for (const [id, reader] of [
      [harness.session(grandchild), parent],
      [harness.session(parent), child],
      [newId(), parent],
      ['x', parent],
    ] as const) {
      expect(await conditionOf(here.openOnServer(id, harness.as(reader)))).toBe('screening.not_found');
    }
    expect(await conditionOf(here.openOnServer(sessionId, harness.as(parent, 'live')))).toBe('screening.not_found');
  });

  it('sees no report through a share', async () => {
    const owner = await harness.account();
    const recipient = await harness.childOf(owner);
    const sessionId = harness.session(owner);
    await here.consent(sessionId, { grantId: null, recipientAccountId: recipient }, harness.as(owner));
    expect(await conditionOf(here.openOnServer(sessionId, harness.as(recipient)))).toBe('screening.not_found');
  });
});

describe('a recipient of a share', () => {
  it('sees the shared report for two years without billing, and each look names the share', async () => {
    const owner = await harness.account(1);
    const recipient = await harness.account(0, { parentId: owner });
    const sessionId = harness.session(owner);
    const shared = await here.consent(sessionId, { grantId: null, recipientAccountId: recipient }, harness.as(owner));
    harness.clock.pass(400 * DAY);
    const opened = await there.open(sessionId, harness.as(recipient));
    expect(opened).toMatchObject({
      id: shared.reportId,
      score: SCORE,
      generatedAt: shared.sharedAt,
      expiresAt: shared.expiresAt,
    });
    expect(harness.bureau.asked).toHaveLength(1);
    const [view] = await viewsOf(sessionId);
    expect(view?.data).toMatchObject({ viewerAccountId: recipient, shareId: shareIdOf(sessionId, recipient) });
    expect(view?.metadata.accountId).toBe(owner);
    harness.clock.time = Date.parse(shared.expiresAt);
    expect(await conditionOf(there.open(sessionId, harness.as(recipient)))).toBe('sharing.expired');
  });

  it('sees nothing without a share, before the consent, and after the share is revoked', async () => {
    const [owner, recipient, stranger] = [await harness.account(), await harness.account(), await harness.account()];
    const sessionId = harness.session(owner, { intendedRecipientId: recipient });
    expect(await conditionOf(here.open(sessionId, harness.as(stranger)))).toBe('sharing.not_found');
    expect(await conditionOf(here.open(sessionId, harness.as(recipient)))).toBe('sharing.expired');
    await here.consent(sessionId, NOBODY, harness.as(owner));
    expect(await conditionOf(there.open(sessionId, harness.as(recipient)))).toBe('opened');
    await here.revoke(sessionId, recipient, harness.as(owner));
    expect(await conditionOf(there.open(sessionId, harness.as(recipient)))).toBe('sharing.revoked');
    expect(await conditionOf(here.open(sessionId, harness.as(owner)))).toBe('opened');
  });

  it("may be the session's own account, which then sees the report after 30 days too", async () => {
    const owner = await harness.account();
    const sessionId = harness.session(owner);
    const { expiresAt } = await here.consent(sessionId, NOBODY, harness.as(owner));
    harness.clock.pass(60 * DAY);
    expect(await here.open(sessionId, harness.as(owner))).toMatchObject({ expiresAt });
    await here.revoke(sessionId, owner, harness.as(owner));
    expect(await conditionOf(here.open(sessionId, harness.as(owner)))).toBe('report.expired');
  });
});

describe('a pull whose process died', () => {
  /** Leaves the pull open, as if the bureau had not answered. */
  async function leftOpen(credits: number): Promise<{ readonly accountId: string; readonly sessionId: string }> {
    const accountId = await harness.account(credits);
    const sessionId = harness.session(accountId);
    harness.bureau.answers = [{ kind: 'timed-out' }];
    await conditionOf(here.open(sessionId, harness.as(accountId)));
    return { accountId, sessionId };
  }

  it('is finished by the recovery job, which asks the bureau again under the same attempt', async () => {
    const { accountId, sessionId } = await leftOpen(1);
    harness.bureau.answers = [GIVEN];
    expect((await there.settle(sessionId)).status).toBe('REQUESTED');
    expect(harness.bureau.asked).toHaveLength(1);
    harness.clock.pass(4);
    expect((await there.settle(sessionId)).status).toBe('RELEASED');
    expect(new Set(harness.bureau.asked).size).toBe(1);
    expect(await harness.credit(accountId)).toEqual({ balance: 0, reserved: 0 });
    expect(await here.open(sessionId, harness.as(accountId))).toMatchObject({ report: REPORT });
    const released = (await harness.store.readStream(`report-${sessionId}`)).at(-1);
    expect(released?.metadata).toMatchObject({ accountId, actor: { kind: 'system', id: 'report-sweep' } });
  });

  it('still gives its report to a waiting caller', async () => {
    const { accountId, sessionId } = await leftOpen(1);
    harness.bureau.answers = [GIVEN];
    const waiting = here.open(sessionId, harness.as(accountId));
    harness.clock.pass(4);
    await there.settle(sessionId);
    expect(await waiting).toMatchObject({ sessionId });
  });

  it.each<ReportVerdict>([{ kind: 'timed-out' }, { kind: 'unintelligible' }, { kind: 'unavailable' }])(
    'is given up later when the bureau says %j, and the credit is returned',
    async (verdict) => {
      const { accountId, sessionId } = await leftOpen(1);
      harness.bureau.answers = [verdict];
      harness.clock.pass(4);
      expect((await there.settle(sessionId)).status).toBe('REQUESTED');
      harness.clock.pass(3);
      expect(await there.settle(sessionId)).toMatchObject({ status: 'NOT_TO_BE_HAD', end: { cause: 'NO_VERDICT' } });
      expect(await harness.credit(accountId)).toEqual({ balance: 1, reserved: 0 });
    },
  );

  it('is repeated under the same key after it was given up, until the bureau answers, because the bureau bills a key once', async () => {
    const { accountId, sessionId } = await leftOpen(1);
    harness.clock.pass(7);
    await there.settle(sessionId);
    harness.bureau.answers = [{ kind: 'unavailable' }];
    expect(await conditionOf(here.open(sessionId, harness.as(accountId)))).toBe('service.unavailable');
    harness.bureau.answers = [{ kind: 'timed-out' }];
    expect(await conditionOf(here.open(sessionId, harness.as(accountId)))).toBe('service.upstream_timeout');
    harness.clock.pass(7);
    await there.settle(sessionId);
    harness.bureau.answers = [{ kind: 'refused', reason: 'FILE_FROZEN', upstreamCode: 9132 }];
    expect(await conditionOf(here.open(sessionId, harness.as(accountId)))).toBe('report.file_frozen');
    expect([harness.bureau.asked.length, new Set(harness.bureau.asked).size]).toEqual([6, 1]);
    harness.clock.pass(600);
    harness.bureau.answers = [GIVEN];
    expect(await there.open(sessionId, harness.as(accountId))).toMatchObject({ report: REPORT });
    expect(new Set(harness.bureau.asked).size).toBe(2);
    expect(await harness.credit(accountId)).toEqual({ balance: 0, reserved: 0 });
  });

  it('ends when the bureau refuses the report or does not know the person, or when the person was erased', async () => {
    const [one, other, unknown] = [await leftOpen(1), await leftOpen(1), await leftOpen(1)];
    harness.clock.pass(4);
    harness.bureau.answers = [{ kind: 'refused', reason: 'NO_RECORD', upstreamCode: null }];
    expect(await there.settle(one.sessionId)).toMatchObject({ end: { reason: 'NO_RECORD' } });
    harness.screenings.erased.add(other.sessionId);
    expect(await there.settle(other.sessionId)).toMatchObject({ end: { cause: 'PERSON_ERASED' } });
    harness.screenings.unknown.add(unknown.sessionId);
    expect(await there.settle(unknown.sessionId)).toMatchObject({ end: { cause: 'VENDOR_SESSION_OVER' } });
    expect([await harness.credit(one.accountId), await harness.credit(other.accountId)]).toEqual([
      { balance: 1, reserved: 0 },
      { balance: 1, reserved: 0 },
    ]);
  });

  /** Leaves a pull that was requested and has no other event. */
  async function requested(credits: number): Promise<{ readonly accountId: string; readonly sessionId: string }> {
    const accountId = await harness.account(credits);
    const sessionId = harness.session(accountId);
    const { subjectId } = harness.screenings.sessions.get(sessionId)!;
    const times = harness.policy.attempt(harness.clock.now());
    const command = {
      kind: 'request',
      sessionId,
      reportId: newId(),
      attemptId: nextAttemptId(sessionId, report.initial),
      purpose: 'TENANT_SCREENING',
      subjectId,
      paidBy: null,
      ...times,
    } as const;
    await here.aggregates.execute(report, sessionId, command, harness.as(accountId));
    return { accountId, sessionId };
  }

  it('before it reserved the credit gets a reservation from the recovery job, which finishes the pull', async () => {
    const { accountId, sessionId } = await requested(1);
    harness.clock.pass(4);
    expect(await there.settle(sessionId)).toMatchObject({ status: 'RELEASED' });
    expect(await harness.credit(accountId)).toEqual({ balance: 0, reserved: 0 });
    expect((await harness.store.readStream(`credit-${accountId}`)).map(({ type }) => type)).toEqual([
      'CreditAdded',
      'CreditReserved',
      'CreditDebited',
    ]);
  });

  it('before it reserved the last credit, which another read then used, does not ask the bureau until credit is added', async () => {
    const { accountId, sessionId } = await requested(1);
    await here.open(harness.session(accountId), harness.as(accountId));
    harness.clock.pass(4);
    expect(await there.settle(sessionId)).toMatchObject({
      status: 'NOT_TO_BE_HAD',
      end: { cause: 'CREDIT_EXHAUSTED' },
    });
    expect(harness.bureau.asked).toHaveLength(1);
    expect(await harness.credit(accountId)).toEqual({ balance: 0, reserved: 0 });
    expect(await conditionOf(here.open(sessionId, harness.as(accountId)))).toBe('report.credit_exhausted');
    await here.aggregates.execute(
      credit,
      accountId,
      { kind: 'add', credits: 1, reference: 'more' },
      harness.as(accountId),
    );
    expect(await conditionOf(here.open(sessionId, harness.as(accountId)))).toBe('opened');
    expect(await harness.credit(accountId)).toEqual({ balance: 0, reserved: 0 });
  });

  describe('when the process only paused before its reservation, and another process ended the pull in the meantime', () => {
    /** Stops the reader at its next reservation until `goOn` is called. */
    function standing(process: Process): { readonly asked: Promise<void>; goOn(): void } {
      const reserve = process.credit.reserve.bind(process.credit);
      let arrive: () => void = () => undefined;
      let goOn: () => void = () => undefined;
      const asked = new Promise<void>((resolve) => (arrive = resolve));
      const gate = new Promise<void>((resolve) => (goOn = resolve));
      process.credit.reserve = async (...reservation) => {
        process.credit.reserve = reserve;
        arrive();
        await gate;
        return reserve(...reservation);
      };
      return { asked, goOn: () => goOn() };
    }

    it.each([
      ['ends with the same error', false, 'report.credit_exhausted', 5],
      ['returns the report that the next read pulled', true, 'opened', 4],
    ])('%s, and no credit stays reserved', async (_, readAgain, outcome, balance) => {
      const accountId = await harness.account(1);
      const sessionId = harness.session(accountId);
      const { asked, goOn } = standing(here);
      const late = conditionOf(here.open(sessionId, harness.as(accountId)));
      await asked;
      await there.open(harness.session(accountId), harness.as(accountId));
      harness.clock.pass(4);
      expect(await there.settle(sessionId)).toMatchObject({ end: { cause: 'CREDIT_EXHAUSTED' } });
      await there.aggregates.execute(
        credit,
        accountId,
        { kind: 'add', credits: 5, reference: 'more' },
        harness.as(accountId),
      );
      if (readAgain) expect(await conditionOf(there.open(sessionId, harness.as(accountId)))).toBe('opened');
      goOn();
      expect(await late).toBe(outcome);
      expect(await harness.credit(accountId)).toEqual({ balance, reserved: 0 });
      expect(harness.bureau.asked).toHaveLength(readAgain ? 2 : 1);
    });

    it('ends with the error for an erased person, and no credit stays reserved', async () => {
      const accountId = await harness.account(1);
      const sessionId = harness.session(accountId);
      const { asked, goOn } = standing(here);
      harness.bureau.answers = [{ kind: 'session-over' }];
      const late = conditionOf(here.open(sessionId, harness.as(accountId)));
      await asked;
      harness.screenings.erased.add(sessionId);
      harness.clock.pass(4);
      expect(await there.settle(sessionId)).toMatchObject({ end: { cause: 'PERSON_ERASED' } });
      goOn();
      expect(await late).toBe('report.expired');
      expect(await harness.credit(accountId)).toEqual({ balance: 1, reserved: 0 });
    });
  });

  it('between reservation and request, as in earlier versions, leaves the reservation of the last credit to the next read', async () => {
    const accountId = await harness.account(1);
    const sessionId = harness.session(accountId);
    await here.credit.reserve(accountId, nextAttemptId(sessionId, report.initial), harness.as(accountId), sessionId);
    expect(await conditionOf(there.open(sessionId, harness.as(accountId)))).toBe('opened');
    expect(await harness.credit(accountId)).toEqual({ balance: 0, reserved: 0 });
  });

  it.each([
    ['release', 'debited', 0],
    ['fail', 'given back', 1],
  ] as const)(
    'after it recorded the end of the pull (%s) leaves the credit to the event handler: the credit is %s once',
    async (kind, _, balance) => {
      const { accountId, sessionId } = await leftOpen(1);
      const { state } = await here.aggregates.load(report, sessionId);
      if (state.status !== 'REQUESTED') throw new Error('not requested');
      const { attemptId } = state.attempt;
      const command =
        kind === 'release'
          ? ({ kind, now: harness.clock.now(), attemptId, scored: true, validitySeconds: 1 } as const)
          : ({ kind, now: harness.clock.now(), attemptId, cause: 'VENDOR_SESSION_OVER' } as const);
      await here.aggregates.execute(report, sessionId, command, harness.as(accountId));
      expect(await harness.credit(accountId)).toEqual({ balance: 0, reserved: 1 });
      const event = (await harness.store.readStream(`report-${sessionId}`)).at(-1)!;
      expect(here.whenSettled.types.has(event.type)).toBe(true);
      for (const _again of [1, 2]) await here.whenSettled.handle(event);
      expect(await harness.credit(accountId)).toEqual({ balance, reserved: 0 });
      const [settled] = (await harness.store.readStream(`credit-${accountId}`)).slice(-1);
      expect(settled?.metadata).toMatchObject({
        accountId,
        environment: 'test',
        actor: { kind: 'system', id: 'when-report-settled' },
        $causationId: event.id,
      });
    },
  );
});

it('the handler of settled reports handles only events that settle a pull', () => {
  const all: Record<ReportEvent['type'], boolean> = {
    ReportRequested: false,
    ReportReleased: true,
    ReportPullRefused: true,
    ReportPullFailed: true,
    ReportPullAwaited: false,
    ReportPullsEnded: false,
    ReportPaymentCarriedOver: false,
  };
  expect([...here.whenSettled.types].sort()).toEqual(
    Object.keys(all)
      .filter((type) => all[type as ReportEvent['type']])
      .sort(),
  );
});

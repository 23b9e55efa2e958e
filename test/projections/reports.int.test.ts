// Reports and their recorded views on a real event store and a real Redis.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RedisProjectionStore } from '../../src/adapters/read-models/redis-projection-store.js';
import type { RedisReadModels } from '../../src/adapters/read-models/redis.js';
import type { RecordedEvent } from '../../src/kernel/domain-event.js';
import { newId } from '../../src/kernel/ids.js';
import { ReportDirectory, reportStatus } from '../../src/modules/reports/read/report-status.js';
import { reportViews, viewsOfSession } from '../../src/modules/reports/read/report-views.js';
import { Projector } from '../../src/platform/subscriptions/projector.js';
import { readModelsIn } from '../support/read-models.js';
import { RedisServer } from '../support/redis.js';
import { GIVEN, Harness, Process } from '../unit/reports/harness.js';
import { expectedLines, liveContents, QUICK, storedLines, Recorder } from './fixtures.js';
import { until } from '../support/eventually.js';

const PROJECTIONS = [reportStatus, reportViews];

describe('the read models of reports', () => {
  let redis: RedisServer;
  let harness: Harness;
  let projector: Projector;
  let projections: RedisProjectionStore;
  let models: RedisReadModels;
  let reports: ReportDirectory;
  let process: Process;

  beforeAll(async () => {
    [redis, harness] = await Promise.all([RedisServer.start(), Harness.build()]);
    models = readModelsIn(redis, harness.store, PROJECTIONS);
    projections = new RedisProjectionStore(redis.client());
    projector = new Projector(
      harness.store,
      new RedisProjectionStore(redis.client()),
      PROJECTIONS,
      new Recorder(),
      QUICK,
    );
    projector.start();
    await live();
    reports = new ReportDirectory(models);
    process = new Process(harness, models);
  });
  afterAll(async () => {
    await projector.stop();
    await redis.stop();
    await harness.close();
  });

  const live = () =>
    until('both are built', async () =>
      (await Promise.all(PROJECTIONS.map((projection) => projections.generations(projection)))).every(
        (one) => one.live !== null,
      ),
    );

  it('have the expiry of a report as soon as it is released', async () => {
    const accountId = await harness.account();
    const sessionId = harness.session(accountId);
    expect(await reports.expiryOf(sessionId)).toBeNull();
    const { expiresAt } = await process.open(sessionId, harness.as(accountId));
    expect(await reports.expiryOf(sessionId)).toBe(expiresAt);
  });

  it('have no expiry for malformed and unknown sessions', async () => {
    for (const id of ['', 'x', '../../etc', newId()]) expect(await reports.expiryOf(id)).toBeNull();
  });

  it('list a pull without a verdict as due after its time limit, and no longer after its end', async () => {
    const accountId = await harness.account(1);
    const sessionId = harness.session(accountId);
    harness.bureau.answers = [{ kind: 'timed-out' }];
    await expect(process.open(sessionId, harness.as(accountId))).rejects.toMatchObject({
      code: 'service.upstream_timeout',
    });
    expect(await reports.expiryOf(sessionId)).toBeNull();
    const settleAfter = harness.clock.time + 3_000;
    expect(await reports.due('test', new Date(settleAfter - 1), 100)).not.toContain(sessionId);
    expect(await reports.due('test', new Date(settleAfter), 100)).toContain(sessionId);
    expect(await reports.due('live', new Date(settleAfter), 100)).not.toContain(sessionId);
    harness.bureau.answers = [GIVEN];
    harness.clock.pass(3);
    await process.settle(sessionId);
    expect(await reports.due('test', harness.clock.now(), 100)).not.toContain(sessionId);
  });

  it('list only the views that an earlier release stored, by session with viewer, time and purpose', async () => {
    const accountId = await harness.account();
    const sessionId = harness.session(accountId);
    const common = {
      sessionId,
      reportId: newId(),
      viewerAccountId: accountId,
      purpose: 'TENANT_SCREENING',
      shareId: null,
    } as const;
    const first = harness.clock.now().toISOString();
    await harness.lookedEarlier({ ...common, format: 'json' }, harness.as(accountId));
    await process.open(sessionId, harness.as(accountId));
    harness.clock.pass(60);
    const later = { ...harness.as(accountId), actor: { kind: 'secret-key', id: 'key-2' } } as const;
    await harness.lookedEarlier({ ...common, format: 'html' }, later);
    const looks = () => models.list(reportViews, viewsOfSession(sessionId), { order: 'ascending', limit: 10 });
    await until('both are listed', async () => (await looks()).items.length >= 2);
    const { items } = await looks();
    expect(items.map(({ doc }) => doc)).toEqual([
      { ...common, format: 'json', actor: { kind: 'platform-token', id: 'key-1' }, viewedAt: first },
      { ...common, format: 'html', actor: later.actor, viewedAt: harness.clock.now().toISOString() },
    ]);
    expect((await models.list(reportViews, viewsOfSession(newId()), { limit: 10 })).items).toEqual([]);
  });

  it('keep listing a pull as due until it is settled', async () => {
    const accountId = await harness.account(1);
    const sessionId = harness.session(accountId);
    harness.bureau.answers = [{ kind: 'timed-out' }];
    await expect(process.open(sessionId, harness.as(accountId))).rejects.toThrow();
    harness.clock.pass(86_400);
    expect(await reports.due('test', harness.clock.now(), 100)).toContain(sessionId);
  });

  it.each(PROJECTIONS)(
    '$name is the same after a replay from the beginning, and equals the log',
    async (projection) => {
      const expected = await expectedLines(harness.store, projection);
      expect(expected.size).toBeGreaterThan(0);
      await until(
        'it has caught up',
        async () => (await storedLines(redis.client(), projection)).size === expected.size,
      );
      const before = await liveContents(redis.client(), projection);
      await redis.flush();
      await live();
      expect(await storedLines(redis.client(), projection)).toEqual(expected);
      expect(await liveContents(redis.client(), projection)).toEqual(before);
    },
  );

  it.each(PROJECTIONS)('$name throws an error at an unknown event', ({ evolve }) => {
    expect(() => evolve(null, { type: 'SomethingElse', data: {}, stream: 'x-1' } as RecordedEvent)).toThrow(
      'SomethingElse',
    );
  });

  it('refuse a report whose first event is its end', () => {
    expect(() =>
      reportStatus.evolve(null, {
        type: 'ReportPullFailed',
        data: { attemptId: 'a', cause: 'NO_VERDICT' },
        stream: 'report-1',
        metadata: { environment: 'test' },
      } as unknown as RecordedEvent),
    ).toThrow('report-1');
  });
});

// The service as it is composed for each role: the parts that a process starts, and the declarations of its feature
// modules.
import 'reflect-metadata';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { DiscoveryService } from '@nestjs/core';
import { Test, type TestingModule } from '@nestjs/testing';
import { Worker } from 'bullmq';
import { pino } from 'pino';
import { Dispatcher } from '../../../src/adapters/delivery-queue/dispatcher.js';
import { EmbeddedEventStore } from '../../../src/adapters/event-store/embedded.js';
import { RedisModule } from '../../../src/adapters/redis/redis.module.js';
import { RedisScheduler } from '../../../src/adapters/scheduler/redis.js';
import { DiskVault } from '../../../src/adapters/vault/disk.js';
import { AppModule } from '../../../src/app.module.js';
import { readConfig } from '../../../src/config/config.js';
import { CallWorkers } from '../../../src/external-calls/call-workers.js';
import { AttemptRecovery } from '../../../src/external-calls/attempt-recovery.js';
import { ExternalCall } from '../../../src/external-calls/external-call.js';
import { Metrics } from '../../../src/platform/observability/metrics.js';
import { RolePart } from '../../../src/platform/roles/role-part.js';
import { declaredIn, Projections } from '../../../src/platform/subscriptions/declarations.js';
import { EventProcessor } from '../../../src/platform/subscriptions/event-processor.js';
import { RoleRunner } from '../../../src/platform/roles/role-runner.js';
import { PublishedEvents } from '../../../src/published/events.js';
import { findVendors, VendorRegistry } from '../../../src/vendor-kit/registry.js';
import { RedisServer } from '../../support/redis.js';

const vendors = await findVendors();

const EVERY_ROLE = ['DiskSpace', 'LogInUse', 'Redis', 'RedisHealth'];
const PROJECTOR = ['Projector'];
const API = ['demo accounts', 'vendor routes'];
const WORKER = ['CallWorkers', 'Dispatcher', 'EventProcessor', 'Scheduler', 'Sealer', 'WhenEventStored', 'mail notice'];

describe('the composed service', () => {
  let redis: RedisServer;
  let folder: string;
  let modules: TestingModule[] = [];
  beforeAll(async () => {
    redis = await RedisServer.start();
    folder = mkdtempSync(join(tmpdir(), 'composition-'));
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    for (const module of modules) await module.close();
    modules = [];
  });
  afterAll(async () => {
    await redis.stop();
    rmSync(folder, { recursive: true });
  });

  async function compose(role: string): Promise<TestingModule> {
    const config = readConfig({ ROLE: role, REDIS_URL: redis.url, DATA_DIR: folder }, { vendors });
    const registry = new VendorRegistry(vendors, config.vendors.byId);
    const log = pino({ level: 'silent' });
    const module = await Test.createTestingModule({
      imports: [AppModule.forRoot(config, registry, log, new Metrics())],
    }).compile();
    modules.push(module);
    return module.init();
  }

  const discoveryOf = (module: TestingModule): DiscoveryService => module.get(DiscoveryService, { strict: false });
  const instancesIn = (module: TestingModule): unknown[] =>
    discoveryOf(module)
      .getProviders()
      .map(({ instance }) => instance as unknown);
  const has = (module: TestingModule, type: abstract new (...needs: never[]) => object): boolean =>
    instancesIn(module).some((instance) => instance instanceof type);

  it.each([
    ['all', [...EVERY_ROLE, ...PROJECTOR, ...API, ...WORKER]],
    ['api', [...EVERY_ROLE, ...API]],
    ['worker', [...EVERY_ROLE, ...WORKER]],
    ['projector', [...EVERY_ROLE, ...PROJECTOR]],
    ['investigation', [...EVERY_ROLE, ...PROJECTOR, ...API]],
  ])('starts exactly the parts of ROLE=%s', async (role, expected) => {
    const module = await compose(role);
    const started: string[] = [];
    for (const { instance, token } of discoveryOf(module).getProviders()) {
      if (!(instance instanceof RolePart)) continue;
      const [name = ''] = String((token as symbol).description).split(' of ');
      Object.assign(instance.runs, { prepare: undefined, start: () => started.push(name), stop: undefined });
    }
    await module.get(RoleRunner, { strict: false }).start();
    expect(started.sort()).toEqual([...expected].sort());
  });

  it.each([
    ['all', true],
    ['api', false],
    ['worker', true],
    ['projector', false],
    ['investigation', false],
  ])('ROLE=%s has workers for vendor calls and deliveries: %s', async (role, workers) => {
    const module = await compose(role);
    expect([has(module, CallWorkers), has(module, Dispatcher)]).toEqual([workers, workers]);
  });

  it.each(['api', 'worker', 'projector'])('ROLE=%s has every read model', async (role) => {
    const projections = declaredIn(discoveryOf(await compose(role)), Projections);
    expect(projections.map(({ name }) => name)).toEqual([
      'account',
      'access_key',
      'unused_grant_details',
      'held_accounts',
      'screening_status',
      'party_calls',
      'open_payments',
      'open_checkouts',
      'report_status',
      'report_view',
      'report_share',
      'income_status',
      'webhook_endpoint',
      'webhook_delivery',
    ]);
  });

  it.each(['api', 'worker'])('ROLE=%s has the event handlers and recovery jobs of every module', async (role) => {
    const handlers = jest.spyOn(EventProcessor.prototype, 'on');
    const timers = jest.spyOn(RedisScheduler.prototype, 'every');
    await compose(role);
    expect(handlers.mock.calls.map(([handler]) => handler.constructor.name)).toEqual([
      'WhenReportReleased',
      'WhenPaymentProgressed',
      'WhenCheckoutPaid',
      'WhenRenterRegistered',
      'WhenVerifiedAgain',
      'WhenReportProgressed',
      'WhenSessionInVain',
      'WhenReportSettled',
      'WhenEventStored',
      'WhenEventPublished',
      'WhenDeliveryExhausted',
      'WhenEndpointEnded',
      'WhenHealthChanged',
      'WhenResumeEnded',
    ]);
    expect(timers.mock.calls.map(([name]) => name).sort()).toEqual([
      'applicants',
      'deferred-erasures',
      'external-calls',
      'grant-sweep',
      'read-model-retention',
      'step-up-expiry',
      'test-clocks',
      'vendor-replies',
      'webhook-check',
      'webhook-delivery-sweep',
      'webhook-endpoint-sweep',
      'webhook-resume',
    ]);
  });

  it('has every declared external call, attempt recovery and publisher', async () => {
    const module = await compose('worker');
    const calls = instancesIn(module).filter((instance) => instance instanceof ExternalCall);
    expect(calls.map((call) => call.constructor.name).sort()).toEqual([
      'AskForStanding',
      'CreateCheckoutSession',
      'EndAuthentication',
      'FollowCheckoutEvent',
      'FollowProcessorEvent',
      'IncomeProgress',
      'LookAtIntent',
      'MakeRefund',
      'PrintPage',
      'ReauthenticationCall',
      'Registration',
      'ReportPull',
      'SetCheckoutAside',
      'ShadowRegistration',
      'StepUpCall',
      'TakeUpIntent',
    ]);
    const recoveries = instancesIn(module).filter((instance) => instance instanceof AttemptRecovery);
    expect(recoveries.map(({ operation }) => operation).sort()).toEqual([
      'look-up-checkout',
      'look-up-payment',
      'settle-income',
      'settle-reauthentication',
      'settle-report',
      'settle-verification',
    ]);
    const { publishers } = module.get(PublishedEvents, { strict: false });
    expect(publishers.map(({ category }) => category).sort()).toEqual([
      'checkout',
      'income',
      'payment',
      'report',
      'screening',
      'share',
      'test_event',
      'webhook_endpoint',
    ]);
  });

  it('has one worker at every queue of vendor calls, because a second one would take jobs that it does not know', async () => {
    const run = jest.spyOn(Worker.prototype, 'run');
    const workers = (await compose('worker')).get(CallWorkers, { strict: false });
    expect(run).not.toHaveBeenCalled();
    workers.start();
    const names = (run.mock.contexts as Worker[]).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toEqual(
      expect.arrayContaining(
        ['credit-bureau', 'identity-vendor', 'income-vendor', 'payment-processor', 'pdf-renderer'].flatMap((queue) => [
          `${queue}-live`,
          `${queue}-live-settle`,
          `${queue}-test`,
          `${queue}-test-settle`,
        ]),
      ),
    );
    await workers.stop();
  });

  it('stops its roles first, then the workers of vendor calls, and then closes the stores that these workers need', async () => {
    const ended = [
      jest.spyOn(RoleRunner.prototype, 'onApplicationShutdown'),
      jest.spyOn(CallWorkers.prototype, 'stop'),
      jest.spyOn(RedisModule.prototype, 'onApplicationShutdown'),
      jest.spyOn(DiskVault.prototype, 'close'),
      jest.spyOn(EmbeddedEventStore.prototype, 'close'),
    ];
    const module = await compose('all');
    modules = [];
    await module.get(RoleRunner, { strict: false }).start();
    await module.close();
    const order = ended.map(({ mock }) => mock.invocationCallOrder[0] ?? 0);
    expect(order).toEqual([...order].sort((one, other) => one - other));
    expect(order).not.toContain(0);
  });
});

import { type DynamicModule, type FactoryProvider, Module } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService, ModuleRef } from '@nestjs/core';
import type { Redis } from 'ioredis';
import type { Clock } from '../kernel/clock.js';
import { providedBy } from '../platform/provided.js';
import { rolePart } from '../platform/roles/role-part.js';
import type { SealedPayloads } from '../ports/sealed-payloads.js';
import { PaymentNotices, type VendorNotices } from '../ports/vendor-notices.js';
import type { Vendors } from '../ports/vendors.js';
import { queuesOf, type CallSettings, type SettingsOf } from './call-queues.js';
import { AttemptRecovery } from './attempt-recovery.js';
import { CallWorkers } from './call-workers.js';
import { ExternalCall, type VendorKind } from './external-call.js';
import { ExternalCalls } from './external-calls.js';
import { QueuedExternalCalls, type Backlog } from './queued-external-calls.js';
import { VendorNoticesRoute } from './vendor-notices.js';
import { VendorPlaces } from './vendor-places.js';

export interface ExternalCallsOptions {
  /** The connection for commands and for `payloads`. */
  readonly redis: Redis;
  /** The connection of the workers. The commands of workers wait while Redis is unavailable. */
  readonly workerRedis: Redis;
  readonly payloads: SealedPayloads;
  readonly clock: Clock;
  readonly settings: CallSettings;
  /** The settings of vendors that differ from the common settings. */
  readonly own: Partial<Readonly<Record<VendorKind, CallSettings>>>;
  readonly vendors: Vendors & VendorNotices;
  /** The part of a vendor's slots that one account may use. 0 means no limit. */
  readonly vendorShare: number;
  /** The part of the account's places that one lineage of tokens may use. 0 means no limit. */
  readonly vendorPlacesPerLineage: number;
  /** Receives every call that could not be counted in an account's share. */
  notCounted(): void;
  /** Receives, once for each queue, a function that returns the length of the queue. */
  queued(queue: string, backlog: () => Promise<Backlog>): void;
}

const OPTIONS = Symbol('ExternalCallsOptions');

/** External calls for every module. A worker process finds the kinds of calls and of recovery among the providers of all modules. */
@Module({})
export class ExternalCallsModule {
  /** `worker`: whether this process makes the calls too. */
  static forRootAsync(
    worker: boolean,
    { useFactory, inject = [] }: Pick<FactoryProvider<ExternalCallsOptions>, 'useFactory' | 'inject'>,
  ): DynamicModule {
    const calls = {
      provide: QueuedExternalCalls,
      useFactory: (options: ExternalCallsOptions) => {
        const { redis, payloads, clock, settings, vendors } = options;
        const limit = partOf(settings.concurrency, options.vendorShare);
        const places = {
          limit,
          perLineage: partOf(limit, options.vendorPlacesPerLineage),
          slots: settings.concurrency,
          waitMs: settings.timeoutMs / 2,
          ttlMs: settings.timeoutMs + PLACE_GRACE_MS,
          reservedWithinMs: RESERVED_WITHIN_MS,
        };
        const held = new VendorPlaces(redis, places, () => options.notCounted());
        const made = new QueuedExternalCalls(redis, payloads, held, clock, settingsIn(options), vendors);
        for (const { name } of queuesOf(vendors)) options.queued(name, () => made.backlog(name));
        return made;
      },
      inject: [OPTIONS],
    };
    const workers = {
      provide: CallWorkers,
      useFactory: (options: ExternalCallsOptions, discovery: DiscoveryService, nearby: QueuedExternalCalls) => {
        const { workerRedis, payloads, clock, vendors } = options;
        const find = () => [...providedBy(discovery, ExternalCall), ...providedBy(discovery, AttemptRecovery)];
        return new CallWorkers(workerRedis, payloads, clock, settingsIn(options), vendors, find, nearby);
      },
      inject: [OPTIONS, DiscoveryService, QueuedExternalCalls],
    };
    const notices = {
      provide: VendorNoticesRoute,
      useFactory: (
        { vendors, clock }: ExternalCallsOptions,
        calls: ExternalCalls,
        discovery: DiscoveryService,
        modules: ModuleRef,
      ) =>
        new VendorNoticesRoute(vendors, clock, calls, {
          recoveries: () => providedBy(discovery, AttemptRecovery),
          payments: () => modules.get(PaymentNotices, { strict: false }),
        }),
      inject: [OPTIONS, ExternalCalls, DiscoveryService, ModuleRef],
    };
    return {
      module: ExternalCallsModule,
      global: true,
      imports: [DiscoveryModule],
      providers: [
        { provide: OPTIONS, useFactory, inject },
        calls,
        notices,
        { provide: ExternalCalls, useExisting: QueuedExternalCalls },
        ...(worker ? [workers, rolePart('worker', CallWorkers)] : []),
      ],
      exports: [ExternalCalls],
    };
  }
}

/** A place lasts longer than the call's time limit, by the time that recording the verdict takes. */
const PLACE_GRACE_MS = 5_000;
/** This is many times the usual duration of a reservation. */
const RESERVED_WITHIN_MS = 500;

/** Returns 0, which means no limit, or at least one place. */
function partOf(places: number, fraction: number): number {
  return fraction === 0 ? 0 : Math.max(1, Math.floor(places * fraction));
}

function settingsIn({ settings, own }: ExternalCallsOptions): SettingsOf {
  return (vendor) => own[vendor] ?? settings;
}

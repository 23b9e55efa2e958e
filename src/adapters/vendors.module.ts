// The vendors that workers call, and the queues to the workers.
import {
  type Abstract,
  type DynamicModule,
  Global,
  Injectable,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type Provider,
} from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { Redis } from 'ioredis';
import type { Config } from '../config/config.js';
import { runs } from '../config/process.js';
import { queuesOf } from '../external-calls/call-queues.js';
import type { VendorKind } from '../external-calls/external-call.js';
import { ExternalCallsModule } from '../external-calls/external-calls.module.js';
import type { Backlog } from '../external-calls/queued-external-calls.js';
import { type MadeCall, routedVendor } from '../external-calls/routed-vendor.js';
import { VendorGuard } from '../external-calls/vendor-guard.js';
import { Clock } from '../kernel/clock.js';
import type { Capability } from '../kernel/vendor-choice.js';
import type { Log } from '../platform/observability/log.js';
import { Metrics } from '../platform/observability/metrics.js';
import { CreditBureau } from '../ports/credit-bureau.js';
import { IdentityVendor } from '../ports/identity-vendor.js';
import { IncomeVendor } from '../ports/income-vendor.js';
import { PaymentProcessor } from '../ports/payment-processor.js';
import { PdfRenderer } from '../ports/pdf-renderer.js';
import { Vault } from '../ports/vault.js';
import { VendorBehaviours } from '../ports/vendor-behaviours.js';
import { VendorPauses } from '../ports/vendor-pauses.js';
import type { VendorPorts } from '../vendor-kit/define-vendor.js';
import type { VendorRegistry } from '../vendor-kit/registry.js';
import { ChromiumPdfRenderer } from './pdf-renderer/chromium.js';
import { workerConnection } from './redis/connection.js';
import { RedisSealedPayloads } from './sealed-payloads/redis.js';

/** The time includes the wait of a page for its turn, and the print. A worker takes at most 36 pages of one environment and source. */
const PDF_TIMEOUT_MS = 30_000;
const PDF_PAGES = 36;

/** The states of a vendor, by their number in the metric. */
const STATES: readonly string[] = ['ready', 'paused', 'open'];

/** Counts, measures and logs a worker's call. */
function called({ vendorCalls, vendorDuration, vendorExchanges }: Metrics, log: Log) {
  return ({ vendor, operation, outcome, seconds, ends, call }: MadeCall): void => {
    const { environment } = call;
    vendorCalls.inc({ vendor, operation, outcome, environment });
    vendorDuration.observe({ vendor, operation, environment }, seconds);
    for (const marked of ends) {
      const [, role = 'call', end = marked] = /^(token|poll)-(.+)$/.exec(marked) ?? [];
      vendorExchanges.inc({ vendor, environment, role, end });
    }
    const { accountId, aggregateId, attemptId, correlationId: requestId } = call;
    const ids = { environment, accountId, aggregateId, attemptId, requestId };
    log.info({ vendor, operation, outcome, ends, ms: Math.round(seconds * 1_000), ...ids }, 'vendor call');
  };
}

/** The connection on which workers take calls. */
@Injectable()
class CallConnection implements OnApplicationShutdown {
  readonly workerRedis: Redis;

  constructor(redis: Redis) {
    this.workerRedis = workerConnection(redis);
  }

  onApplicationShutdown(): void {
    this.workerRedis.disconnect();
  }
}

@Global()
@Module({ providers: [CallConnection], exports: [CallConnection] })
class CallConnectionModule {}

/** Maintains the connections to real vendors while the service runs. */
class VendorConnections implements OnApplicationBootstrap, OnApplicationShutdown {
  constructor(
    private readonly vendors: VendorRegistry,
    private readonly pdf: ChromiumPdfRenderer,
    /** Whether this process makes the calls to vendors. */
    private readonly worker: boolean,
  ) {}

  onApplicationBootstrap(): void {
    // The check itself logs when a browser does not start.
    if (this.worker) void this.pdf.check();
  }

  /** Runs after RoleRunner has stopped the workers. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.vendors.close(), this.pdf.close()]);
  }
}

/** A port that sends each call to the vendor that the call names. */
function routed<Name extends Capability>(
  { registry, log }: { readonly registry: VendorRegistry; readonly log: Log },
  port: Abstract<VendorPorts[Name]>,
  vendor: VendorKind,
  capability: Name,
): Provider {
  return {
    provide: port,
    useFactory: (metrics: Metrics, modules: ModuleRef, guard: VendorGuard) =>
      routedVendor<VendorPorts[Name]>(
        vendor,
        {
          operations: registry.operationsOf(capability),
          of: (call) => registry.of(capability, call),
          behaviour: (accountId) => modules.get(VendorBehaviours, { strict: false }).of(accountId, capability),
          guard,
        },
        called(metrics, log),
      ),
    inject: [Metrics, ModuleRef, VendorGuard],
  };
}

@Global()
@Module({})
export class VendorsModule {
  static forRoot(config: Config, registry: VendorRegistry, log: Log): DynamicModule {
    const worker = runs(config.process, 'worker');
    const { limits, pdf: printing } = config;
    const pdf = new ChromiumPdfRenderer({
      executablePath: printing.chromiumPath,
      searchPath: printing.searchPath,
      notStarted: (error) => log.warn({ err: error }, 'no browser starts in its sandbox: PDFs are answered with 503'),
    });
    return {
      module: VendorsModule,
      imports: [
        CallConnectionModule,
        ExternalCallsModule.forRootAsync(worker, {
          useFactory: (
            redis: Redis,
            { workerRedis }: CallConnection,
            vault: Vault,
            clock: Clock,
            metrics: Metrics,
          ) => ({
            redis,
            workerRedis,
            payloads: new RedisSealedPayloads(redis, vault),
            clock,
            settings: { timeoutMs: limits.vendorTimeout * 1_000, concurrency: config.vendors.concurrency },
            own: { 'pdf-renderer': { timeoutMs: PDF_TIMEOUT_MS, concurrency: PDF_PAGES } },
            vendors: registry,
            vendorShare: limits.vendorShare,
            vendorPlacesPerLineage: limits.vendorPlacesPerLineage,
            notCounted: () => metrics.rateUncounted.inc(),
            queued: (queue: string, backlog: () => Promise<Backlog>): void =>
              metrics.beforeScrape(async () => {
                const { waiting, oldestWaitingMs } = await backlog();
                metrics.queueDepth.set({ queue }, waiting);
                metrics.queueOldest.set({ queue }, (oldestWaitingMs ?? 0) / 1_000);
              }),
          }),
          inject: [Redis, CallConnection, Vault, Clock, Metrics],
        }),
      ],
      providers: [
        { provide: VendorConnections, useValue: new VendorConnections(registry, pdf, worker) },
        {
          provide: VendorGuard,
          useFactory: (redis: Redis, metrics: Metrics, modules: ModuleRef) => {
            const guard = new VendorGuard(redis, {
              probeMs: limits.vendorTimeout * 1_000,
              isPaused: (vendor, environment) => modules.get(VendorPauses, { strict: false }).has(vendor, environment),
              limitsOf: (vendor) => registry.limitsOf(vendor),
              opened: (vendor, environment) => {
                metrics.breakerOpens.inc({ vendor, environment });
                log.warn(
                  { vendor, environment },
                  'calls to a vendor are refused for a while, because calls have failed',
                );
              },
              refused: (vendor, environment, reason) => metrics.vendorRefusals.inc({ vendor, environment, reason }),
            });
            for (const { called: vendor, vendor: id, environment, settles } of queuesOf(registry))
              if (!settles)
                metrics.beforeScrape(async () => {
                  const state = await guard.stateOf(vendor, id, environment);
                  metrics.vendorState.set({ vendor, environment }, STATES.indexOf(state));
                });
            return guard;
          },
          inject: [Redis, Metrics, ModuleRef],
        },
        routed({ registry, log }, IdentityVendor, 'identity-vendor', 'identity'),
        routed({ registry, log }, CreditBureau, 'credit-bureau', 'credit'),
        routed({ registry, log }, IncomeVendor, 'income-vendor', 'income'),
        routed({ registry, log }, PaymentProcessor, 'payment-processor', 'payment'),
        {
          provide: PdfRenderer,
          useFactory: (metrics: Metrics): PdfRenderer => {
            const rendered = called(metrics, log);
            const render: PdfRenderer['render'] = async (html, environment, source) => {
              const startedAt = performance.now();
              const page = await pdf.render(html, environment, source);
              const seconds = (performance.now() - startedAt) / 1_000;
              const about = { vendor: 'pdf-renderer', operation: 'render', outcome: page.kind };
              rendered({ ...about, seconds, ends: [], call: { environment } });
              return page;
            };
            return { render };
          },
          inject: [Metrics],
        },
      ],
      exports: [IdentityVendor, CreditBureau, IncomeVendor, PaymentProcessor, PdfRenderer],
    };
  }
}

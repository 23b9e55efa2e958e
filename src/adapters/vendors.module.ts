// The vendors: one queue each, the adapter that asks through it, and in a worker the real one behind it.
import { BullModule } from '@nestjs/bullmq';
import {
  type DynamicModule,
  Global,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import type { Redis } from 'ioredis';
import { type Config, runs } from '../config.js';
import { CallWorkers } from '../external-calls/call-workers.js';
import { ExternalCallsModule } from '../external-calls/external-calls.module.js';
import { routedVendor } from '../external-calls/routed-vendor.js';
import type { Clock } from '../kernel/clock.js';
import type { Log } from '../platform/observability/log.js';
import type { Metrics } from '../platform/observability/metrics.js';
import { CreditBureau } from '../ports/credit-bureau.js';
import { IdentityVendor } from '../ports/identity-vendor.js';
import { IncomeVendor } from '../ports/income-vendor.js';
import { PaymentProcessor } from '../ports/payment-processor.js';
import { PdfRenderer } from '../ports/pdf-renderer.js';
import type { Vault } from '../ports/vault.js';
import type { VendorRegistry } from '../vendor-kit/registry.js';
import { CREDIT_BUREAU_QUEUE, QueuedCreditBureau } from './credit-bureau/queued.js';
import { INCOME_VENDOR_QUEUE, QueuedIncomeVendor } from './income-vendor/queued.js';
import { PAYMENT_PROCESSOR_QUEUE, QueuedPaymentProcessor } from './payment-processor/queued.js';
import { ChromiumPdfRenderer } from './pdf-renderer/chromium.js';
import { PDF_RENDERER_QUEUE, QueuedPdfRenderer, renderingBy } from './pdf-renderer/queued.js';
import { byVendor } from './queued-calls/by-vendor.js';
import { CallSettings } from './queued-calls/queue.js';
import { queuedVendor, type VendorSurroundings } from './queued-calls/vendor.js';
import { RedisSealedPayloads } from './sealed-payloads/redis.js';

/** A page waits for its turn and is printed within it; more pages than this are not even queued for the browser. */
const PDF_TIMEOUT_MS = 30_000;
const PDF_PAGES = 18;

/** What the vendors of a process stand on. */
interface Around {
  readonly redis: Redis;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly vendors: VendorRegistry;
}

function vendorSurroundings(config: Config, { redis, vault, clock, metrics }: Around): VendorSurroundings {
  return {
    redis,
    payloads: new RedisSealedPayloads(redis, vault),
    clock,
    worker: runs(config, 'worker'),
    called: (vendor, operation, outcome, seconds) => {
      metrics.vendorCalls.inc({ vendor, operation, outcome });
      metrics.vendorDuration.observe({ vendor, operation }, seconds);
    },
    queued: (queue, backlog) =>
      metrics.beforeScrape(async () => {
        const { waiting, oldestWaitingMs } = await backlog();
        metrics.queueDepth.set({ queue }, waiting);
        metrics.queueOldest.set({ queue }, (oldestWaitingMs ?? 0) / 1_000);
      }),
  };
}

/** Looks after the real vendors as long as the service runs. */
class VendorConnections implements OnApplicationBootstrap, OnApplicationShutdown {
  constructor(
    private readonly vendors: VendorRegistry,
    private readonly pdf: ChromiumPdfRenderer,
    /** Only in a process that makes the calls. */
    private readonly workers: CallWorkers | undefined,
  ) {}

  onApplicationBootstrap(): void {
    // Not awaited: the check itself logs that nothing can be printed, if so.
    if (this.workers) void this.pdf.check();
  }

  /** After the last call has ended. */
  async onApplicationShutdown(): Promise<void> {
    await this.workers?.stop();
    await Promise.all([this.vendors.close(), this.pdf.close()]);
  }
}

@Global()
@Module({})
export class VendorsModule {
  static of(config: Config, engine: Around, log: Log): DynamicModule {
    const around = vendorSurroundings(config, engine);
    const { limits, chromiumPath, searchPath } = config;
    const pdf = new ChromiumPdfRenderer({
      executablePath: chromiumPath,
      searchPath,
      notStarted: (error) => log.warn({ err: error }, 'no browser starts in its sandbox: PDFs are answered with 503'),
    });
    const settings = new CallSettings(limits.vendorTimeout * 1_000, config.vendorConcurrency);
    const vendors = [
      queuedVendor(around, {
        port: CreditBureau,
        queue: CREDIT_BUREAU_QUEUE,
        adapter: QueuedCreditBureau,
        real: byVendor(CREDIT_BUREAU_QUEUE, (call) => engine.vendors.of('credit', call)),
        settings,
      }),
      queuedVendor(around, {
        port: IncomeVendor,
        queue: INCOME_VENDOR_QUEUE,
        adapter: QueuedIncomeVendor,
        real: byVendor(INCOME_VENDOR_QUEUE, (call) => engine.vendors.of('income', call)),
        settings,
      }),
      queuedVendor(around, {
        port: PaymentProcessor,
        queue: PAYMENT_PROCESSOR_QUEUE,
        adapter: QueuedPaymentProcessor,
        real: byVendor(PAYMENT_PROCESSOR_QUEUE, (call) => engine.vendors.of('payment', call)),
        settings,
      }),
      queuedVendor(around, {
        port: PdfRenderer,
        queue: PDF_RENDERER_QUEUE,
        adapter: QueuedPdfRenderer,
        real: renderingBy(pdf),
        settings: new CallSettings(PDF_TIMEOUT_MS, PDF_PAGES),
      }),
    ];
    return {
      module: VendorsModule,
      imports: [
        ExternalCallsModule.forRoot({
          ...around,
          settings: { timeoutMs: settings.timeoutMs, concurrency: settings.concurrency, drainMs: settings.drainMs },
          vendorShare: limits.vendorShare,
          notCounted: () => engine.metrics.rateUncounted.inc(),
        }),
        BullModule.registerQueue(...vendors.flatMap(({ queues }) => queues)),
      ],
      providers: [
        {
          provide: VendorConnections,
          useFactory: (workers?: CallWorkers) => new VendorConnections(engine.vendors, pdf, workers),
          inject: [{ token: CallWorkers, optional: true }],
        },
        {
          provide: IdentityVendor,
          useValue: routedVendor<IdentityVendor>(
            'identity-vendor',
            {
              operations: engine.vendors.operationsOf('identity'),
              of: (call) => engine.vendors.of('identity', call),
            },
            (operation, outcome, seconds) => around.called('identity-vendor', operation, outcome, seconds),
          ),
        },
        ...vendors.flatMap(({ providers }) => providers),
      ],
      exports: [IdentityVendor, ...vendors.map(({ port }) => port)],
    };
  }
}

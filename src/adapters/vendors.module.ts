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
import { HttpCreditBureau } from '../vendors/idv/credit.js';
import { CREDIT_BUREAU_QUEUE, QueuedCreditBureau } from './credit-bureau/queued.js';
import { HttpIdentityVendor } from '../vendors/idv/identity.js';
import { HttpIncomeVendor } from '../vendors/voie/income.js';
import { INCOME_VENDOR_QUEUE, QueuedIncomeVendor } from './income-vendor/queued.js';
import { PAYMENT_PROCESSOR_QUEUE, QueuedPaymentProcessor } from './payment-processor/queued.js';
import { StripePaymentProcessor } from '../vendors/stripe/payment.js';
import { ChromiumPdfRenderer } from './pdf-renderer/chromium.js';
import { PDF_RENDERER_QUEUE, QueuedPdfRenderer, renderingBy } from './pdf-renderer/queued.js';
import { byEnvironment } from './queued-calls/by-environment.js';
import { CallSettings } from './queued-calls/queue.js';
import { queuedVendor, type VendorSurroundings } from './queued-calls/vendor.js';
import { RedisSealedPayloads } from './sealed-payloads/redis.js';

/** The vendors of one environment. */
interface VendorSet {
  readonly identity: HttpIdentityVendor;
  readonly credit: HttpCreditBureau;
  readonly income: HttpIncomeVendor;
  readonly payment: StripePaymentProcessor;
}

/** What the workers call. `test` is the same set as `live` outside production, where there is the sandbox only. */
interface Vendors {
  readonly live: VendorSet;
  readonly test: VendorSet;
  readonly pdf: ChromiumPdfRenderer;
  close(): Promise<void>;
}

function connectVendors(
  { identityVendor, incomeVendor, processor, testVendors, chromiumPath, searchPath, limits }: Config,
  log: Log,
): Vendors {
  const timeoutMs = limits.vendorTimeout * 1_000;
  const setOf = (
    identity: { url: string; credential: string },
    income: { url: string; credential: string },
    payment: { url: string | null; secretKey: string },
  ): VendorSet => {
    const upstream = { baseUrl: identity.url, credential: identity.credential, timeoutMs };
    return {
      identity: new HttpIdentityVendor(upstream),
      credit: new HttpCreditBureau(upstream),
      income: new HttpIncomeVendor({ baseUrl: income.url, credential: income.credential, timeoutMs }),
      payment: new StripePaymentProcessor({ secretKey: payment.secretKey, baseUrl: payment.url, timeoutMs }),
    };
  };
  const live = setOf(identityVendor, incomeVendor, processor);
  const test =
    testVendors === null
      ? live
      : setOf(testVendors, testVendors, { url: testVendors.url, secretKey: testVendors.processorSecretKey });
  const pdf = new ChromiumPdfRenderer({
    executablePath: chromiumPath,
    searchPath,
    notStarted: (error) => log.warn({ err: error }, 'no browser starts in its sandbox: PDFs are answered with 503'),
  });
  const members = ({ identity, credit, income, payment }: VendorSet): { close(): Promise<void> }[] => [
    identity,
    credit,
    income,
    payment,
  ];
  const all = new Set([...members(live), ...members(test), pdf]);
  return { live, test, pdf, close: async () => void (await Promise.all([...all].map((vendor) => vendor.close()))) };
}

/** A page waits for its turn and is printed within it; more pages than this are not even queued for the browser. */
const PDF_TIMEOUT_MS = 30_000;
const PDF_PAGES = 18;

/** What the vendors of a process stand on. */
interface Around {
  readonly redis: Redis;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly metrics: Metrics;
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
    private readonly vendors: Vendors,
    /** Only in a process that makes the calls. */
    private readonly workers: CallWorkers | undefined,
  ) {}

  onApplicationBootstrap(): void {
    // Not awaited: the check itself logs that nothing can be printed, if so.
    if (this.workers) void this.vendors.pdf.check();
  }

  /** After the last call has ended. */
  async onApplicationShutdown(): Promise<void> {
    await this.workers?.stop();
    await this.vendors.close();
  }
}

@Global()
@Module({})
export class VendorsModule {
  static of(config: Config, engine: Around, log: Log): DynamicModule {
    const around = vendorSurroundings(config, engine);
    const connected = connectVendors(config, log);
    const { live, test, pdf } = connected;
    const { limits } = config;
    const settings = new CallSettings(limits.vendorTimeout * 1_000, config.identityVendor.workerConcurrency);
    const vendors = [
      queuedVendor(around, {
        port: CreditBureau,
        queue: CREDIT_BUREAU_QUEUE,
        adapter: QueuedCreditBureau,
        real: byEnvironment(CREDIT_BUREAU_QUEUE, live.credit, test.credit),
        settings,
      }),
      queuedVendor(around, {
        port: IncomeVendor,
        queue: INCOME_VENDOR_QUEUE,
        adapter: QueuedIncomeVendor,
        real: byEnvironment(INCOME_VENDOR_QUEUE, live.income, test.income),
        settings,
      }),
      queuedVendor(around, {
        port: PaymentProcessor,
        queue: PAYMENT_PROCESSOR_QUEUE,
        adapter: QueuedPaymentProcessor,
        real: byEnvironment(PAYMENT_PROCESSOR_QUEUE, live.payment, test.payment),
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
        BullModule.registerQueue(...vendors.map(({ queue }) => queue)),
      ],
      providers: [
        {
          provide: VendorConnections,
          useFactory: (workers?: CallWorkers) => new VendorConnections(connected, workers),
          inject: [{ token: CallWorkers, optional: true }],
        },
        {
          provide: IdentityVendor,
          useValue: routedVendor<IdentityVendor>(
            'identity-vendor',
            { live: live.identity, test: test.identity },
            (operation, outcome, seconds) => around.called('identity-vendor', operation, outcome, seconds),
          ),
        },
        ...vendors.flatMap(({ providers }) => providers),
      ],
      exports: [IdentityVendor, ...vendors.map(({ port }) => port)],
    };
  }
}

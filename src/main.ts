// Starts a role of the service, and stops it in order.
import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { NestFactory } from '@nestjs/core';
import { CommandBus } from '@nestjs/cqrs';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppModule } from './app.module.js';
import { InvalidConfig, readConfig, runs, type Config } from './config.js';
import { DomainError } from './kernel/domain-error.js';
import { ReceiveProcessorWebhookEvent } from './modules/payments/application/receive-processor-webhook-event.js';
import { ErrorReplies } from './platform/http/error-reply.js';
import { Health, serveHealth } from './platform/http/health.js';
import { listenForInternal, serveInternalToLoopback, type InternalRoute } from './platform/http/internal-listener.js';
import { listenForMetrics, serveMetricsToLoopback } from './platform/http/metrics-page.js';
import { serveOpenApi } from './platform/http/openapi.js';
import { serveSurfaces } from './platform/http/serve-surfaces.js';
import { createServer } from './platform/http/server.js';
import { createLog, NestLog, type Log } from './platform/observability/log.js';
import { LogOutput, toStandardOutput } from './platform/observability/log-output.js';
import { Metrics } from './platform/observability/metrics.js';
import { RoleRunner } from './platform/roles/role-runner.js';
import type { Vendor } from './vendor-kit/define-vendor.js';
import { findVendors, VendorRegistry } from './vendor-kit/registry.js';
import { SURFACES } from './surfaces/all.js';

/** For the last log lines of a process that ends. */
const LAST_LINES_WITHIN_MS = 1_000;
/** Longest orderly stop; what is not done by then is found again in the log and the queues at the next start. */
const STOP_WITHIN_MS = 30_000;

const metrics = new Metrics();
const output = new LogOutput(toStandardOutput(), (lines) => metrics.logLinesDropped.inc(lines));

/** Ends the process once the last log lines are written, or after a second. */
function exit(code: number): void {
  void output.flushed(LAST_LINES_WITHIN_MS).then(() => process.exit(code));
}

async function main(): Promise<void> {
  const vendors = await findVendors();
  const config = configOrExit(vendors);
  const log = createLog(config.logLevel, config.role, output);
  for (const name of config.production ? config.overrides : [])
    log.warn({ limit: name }, 'a limit differs from its default');
  for (const name of config.production ? config.switchedOff : [])
    log.warn({ limit: name }, 'a limit against abuse is switched off');
  if (config.plainHttpReason !== null)
    log.warn({ reason: config.plainHttpReason }, 'plain HTTP is taken in production (REQUIRE_TLS=false)');
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled rejection'));
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught exception');
    exit(1);
  });
  // Whoever read it may be gone.
  process.stderr.on('error', () => undefined);
  // Node would write its warnings to standard error, past the log.
  process
    .removeAllListeners('warning')
    .on('warning', (warning) => log.warn({ err: warning }, 'warning of the runtime'));

  const registry = new VendorRegistry(vendors, config.vendors);
  await registry.open(config.limits.vendorTimeout * 1_000);
  const server = createServer({
    surfaces: SURFACES,
    trustedProxies: config.trustedProxies,
    requireTls: config.requireTls,
    tls: config.tls && { cert: readFileSync(config.tls.certPath), key: readFileSync(config.tls.keyPath) },
    log,
    metrics,
  });
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.forRoot(config, registry, log, metrics),
    server,
    {
      logger: new NestLog(log),
      bodyParser: false,
      abortOnError: false,
    },
  );
  const fastify = app.getHttpAdapter().getInstance();
  if (!runs(config, 'api')) fastify.addHook('onRequest', serveProbesOnly);
  if (config.readOnly) fastify.addHook('onRequest', refuseChanges);
  serveSurfaces(app, SURFACES, log);
  serveHealth(fastify, app.get(Health));
  if (config.metricsPort === null) serveMetricsToLoopback(fastify, metrics);
  else await listenForMetrics(config.metricsPort, config.metricsHost, metrics);
  const internal = runs(config, 'api') && !config.readOnly ? internalRoutes(app) : [];
  let internalServer: FastifyInstance | null = null;
  const replies = new ErrorReplies(SURFACES, log);
  if (config.internalPort === null) serveInternalToLoopback(fastify, internal, replies);
  fastify.addHook('onClose', async () => internalServer?.close());
  serveOpenApi(app, config.publicUrl, SURFACES);
  stopOnSignal(app, log);
  await app.init();
  await app.get(RoleRunner, { strict: false }).start();
  if (config.internalPort !== null && internal.length > 0)
    internalServer = await listenForInternal(config.internalPort, config.internalHost, internal, replies);
  await app.listen({ port: config.port, host: config.host });
  log.info({ address: await app.getUrl(), eventStore: config.eventStore.kind }, 'listening');
}

/** What vendors tell us. Not part of any door, and not described to anybody. */
function internalRoutes(app: NestFastifyApplication): InternalRoute[] {
  const commands = app.get(CommandBus);
  return [
    {
      path: '/internal/processor/events',
      receive: async ({ body, headers, requestId }) => {
        const signature = headers['stripe-signature'];
        await commands.execute(
          new ReceiveProcessorWebhookEvent(body, typeof signature === 'string' ? signature : undefined, requestId),
        );
      },
    },
  ];
}

/** A worker or projector serves nothing but its own health and metrics. */
function serveProbesOnly({ routeOptions }: FastifyRequest, _reply: unknown, done: (error?: Error) => void): void {
  done(routeOptions.config.probe ? undefined : new DomainError('request.unknown_path'));
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A POST that a copy which can only be read answers too. */
    changesNothing?: true;
  }
}

/** Before anybody is asked who they are. */
function refuseChanges({ method, routeOptions }: FastifyRequest, _reply: unknown, done: (error?: Error) => void): void {
  const reads = ['GET', 'HEAD', 'OPTIONS'].includes(method) || routeOptions.config.changesNothing;
  done(reads ? undefined : new DomainError('service.read_only'));
}

function configOrExit(vendors: readonly Vendor[]): Config {
  try {
    return readConfig(process.env, { vendors });
  } catch (error) {
    if (!(error instanceof InvalidConfig)) throw error;
    return exitFor(error);
  }
}

function exitFor(error: InvalidConfig): never {
  process.stderr.write(`${error.message}\n`);
  process.exit(2);
}

/** Intake first; Nest then ends what is running, and closes what it runs on. */
function stopOnSignal(app: NestFastifyApplication, log: Log): void {
  let stopping = false;
  const stop = (signal: string): void => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, 'stopping');
    setTimeout(() => {
      log.error('could not stop in time');
      exit(1);
    }, STOP_WITHIN_MS).unref();
    app.get(Health).stop();
    // A connection that is kept alive after its last answer would hold the server open until it times out.
    setInterval(() => app.getHttpServer().closeIdleConnections(), 100).unref();
    app.close().then(
      () => {
        log.info('stopped');
        exit(0);
      },
      (error: unknown) => {
        log.error({ err: error }, 'stopping failed');
        exit(1);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

main().catch((error: unknown) => {
  if (error instanceof InvalidConfig) exitFor(error);
  try {
    process.stderr.write(
      `The service could not start: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
  } finally {
    exit(1);
  }
});

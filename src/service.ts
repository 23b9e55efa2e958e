// Makes one service with its role from its configuration, starts it, and stops it in order. `main.ts` runs the service in a process.
import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DiscoveryService, NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppModule } from './app.module.js';
import type { Config } from './config/config.js';
import { runs } from './config/process.js';
import { placesOutside } from './config/sealing.js';
import { DomainError } from './kernel/domain-error.js';
import { servePdfsApart } from './modules/reports/http/platform/pdf-host.js';
import { LogWatch } from './platform/audit/log-watch.js';
import { describeCallers } from './platform/http/asked-by.js';
import { drainBeforeClose } from './platform/http/draining.js';
import { Health, serveHealth } from './platform/http/health.js';
import {
  type InternalRequest,
  internalRoutes,
  serveInternal,
  serveInternalToLoopback,
} from './platform/http/internal-listener.js';
import { isFromLoopback, serveMetrics } from './platform/http/metrics-page.js';
import { serveSurfaces } from './platform/http/serve-surfaces.js';
import { noteRequests } from './platform/http/request-notes.js';
import { createPrivateServer, createServer } from './platform/http/server.js';
import { type Log, NestLog } from './platform/observability/log.js';
import type { Metrics } from './platform/observability/metrics.js';
import { RoleRunner } from './platform/roles/role-runner.js';
import { RequestLog } from './ports/request-log.js';
import { TransparencyFiles } from './ports/transparency-files.js';
import { Vault } from './ports/vault.js';
import { AccessKeys } from './published/access-keys.js';
import { SURFACES } from './surfaces/all.js';
import { readablePath } from './surfaces/readable-path.js';
import { serveDocuments } from './surfaces/documents/serve-documents.js';
import { warnOfUnknownFields } from './surfaces/warnings.js';
import { serveEmbedded } from './surfaces/embedded/serve-embedded.js';
import { serveTransparency } from './transparency/serve-transparency.js';
import type { Vendor } from './vendor-kit/define-vendor.js';
import { VendorRegistry } from './vendor-kit/registry.js';

export interface Service {
  start(): Promise<void>;
  /** Closes the API first. Nest then ends running work and closes its infrastructure. May be called during the start. */
  stop(): Promise<void>;
}

/** Callers may send one more request on a connection that is open. */
const DRAINED_WITHIN_MS = 3_000;

/** Folders relative to this file in dist/src/. */
const BROWSER_CODE = join(import.meta.dirname, '../../dist-web');
const REFERENCE = join(BROWSER_CODE, 'reference');
const GUIDES = join(import.meta.dirname, '../../docs');

export async function createService(
  config: Config,
  vendors: readonly Vendor[],
  log: Log,
  metrics: Metrics,
): Promise<Service> {
  const { http } = config;
  const { readOnly } = config.process;
  warnOfSettings(config, log);
  const registry = new VendorRegistry(vendors, config.vendors.byId);
  await registry.open(config.limits.vendorTimeout * 1_000);
  const surfaces = SURFACES.documentedAt(http.docsUrl);
  const server = createServer({
    surfaces,
    trustedProxies: http.trustedProxies,
    requireTls: http.requireTls,
    tls: http.tls && { cert: readFileSync(http.tls.certPath), key: readFileSync(http.tls.keyPath) },
    log,
    metrics,
    readable: readablePath,
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
  // Callers of an api process can use other processes. For other roles, this wait would only make a restart longer.
  drainBeforeClose(fastify, config.process.role === 'api' ? DRAINED_WITHIN_MS : 0);
  if (!runs(config.process, 'api')) fastify.addHook('onRequest', serveProbesOnly);
  if (http.pdfUrl !== null) servePdfsApart(fastify, http.pdfUrl);
  const logWatch = app.get(LogWatch);
  fastify.addHook('onRequest', async (request) => {
    if (isChange(request)) await refuseChanges(logWatch);
  });
  serveSurfaces(app, surfaces, log);
  warnOfUnknownFields(fastify);
  describeCallers(fastify, app.get(Vault));
  noteRequests(fastify, app.get(RequestLog));
  const health = app.get(Health);
  serveHealth(fastify, health);
  const privateServers: FastifyInstance[] = [];
  const listenInPrivate = async (port: number, host: string, serve: (server: FastifyInstance) => void) => {
    const privateServer = createPrivateServer(surfaces, log);
    serve(privateServer);
    privateServers.push(privateServer);
    // When several processes run, each has probes of its own. Processes share only the internal port.
    await privateServer.listen({ port, host, exclusive: port !== http.internalPort });
  };
  const serveMetricsToAll = (server: FastifyInstance): void => serveMetrics(server, metrics, () => true);
  metrics.beforeScrape(async () => {
    for (const [check, found] of Object.entries((await health.report()).checks))
      metrics.checkFailing.set({ check }, found === 'ok' ? 0 : 1);
  });
  // With a probe port, several processes share the main port. Metrics on the main port could then come from any of these processes.
  if (http.probePort === null) {
    if (http.metricsPort === null) serveMetrics(fastify, metrics, isFromLoopback);
    else await listenInPrivate(http.metricsPort, http.metricsHost, serveMetricsToAll);
  }
  const told = runs(config.process, 'api') && !readOnly ? internalRoutes(app.get(DiscoveryService)) : [];
  const internal = told.map((route) => ({
    paths: route.paths,
    receive: async (request: InternalRequest) => {
      await refuseChanges(logWatch);
      await route.receive(request);
    },
  }));
  const transparency = app.get(TransparencyFiles);
  if (http.internalPort === null) {
    serveInternalToLoopback(fastify, internal);
    serveTransparency(fastify, transparency, isFromLoopback);
  }
  fastify.addHook('onClose', async () => {
    for (const privateServer of privateServers) await privateServer.close();
  });
  const { docsUrl, servesDocs, publicUrl } = http;
  const { demoAccounts } = config.process;
  const folders = { reference: REFERENCE, guides: GUIDES };
  serveDocuments(app, surfaces, { docsUrl, servesDocs, publicUrl, demoAccounts }, folders);
  if (runs(config.process, 'api')) serveComponent(app, config, log);
  return {
    async start() {
      await app.init();
      await app.get(RoleRunner, { strict: false }).start();
      if (http.internalPort !== null && internal.length > 0)
        await listenInPrivate(http.internalPort, http.internalHost, (server) => {
          serveInternal(server, internal);
          serveTransparency(server, transparency, () => true);
        });
      const { probePort } = http;
      const serves = probePort === null || runs(config.process, 'api');
      if (serves) await app.listen({ port: http.port, host: http.host });
      if (probePort !== null)
        await listenInPrivate(probePort, http.metricsHost, (server) => {
          serveHealth(server, health);
          serveMetricsToAll(server);
        });
      const where = { ...(serves && { address: await app.getUrl() }), ...(probePort !== null && { probePort }) };
      const eventStore = config.eventStore.place.kind;
      log.info({ ...where, eventStore, checkpointPlaces: placesOutside(config.sealing) }, 'listening');
    },
    async stop() {
      health.stop();
      await app.close();
    },
  };
}

/** A worker or projector serves only its own health and metrics. */
function serveProbesOnly({ routeOptions }: FastifyRequest, _reply: unknown, done: (error?: Error) => void): void {
  done(routeOptions.config.probe ? undefined : new DomainError('request.unknown_path'));
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A POST that is answered even while changes are refused. */
    changesNothing?: true;
  }
}

function isChange({ method, routeOptions }: FastifyRequest): boolean {
  const { changesNothing, changesState } = routeOptions.config;
  const reads = ['GET', 'HEAD', 'OPTIONS'].includes(method) && !changesState;
  return !reads && !changesNothing;
}

/** Runs before other checks, because the service would ignore a webhook event about a payment that the log has lost. */
async function refuseChanges(logWatch: LogWatch): Promise<void> {
  const refusal = await logWatch.refusal();
  if (refusal !== null) throw refusal;
}

function warnOfSettings({ process: { production }, http, sealing, overrides, switchedOff }: Config, log: Log): void {
  for (const name of production ? overrides : []) log.warn({ limit: name }, 'a limit differs from its default');
  for (const name of production ? switchedOff : []) log.warn({ limit: name }, 'a limit against abuse is switched off');
  if (http.plainHttpReason !== null)
    log.warn({ reason: http.plainHttpReason }, 'the service accepts plain HTTP in production (REQUIRE_TLS=false)');
  if (production && sealing.signingKey === null)
    log.warn('the key that signs the log lies beside the log (SEAL_SIGNING_KEY is not set)');
  if (production && placesOutside(sealing).length === 0)
    log.warn('no place outside gets the checkpoints of the log (SEAL_WITNESSES and SEAL_ANCHOR_DIRECTORY are not set)');
}

function serveComponent(app: NestFastifyApplication, config: Config, log: Log): void {
  const { http } = config;
  const reason = serveEmbedded(app.getHttpAdapter().getInstance(), app.get(AccessKeys, { strict: false }), {
    folder: BROWSER_CODE,
    embeddedUrl: http.embeddedUrl,
    apiUrl: http.publicUrl,
    pdfUrl: http.pdfUrl,
    scripts: config.embedded.scripts,
  });
  if (reason !== null) log.warn({ reason }, 'the embedded component is not served');
}

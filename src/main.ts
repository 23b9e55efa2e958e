// The process of a service: what it is configured with, where its log goes, what ends it.
import { format } from 'node:util';
import { readConfig, type Config } from './config/config.js';
import { InvalidConfig } from './config/variables.js';
import { createLog, type Log } from './platform/observability/log.js';
import { LogOutput, toStandardOutput } from './platform/observability/log-output.js';
import { Metrics } from './platform/observability/metrics.js';
import { createService, type Service } from './service.js';
import type { Vendor } from './vendor-kit/define-vendor.js';
import { findVendors } from './vendor-kit/registry.js';

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

/**
 * Without an orderly stop before. An exit waits for transactions that are under way, these wait for this thread, and with the lock of the
 * log held nobody else could append any more. A log is as whole after this as after a power cut.
 */
function die(): void {
  process.kill(process.pid, 'SIGKILL');
}

async function main(): Promise<void> {
  const vendors = await findVendors();
  const config = configOrExit(vendors);
  const log = createLog(config.process.logLevel, config.process.role, output);
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled rejection'));
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught exception');
    void output.flushed(LAST_LINES_WITHIN_MS).then(die);
  });
  // The parent of several processes is gone. Before the listener of Node itself, which exits.
  process.prependListener('disconnect', die);
  // The reader of it may be gone.
  process.stderr.on('error', () => undefined);
  // Node would write its warnings to standard error, past the log.
  process
    .removeAllListeners('warning')
    .on('warning', (warning) => log.warn({ err: warning }, 'warning of the runtime'));

  // So would libraries: what they advise is for developers, what they report as an error is not.
  for (const [method, level] of Object.entries({
    log: 'debug',
    info: 'debug',
    warn: 'debug',
    error: 'warn',
  } as const)) {
    const tell = (...said: unknown[]): void => log[level]({ said: format(...said) }, 'said by a library');
    Object.assign(console, { [method]: tell });
  }

  const service = await createService(config, vendors, log, metrics);
  stopOnSignal(service, log);
  await service.start();
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

function stopOnSignal(service: Service, log: Log): void {
  let stopping = false;
  const stop = (signal: string): void => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, 'stopping');
    setTimeout(() => {
      log.error('could not stop in time');
      void output.flushed(LAST_LINES_WITHIN_MS).then(die);
    }, STOP_WITHIN_MS).unref();
    service.stop().then(
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

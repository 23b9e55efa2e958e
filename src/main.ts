// The process of a service: reads its configuration, opens its log, and ends the process.
import { format } from 'node:util';
import { readConfig, type Config } from './config/config.js';
import { InvalidConfig } from './config/variables.js';
import { createLog, type Log } from './platform/observability/log.js';
import { LogOutput, toStandardOutput } from './platform/observability/log-output.js';
import { Metrics } from './platform/observability/metrics.js';
import { createService, type Service } from './service.js';
import type { Vendor } from './vendor-kit/define-vendor.js';
import { findVendors } from './vendor-kit/registry.js';

/** The time for which an ending process waits for its last log lines. */
const LAST_LINES_WITHIN_MS = 1_000;
/** The time that an orderly stop may take. The next start finds unfinished work in the log and the queues. */
const STOP_WITHIN_MS = 30_000;

const metrics = new Metrics();
const output = new LogOutput(toStandardOutput(), (lines) => metrics.logLinesDropped.inc(lines));

/** Ends the process when the last log lines are written, or after a second. */
function exit(code: number): void {
  void output.flushed(LAST_LINES_WITHIN_MS).then(() => process.exit(code));
}

/**
 * Ends the process at once, without an orderly stop. `process.exit` would wait for open transactions, which wait for this thread. In the meantime
 * this process would keep the log's lock, and no other process could append. The log is as safe as after a power cut.
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
  // This event means that the parent of several processes has died. The listener must run before Node's own listener, which exits.
  process.prependListener('disconnect', die);
  // The process that reads standard error may have died.
  process.stderr.on('error', () => undefined);
  // Logs Node's warnings, which Node would otherwise write to standard error, outside the log.
  process.removeAllListeners('warning').on('warning', (warning) => log.warn({ err: warning }, 'Node gave a warning'));

  // Libraries would write to standard error as well. The advice of libraries is for developers, and their error reports become warnings.
  for (const [method, level] of Object.entries({
    log: 'debug',
    info: 'debug',
    warn: 'debug',
    error: 'warn',
  } as const)) {
    const tell = (...said: unknown[]): void => log[level]({ said: format(...said) }, 'a library wrote to the console');
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

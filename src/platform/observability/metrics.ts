// The metrics for Prometheus. Labels have few values: routes, kinds and names, never ids.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { withTimeout } from '../../kernel/with-timeout.js';

/** How full a file or store is. All values are 0 without such a file. The last two are 0 without a limit. */
class SpaceGauges {
  private readonly used: Gauge;
  private readonly max: Gauge;
  private readonly ratio: Gauge;

  constructor(name: string, what: string, registry: Registry) {
    const registers = [registry];
    this.used = new Gauge({ name: `${name}_used_bytes`, help: `Bytes that ${what} uses.`, registers });
    this.max = new Gauge({
      name: `${name}_max_bytes`,
      help: `Bytes that ${what} may grow to, by its setting or by the disk.`,
      registers,
    });
    this.ratio = new Gauge({
      name: `${name}_used_ratio`,
      help: `Used part of the bytes that ${what} may grow to.`,
      registers,
    });
  }

  set({ usedBytes, totalBytes }: { readonly usedBytes: number; readonly totalBytes: number }): void {
    this.used.set(usedBytes);
    this.max.set(totalBytes);
    this.ratio.set(totalBytes === 0 ? 0 : usedBytes / totalBytes);
  }
}

/** Each sample wakes the process. The usual hundred samples a second would be the largest cost of an idle process. */
const LAG_SAMPLED_EVERY_MS = 500;
const NEVER_MS = 2 ** 31 - 1;

/** A source that takes longer keeps its old value. */
const SOURCES_WITHIN_MS = 1_000;

export class Metrics {
  readonly registry = new Registry();

  readonly httpDuration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the request to the end of the response.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30],
    registers: [this.registry],
  });

  readonly vendorCalls = this.counter(
    'vendor_calls_total',
    'Calls to a vendor by operation and kind of verdict.',
    'vendor',
    'operation',
    'outcome',
    'environment',
  );

  readonly vendorDuration = new Histogram({
    name: 'vendor_call_duration_seconds',
    help: 'Time of a vendor call, without the time in its queue.',
    labelNames: ['vendor', 'operation', 'environment'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
    registers: [this.registry],
  });

  readonly vendorExchanges = this.counter(
    'vendor_exchanges_total',
    'HTTP exchanges with a vendor by role (call, poll, token) and end: a status, or a word when no answer came.',
    'vendor',
    'environment',
    'role',
    'end',
  );
  readonly vendorRefusals = this.counter(
    'vendor_calls_refused_total',
    'Calls that were not made: the vendor was paused, its breaker was open, or it was busy.',
    'vendor',
    'environment',
    'reason',
  );
  readonly breakerOpens = this.counter(
    'vendor_breaker_opens_total',
    'Times at which failed calls opened the breaker of a vendor.',
    'vendor',
    'environment',
  );
  readonly vendorState = new Gauge({
    name: 'vendor_state',
    help: '0 while a vendor gets calls, 1 while it is paused, 2 while its breaker is open.',
    labelNames: ['vendor', 'environment'],
    registers: [this.registry],
  });
  readonly wrongAnswers = this.counter(
    'wrong_answers_total',
    'Wrong codes and answers of persons, and whether they locked the person.',
    'environment',
    'locked',
  );
  readonly alteredIntents = this.counter(
    'payment_intents_altered_total',
    'Payment intents whose amount or currency was changed at the processor.',
    'environment',
  );
  readonly reversedRefunds = this.counter(
    'payment_refunds_reversed_total',
    'Refunds that were made and came back to the processor.',
    'environment',
  );
  readonly appendConflicts = this.counter(
    'event_append_conflicts_total',
    'Appends that found another revision than expected, by category.',
    'category',
  );
  readonly webhookAttempts = this.counter('webhook_attempts_total', 'Delivery attempts by outcome.', 'outcome');
  readonly webhookMissing = this.counter(
    'webhook_deliveries_missing_total',
    'Missing deliveries of published events that a check has made.',
  );
  readonly webhookReclaimed = this.counter(
    'webhook_jobs_reclaimed_total',
    'Delivery jobs taken from workers that had died.',
  );
  readonly webhookEndpoints = new Gauge({
    name: 'webhook_endpoints',
    help: 'Webhook endpoints by state.',
    labelNames: ['status'],
    registers: [this.registry],
  });
  readonly queueDepth = new Gauge({
    name: 'queue_jobs_waiting',
    help: 'Jobs waiting or delayed, by queue.',
    labelNames: ['queue'],
    registers: [this.registry],
  });
  readonly queueOldest = new Gauge({
    name: 'queue_oldest_job_seconds',
    help: 'Age of the oldest waiting job, by queue.',
    labelNames: ['queue'],
    registers: [this.registry],
  });
  readonly projectionLag = new Gauge({
    name: 'projection_lag_seconds',
    help: 'How far a projection is behind the log.',
    labelNames: ['projection'],
    registers: [this.registry],
  });
  private readonly handlerLag = new Gauge({
    name: 'event_handler_lag_seconds',
    help: 'How far an event handler is behind the log.',
    labelNames: ['handler'],
    registers: [this.registry],
  });
  /** The earlier name of `handlerLag`. The next release removes the earlier name. */
  private readonly reactionLag = new Gauge({
    name: 'reaction_lag_seconds',
    help: 'The earlier name of event_handler_lag_seconds.',
    labelNames: ['reaction'],
    registers: [this.registry],
  });
  readonly projectionStopped = new Gauge({
    name: 'projection_stopped',
    help: '1 while a projection has stopped with an alarm.',
    labelNames: ['projection'],
    registers: [this.registry],
  });
  readonly projectionBuilt = new Gauge({
    name: 'projection_built_ratio',
    help: 'Share of the log that the build of a read model has read; 1 without a build, and on EventStoreDB.',
    labelNames: ['projection'],
    registers: [this.registry],
  });
  readonly readModelFailures = this.counter(
    'read_model_apply_failures_total',
    'Failed writes to the read models after an append; the subscription repeats them.',
  );
  readonly redisSpace = new SpaceGauges('redis', 'Redis', this.registry);
  private readonly redisCommands = new Histogram({
    name: 'redis_command_seconds',
    help: 'Time from a command to the answer of Redis, by connection, measured for one command at a time.',
    labelNames: ['connection'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
    registers: [this.registry],
  });
  readonly checkFailing = new Gauge({
    name: 'health_check_failing',
    help: '1 while a check of readiness fails, by check.',
    labelNames: ['check'],
    registers: [this.registry],
  });
  readonly eventStoreSpace = new SpaceGauges('event_store', 'the embedded event log', this.registry);
  readonly testLogUsed = new Gauge({
    name: 'event_store_test_used_ratio',
    help: 'Used part of the share of test traffic in the embedded event log.',
    registers: [this.registry],
  });
  readonly sealingStopped = new Gauge({
    name: 'sealing_stopped',
    help: '1 while the log is not sealed, because it is not the log of the last checkpoint.',
    registers: [this.registry],
  });
  readonly sealedEvents = new Gauge({
    name: 'sealed_events',
    help: 'Events under the last checkpoint. 0 in processes that do not seal.',
    registers: [this.registry],
  });
  readonly unsealed = new Gauge({
    name: 'unsealed_event_seconds',
    help: 'How long the oldest event without a checkpoint has waited.',
    registers: [this.registry],
  });
  readonly sealPlaceFailing = new Gauge({
    name: 'seal_place_failing',
    help: '1 while a witness or another place outside does not take checkpoints.',
    labelNames: ['place'],
    registers: [this.registry],
  });
  readonly vaultSpace = new SpaceGauges('vault', 'the vault on disk', this.registry);
  readonly diskFree = new Gauge({
    name: 'data_disk_free_bytes',
    help: 'Free bytes on the disk of the data folder, without the reserve file.',
    registers: [this.registry],
  });
  readonly logLinesDropped = this.counter(
    'log_lines_dropped_total',
    'Log lines that could not be written: standard output is stuck or its disk is full.',
  );
  readonly rateUncounted = this.counter(
    'rate_limit_uncounted_total',
    'Limited uses that were not counted because Redis did not answer.',
  );
  readonly repliesNotKept = this.counter(
    'idempotency_replies_not_kept_total',
    'Replies to keyed requests that were not kept, because the caller has reached its limit.',
  );

  constructor(lagSampledEveryMs = LAG_SAMPLED_EVERY_MS) {
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: NEVER_MS });
    this.measureLag(lagSampledEveryMs);
  }

  /** Registers a function that reads a value immediately before each scrape. A source that fails keeps its old value. */
  beforeScrape(read: () => Promise<unknown>): void {
    this.sources.push(read);
  }

  async text(): Promise<string> {
    await withTimeout(SOURCES_WITHIN_MS, Promise.allSettled(this.sources.map((read) => read())));
    return this.registry.metrics();
  }

  /** The library reports the whole time between two samples as lag. These gauges report only the delay of a sample. */
  private measureLag(everyMs: number): void {
    const delays = monitorEventLoopDelay({ resolution: everyMs });
    delays.enable();
    const lateBy = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e9 - everyMs / 1_000) || 0;
    const gauges = Object.entries({
      min: () => lateBy(delays.min),
      max: () => lateBy(delays.max),
      mean: () => lateBy(delays.mean),
      stddev: () => delays.stddev / 1e9 || 0,
      p50: () => lateBy(delays.percentile(50)),
      p90: () => lateBy(delays.percentile(90)),
      p99: () => lateBy(delays.percentile(99)),
    }).map(([statistic, read]) => {
      const name = `nodejs_eventloop_lag_${statistic}_seconds`;
      this.registry.removeSingleMetric(name);
      const help = `How late the event loop was since the last scrape: ${statistic}.`;
      return { read, gauge: new Gauge({ name, help, registers: [this.registry] }) };
    });
    this.beforeScrape(async () => {
      for (const { gauge, read } of gauges) gauge.set(delays.count === 0 ? 0 : read());
      delays.reset();
    });
  }

  private counter<Label extends string = never>(name: string, help: string, ...labelNames: Label[]): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  setHandlerLag(handler: string, seconds: number): void {
    this.handlerLag.set({ handler }, seconds);
    this.reactionLag.set({ reaction: handler }, seconds);
  }

  redisCommandsOf(connection: string): (seconds: number) => void {
    return (seconds) => this.redisCommands.observe({ connection }, seconds);
  }

  private readonly sources: (() => Promise<unknown>)[] = [];
}

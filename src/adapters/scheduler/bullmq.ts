import { Queue, Worker, type ConnectionOptions } from 'bullmq';
import { Scheduler } from '../../ports/scheduler.js';
import { withTimeout } from '../../kernel/with-timeout.js';

const QUEUE = 'timers';
const STOP_WITHIN_MS = 10_000;
/** A timer whose worker died runs again within twice this time, milliseconds. */
const LOCK_MS = 5_000;

/** Timers as BullMQ job schedulers, one for all works of an interval: Redis knows when, whichever worker is free runs them. */
export class BullMqScheduler extends Scheduler {
  private readonly works = new Map<string, { readonly intervalMs: number; readonly run: () => Promise<void> }>();
  private readonly running = new Set<string>();
  private queue: Queue | null = null;
  private worker: Worker | null = null;
  private renewal: NodeJS.Timeout | null = null;

  constructor(
    private readonly connection: ConnectionOptions,
    private readonly failed: (name: string, error: unknown) => void,
  ) {
    super();
  }

  override every(name: string, intervalMs: number, run: () => Promise<void>): void {
    if (this.works.has(name)) throw new Error(`Two timers are called ${name}`);
    this.works.set(name, { intervalMs, run });
  }

  override async start(): Promise<void> {
    this.queue = new Queue(QUEUE, { connection: this.connection });
    this.queue.on('error', (error) => this.failed(QUEUE, error));
    this.worker = new Worker(QUEUE, (job) => this.run(job.name), {
      connection: this.connection,
      // One that takes long keeps the next ones of the others from nothing.
      concurrency: this.works.size + 1,
      lockDuration: LOCK_MS,
      stalledInterval: LOCK_MS,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 100 },
    });
    this.worker.on('error', (error) => this.failed(QUEUE, error));
    this.worker.on('failed', (job, error) => this.failed(job?.name ?? QUEUE, error));
    // Redis may have been emptied since: schedulers are set again, which changes nothing where they still are.
    this.renewal = setInterval(() => void this.schedule().catch((error: unknown) => this.failed(QUEUE, error)), 10_000);
    this.renewal.unref();
    await this.schedule();
  }

  override async stop(): Promise<void> {
    if (this.renewal) clearInterval(this.renewal);
    // BullMQ waits for ever for a job whose Redis has died.
    await withTimeout(STOP_WITHIN_MS, Promise.all([this.worker?.close(), this.queue?.close()]));
  }

  private async schedule(): Promise<void> {
    const queue = this.queue;
    if (!queue) return;
    for (const intervalMs of new Set([...this.works.values()].map((work) => work.intervalMs))) {
      const name = timerOf(intervalMs);
      await queue.upsertJobScheduler(
        name,
        { every: intervalMs },
        { name, opts: { removeOnComplete: true, removeOnFail: 100 } },
      );
    }
  }

  private async run(timer: string): Promise<void> {
    const names = [...this.works].flatMap(([name, { intervalMs }]) => (timerOf(intervalMs) === timer ? [name] : []));
    // A timer of another release. Where that one still runs, it sets the timer again.
    if (names.length === 0) await this.queue?.removeJobScheduler(timer);
    await Promise.all(names.map((name) => this.runOne(name)));
  }

  /** One work at a time of each name, however long it takes. */
  private async runOne(name: string): Promise<void> {
    if (this.running.has(name)) return;
    this.running.add(name);
    try {
      await this.works.get(name)?.run();
    } catch (error) {
      this.failed(name, error);
    } finally {
      this.running.delete(name);
    }
  }
}

function timerOf(intervalMs: number): string {
  return `every-${intervalMs}-ms`;
}

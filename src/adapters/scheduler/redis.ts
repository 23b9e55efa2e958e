import type { Redis } from 'ioredis';
import { untilNextRound } from '../../kernel/rounds.js';
import { withTimeout } from '../../kernel/with-timeout.js';
import { Scheduler } from '../../ports/scheduler.js';
import { BoundedRedis } from '../redis/bounded-redis.js';

const ANSWER_WITHIN_MS = 2_000;
const STOP_WITHIN_MS = 10_000;
/** A process that takes a round blocks the round for this part of the interval. The rest of the interval allows for differing clocks. */
const TAKEN_FOR = 0.75;

interface Work {
  readonly intervalMs: number;
  readonly run: () => Promise<void>;
}

/** For each round, every process asks Redis, and the first process runs the round. If that process dies, another process runs the next round. */
export class RedisScheduler extends Scheduler {
  private readonly works = new Map<string, Work>();
  private readonly running = new Map<string, Promise<void>>();
  private readonly connection: BoundedRedis;
  /** The timers of the next rounds, by interval. */
  private readonly timers = new Map<number, NodeJS.Timeout>();
  private stopped = false;

  constructor(
    redis: Redis,
    private readonly failed: (name: string, error: unknown) => void,
  ) {
    super();
    this.connection = new BoundedRedis(redis, ANSWER_WITHIN_MS);
  }

  override every(name: string, intervalMs: number, run: () => Promise<void>): void {
    if (this.works.has(name)) throw new Error(`Two timers are called ${name}`);
    this.works.set(name, { intervalMs, run });
  }

  override async start(): Promise<void> {
    const intervals = new Set([...this.works.values()].map(({ intervalMs }) => intervalMs));
    await Promise.all([...intervals].map((intervalMs) => this.round(intervalMs)));
  }

  override async stop(): Promise<void> {
    this.stopped = true;
    for (const timer of this.timers.values()) clearTimeout(timer);
    await withTimeout(STOP_WITHIN_MS, Promise.all(this.running.values()));
  }

  private async round(intervalMs: number): Promise<void> {
    const key = `timer:${intervalMs}-ms`;
    try {
      const takenForMs = Math.ceil(intervalMs * TAKEN_FOR);
      const taken = await this.connection.use((redis) => redis.set(key, '', 'PX', takenForMs, 'NX'));
      if (taken !== null && !this.stopped) this.begin(intervalMs);
    } catch (error) {
      this.failed(key, error);
    }
    if (this.stopped) return;
    this.timers.set(
      intervalMs,
      setTimeout(() => void this.round(intervalMs), untilNextRound(intervalMs)),
    );
  }

  /** Skips work that still runs from an earlier round. */
  private begin(ofInterval: number): void {
    for (const [name, { intervalMs, run }] of this.works) {
      if (intervalMs !== ofInterval || this.running.has(name)) continue;
      const over = run()
        .catch((error: unknown) => this.failed(name, error))
        .finally(() => this.running.delete(name));
      this.running.set(name, over);
    }
  }
}

// Checks for the readiness probe whether Redis accepts and keeps the service's writes.
import type { Redis } from 'ioredis';
import { BoundedRedis } from './bounded-redis.js';

/** A scrape waits for one second, so the metrics still report a Redis that does not answer. */
const ANSWER_WITHIN_MS = 900;
const KEY = 'written-for-health';
const KEY_LASTS_MS = 60_000;
/** Temporary data under load needs this much memory below `maxmemory`. With less, Redis refuses some of the writes. */
const ROOM_BYTES = 1_000_000;
const KEEPS_ALL = 'noeviction';

interface MemoryObserver {
  /** Called after each check. A limit of 0 means unlimited. */
  used(bytes: { readonly usedBytes: number; readonly totalBytes: number }): void;
  /** Called once for each policy that may drop data. */
  drops(complaint: string): void;
}

export class RedisHealth {
  private readonly connection: BoundedRedis;
  /** The last reported values. */
  private memory = { usedBytes: 0, totalBytes: 0, policy: KEEPS_ALL };
  /** Outside production, a policy that existed at the start causes only a warning. */
  private accepted: string | null;

  constructor(
    redis: Redis,
    production: boolean,
    private readonly observer: MemoryObserver,
  ) {
    this.connection = new BoundedRedis(redis, ANSWER_WITHIN_MS);
    this.accepted = production ? KEEPS_ALL : null;
  }

  /** Null when Redis is healthy. The check writes, because a replica, a full disk and a full memory still answer reads. */
  async complaint(): Promise<string | null> {
    try {
      await this.connection.use((redis) => redis.set(KEY, '', 'PX', KEY_LASTS_MS));
    } catch (error) {
      const { cause } = error as Error;
      if (!(cause instanceof Error) || cause.name !== 'ReplyError') throw error;
      return `Redis refuses to write: ${cause.message}`;
    }
    const complaint = await this.policyComplaint();
    const { usedBytes, totalBytes } = this.memory;
    if (complaint !== null || totalBytes === 0 || usedBytes < totalBytes - ROOM_BYTES) return complaint;
    return `Redis is full: it uses ${usedBytes} of ${totalBytes} bytes (maxmemory).`;
  }

  /** The reason why Redis may drop its data; null if it may not, or if Redis does not report its policy. */
  async policyComplaint(): Promise<string | null> {
    await this.look().catch(() => undefined);
    const { policy } = this.memory;
    return policy === KEEPS_ALL || policy === this.accepted ? null : dropsBy(policy);
  }

  /** Uses INFO, which works even if the configuration of Redis is hidden. */
  private async look(): Promise<void> {
    const info = await this.connection.use((redis) => redis.info('memory'));
    const told = (name: string): string | undefined => new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1];
    const policy = told('maxmemory_policy') ?? KEEPS_ALL;
    if (policy !== this.memory.policy && policy !== KEEPS_ALL) this.observer.drops(dropsBy(policy));
    this.memory = { usedBytes: Number(told('used_memory') ?? 0), totalBytes: Number(told('maxmemory') ?? 0), policy };
    this.accepted ??= policy;
    this.observer.used(this.memory);
  }
}

function dropsBy(policy: string): string {
  return `Redis may drop what the service keeps there, because its maxmemory-policy is ${policy}. Set it to ${KEEPS_ALL}.`;
}

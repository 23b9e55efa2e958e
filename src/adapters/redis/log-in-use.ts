// Read models, checkpoints and queues in Redis belong to one log. With two logs on one Redis, each service would continue from the checkpoints of the
// other. Therefore a process claims its log, and does not start while other processes run on another log.
import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { newId } from '../../kernel/ids.js';
import { untilNextRound } from '../../kernel/rounds.js';
import { BoundedRedis } from './bounded-redis.js';
import { redisTime } from './guarded.js';

/** A sorted set of `<log> <process>`. The score is the time in ms of Redis's clock until which the member is valid. */
const KEY = 'log-in-use';
const LEASE_MS = 10_000;
/** The interval of claims, as a fraction of the lease. */
const CLAIM_EVERY = 0.4;
/** The number of refused claims in a row. After this number, the entries of killed processes have expired. */
const ENDS_AT_REFUSAL = Math.ceil(1 / CLAIM_EVERY) + 1;
/** If Redis does not answer within this time, the health check reports it. The claim is made when Redis is back. */
const ANSWER_WITHIN_MS = 2_000;
/** The text is for an operator. */
export const ANOTHER_LOG =
  'REDIS_URL is the Redis of a service that runs on another event log; stop that one first, or set REDIS_URL, DATA_DIR or EVENT_STORE so that both have the same log.';

export class LogInUse {
  /** The reason why this process must not run; null if it may run. */
  complaint: string | null = null;
  private log = '';
  private heldBefore = false;
  /** The number of successive claims that another log has refused. */
  private refused = 0;
  private readonly holder = newId();
  private readonly connection: BoundedRedis;
  private renewing: NodeJS.Timeout | undefined;
  private stopped = false;

  constructor(
    redis: Redis,
    private readonly logId: () => string,
    /**
     * Called when other processes run on another log. This process must end if its log never had this Redis alone, because it then started later. The
     * process must also end if the others stay longer than the entries of killed processes.
     */
    private readonly onAnother: (mustEnd: boolean) => void,
    private readonly leaseMs = LEASE_MS,
  ) {
    this.connection = new BoundedRedis(redis, ANSWER_WITHIN_MS);
  }

  /** False if processes with another log exist and stay longer than the entries of killed processes. */
  async start(): Promise<boolean> {
    this.log = this.logId();
    const patience = performance.now() + this.leaseMs * 1.2;
    let claimed = await this.claim();
    const othersWereThere = claimed === 'another';
    // When Redis is unavailable, the process may not continue here.
    while (othersWereThere && claimed !== 'ours') {
      if (performance.now() > patience) return false;
      await delay(this.leaseMs / 20);
      claimed = await this.claim();
    }
    this.renewLater();
    return true;
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.renewing);
    const member = `${this.log} ${this.holder}`;
    // If Redis is unavailable, the member expires by itself.
    await this.connection.use((redis) => redis.zrem(KEY, member)).catch(() => undefined);
  }

  private renewLater(): void {
    const renewed = (): void => {
      if (!this.stopped) this.renewLater();
    };
    const inMs = untilNextRound(this.leaseMs * CLAIM_EVERY);
    this.renewing = setTimeout(() => void this.renew().then(renewed), inMs);
  }

  /** When two processes claim at the same time, at least one sees the other, because writing and reading are one step. */
  private async claim(): Promise<'ours' | 'another' | 'unknown'> {
    const isOfAnother = (member: string): boolean => !member.startsWith(`${this.log} `);
    const own = `${this.log} ${this.holder}`;
    try {
      return await this.connection.use(async (redis) => {
        const now = await redisTime(redis);
        if ((await redis.zrangebyscore(KEY, now, '+inf')).some(isOfAnother)) return 'another';
        const counted = redis
          .multi()
          .zremrangebyscore(KEY, '-inf', now)
          .zadd(KEY, now + this.leaseMs, own);
        const replies = await counted.pexpire(KEY, this.leaseMs).zrange(KEY, '0', '-1').exec();
        if ((replies?.at(-1)?.[1] as string[]).some(isOfAnother) && !this.heldBefore) {
          await redis.zrem(KEY, own);
          return 'another';
        }
        this.heldBefore = true;
        return 'ours';
      });
    } catch {
      return 'unknown';
    }
  }

  /** Other processes may have started while this process could not reach Redis, or after Redis lost its data. */
  private async renew(): Promise<void> {
    const claimed = await this.claim();
    if (claimed === 'unknown') return;
    this.refused = claimed === 'another' ? this.refused + 1 : 0;
    this.complaint = this.refused > 0 ? ANOTHER_LOG : null;
    if (this.refused === 1) this.onAnother(!this.heldBefore);
    else if (this.refused === ENDS_AT_REFUSAL) this.onAnother(true);
  }
}

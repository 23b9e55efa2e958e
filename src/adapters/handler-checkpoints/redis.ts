import type { Redis, Result } from 'ioredis';
import { HandlerCheckpoints, type HandlerLease } from '../../ports/handler-checkpoints.js';
import { BoundedRedis } from '../redis/bounded-redis.js';

declare module 'ioredis' {
  interface RedisCommander<Context> {
    /** Whether the holder has the reaction now, and the saved place. */
    takeReaction(
      holderKey: string,
      throughKey: string,
      holder: string,
      ttlMs: number,
    ): Result<[taken: number, through: string | null], Context>;
    saveReaction(
      holderKey: string,
      throughKey: string,
      holder: string,
      ttlMs: number,
      through: string,
    ): Result<number, Context>;
    forgetReaction(holderKey: string, throughKey: string, holder: string): Result<number, Context>;
    releaseReaction(holderKey: string, holder: string): Result<number, Context>;
  }
}

const TAKE = `
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return { 0, false } end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return { 1, redis.call('GET', KEYS[2]) }`;

const SAVE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
redis.call('SET', KEYS[2], ARGV[3])
return 1`;

const FORGET = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[2])`;

const RELEASE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`;

const LIMIT_MS = 2_000;

/** Two keys a reaction, in one slot, so that each script is atomic on a cluster too. */
export class RedisHandlerCheckpoints extends HandlerCheckpoints {
  private readonly connection: BoundedRedis;

  constructor(redis: Redis) {
    super();
    this.connection = new BoundedRedis(redis, LIMIT_MS);
    redis.defineCommand('takeReaction', { numberOfKeys: 2, lua: TAKE });
    redis.defineCommand('saveReaction', { numberOfKeys: 2, lua: SAVE });
    redis.defineCommand('forgetReaction', { numberOfKeys: 2, lua: FORGET });
    redis.defineCommand('releaseReaction', { numberOfKeys: 1, lua: RELEASE });
  }

  override async take(reaction: string, holder: string, ttlMs: number): Promise<HandlerLease | null> {
    const [taken, after] = await this.connection.use((redis) =>
      redis.takeReaction(holderKey(reaction), throughKey(reaction), holder, ttlMs),
    );
    return taken === 1 ? { after } : null;
  }

  override async save(reaction: string, holder: string, through: string, ttlMs: number): Promise<boolean> {
    return (
      (await this.connection.use((redis) =>
        redis.saveReaction(holderKey(reaction), throughKey(reaction), holder, ttlMs, through),
      )) === 1
    );
  }

  override async forget(reaction: string, holder: string): Promise<void> {
    await this.connection.use((redis) => redis.forgetReaction(holderKey(reaction), throughKey(reaction), holder));
  }

  override async release(reaction: string, holder: string): Promise<void> {
    await this.connection.use((redis) => redis.releaseReaction(holderKey(reaction), holder));
  }
}

function holderKey(reaction: string): string {
  return `{reaction:${reaction}}:holder`;
}

function throughKey(reaction: string): string {
  return `{reaction:${reaction}}:through`;
}

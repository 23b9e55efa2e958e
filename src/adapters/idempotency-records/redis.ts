import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Redis, Result } from 'ioredis';
import { keyedIdAt } from '../../kernel/ids.js';
import {
  type Beginning,
  type Execution,
  IdempotencyRecords,
  type Keeping,
  type KeptReply,
  type KeyedRequest,
} from '../../ports/idempotency-records.js';
import { BoundedRedis } from '../redis/bounded-redis.js';
import { changeIf, defineChangeIf, type RedisCommand, redisTime } from '../redis/guarded.js';
import { SubjectErased, type Vault } from '../../ports/vault.js';
import { isOfEarlierFormat, Sealing } from '../sealed-payloads/sealing.js';

declare module 'ioredis' {
  interface RedisCommander<Context> {
    /** The state of the record, with the kept reply or the round if the state has one. */
    idempotencyBeginBuffer(...args: readonly string[]): Result<[state: Buffer, reply?: Buffer], Context>;
    idempotencyKeep(...args: readonly (string | Buffer)[]): Result<Keeping, Context>;
  }
}

/** Durations are in milliseconds. The defaults are the promises of the port. Tests shorten the durations. */
export interface IdempotencyTimes {
  readonly keepFor: number;
  readonly keepForVisitors: number;
  readonly lease: number;
  readonly waitAtMost: number;
  /** The longest single exchange with Redis, including the wait for a connection. */
  readonly redisLimit: number;
}

const TIMES: IdempotencyTimes = {
  keepFor: 86_400_000,
  keepForVisitors: 3_600_000,
  lease: 10_000,
  waitAtMost: 25_000,
  redisLimit: 2_000,
};
const FIRST_LOOK_MS = 20;
const LONGEST_LOOK_MS = 250;
const TICKS_PER_LEASE = 4;
/** The time in leases for which the service tries to keep a reply. */
const KEEP_TRYING_LEASES = 6;

// A record is a hash: `content` (keyed hash), `since` (its first use), `round` (releases so far), then either `holder` and `until`, or `reply`. A
// `twin` is an equal request that waits for this reply. Times come from the Redis server, so the clocks of the processes do not matter.
const NOW = `local time = redis.call('TIME') local now = time[1] * 1000 + math.floor(time[2] / 1000)`;

/** KEYS: record. ARGV: content, holder, lease, time to keep. */
const BEGIN = `${NOW}
local content, reply, untilMs, round, since = unpack(redis.call('HMGET', KEYS[1], 'content', 'reply', 'until', 'round', 'since'))
if content and content ~= ARGV[1] then return { 'reused' } end
if reply then return { 'replay', reply } end
if untilMs and tonumber(untilMs) > now then
  redis.call('HSET', KEYS[1], 'twin', 1)
  return { 'taken' }
end
redis.call('HSET', KEYS[1], 'content', ARGV[1], 'holder', ARGV[2], 'until', now + ARGV[3], 'round', round or 0, 'since', since or now)
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return { 'execute', (round or '0') .. ' ' .. (since or now) .. (content and '' or ' first') }`;

/**
 * KEYS: the record, and the kept records of the visitor or account by their expiry. ARGV: holder, reply, time to keep, content, lease, the largest
 * number of kept replies (0: unlimited). A record that Redis has lost is written again.
 */
const KEEP = `${NOW}
local holder, twin = unpack(redis.call('HMGET', KEYS[1], 'holder', 'twin'))
if holder ~= ARGV[1] and redis.call('EXISTS', KEYS[1]) == 1 then return 'overtaken' end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
local full = ARGV[6] ~= '0' and redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[6])
if not full and ARGV[6] ~= '0' then
  redis.call('ZADD', KEYS[2], now + ARGV[3], KEYS[1])
  redis.call('PEXPIRE', KEYS[2], ARGV[3])
end
redis.call('HSET', KEYS[1], 'content', ARGV[4], 'reply', ARGV[2])
redis.call('HDEL', KEYS[1], 'holder', 'until')
redis.call('PEXPIRE', KEYS[1], full and (twin and ARGV[5] or 0) or ARGV[3])
return full and 'beyond-cap' or 'kept'`;

/** The number of kept replies that one visitor or one account may have in an environment. 0 means unlimited. */
export interface MostKept {
  readonly ofVisitor: number;
  readonly ofAccount: number;
}

/** An execution and the record for its reply. */
interface Held {
  readonly record: string;
  readonly counted: string;
  readonly content: string;
  readonly holder: string;
  readonly scope: string;
  readonly first: boolean;
  readonly keepFor: number;
  readonly most: number;
}

/**
 * One Redis hash for each key, which only scripts change. The name of the hash and the keyed hash of the content are HMACs under a key of the
 * installation. A rotation of the master key does not change that key, because a retry after the rotation would otherwise execute twice. Replies are
 * encrypted under the data key of their person. An empty reply means that the person was erased in the meantime.
 */
export class RedisIdempotencyRecords extends IdempotencyRecords {
  private readonly connection: BoundedRedis;
  private readonly times: IdempotencyTimes;
  private readonly sealing: Sealing;
  private hashing: Uint8Array | null = null;

  constructor(
    redis: Redis,
    private readonly vault: Vault,
    times: Partial<IdempotencyTimes> = {},
    private readonly most: MostKept = { ofVisitor: 0, ofAccount: 0 },
    /** Called for every reply that was not kept because of the limit. */
    private readonly notKept: () => void = () => undefined,
  ) {
    super();
    redis.defineCommand('idempotencyBegin', { numberOfKeys: 1, lua: BEGIN });
    redis.defineCommand('idempotencyKeep', { numberOfKeys: 2, lua: KEEP });
    defineChangeIf(redis);
    this.sealing = new Sealing(vault, 'idempotency-replies');
    this.times = { ...TIMES, ...times };
    this.connection = new BoundedRedis(redis, this.times.redisLimit);
  }

  override async begin(request: KeyedRequest): Promise<Beginning> {
    const { lease, waitAtMost } = this.times;
    const { accountId, environment, visitor } = request;
    const keepFor = visitor === null ? this.times.keepFor : this.times.keepForVisitors;
    const most = visitor === null ? this.most.ofAccount : this.most.ofVisitor;
    this.hashing ??= await this.vault.installationKey('idempotency');
    const names = [accountId, environment, request.route, request.key];
    const counted = `idempotency-keys:${accountId}:${environment}:${visitor ?? ''}`;
    const record = `idempotency:${hmac(this.hashing, ['record', ...names])}`;
    const content = hmac(this.hashing, ['content', record, request.content]);
    const holder = randomUUID();
    const deadline = performance.now() + waitAtMost;
    for (let look = FIRST_LOOK_MS; ; look = Math.min(look * 2, LONGEST_LOOK_MS)) {
      const [state, reply] = await this.connection.use((redis) =>
        redis.idempotencyBeginBuffer(record, content, holder, String(lease), String(keepFor)),
      );
      switch (String(state)) {
        case 'reused':
          return { kind: 'reused' };
        case 'replay':
          return this.open(record, reply ?? Buffer.alloc(0));
        case 'execute': {
          const [round = '', since = '', first] = String(reply).split(' ');
          // The scope depends on the first use. The same key therefore has another scope when its record is gone.
          const scope = keyedIdAt(Number(since), this.hashing, 'scope', content, round);
          const held = { record, counted, content, holder, scope, first: first !== undefined, keepFor, most };
          return { kind: 'execute', execution: this.execution(held) };
        }
      }
      const left = deadline - performance.now();
      if (left <= 0) return { kind: 'busy' };
      await pause(Math.min(look, left));
    }
  }

  private execution({ record, counted, content, holder, scope, first, keepFor, most }: Held): Execution {
    const lease = String(this.times.lease);
    const ifHeld = (...changes: readonly RedisCommand[]): Promise<unknown> =>
      this.connection.use((redis) => changeIf(redis, [[holder, 'HGET', record, 'holder']], changes));
    let attempt = async (): Promise<unknown> => {
      const now = await this.connection.use(redisTime);
      return ifHeld(['HSET', record, 'until', String(now + this.times.lease)]);
    };
    let ticksLeft = Infinity;
    const ticking = setInterval(() => {
      ticksLeft -= 1;
      if (ticksLeft < 0) clearInterval(ticking);
      // A failure is retried at the next tick. When the lease expires, the other requests continue.
      else attempt().catch(() => undefined);
    }, this.times.lease / TICKS_PER_LEASE).unref();
    return {
      scope,
      first,
      keep: (reply, subject) => {
        let sealed: Promise<Buffer> | null = null;
        const keep = async (): Promise<Keeping> => {
          const bytes = await (sealed ??= this.seal(record, reply, subject).catch((error: unknown) => {
            sealed = null;
            throw error;
          }));
          const kept = await this.connection.use((redis) =>
            redis.idempotencyKeep(record, counted, holder, bytes, String(keepFor), content, lease, String(most)),
          );
          clearInterval(ticking);
          if (kept === 'beyond-cap') this.notKept();
          return kept;
        };
        attempt = keep;
        ticksLeft = KEEP_TRYING_LEASES * TICKS_PER_LEASE;
        return keep();
      },
      release: async (forget) => {
        clearInterval(ticking);
        if (forget) await ifHeld(['DEL', record]);
        else await ifHeld(['HDEL', record, 'holder', 'until'], ['HINCRBY', record, 'round', 1]);
      },
    };
  }

  /** The length of the head, the head with everything else, and the body. */
  private async seal(record: string, { body, ...about }: KeptReply, subject: string | null): Promise<Buffer> {
    const head = Buffer.from(JSON.stringify(about));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(head.length);
    try {
      return await this.sealing.seal(subject, record, Buffer.concat([length, head, body]));
    } catch (error) {
      if (error instanceof SubjectErased) return Buffer.alloc(0);
      throw error;
    }
  }

  private async open(record: string, stored: Buffer): Promise<Beginning> {
    if (isOfEarlierFormat(stored)) return { kind: 'reused' };
    const plain = await this.sealing.open(record, stored);
    if (plain === null) return { kind: 'gone' };
    const headEnd = 4 + plain.readUInt32BE(0);
    const head = JSON.parse(plain.toString('utf8', 4, headEnd)) as Omit<KeptReply, 'body'>;
    return { kind: 'replay', reply: { ...head, body: plain.subarray(headEnd) } };
  }
}

function hmac(key: Uint8Array, parts: readonly string[]): string {
  return createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url');
}

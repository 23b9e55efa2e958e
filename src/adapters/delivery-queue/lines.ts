// How Redis holds what is to be attempted: all of it by time, each endpoint's line by time, and which job has claimed what.
import type { Redis, Result } from 'ioredis';
import type { DueDelivery } from '../../ports/delivery-queue.js';

declare module 'ioredis' {
  interface RedisCommander<Context> {
    claimDueAttempts(...args: readonly string[]): Result<string, Context>;
    lineUpAttempts(...args: readonly string[]): Result<string[], Context>;
  }
}

/** `claimed`: several attempts a job. What an earlier release has in `webhook-dispatch:claimed` is left to the recovery job. */
export const KEYS = { all: 'webhook-dispatch:due', claimed: 'webhook-dispatch:claims' } as const;

export function lineOf(endpointId: string): string {
  return `webhook-dispatch:due:${endpointId}`;
}

/** Asking twice for one attempt gives one member. */
export function memberOf({ deliveryId, kind, turn }: DueDelivery): string {
  return JSON.stringify([deliveryId, kind, turn]);
}

export function attemptOf(endpointId: string, member: string): DueDelivery {
  const [deliveryId, kind, turn] = JSON.parse(member) as [string, DueDelivery['kind'], string];
  return { deliveryId, endpointId, kind, turn };
}

/** What a job has claimed, as the scripts give and keep it. */
export function membersIn(claimed: string): string[] {
  return claimed === '' ? [] : claimed.split('\n');
}

/**
 * Keys: all, line, claimed. Arguments: job, now, how many at most, whether the job begins, what it has under way. What a job has claimed when it
 * begins, its dead worker left behind.
 */
const CLAIM = `
local left = redis.call('HGET', KEYS[3], ARGV[1])
if left and ARGV[4] == 'begins' then return left end
if ARGV[3] == '0' then return '' end
local due = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', ARGV[2], 'LIMIT', 0, ARGV[3])
if #due == 0 then return '' end
redis.call('ZREM', KEYS[1], unpack(due))
redis.call('ZREM', KEYS[2], unpack(due))
local claimed = table.concat(due, '\\n')
redis.call('HSET', KEYS[3], ARGV[1], table.concat({ claimed, unpack(ARGV, 5) }, '\\n'))
return claimed
`;

/**
 * Keys: all, line, claimed. Arguments: now, how many jobs at most, how many attempts each makes at once, endpoint, how the keys of jobs begin in
 * either queue, and then time and member of each attempt that joins the line. Ids of jobs that are not
 * there, for as many attempts as are due and will not be taken by a job that is there and has nothing claimed. One that has just
 * found nothing takes none, but asks for jobs when it is over.
 */
const LINE_UP = `
local together = tonumber(ARGV[3])
for n = 7, #ARGV, 2 do
  redis.call('ZADD', KEYS[1], 'NX', ARGV[n], ARGV[n + 1])
  redis.call('ZADD', KEYS[2], 'NX', ARGV[n], ARGV[n + 1])
end
local wanted = redis.call('ZCOUNT', KEYS[2], '-inf', ARGV[1])
local free = {}
for number = 1, tonumber(ARGV[2]) do
  if #free * together >= wanted then break end
  local id = ARGV[4] .. '-' .. number
  if redis.call('EXISTS', ARGV[5] .. id, ARGV[6] .. id) == 0 then
    free[#free + 1] = id
  elseif redis.call('HEXISTS', KEYS[3], id) == 0 then
    wanted = wanted - together
  end
end
while #free > 0 and (#free - 1) * together >= wanted do free[#free] = nil end
return free
`;

export function defineLineScripts(redis: Redis): void {
  redis.defineCommand('claimDueAttempts', { numberOfKeys: 3, lua: CLAIM });
  redis.defineCommand('lineUpAttempts', { numberOfKeys: 3, lua: LINE_UP });
}

// How Redis holds what is to be attempted: all of it by time, each endpoint's line by time, and which job has claimed what.
import type { Redis, Result } from 'ioredis';
import type { DueDelivery } from '../../ports/delivery-queue.js';

declare module 'ioredis' {
  interface RedisCommander<Context> {
    claimDueAttempt(...args: readonly string[]): Result<string | null, Context>;
    freeDispatchJobs(...args: readonly string[]): Result<string[], Context>;
  }
}

export const KEYS = { all: 'webhook-dispatch:due', claimed: 'webhook-dispatch:claimed' } as const;

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

/** Keys: all, line, claimed. Arguments: job, now, whether the job begins. What a job has claimed when it begins, its dead worker left behind. */
const CLAIM = `
local left = redis.call('HGET', KEYS[3], ARGV[1])
if left and ARGV[3] == 'begins' then return left end
local first = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', ARGV[2], 'LIMIT', 0, 1)[1]
if first then
  redis.call('ZREM', KEYS[1], first)
  redis.call('ZREM', KEYS[2], first)
  redis.call('HSET', KEYS[3], ARGV[1], first)
elseif left then
  redis.call('HDEL', KEYS[3], ARGV[1])
end
return first
`;

/**
 * Keys: line, claimed. Arguments: now, limit, endpoint, and how the keys of jobs begin in either queue. Ids of jobs that are not
 * there, for as many attempts as are due and will not be taken by a job that is there and has nothing claimed. One that has just
 * found nothing more takes none, but asks for jobs when it is over.
 */
const FREE = `
local wanted = redis.call('ZCOUNT', KEYS[1], '-inf', ARGV[1])
local free = {}
for number = 1, tonumber(ARGV[2]) do
  if #free >= wanted then break end
  local id = ARGV[3] .. '-' .. number
  if redis.call('EXISTS', ARGV[4] .. id, ARGV[5] .. id) == 0 then
    free[#free + 1] = id
  elseif redis.call('HEXISTS', KEYS[2], id) == 0 then
    wanted = wanted - 1
  end
end
while #free > math.max(wanted, 0) do free[#free] = nil end
return free
`;

export function defineLineScripts(redis: Redis): void {
  redis.defineCommand('claimDueAttempt', { numberOfKeys: 3, lua: CLAIM });
  redis.defineCommand('freeDispatchJobs', { numberOfKeys: 2, lua: FREE });
}

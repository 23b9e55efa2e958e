// Changes that one step makes only if their conditions are met. A process reads, decides and writes without a lock.
import type { Redis, Result } from 'ioredis';

declare module 'ioredis' {
  interface RedisCommander<Context> {
    /**
     * The arguments are the keys, and then the checks and the changes as JSON. Returns the number of the failed check, from 1, or 0 when the changes
     * were made.
     */
    changeIf(keys: number, ...args: readonly (number | string)[]): Result<number, Context>;
  }
}

/** A command whose second part is its key. */
export type RedisCommand = readonly [command: string, key: string, ...args: (number | string)[]];

/** The expected answer of a reading command, a number as text; '' when it has no value. */
export type Check = readonly [expected: string, ...RedisCommand];

const CHANGE_IF = `
for at, check in ipairs(cjson.decode(ARGV[1])) do
  if tostring(redis.call(unpack(check, 2)) or '') ~= check[1] then return at end
end
for _, change in ipairs(cjson.decode(ARGV[2])) do redis.call(unpack(change)) end
return 0`;

/** Defines the command on this connection. Safe to repeat. */
export function defineChangeIf(redis: Redis): void {
  redis.defineCommand('changeIf', { lua: CHANGE_IF });
}

/** The index of the failed check, from 0; null if the changes are made. */
export async function changeIf(
  redis: Redis,
  checks: readonly Check[],
  changes: readonly RedisCommand[],
): Promise<number | null> {
  const keys = [...new Set([...checks.map((check) => check[2]), ...changes.map(([, key]) => key)])];
  const failed = await redis.changeIf(keys.length, ...keys, JSON.stringify(checks), JSON.stringify(changes));
  return failed === 0 ? null : failed - 1;
}

/** Redis's clock, in ms, so that the clocks of the processes do not matter. */
export async function redisTime(redis: Redis): Promise<number> {
  const [seconds = 0, micros = 0] = (await redis.time()).map(Number);
  return seconds * 1_000 + Math.floor(micros / 1_000);
}

/** Takes or renews the lease under a key. False while another holder has the lease. */
export async function takeLease(redis: Redis, key: string, holder: string, ttlMs: number): Promise<boolean> {
  const kept = await changeIf(redis, [[holder, 'GET', key]], [['PEXPIRE', key, ttlMs]]);
  return kept === null || (await redis.set(key, holder, 'PX', ttlMs, 'NX')) !== null;
}

/** Releases the lease. Changes nothing while another holder has it. */
export async function releaseLease(redis: Redis, key: string, holder: string): Promise<void> {
  await changeIf(redis, [[holder, 'GET', key]], [['DEL', key]]);
}

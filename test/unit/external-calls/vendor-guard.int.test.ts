// Pauses, limits and the circuit breaker before the calls to a vendor. Redis shares their state between processes.
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { routedVendor } from '../../../src/external-calls/routed-vendor.js';
import { VendorGuard } from '../../../src/external-calls/vendor-guard.js';
import type { VendorCall } from '../../../src/ports/vendor-call.js';
import { until } from '../../support/eventually.js';
import { RedisServer } from '../../support/redis.js';

interface Hens {
  lay(call: VendorCall): Promise<{ readonly kind: string; readonly retryAfterSeconds?: number }>;
}

const CALL: VendorCall = { attemptId: 'attempt', correlationId: 'request', environment: 'live', subject: null };

describe('the guard before a vendor', () => {
  let redis: RedisServer;
  let paused: boolean;
  let callsPerSecond: number | undefined;
  let opens: unknown[];
  let refusals: string[];
  let answer: Hens['lay'];
  let made: number;
  beforeAll(async () => {
    redis = await RedisServer.start();
    jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
  });
  afterAll(async () => {
    jest.restoreAllMocks();
    await redis.stop();
  });
  beforeEach(async () => {
    await redis.flush();
    [paused, callsPerSecond, opens, refusals, made] = [false, undefined, [], [], 0];
    answer = async () => ({ kind: 'egg' });
  });

  const guardOf = (): VendorGuard =>
    new VendorGuard(redis.client(), {
      probeMs: 60_000,
      isPaused: async (vendor) => paused && vendor === 'idv',
      limitsOf: () => ({ ...(callsPerSecond !== undefined && { callsPerSecond }) }),
      opened: (...which) => opens.push(which),
      refused: (_vendor, _environment, why) => refusals.push(why),
    });
  /** The port as one process has it. */
  const process = (guard = guardOf()): Hens =>
    routedVendor<Hens>(
      'identity-vendor',
      {
        operations: ['lay'],
        of: () => ({
          lay: (call) => {
            made += 1;
            return answer(call);
          },
        }),
        behaviour: async (accountId) => (accountId === 'misbehaves' ? 'down' : null),
        guard,
      },
      () => undefined,
    );
  const fail = async (port: Hens, times: number, call = CALL): Promise<void> => {
    for (let time = 0; time < times; time++) await port.lay(call);
  };
  const unavailable = { kind: 'unavailable', retryAfterSeconds: expect.any(Number) };
  const busy: Hens['lay'] = async ({ onEnd }) => {
    onEnd?.('429', 7);
    return { kind: 'unavailable' };
  };

  it('lets fewer than 20 of 1,200 calls through when the vendor answers 429, and tells the callers its pause', async () => {
    answer = async (call) => {
      await new Promise((resolve) => setImmediate(resolve));
      return busy(call);
    };
    const ports = [process(), process()];
    const waits: unknown[] = [];
    const caller = async (at: number): Promise<void> => {
      for (let call = 0; call < 50; call++) {
        const onEnd: VendorCall['onEnd'] = (_end, seconds) => waits.push(seconds);
        expect((await ports[at % 2]!.lay({ ...CALL, onEnd })).kind).toBe('unavailable');
      }
    };
    await Promise.all(Array.from({ length: 24 }, (_, at) => caller(at)));
    expect(waits).toHaveLength(1_200);
    expect(waits.filter((seconds) => typeof seconds !== 'number' || seconds < 1 || seconds > 7)).toEqual([]);
    expect(made).toBeLessThan(20);
    expect(opens).toEqual([['identity-vendor', 'live']]);
  });

  it.each(['unavailable', 'timed-out'])(
    'opens in all processes after five calls in a row that are %s',
    async (kind) => {
      answer = async () => ({ kind });
      const [one, other] = [process(), process()];
      await fail(one, 4);
      answer = async () => ({ kind: 'egg' });
      await other.lay(CALL);
      answer = async () => ({ kind });
      await fail(one, 5);
      expect([made, await other.lay(CALL)]).toEqual([10, unavailable]);
      expect([made, refusals]).toEqual([10, ['open']]);
    },
  );

  it('counts a call that the vendor has answered, whatever the answer, as no failure', async () => {
    answer = async () => ({ kind: 'unintelligible' });
    await fail(process(), 12);
    expect([made, opens]).toEqual([12, []]);
  });

  it('lets one call through after the pause, and closes when this call succeeds', async () => {
    answer = busy;
    const port = process();
    await port.lay(CALL);
    expect(await port.lay(CALL)).toEqual({ kind: 'unavailable', retryAfterSeconds: 7 });
    const [key = ''] = await redis.client().keys('vendor-breaker:*');
    await redis.client().hset(key, 'until', 1);
    let reply: () => void = () => undefined;
    answer = () => new Promise((resolve) => (reply = () => resolve({ kind: 'egg' })));
    const probe = port.lay(CALL);
    await until(() => made === 2);
    expect([await port.lay(CALL), made]).toEqual([unavailable, 2]);
    reply();
    expect(await probe).toEqual({ kind: 'egg' });
    answer = async () => ({ kind: 'egg' });
    expect([await port.lay(CALL), await redis.client().keys('vendor-*')]).toEqual([{ kind: 'egg' }, []]);
  });

  it('refuses all calls while the vendor is paused, before the input is used up', async () => {
    paused = true;
    const mayAsk = jest.fn(async () => true);
    expect(await process().lay({ ...CALL, mayAsk })).toEqual({ kind: 'unavailable', retryAfterSeconds: 60 });
    expect(await process().lay({ ...CALL, vendor: 'acme' })).toEqual({ kind: 'egg' });
    expect([made, mayAsk.mock.calls, refusals]).toEqual([1, [], ['paused']]);
  });

  it('begins no more calls in a second than the vendor allows, over all processes', async () => {
    callsPerSecond = 3;
    const [one, other] = [process(), process()];
    for (const port of [one, other, one]) expect(await port.lay(CALL)).toEqual({ kind: 'egg' });
    expect(await other.lay(CALL)).toEqual({ kind: 'unavailable', retryAfterSeconds: 1 });
    expect([made, refusals, opens]).toEqual([3, ['busy'], []]);
  });

  it('has a breaker for each vendor, for each environment and, in test, for each account', async () => {
    answer = async () => ({ kind: 'unavailable' });
    const guard = guardOf();
    const port = process(guard);
    const tester = { ...CALL, environment: 'test', accountId: 'tester' } as const;
    // Testers ask for failures on purpose, and may end an outage early. Only a 429 with a pause counts.
    await fail(port, 9, tester);
    answer = async ({ onEnd }) => {
      onEnd?.('503', 7);
      return { kind: 'unavailable' };
    };
    await fail(port, 2, tester);
    expect([made, opens]).toEqual([11, []]);
    answer = busy;
    expect((await port.lay(tester)).kind).toBe('unavailable');
    expect([made, opens]).toEqual([12, [['identity-vendor', 'test']]]);
    answer = async () => ({ kind: 'egg' });
    expect(await port.lay(tester)).toEqual(unavailable);
    for (const call of [CALL, { ...tester, accountId: 'other' }, { ...tester, vendor: 'acme' }])
      expect(await port.lay(call)).toEqual({ kind: 'egg' });
    expect([
      await guard.stateOf('identity-vendor', 'idv', 'test'),
      await guard.stateOf('identity-vendor', 'idv', 'live'),
    ]).toEqual(['open', 'ready']);
  });

  it('begins a call after a short wait when the first calls hang', async () => {
    answer = () => new Promise(() => undefined);
    const port = process();
    for (let call = 0; call < 4; call++) void port.lay(CALL);
    await until(() => made === 4);
    answer = async () => ({ kind: 'egg' });
    expect([await port.lay(CALL), made]).toEqual([{ kind: 'egg' }, 5]);
  });

  it('takes no notice of failures that a tester has ordered', async () => {
    answer = busy;
    await fail(process(), 9, { ...CALL, environment: 'test', accountId: 'misbehaves' });
    expect([made, opens]).toEqual([9, []]);
  });

  it('lets all calls through while Redis is away', async () => {
    const alone = await RedisServer.start();
    const guard = new VendorGuard(alone.client(), {
      probeMs: 1_000,
      isPaused: async () => false,
      limitsOf: () => ({}),
      opened: () => undefined,
      refused: () => undefined,
    });
    await alone.stop();
    expect(await process(guard).lay(CALL)).toEqual({ kind: 'egg' });
  });
});

// External calls through their queues. Calls are made at most once, the worker records them, and the calls of one
// account do not block those of another.
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Redis } from 'ioredis';
import { callEnd, keptMs } from '../../../src/external-calls/attempt-times.js';
import type { CallWorkers } from '../../../src/external-calls/call-workers.js';
import type { Attempt } from '../../../src/external-calls/external-call.js';
import type { QueuedExternalCalls } from '../../../src/external-calls/queued-external-calls.js';
import { Unavailable } from '../../../src/kernel/unavailable.js';
import { RedisServer } from '../../support/redis.js';
import { CallProcesses, SLOTS } from './call-processes.js';
import { attempt, CANARY, Hens, Nest, until } from './hens.js';

describe('external calls', () => {
  let server: RedisServer;
  let processes: CallProcesses;
  let hens: Hens;
  let nest: Nest;

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  beforeEach(() => {
    processes = CallProcesses.around(server);
    [hens, nest] = [new Hens(), new Nest()];
  });
  afterEach(() => processes.end());
  afterAll(() => server.stop());

  const caller: CallProcesses['caller'] = (options) => processes.caller(options);
  const worker = (options?: Parameters<CallProcesses['worker']>[1]): Promise<CallWorkers> =>
    processes.worker([hens, nest.recovery], options);

  const make = (calls: QueuedExternalCalls, one: Attempt) => hens.recordedBy(calls, one);
  const look = (): Promise<Redis> => processes.connection();

  it('are recorded by a worker in another process before their caller continues', async () => {
    const calls = await caller({ timeoutMs: 60_000 });
    await worker();
    expect(await make(calls, attempt())).toBe('egg');
    expect(hens.asked).toHaveLength(1);
  });

  it('mark the context when the vendor was called, unless no time was left for the call', async () => {
    const calls = await caller({ timeoutMs: 60_000 });
    await worker();
    const noted = async (one: Attempt): Promise<boolean> => {
      const effect = { done: false };
      await make(calls, { ...one, context: { ...one.context, effect } });
      return effect.done;
    };
    expect(await noted({ ...attempt(), settleAfter: new Date(0) })).toBe(false);
    expect(await noted(attempt())).toBe(true);
  });

  it.each([true, false])(
    'note in the context after how many seconds the vendor accepts another call (one process: %s)',
    async (near) => {
      const calls = await caller({ timeoutMs: 60_000 });
      await worker(near ? { nearby: calls } : {});
      const noted = async (...ends: [string, number?][]): Promise<object> => {
        hens.answer = async ({ onEnd }) => {
          for (const end of ends) onEnd?.(...end);
          return { kind: 'unavailable' };
        };
        const one = attempt();
        const effect = { done: false };
        await make(calls, { ...one, context: { ...one.context, effect } });
        return effect;
      };
      expect(await noted(['503', 7])).toEqual({ done: true, retryAfterSeconds: 7 });
      hens.end = 'unavailable';
      expect(await noted(['503', 9])).toEqual({ done: true, retryAfterSeconds: 9 });
      expect(await noted(['503', 9], ['not-sent'])).toEqual({ done: true });
    },
  );

  it('are not announced through Redis when caller and worker share a process', async () => {
    const calls = await caller({ timeoutMs: 60_000 });
    await worker({ nearby: calls });
    await (await look()).config('RESETSTAT');
    expect(await make(calls, attempt())).toBe('egg');
    expect(await (await look()).info('commandstats')).not.toContain('cmdstat_publish:');
  });

  it('are not made for a person who was erased in the meantime', async () => {
    const calls = await caller({ timeoutMs: 60_000 });
    const one = { ...attempt(), subject: 'erased-meanwhile' };
    const made = make(calls, one);
    await until(async () => (await calls.backlog('identity-vendor-test')).waiting === 1);
    await processes.erase('erased-meanwhile');
    await worker({ nearby: calls });
    expect(await made).toBeUndefined();
    expect(hens.asked).toEqual([]);
  });

  it('are made and recorded even if the waiting process has died', async () => {
    const gone = await caller({ timeoutMs: 60_000 });
    const one = attempt();
    const made = make(gone, one);
    await until(async () => (await gone.backlog('identity-vendor-test')).waiting === 1);
    await gone.onApplicationShutdown();
    expect(await made).toBeUndefined();
    await worker();
    await until(() => hens.recorded.get(one.attemptId) === 'egg');
    expect(hens.asked).toEqual([one.attemptId]);
  });

  it.each([true, false])(
    'return the result that their kind of call gives, or null; in one process: %s',
    async (near) => {
      const calls = await caller({ timeoutMs: 60_000 });
      await worker(near ? { nearby: calls } : {});
      expect(await calls.make(hens, attempt(), CANARY)).toBeNull();
      hens.end = 'no-egg-today';
      expect(await calls.make(hens, attempt(), CANARY)).toBe('no-egg-today');
    },
  );

  it("return a result even if they could not be made, and null when the caller's time limit has passed", async () => {
    expect(await (await caller({ timeoutMs: 100 })).make(hens, attempt(), CANARY)).toBeNull();
    const calls = await caller({ timeoutMs: 60_000 });
    await worker({ aheadMs: 60_001 });
    expect(await calls.make(hens, attempt(), CANARY)).toBe('nobody-asked');
  });

  it('store only references in Redis, and leave nothing there', async () => {
    const calls = await caller({ timeoutMs: 60_000 });
    const redis = await look();
    const one = attempt();
    const made = make(calls, one);
    await until(async () => (await redis.exists(`bull:identity-vendor-test:${one.attemptId}`)) === 1);
    expect(JSON.stringify(await redis.hgetall(`bull:identity-vendor-test:${one.attemptId}`))).not.toContain(CANARY);
    const [sealed = ''] = await redis.keys('sealed:*');
    expect((await redis.getBuffer(sealed))?.toString('latin1')).not.toContain(CANARY);
    await worker();
    await made;
    expect(await redis.keys('sealed:*')).toEqual([]);
    await until(async () => (await redis.exists(`bull:identity-vendor-test:${one.attemptId}`)) === 0);
  });

  it('are made once for an attempt that two processes queue', async () => {
    const [one, two] = [await caller({ timeoutMs: 1_000 }), await caller({ timeoutMs: 1_000 })];
    const same = attempt();
    const both = Promise.all([make(one, same), make(two, same)]);
    await worker();
    await both;
    expect(hens.asked).toEqual([same.attemptId]);
  });

  it('are not made when their input is gone, and nothing is recorded', async () => {
    const calls = await caller({ timeoutMs: 60_000 });
    const redis = await look();
    const one = attempt();
    const made = make(calls, one);
    await until(async () => (await redis.exists(`bull:identity-vendor-test:${one.attemptId}`)) === 1);
    await redis.del(await redis.keys('sealed:*'));
    await worker();
    expect(await made).toBeUndefined();
    expect(hens.asked).toEqual([]);
  });

  it('are recorded as "not made" by a worker that takes them too late', async () => {
    const calls = await caller({ timeoutMs: 60_000 });
    await worker({ aheadMs: 60_001 });
    expect(await make(calls, attempt())).toBe('not-asked');
    expect(hens.asked).toEqual([]);
  });

  it('end before their attempt is settled, even if their preparation took long', async () => {
    const calls = await caller({ timeoutMs: 60_000 });
    const redis = await look();
    const settleAfter = new Date(Date.now() + 30_000);
    const one = { ...attempt(), settleAfter };
    const made = make(calls, one);
    const job = `bull:identity-vendor-test:${one.attemptId}`;
    await until(async () => (await redis.exists(job)) === 1);
    const data = JSON.parse((await redis.hget(job, 'data')) ?? '') as object;
    expect(data).toMatchObject({ deadline: callEnd(settleAfter) });
    expect(data).not.toHaveProperty('settleAfter');
    await worker();
    expect(await made).toBe('egg');
  });

  it('are recorded as "not made" when no time is left before their attempt is settled', async () => {
    const calls = await caller({ timeoutMs: 60_000 });
    await worker();
    expect(await make(calls, { ...attempt(), settleAfter: new Date(Date.now() + 1_000) })).toBe('not-asked');
    expect(hens.asked).toEqual([]);
  });

  it('are recorded as "not made" by their caller while Redis is down', async () => {
    const calls = await caller({ timeoutMs: 60_000 });
    await server.kill9();
    expect(await make(calls, attempt())).toBe('not-asked');
    await server.startAgain();
  });

  it('end for their caller when the time limit has passed, and are recorded nevertheless', async () => {
    const calls = await caller({ timeoutMs: 1_500 });
    let finish: (verdict: { kind: string }) => void = () => undefined;
    hens.answer = () => new Promise((resolve) => (finish = resolve));
    await worker();
    const one = attempt();
    expect(await make(calls, one)).not.toBe('egg');
    // The worker's time limit ends with the caller's, so the vendor's outcome is unknown.
    await until(() => hens.recorded.has(one.attemptId));
    expect(hens.recorded.get(one.attemptId)).toBe('timed-out');
    finish({ kind: 'egg' });
  });

  it('end for a caller that missed the end, as soon as it connects again', async () => {
    const calls = await caller({ timeoutMs: 60_000 });
    let finish: (verdict: { kind: string }) => void = () => undefined;
    hens.answer = () => new Promise((resolve) => (finish = resolve));
    await worker();
    const one = attempt();
    const made = make(calls, one);
    await until(() => hens.asked.length === 1);
    const redis = await look();
    // The caller cannot receive the message about the end of the call.
    await redis.call('ACL', 'SETUSER', 'default', 'resetchannels');
    finish({ kind: 'egg' });
    await until(async () => (await redis.exists(`bull:identity-vendor-test:${one.attemptId}`)) === 0);
    await redis.call('ACL', 'SETUSER', 'default', 'allchannels');
    // Redis disconnected the listener when Redis removed its channels. The listener may have returned as an ordinary
    // connection.
    for (const type of ['normal', 'pubsub']) await redis.call('CLIENT', 'KILL', 'TYPE', type);
    expect(await made).toBe('egg');
  });

  it('end as timed out when their worker stops and its waiting time has passed', async () => {
    const calls = await caller({ timeoutMs: 60_000 });
    hens.answer = () => new Promise(() => undefined);
    const stopping = await worker({ drainMs: 50 });
    const made = make(calls, attempt());
    await until(() => hens.asked.length === 1);
    await stopping.stop();
    expect(await made).toBe('timed-out');
  });

  describe('calls that are made again', () => {
    let calls: QueuedExternalCalls;
    let one: Attempt;
    beforeEach(() => {
      hens.isMadeAgain = true;
      one = { ...attempt(), subject: 'person' };
    });
    const again = (by = calls): Promise<boolean> => by.makeAgain(hens, one, AbortSignal.timeout(30_000));
    const isOver = async (): Promise<boolean> =>
      (await look()).exists(`bull:identity-vendor-test:${one.attemptId}`).then((count) => count === 0);
    /** Queues the call while no worker runs. */
    async function left(): Promise<void> {
      calls = await caller({ timeoutMs: 1_000 });
      expect(await make(calls, one)).toBeUndefined();
    }

    it('keep their input for the settlement only for a limited time, and a late worker leaves them to the settlement', async () => {
      await left();
      const [key = ''] = await (await look()).keys('sealed:*');
      expect(await (await look()).pttl(key)).toBeLessThanOrEqual(keptMs(1_000));
      await worker();
      await until(isOver);
      expect([hens.asked, hens.recorded.size]).toEqual([[], 0]);
    });

    it('are made once by the settlement, under the id of their attempt, and leave nothing in Redis', async () => {
      await left();
      nest.settle = () => again();
      await worker();
      await calls.settle(nest.recovery, 'test', { id: one.id });
      await until(() => hens.recorded.get(one.attemptId) === 'egg');
      expect(await again()).toBe(false);
      expect(hens.asked).toEqual([one.attemptId]);
      expect(await (await look()).keys('sealed:*')).toEqual([]);
    });

    it('are made by one of two settlements, and not by a worker that was suspended in the meantime', async () => {
      calls = await caller({ timeoutMs: 60_000 });
      let goOn: () => void = () => undefined;
      const stoodStill = new Promise<void>((resolve) => (goOn = resolve));
      const standing = jest.fn(() => stoodStill);
      hens.beforeAsking = standing;
      const answer = jest.fn(async () => ({ kind: 'egg' }));
      hens.answer = answer;
      await worker();
      const made = make(calls, one);
      await until(() => standing.mock.calls.length === 1);
      const settled = [again(), again()];
      await until(() => standing.mock.calls.length === 3);
      goOn();
      await Promise.all([made, ...settled]);
      expect(answer).toHaveBeenCalledTimes(1);
    });

    it('keep their input for the settlement when the worker cannot reach the log before it calls the vendor', async () => {
      calls = await caller({ timeoutMs: 60_000 });
      hens.beforeAsking = async () => {
        throw new Unavailable('the log is away');
      };
      await worker();
      expect(await make(calls, one)).toBeUndefined();
      await expect(again()).rejects.toThrow(Unavailable);
      hens.beforeAsking = async () => undefined;
      expect(await again()).toBe(true);
      expect([hens.asked, hens.recorded.get(one.attemptId)]).toEqual([[one.attemptId], 'egg']);
    });

    it.each([
      ['has no time left to ask', async () => undefined],
      [
        'finds the vault away',
        async () => {
          throw new Unavailable('the vault is away');
        },
      ],
    ])('are left to the settlement by a worker that was suspended and then %s', async (_then, goesOn) => {
      calls = await caller({ timeoutMs: 1_000 });
      hens.beforeAsking = async ({ signal }) => {
        await once(signal as AbortSignal, 'abort');
        return goesOn();
      };
      hens.answer = async () => ({ kind: 'too late' });
      await worker();
      await make(calls, one);
      await until(isOver);
      expect(['timed-out', undefined]).toContain(hens.recorded.get(one.attemptId));
      hens.beforeAsking = async () => undefined;
      hens.answer = async () => ({ kind: 'egg' });
      expect(await again()).toBe(true);
      expect(hens.recorded.get(one.attemptId)).toBe('egg');
    });

    it('keep no input when no call to the vendor was needed', async () => {
      calls = await caller({ timeoutMs: 60_000 });
      jest.spyOn(hens, 'askAndRecord').mockResolvedValue('nothing-to-ask');
      await worker();
      expect(await calls.make(hens, one, CANARY)).toBe('nothing-to-ask');
      expect(await (await look()).keys('sealed:*')).toEqual([]);
    });

    it('are not made for a person who was erased in the meantime', async () => {
      await left();
      await processes.erase('person');
      expect(await again()).toBe(false);
      expect(hens.asked).toEqual([]);
    });

    it('keep no input after the vendor was called, whatever the outcome', async () => {
      calls = await caller({ timeoutMs: 1_000 });
      hens.answer = () => new Promise(() => undefined);
      await worker();
      await make(calls, one);
      expect(await again()).toBe(false);
      expect(await (await look()).keys('sealed:*')).toEqual([]);
    });
  });

  describe('calls of several accounts', () => {
    it('share no queue and no slot when one call is live and the other is a test', async () => {
      const calls = await caller({ timeoutMs: 60_000 });
      hens.answer = ({ environment }) =>
        environment === 'test' ? new Promise(() => undefined) : Promise.resolve({ kind: 'egg' });
      await worker({ drainMs: 1 });
      // The test makes more calls than there are slots.
      const hanging = Array.from({ length: 20 }, () => make(calls, attempt('account', 'test')));
      await until(() => hens.asked.length === 8);
      expect(await make(calls, attempt('account', 'live'))).toBe('egg');
      void Promise.allSettled(hanging);
    });

    it('share no queue, no slot and no limit of an account when they are made to two vendors', async () => {
      const calls = await caller({ timeoutMs: 60_000, share: 20 });
      hens.answer = ({ vendor }) =>
        vendor === 'acme' ? new Promise(() => undefined) : Promise.resolve({ kind: 'egg' });
      await worker({ drainMs: 1 });
      const atAcme = (): Attempt => ({ ...attempt(), vendor: 'acme' });
      const hanging = Array.from({ length: 20 }, atAcme);
      for (const one of hanging) await calls.admit(hens, one);
      await expect(calls.admit(hens, atAcme())).rejects.toMatchObject({ code: 'request.rate_limited' });
      for (const one of hanging) void make(calls, one);
      await until(() => hens.asked.length === 8);
      for (const vendor of ['idv', 'not-set-up']) {
        const one = { ...attempt(), vendor };
        await calls.admit(hens, one);
        expect(await make(calls, one)).toBe('egg');
      }
    });

    it('run in no more slots than their vendor allows', async () => {
      const calls = await caller({ timeoutMs: 60_000 });
      const running = { idv: 0, acme: 0 };
      hens.answer = ({ vendor }) => {
        running[vendor === 'acme' ? 'acme' : 'idv'] += 1;
        return new Promise(() => undefined);
      };
      await worker({ drainMs: 1, acme: { concurrency: 2 } });
      for (let count = 0; count < 10; count++)
        for (const vendor of ['acme', 'idv']) void make(calls, { ...attempt(), vendor });
      await until(() => running.idv === SLOTS);
      await until(async () => (await calls.backlog('identity-vendor-acme-test')).waiting === 8);
      expect(running).toEqual({ idv: SLOTS, acme: 2 });
    });

    it('leave room for other accounts, even if many calls of one account hang', async () => {
      const calls = await caller({ timeoutMs: 60_000, share: 2 });
      const others = await caller({ timeoutMs: 60_000, share: 2 });
      hens.answer = ({ correlationId }) =>
        correlationId === 'hangs' ? new Promise(() => undefined) : Promise.resolve({ kind: 'egg' });
      await worker({ drainMs: 1 });
      const admitted = await Promise.allSettled(
        Array.from({ length: 66 }, async (_, at) => {
          const one = attempt('greedy');
          const hangs = { ...one, context: { ...one.context, correlationId: 'hangs' } };
          await (at % 2 ? calls : others).admit(hens, hangs);
          return hangs;
        }),
      );
      const refused = admitted.filter(({ status }) => status === 'rejected');
      expect(refused).toHaveLength(64);
      expect(refused[0]).toMatchObject({
        reason: { code: 'request.rate_limited', detail: { retryAfterSeconds: 1 } },
      });
      for (const one of admitted) if (one.status === 'fulfilled') void make(calls, one.value);
      await until(() => hens.asked.length === 2);
      const other = attempt('modest');
      await calls.admit(hens, other);
      expect(await make(calls, other)).toBe('egg');
    });

    const ofLineage = (lineage: string, accountId = 'account'): Attempt => {
      const one = attempt(accountId);
      return { ...one, context: { ...one.context, lineage } };
    };
    const RATE_LIMITED = { code: 'request.rate_limited', detail: { retryAfterSeconds: 1 } };

    it("of one lineage of tokens use at most half of the account's limit, which leaves room for other lineages", async () => {
      const calls = await caller({ timeoutMs: 60_000, share: 8, perLineage: 4 });
      const greedy = Array.from({ length: 4 }, () => ofLineage('greedy'));
      for (const one of greedy) await calls.admit(hens, one);
      await expect(calls.admit(hens, ofLineage('greedy'))).rejects.toMatchObject(RATE_LIMITED);
      for (const lineage of ['one', 'two', 'three']) await calls.admit(hens, ofLineage(lineage));
      await calls.admit(hens, attempt());
    });

    it("of strangers leave an eighth of the account's limit to the account's servers and session grants", async () => {
      const calls = await caller({ timeoutMs: 60_000, share: 8, perLineage: 4, waitMs: 1 });
      const lineages = Array.from({ length: 20 }, (_, at) => calls.admit(hens, ofLineage(`stranger-${at}`)));
      const admitted = (await Promise.allSettled(lineages)).filter(({ status }) => status === 'fulfilled');
      expect(admitted).toHaveLength(7);
      await calls.admit(hens, attempt());
      await expect(calls.admit(hens, ofLineage('one more'))).rejects.toMatchObject(RATE_LIMITED);
    });

    it('of strangers leave room for one call of a session grant', async () => {
      const calls = await caller({ timeoutMs: 60_000, share: 2, perLineage: 1, waitMs: 1 });
      const lineages = Array.from({ length: 5 }, (_, at) => calls.admit(hens, ofLineage(`stranger-${at}`)));
      await Promise.allSettled(lineages);
      const granted = ofLineage('granted');
      await calls.admit(hens, { ...granted, context: { ...granted.context, grantId: 'grant' } });
    });

    it('wait for their turn within a lineage of tokens, and continue when an earlier call has ended', async () => {
      const calls = await caller({ timeoutMs: 60_000, share: 8, perLineage: 4, waitMs: 60_000 });
      const greedy = Array.from({ length: 4 }, () => ofLineage('greedy'));
      for (const one of greedy) await calls.admit(hens, one);
      const waiting = calls.admit(hens, ofLineage('greedy'));
      const redis = await look();
      await until(async () => (await redis.keys('vendor-places:*:waiting')).length === 1);
      await calls.withdraw(hens, greedy[0]!);
      await waiting;
    });

    it('wait only up to a limit if they are of one lineage of tokens, and the limit is the number of slots', async () => {
      const calls = await caller({ timeoutMs: 60_000, share: 2, perLineage: 1, slots: 2, waitMs: 60_000 });
      const held = ofLineage('greedy');
      await calls.admit(hens, held);
      const waiting = Array.from({ length: 2 }, () => ofLineage('greedy'));
      const admitted = waiting.map((one) => calls.admit(hens, one));
      const redis = await look();
      await until(async () => (await redis.zcard('vendor-places:identity-vendor:test:account:greedy:waiting')) === 2);
      await expect(calls.admit(hens, ofLineage('greedy'))).rejects.toMatchObject(RATE_LIMITED);
      await calls.withdraw(hens, held);
      await Promise.race(admitted);
      for (const one of waiting) await calls.withdraw(hens, one);
      await Promise.all(admitted);
    });

    it('leave slots to a fifth account when four are busy, because an account with few calls has priority', async () => {
      const calls = await caller({ timeoutMs: 60_000, share: 4, slots: 16 });
      const admitted = async (accountId: string): Promise<number> => {
        let count = 0;
        try {
          for (; count < 5; count++) await calls.admit(hens, attempt(accountId));
        } catch (error) {
          expect(error).toMatchObject(RATE_LIMITED);
        }
        return count;
      };
      const busy = [];
      for (const account of ['one', 'two', 'three', 'four']) busy.push(await admitted(account));
      const held = busy.reduce((sum, count) => sum + count);
      expect(busy.slice(0, 2)).toEqual([4, 4]);
      expect(held).toBeLessThan(16);
      expect(await admitted('fifth')).toBeGreaterThan(0);
    });

    it('may use the slots of all worker processes together', async () => {
      const calls = await caller({ timeoutMs: 60_000, share: 4, slots: 4, waitMs: 60_000 });
      await Promise.all([worker({ drainMs: 1 }), worker({ drainMs: 1 }), worker({ drainMs: 1 })]);
      const redis = await look();
      await until(async () => {
        const clients = (await redis.client('LIST')) as string;
        return (
          clients.split('\n').filter((line) => line.includes(Buffer.from('identity-vendor-test').toString('base64')))
            .length >= 3
        );
      });
      for (let count = 0; count < 4; count++) await calls.admit(hens, attempt());
    });

    it("no longer count for the account's limit when they end or are withdrawn", async () => {
      const calls = await caller({ timeoutMs: 60_000, share: 1 });
      await worker();
      for (let time = 0; time < 3; time++) {
        const one = attempt();
        await calls.admit(hens, one);
        await expect(calls.admit(hens, attempt())).rejects.toMatchObject({ code: 'request.rate_limited' });
        if (time === 1) await calls.withdraw(hens, one);
        else await make(calls, one);
      }
    });

    it("do not count for the account's limit while they wait for the log; a further call gets Unavailable, not the rate limit", async () => {
      const calls = await caller({ timeoutMs: 60_000, share: 1, reservedWithinMs: 50 });
      const others = await caller({ timeoutMs: 60_000, share: 1 });
      await worker();
      const [waiting, other] = [attempt(), attempt()];
      await calls.admit(hens, waiting);
      await until(() =>
        others.admit(hens, other).then(
          () => true,
          () => false,
        ),
      );
      await expect(calls.admit(hens, attempt())).rejects.toBeInstanceOf(Unavailable);
      // The reservation of the waiting call is stored now.
      expect(await make(calls, waiting)).toBe('egg');
      await expect(others.admit(hens, attempt())).rejects.toMatchObject({ code: 'request.rate_limited' });
      await others.withdraw(hens, other);
      await others.admit(hens, attempt());
    });

    it("no longer count for the account's limit after their time limit when their process has died", async () => {
      const calls = await caller({ timeoutMs: 200, share: 1 });
      await calls.admit(hens, attempt());
      await until(() =>
        calls.admit(hens, attempt()).then(
          () => true,
          () => false,
        ),
      );
    });
  });

  describe('calls without a recorded end', () => {
    it('are settled once by a worker, even if they are found to be due three times', async () => {
      const calls = await caller();
      for (let run = 0; run < 3; run++) await calls.settle(nest.recovery, 'test', { id: 'one' });
      await worker();
      const redis = await look();
      await until(async () => (await redis.exists('bull:identity-vendor-test-settle:settle-hens-one')) === 0);
      expect(nest.settled).toEqual(['one']);
    });

    it('are settled once for each notice of the vendor, even if they wait for the recovery job too', async () => {
      const calls = await caller();
      for (const eventId of [undefined, 'event:1', 'event:1', 'event:2'])
        await calls.settle(nest.recovery, 'test', { id: 'one', ...(eventId !== undefined && { eventId }) });
      await worker();
      await until(() => nest.settled.length === 3);
      expect([nest.settled, nest.noticed]).toEqual([
        ['one', 'one', 'one'],
        ['one', 'one'],
      ]);
    });

    it('are settled again after a failure while they are due', async () => {
      const calls = await caller();
      await worker();
      nest.settle = () => Promise.reject(new Error('an append failed'));
      await until(async () => {
        await calls.settle(nest.recovery, 'test', { id: 'one' });
        return nest.settled.length >= 3;
      });
    });

    it('block no callers, no other environment and no other vendor, even if many of them hang', async () => {
      const calls = await caller({ timeoutMs: 60_000 });
      const ids = Array.from({ length: 20 }, (_, at) => `hangs-${at}`);
      let finish: () => void = () => undefined;
      const hanging = new Promise<void>((resolve) => (finish = resolve));
      nest.settle = (id) => (id.startsWith('hangs') ? hanging : Promise.resolve());
      for (const id of ids) await calls.settle(nest.recovery, 'test', { id });
      const made = make(calls, attempt());
      await worker({ drainMs: 1 });
      expect(await made).toBe('egg');
      await until(async () => (await calls.backlog('identity-vendor-test-settle')).waiting === 16);
      // Only four settlements run, half of the number of slots for callers.
      expect(nest.settled).toEqual(ids.slice(0, 4));
      expect((await calls.backlog('identity-vendor-test-settle')).oldestWaitingMs).not.toBeNull();
      await calls.settle(nest.recovery, 'live', { id: 'live' });
      await calls.settle(nest.recovery, 'test', { id: 'at-acme', vendor: 'acme' });
      await until(() => nest.settled.includes('live') && nest.settled.includes('at-acme'));
      expect(await make(calls, attempt())).toBe('egg');
      finish();
      await until(() => ids.every((id) => nest.settled.includes(id)));
      expect(nest.settled).toHaveLength(22);
    });

    it('are settled while callers use every slot of the vendor, even if the vendor has only one slot', async () => {
      const calls = await caller({ timeoutMs: 60_000 });
      hens.answer = () => new Promise(() => undefined);
      await worker({ concurrency: 1, drainMs: 1 });
      const hanging = [make(calls, attempt()), make(calls, attempt())];
      await until(() => hens.asked.length === 1);
      await calls.settle(nest.recovery, 'test', { id: 'one' });
      await until(() => nest.settled.length === 1);
      void Promise.allSettled(hanging);
    });

    it('become due again and are reported when Redis is connected and silent', async () => {
      const calls = await caller({ redisAwayMs: 500 });
      // The process already knows the queue.
      await calls.backlog('identity-vendor-test-settle');
      server.freeze();
      try {
        await expect(calls.settle(nest.recovery, 'test', { id: 'two' })).rejects.toThrow('did not take a job');
      } finally {
        server.resume();
      }
    });

    it('are given up by their worker when the time limit of the vendor has passed', async () => {
      const calls = await caller();
      let aborted = false;
      nest.settle = (_id, signal) =>
        new Promise<void>((resolve) =>
          signal.addEventListener('abort', () => {
            aborted = true;
            resolve();
          }),
        );
      await worker({ timeoutMs: 100 });
      await calls.settle(nest.recovery, 'test', { id: 'one' });
      await until(() => aborted);
    });
  });
});

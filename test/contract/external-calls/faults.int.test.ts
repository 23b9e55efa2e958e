// External calls while Redis is down, workers die, and data of another release is present. Each call is made at most
// once. The caller is told that the call was not made only if this is true.
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Queue } from 'bullmq';
import type { CallWorkers } from '../../../src/external-calls/call-workers.js';
import type { Attempt } from '../../../src/external-calls/external-call.js';
import type { QueuedExternalCalls } from '../../../src/external-calls/queued-external-calls.js';
import { Unavailable } from '../../../src/kernel/unavailable.js';
import type { Vault } from '../../../src/ports/vault.js';
import { Vaults } from '../../support/vaults.js';
import { CallProcesses } from './call-processes.js';
import { attempt, CANARY, Hens, until } from './hens.js';

const QUEUE = 'identity-vendor-test';
/** The results that leave the vendor's outcome unknown. The worker may have recorded `timed-out`. */
const OPEN = [undefined, 'timed-out'];

describe('external calls', () => {
  let processes: CallProcesses;
  let hens: Hens;
  let calls: QueuedExternalCalls;

  beforeEach(async () => {
    processes = await CallProcesses.start();
    hens = new Hens();
    calls = await processes.caller({ timeoutMs: 60_000 });
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await processes.end();
  });

  const worker = (options?: Parameters<CallProcesses['worker']>[1]): Promise<CallWorkers> =>
    processes.worker([hens], options);
  const make = (one: Attempt = attempt(), by = calls): Promise<string | undefined> => hens.recordedBy(by, one);
  const isThere = async (one: Attempt): Promise<boolean> =>
    (await (await processes.connection()).exists(`bull:${QUEUE}:${one.attemptId}`)) === 1;
  /** The vendor answers when the test says so. */
  function held(): () => void {
    let finish: () => void = () => undefined;
    const answered = new Promise<void>((resolve) => (finish = resolve));
    hens.answer = async () => {
      await answered;
      return { kind: 'egg' };
    };
    return finish;
  }

  describe('while Redis is down', () => {
    it('are recorded as "not made" during the outage, and later calls are made when Redis is back', async () => {
      await worker();
      expect(await make()).toBe('egg');
      await processes.server.kill9();
      expect(await make()).toBe('not-asked');
      await processes.server.startAgain();
      await until(async () => (await make()) === 'egg');
    });

    it('are recorded as "not made" when Redis is connected and silent', async () => {
      calls = await processes.caller({ timeoutMs: 60_000, redisAwayMs: 500 });
      processes.server.freeze();
      try {
        expect(await make()).toBe('not-asked');
      } finally {
        processes.server.resume();
      }
    });

    it('are recorded as "not made" when the queue refused the job and the input was removed again', async () => {
      jest.spyOn(Queue.prototype, 'add').mockRejectedValue(new Error('OOM command not allowed'));
      expect(await make()).toBe('not-asked');
      expect(await (await processes.connection()).keys('sealed:*')).toEqual([]);
    });

    it('continue when the job was stored although the queue reported an error', async () => {
      await worker();
      expect(await make()).toBe('egg');
      const { add } = Queue.prototype;
      jest.spyOn(Queue.prototype, 'add').mockImplementation(async function (this: Queue, ...job) {
        await add.apply(this, job);
        await until(() => hens.asked.length === 2);
        throw new Error('Connection is closed.');
      });
      expect(await make()).toBe('egg');
    });

    it('stay open when a worker may have the job', async () => {
      await worker();
      held();
      const made = make(attempt(), await processes.caller({ timeoutMs: 1_000 }));
      await until(() => hens.asked.length === 1);
      await processes.server.kill9();
      expect(OPEN).toContain(await made);
    });

    it('end for their caller in time even if Redis died and returned in the meantime', async () => {
      await worker();
      const finish = held();
      const made = make(attempt(), await processes.caller({ timeoutMs: 5_000 }));
      await until(() => hens.asked.length === 1);
      await processes.server.kill9();
      await processes.server.startAgain();
      finish();
      expect(await made).toBe('egg');
      expect(hens.asked).toHaveLength(1);
    });

    it('end for their caller even if Redis has lost the job', async () => {
      await worker();
      const finish = held();
      const made = make();
      await until(() => hens.asked.length === 1);
      await processes.server.flush();
      finish();
      expect(await made).toBe('egg');
    });
  });

  describe('calls whose worker ends', () => {
    it('are never made twice: a worker that finds the job of a dead worker discards it', async () => {
      const dying = await processes.connection();
      const patience = { lockDuration: 400, stalledInterval: 100 };
      await worker({ redis: dying, patience, drainMs: 1 });
      held();
      const one = attempt();
      const made = make(one, await processes.caller({ timeoutMs: 2_000 }));
      await until(() => hens.asked.length === 1);
      dying.disconnect();
      await worker({ patience });
      await until(async () => !(await isThere(one)));
      expect(OPEN).toContain(await made);
      expect(hens.asked).toEqual([one.attemptId]);
    });

    it('are made by the settlement when the worker died before it called the vendor', async () => {
      const dying = await processes.connection();
      hens.isMadeAgain = true;
      let goOn: () => void = () => undefined;
      const dead = new Promise<void>((resolve) => (goOn = resolve));
      const begun = jest.fn();
      hens.beforeAsking = () => (begun(), dead);
      await worker({ redis: dying, drainMs: 1 });
      const one = attempt();
      const made = make(one, await processes.caller({ timeoutMs: 1_000 }));
      await until(() => begun.mock.calls.length === 1);
      dying.disconnect();
      expect(await made).toBeUndefined();
      hens.beforeAsking = async () => undefined;
      expect(await calls.makeAgain(hens, one, AbortSignal.timeout(30_000))).toBe(true);
      expect(hens.recorded.get(one.attemptId)).toBe('egg');
      goOn();
    });

    it('end before the worker is closed; calls that still wait are left to other workers', async () => {
      const finish = held();
      const closing = await worker({ concurrency: 1 });
      const made = make();
      await until(() => hens.asked.length === 1);
      const waiting = make();
      await until(async () => (await calls.backlog(QUEUE)).waiting === 1);
      const closed = closing.stop();
      finish();
      expect(await made).toBe('egg');
      await closed;
      expect(hens.asked).toHaveLength(1);
      await worker();
      expect(await waiting).toBe('egg');
    });

    it('do not prevent the worker from closing when Redis died in the meantime', async () => {
      held();
      const closing = await worker({ drainMs: 1 });
      const made = make(attempt(), await processes.caller({ timeoutMs: 1_000 }));
      await until(() => hens.asked.length === 1);
      await processes.server.kill9();
      await closing.stop();
      // The vendor's outcome is unknown.
      await made;
      expect(hens.recorded.get(hens.asked[0] ?? '')).toBe('timed-out');
    });
  });

  it('are not made by a worker with another vault', async () => {
    const others = new Vaults();
    await worker({ vault: others.open(`other:${randomBytes(32).toString('base64')}`) });
    expect(await make()).toBeUndefined();
    expect(hens.asked).toEqual([]);
    await others.close();
  });

  it('are recorded as "not made" when the vault is unavailable and their input cannot be decrypted', async () => {
    const away = async (): Promise<never> => {
      throw new Unavailable('the vault is away');
    };
    await worker({ vault: { installationKey: away } as unknown as Vault });
    expect(await make()).toBe('not-asked');
    expect(hens.asked).toEqual([]);
  });

  it('are left open when they belong to a newer release and the worker does not know them', async () => {
    await worker();
    hens = Object.assign(new Hens(), { operation: 'crow' });
    expect(await make()).toBeUndefined();
    expect(hens.asked).toEqual([]);
  });

  it('are recorded as "not made" when a process of an earlier release keeps their input', async () => {
    const ids = attempt();
    const [waiter, redis] = ['earlier-release', await processes.connection()];
    const heard: string[] = [];
    redis.on('message', (_channel: string, message: string) => heard.push(message));
    const queue = new Queue(QUEUE, { connection: await processes.connection() });
    await redis.subscribe(`external-calls:${waiter}`);
    const data = { ...ids, payloadRef: null, deadline: Date.now() + 60_000, waiter };
    await queue.add('lay', data, { jobId: ids.attemptId });
    await worker();
    await until(() => heard.length === 1);
    expect(heard).toEqual([`${ids.attemptId} nobody-asked`]);
    expect([hens.asked, hens.recorded.get(ids.attemptId)]).toEqual([[], 'not-asked']);
    await queue.close();
  });

  it.each(['idempotent', 'query'] as const)(
    'are made for each caller if they are %s, in every process',
    async (semantics) => {
      hens.semantics = semantics;
      await worker();
      const [one, other] = [attempt(), await processes.caller({ timeoutMs: 60_000 })];
      expect(await Promise.all([make(one), make(one, other)])).toEqual(['egg', 'egg']);
      expect(hens.asked).toEqual([one.attemptId, one.attemptId]);
      expect(await make(one)).toBe('egg');
      expect(hens.asked).toHaveLength(3);
    },
  );

  it('keep the text of an error out of Redis and of the log', async () => {
    const logged: string[] = [];
    jest.spyOn(Logger.prototype, 'error').mockImplementation((line: string) => void logged.push(line));
    await worker();
    hens.answer = async () => {
      throw new TypeError(`${CANARY} cannot be read`);
    };
    expect(await make()).toBe('unintelligible');
    jest.spyOn(hens, 'askAndRecord').mockRejectedValue(new RangeError(`${CANARY} cannot be recorded`));
    expect(await make()).toBeUndefined();
    expect(logged).toEqual([expect.stringContaining('TypeError'), expect.stringContaining('RangeError')]);
    expect(logged.join()).not.toContain(CANARY);
    const redis = await processes.connection();
    const [events = ''] = await redis.keys('bull:*:events');
    expect(JSON.stringify(await redis.xrange(events, '-', '+'))).not.toContain(CANARY);
  });

  it('lose their input in Redis before their time limit has passed', async () => {
    const made = make(attempt(), await processes.caller({ timeoutMs: 2_000 }));
    const redis = await processes.connection();
    await until(async () => (await redis.keys('sealed:*')).length === 1);
    const [key = ''] = await redis.keys('sealed:*');
    expect(await redis.pttl(key)).toBeLessThanOrEqual(1_500);
    await made;
    expect(await redis.keys('sealed:*')).toEqual([]);
  });

  it('are counted while they wait, with the age of the oldest', async () => {
    expect(await calls.backlog(QUEUE)).toEqual({ waiting: 0, oldestWaitingMs: null });
    const made = make();
    await until(async () => (await calls.backlog(QUEUE)).waiting === 1);
    await until(async () => ((await calls.backlog(QUEUE)).oldestWaitingMs ?? 0) > 0);
    await worker();
    await made;
    await until(async () => (await calls.backlog(QUEUE)).oldestWaitingMs === null);
  });
});

// The delivery queue on a real Redis: when attempts run, how many run at once, and whether hanging receivers slow down other receivers.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import type { DispatchQueue } from '../../../src/adapters/delivery-queue/bullmq.js';
import { FEW_UNDER_WAY, MOST_UNDER_WAY } from '../../../src/adapters/delivery-queue/dispatcher.js';
import { Unavailable } from '../../../src/kernel/unavailable.js';
import type { DueDelivery } from '../../../src/ports/delivery-queue.js';
import {
  ATTEMPT_MS,
  Deliveries,
  deliveries,
  delivery,
  enqueueAll,
  type Process,
  type ProcessOptions,
  Receivers,
} from './deliveries.js';
import { until } from '../../support/eventually.js';

const now = (): Date => new Date();

describe('The delivery queue', () => {
  let world: Deliveries;
  let receivers: Receivers;

  beforeAll(async () => {
    world = await Deliveries.start();
  });

  beforeEach(() => {
    receivers = new Receivers((endpointId) => (endpointId.startsWith('hanging') ? ATTEMPT_MS : 2));
  });

  afterEach(() => world.clear());
  afterAll(() => world.end());

  async function started(options: ProcessOptions = {}): Promise<Process> {
    const made = await world.process(receivers.perform, options);
    made.worker.start();
    return made;
  }

  const isEmpty = async (one: Process): Promise<boolean> => {
    const { waiting, delayed } = await one.queue.backlog();
    return waiting + delayed === 0;
  };

  describe('the times of attempts', () => {
    it('the queue makes due attempts at once, and no attempt before its time', async () => {
      const one = await started();
      const at = new Date(Date.now() + 400);
      const [later, past, present] = [delivery('ok'), delivery('ok'), delivery('ok')];
      await Promise.all([
        one.queue.enqueue(later, at),
        one.queue.enqueue(past, new Date(0)),
        one.queue.enqueue(present, now()),
      ]);
      await until(() => receivers.got([past, present]));
      expect(receivers.attempts.has(later.deliveryId)).toBe(false);
      await until(() => receivers.got([later]));
      expect(receivers.startedAt.get(later.deliveryId)).toBeGreaterThanOrEqual(at.getTime());
    });

    it('the queue makes an attempt at once that it has for later, if the attempt must be sooner', async () => {
      const one = await started();
      const late = delivery('ok');
      await one.queue.enqueue(late, new Date(Date.now() + 60_000));
      await one.queue.enqueue(late, now());
      expect(await one.queue.backlog()).toMatchObject({ waiting: 0, delayed: 1 });
      await one.queue.enqueue(late, now(), true);
      await until(() => receivers.got([late]));
    });

    it('the queue makes an attempt once, even if it is requested again while it runs', async () => {
      const one = await world.process(receivers.perform);
      const job = delivery('ok');
      await Promise.all([one.queue.enqueue(job, now()), one.queue.enqueue(job, now())]);
      await one.queue.enqueue(job, new Date(Date.now() + 60_000));
      expect(await one.queue.backlog()).toMatchObject({ waiting: 1, delayed: 0 });
      receivers.latencyMs = () => 200;
      one.worker.start();
      await until(() => receivers.startedAt.size === 1);
      await one.queue.enqueue(job, now());
      await until(() => isEmpty(one));
      expect(receivers.attempts.get(job.deliveryId)).toBe(1);
    });

    it('the queue makes one attempt of a delivery at a time: a redelivery waits until the planned attempt ends', async () => {
      const one = await started();
      receivers.latencyMs = () => 100;
      const ladder = delivery('ok');
      const redelivery = { ...ladder, kind: 'redelivery', turn: '1700000000000' } as const;
      await enqueueAll(one, [ladder, redelivery, delivery('ok')]);
      await until(() => receivers.attempts.get(ladder.deliveryId) === 2);
      expect(receivers.answered).toContain(ladder.deliveryId);
      await until(() => isEmpty(one));
    });

    it('the queue makes the attempts at an endpoint one by one, each once, while they come too soon, and serves other endpoints', async () => {
      let [turns, together, most] = [1, 0, 0];
      const one = await world.process(async (due) => {
        if (due.endpointId !== 'spaced') return receivers.perform(due);
        together += 1;
        most = Math.max(most, together);
        await new Promise((resolve) => setImmediate(resolve));
        together -= 1;
        if (turns === 0) return { spacingMs: 20 };
        turns -= 1;
        return receivers.perform(due);
      });
      const [spaced, others] = [deliveries('spaced', 6), deliveries('ok', 40)];
      const made = (): number => spaced.filter((job) => receivers.got([job])).length;
      await enqueueAll(one, [...spaced, ...others]);
      one.worker.start();
      await until(() => receivers.got(others) && made() === 1);
      // A job does not know the spacing before its first answers.
      most = 0;
      for (const count of [2, 3, 4, 5, 6]) {
        turns = 1;
        await until(() => made() === count);
      }
      await until(() => isEmpty(one));
      expect([most, spaced.map(({ deliveryId }) => receivers.attempts.get(deliveryId))]).toEqual([
        1,
        spaced.map(() => 1),
      ]);
    });

    it('the queue stores only references, and nothing after the attempt', async () => {
      const one = await started();
      const left = async (): Promise<string[]> =>
        (await one.redis.keys('*')).filter((key) => !/^bull:[a-z-]+:(meta|events|id|marker|stalled-check)$/.test(key));
      await enqueueAll(one, deliveries('ok', 3));
      await until(async () => (await isEmpty(one)) && (await left()).length === 0);
    });

    it('the queue keeps the text of an error out of Redis, and repeats the attempt later', async () => {
      let fails = true;
      const one = await world.process(async (due) => {
        if (fails) throw new Error('canary');
        return receivers.perform(due);
      });
      one.worker.start();
      const job = delivery('ok');
      await enqueueAll(one, [job]);
      await until(async () => (await one.queue.backlog()).delayed === 1);
      const { jobs } = one.queue as unknown as { readonly jobs: DispatchQueue };
      // One delayed job will try the endpoint again. The recovery job is not needed for this attempt.
      await until(async () => (await jobs.getJobCountByTypes('active', 'wait')) === 0);
      expect((await jobs.getDelayed()).map(({ data }) => data.endpointId)).toEqual(['ok']);
      expect(one.failed).toHaveLength(1);
      fails = false;
      // The recovery job requests the attempt repeatedly.
      await one.queue.enqueue(job, now());
      expect(await one.queue.backlog()).toMatchObject({ waiting: 0, delayed: 1 });
      for (const key of await one.redis.keys('bull:*:events'))
        expect(JSON.stringify(await one.redis.xrange(key, '-', '+'))).not.toContain('canary');
    });

    it('the queue makes all attempts of an endpoint that are due at one later time, and not before', async () => {
      const one = await started();
      const at = new Date(Date.now() + 1_500);
      const jobs = deliveries('ok', 300);
      await Promise.all(jobs.map((job) => one.queue.enqueue(job, at)));
      // One job starts all of the attempts.
      expect(await world.jobs(one)).toBe(1);
      await until(() => receivers.got(jobs));
      expect(Math.min(...receivers.startedAt.values())).toBeGreaterThanOrEqual(at.getTime());
    });

    it('the queue has one job for all due attempts of an endpoint', async () => {
      const one = await world.process(receivers.perform);
      await enqueueAll(one, deliveries('ok', 200));
      expect(await one.queue.backlog()).toMatchObject({ waiting: 200 });
      expect(await world.jobs(one)).toBe(1);
    });

    it('the queue makes a due attempt in time, although other attempts of its endpoint take long', async () => {
      const one = await started();
      const held: (() => void)[] = [];
      receivers.hold = ({ turn }) => (turn === 'long' ? new Promise((resolve) => held.push(resolve)) : null);
      await enqueueAll(one, [{ ...delivery('ok'), turn: 'long' }]);
      await until(() => held.length === 1);
      const [soon, later] = [delivery('ok'), delivery('ok')];
      await one.queue.enqueue(later, new Date(Date.now() + 200));
      await one.queue.enqueue(soon, now());
      await until(() => receivers.got([soon, later]));
      for (const release of held) release();
    });

    it("the queue loses no attempt that is requested at the moment when its endpoint's job ends", async () => {
      const both = [await started(), await started()];
      for (let count = 0; count < 60; count++) {
        const job = delivery('ok');
        await both[count % 2]?.queue.enqueue(job, now());
        await until(() => receivers.got([job]));
      }
    });

    it('the queue reports the amount of waiting work, and the delay of the latest attempt', async () => {
      const one = await world.process(receivers.perform);
      expect(await one.queue.backlog()).toEqual({ waiting: 0, delayed: 0, oldestDueMs: 0 });
      await one.queue.enqueue(delivery('ok'), new Date(Date.now() + 60_000));
      expect(await one.queue.backlog()).toEqual({ waiting: 0, delayed: 1, oldestDueMs: 0 });
      // The attempt becomes due after it was stored, while no worker runs.
      const soon = new Date(Date.now() + 50);
      await one.queue.enqueue(delivery('ok'), soon);
      await until(async () => (await one.queue.backlog()).oldestDueMs > 0);
      expect((await one.queue.backlog()).oldestDueMs).toBeLessThanOrEqual(Date.now() - soon.getTime());
      await one.queue.enqueue(delivery('other'), new Date(Date.now() - 5_000));
      const { oldestDueMs, ...counts } = await one.queue.backlog();
      expect(counts).toEqual({ waiting: 2, delayed: 1 });
      expect(oldestDueMs).toBeGreaterThanOrEqual(5_000);
    });

    it('the queue counts the line of an endpoint from an earlier release, and a line that gets a delivery while it is being removed', async () => {
      const one = await started();
      const held: (() => void)[] = [];
      receivers.hold = () => new Promise((resolve) => held.push(resolve));
      await one.redis.zadd('webhook-dispatch:due:left', Date.now(), JSON.stringify(['del_left', 'ladder', '2']));
      const { jobs, connection } = one.queue as unknown as {
        readonly jobs: DispatchQueue;
        readonly connection: { readonly redis: Redis };
      };
      await jobs.add('dispatch', { endpointId: 'left' }, { jobId: 'left-1' });
      await until(() => held.length === 1);
      expect(await one.queue.backlog()).toMatchObject({ waiting: 1 });
      receivers.hold = () => null;
      held.pop()?.();
      await until(() => receivers.got([{ ...delivery('left'), deliveryId: 'del_left' }]));
      await until(async () => (await one.redis.zcard('webhook-dispatch:due:left')) === 0);
      // The line receives a delivery between the check that it is empty and its removal.
      const remove = connection.redis.srem.bind(connection.redis);
      connection.redis.srem = (async (key: string, endpointId: string) => {
        await one.queue.enqueue(delivery('left'), new Date(Date.now() + 60_000));
        return remove(key, endpointId);
      }) as typeof remove;
      await one.queue.backlog();
      expect(await one.queue.backlog()).toMatchObject({ waiting: 0, delayed: 1 });
    });

    it('the queue serves the lines and jobs that an earlier release left', async () => {
      const one = await started();
      await one.redis.zadd('webhook-dispatch:due:ok', Date.now(), JSON.stringify(['del_left', 'ladder', '2']));
      const { jobs } = one.queue as unknown as { readonly jobs: DispatchQueue };
      await jobs.add('dispatch', { endpointId: 'ok' }, { jobId: 'ok-1' });
      await until(() => receivers.attempts.get('del_left') === 1);
      await until(() => isEmpty(one));
    });
  });

  describe('when a process or Redis dies', () => {
    it('closes while Redis is away', async () => {
      const one = await started();
      const job = delivery('ok');
      await enqueueAll(one, [job]);
      await until(() => receivers.got([job]));
      await world.server.kill9();
      await one.close();
    });

    it('leaves waiting attempts to others when it is closed, and lets running attempts end', async () => {
      const one = await started();
      receivers.latencyMs = () => 40;
      const jobs = deliveries('ok', 300);
      await enqueueAll(one, jobs);
      await until(() => receivers.startedAt.size >= 66);
      await one.worker.close();
      const begun = jobs.filter(({ deliveryId }) => receivers.attempts.has(deliveryId));
      expect(receivers.got(begun)).toBe(true);
      expect(begun.length).toBeLessThan(jobs.length);
      expect(await one.queue.backlog()).toMatchObject({ waiting: jobs.length - begun.length });
      const other = await started();
      await until(() => receivers.got(jobs));
      expect(jobs.every(({ deliveryId }) => receivers.attempts.get(deliveryId) === 1)).toBe(true);
      expect(other.reclaimed()).toBe(0);
    });

    it('closes without waiting for an attempt that never ends', async () => {
      let calls = 0;
      const one = await world.process(() => (calls++, new Promise(() => undefined)), { attempts: { limitMs: 300 } });
      one.worker.start();
      await enqueueAll(one, [delivery('ok')]);
      await until(() => calls === 1);
      await one.worker.close();
    });

    it('uses the slot of an attempt that never ends for another attempt', async () => {
      let calls = 0;
      const one = await world.process(() => (++calls, new Promise(() => undefined)), {
        concurrency: 1,
        attempts: { limitMs: 200 },
      });
      one.worker.start();
      await enqueueAll(one, [...deliveries('lost-1', 6), ...deliveries('lost-2', 6)]);
      await until(() => calls === 12);
      await until(async () => (await one.queue.backlog()).waiting === 0);
    });

    it('begins no more attempts of an endpoint whose job another process has taken', async () => {
      const one = await started({ concurrency: 1 });
      const held: (() => void)[] = [];
      receivers.hold = () => new Promise((resolve) => held.push(resolve));
      const jobs = deliveries('ok', 40);
      await enqueueAll(one, jobs);
      await until(() => held.length === FEW_UNDER_WAY);
      // The test acts as if the process had been suspended: its lock has expired, and another process has its job.
      await one.redis.del('bull:webhook-dispatch:ok:lock');
      const other = await started();
      await until(() => other.reclaimed() + one.reclaimed() === 1);
      await until(() => held.length === 2 * FEW_UNDER_WAY);
      receivers.hold = () => null;
      for (const release of held) release();
      await until(() => receivers.got(jobs));
      await until(() => isEmpty(one));
      const twice = jobs.filter(({ deliveryId }) => receivers.attempts.get(deliveryId) !== 1);
      expect(twice.length).toBeLessThanOrEqual(FEW_UNDER_WAY);
    });

    it("begins no attempt in a process that lost its job and got it back, until the process's earlier attempts have ended", async () => {
      const one = await started();
      const held: (() => void)[] = [];
      receivers.hold = () => new Promise((resolve) => held.push(resolve));
      const jobs = deliveries('ok', 40);
      await enqueueAll(one, jobs);
      await until(() => held.length === FEW_UNDER_WAY);
      let again = 0;
      one.worker.worker.on('active', () => again++);
      await one.redis.del('bull:webhook-dispatch:ok:lock');
      await until(() => again === 1);
      // A process that begins attempts would have read the line by this time.
      for (let round = 0; round < 20; round++) await one.queue.due('ok', 1);
      expect(held.length).toBe(FEW_UNDER_WAY);
      receivers.hold = () => null;
      for (const release of held) release();
      await until(() => isEmpty(one));
      expect(jobs.map(({ deliveryId }) => receivers.attempts.get(deliveryId))).toEqual(jobs.map(() => 1));
    });

    it('makes no further attempts while Redis refuses to record the end of an attempt', async () => {
      let made = 0;
      let troubled = 0;
      let refusing = '1';
      const one = await world.process(
        async () => {
          made += 1;
          await one.redis.config('SET', 'min-replicas-to-write', refusing);
          return { timedOut: false, outcome: 'SUCCESS' };
        },
        { times: { restMs: 2_000 }, attempts: { troubled: () => troubled++ } },
      );
      one.worker.start();
      await enqueueAll(one, deliveries('ok', FEW_UNDER_WAY));
      try {
        await until(() => troubled > 0);
        for (let round = 0; round < 50; round++) await one.queue.due('ok', 1);
        expect(made).toBe(FEW_UNDER_WAY);
      } finally {
        refusing = '0';
        await one.redis.config('SET', 'min-replicas-to-write', refusing);
      }
    });

    it('reports Unavailable while Redis is down or silent, and resumes by itself afterwards', async () => {
      const one = await started({ limitMs: 400 });
      const first = delivery('ok');
      await enqueueAll(one, [first]);
      await until(() => receivers.got([first]));

      await world.server.kill9();
      await expect(one.queue.enqueue(delivery('ok'), now())).rejects.toBeInstanceOf(Unavailable);
      await expect(one.queue.backlog()).rejects.toBeInstanceOf(Unavailable);
      await world.server.startAgain();
      await askUntilDone(one, delivery('ok'));

      world.server.freeze();
      await expect(one.queue.enqueue(delivery('ok'), now())).rejects.toBeInstanceOf(Unavailable);
      world.server.resume();
      await askUntilDone(one, delivery('ok'));
    });

    it('resumes by itself after Redis was emptied, with attempts under way and others waiting', async () => {
      const one = await started();
      receivers.latencyMs = () => 40;
      await enqueueAll(one, [...deliveries('ok', 200), ...deliveries('new', 30)]);
      await until(() => receivers.startedAt.size > 20);
      await world.server.flush();
      await askUntilDone(one, delivery('ok'));
      await world.server.startAgainEmpty();
      await askUntilDone(one, delivery('ok'));
      await until(() => isEmpty(one));
    });

    /** Requests the attempt until it is made, like the recovery job. */
    async function askUntilDone(one: Process, job: DueDelivery): Promise<void> {
      await until(async () => {
        await one.queue.enqueue(job, now()).catch((error: unknown) => expect(error).toBeInstanceOf(Unavailable));
        return receivers.got([job]);
      });
    }
  });

  describe('the number of simultaneous attempts', () => {
    it('begins low at an endpoint, and rises by one after an answer, up to the limit', async () => {
      const one = await started();
      // Attempts take so long that many run at once, even if starting them is slow.
      receivers.latencyMs = () => 100;
      const held: (() => void)[] = [];
      receivers.hold = () => new Promise((resolve) => held.push(resolve));
      const jobs = deliveries('ok', 400);
      await enqueueAll(one, jobs);
      await until(() => held.length === FEW_UNDER_WAY);
      held.pop()?.();
      await until(() => held.length === FEW_UNDER_WAY + 1);
      expect(receivers.mostAtOnce('ok')).toBe(FEW_UNDER_WAY + 1);
      receivers.hold = () => null;
      for (const release of held) release();
      await until(() => receivers.got(jobs));
      expect(receivers.mostAtOnce('ok')).toBe(MOST_UNDER_WAY);
      expect(jobs.map(({ deliveryId }) => receivers.attempts.get(deliveryId))).toEqual(jobs.map(() => 1));
    });

    it('is limited for an endpoint across all processes', async () => {
      const both = [await started(), await started()];
      receivers.latencyMs = () => 40;
      const jobs = deliveries('ok', 400);
      await Promise.all(both.map((one, index) => enqueueAll(one, jobs.slice(index * 200, index * 200 + 200))));
      await until(() => receivers.got(jobs));
      expect(receivers.mostAtOnce('ok')).toBeLessThanOrEqual(MOST_UNDER_WAY);
      expect(jobs.map(({ deliveryId }) => receivers.attempts.get(deliveryId))).toEqual(jobs.map(() => 1));
    });

    it('falls to its first value when an endpoint begins to hang, and rises again when the endpoint answers in time', async () => {
      const one = await started();
      const jobs = deliveries('turning', 400);
      await enqueueAll(one, jobs);
      await until(() => receivers.mostAtOnce('turning') > FEW_UNDER_WAY);
      receivers.latencyMs = () => ATTEMPT_MS;
      const timedOut = (): number => receivers.answered.length - inTime;
      const inTime = receivers.answered.length;
      await until(() => timedOut() > 2 * MOST_UNDER_WAY);
      receivers.forgetMost();
      const before = timedOut();
      await until(() => timedOut() > before + FEW_UNDER_WAY);
      expect(receivers.mostAtOnce('turning')).toBe(FEW_UNDER_WAY);
      // All waiting attempts share one job, whatever their number.
      expect(await world.jobs(one)).toBe(1);
      receivers.latencyMs = () => 20;
      await until(() => receivers.got(jobs));
      expect(receivers.mostAtOnce('turning')).toBeGreaterThan(FEW_UNDER_WAY);
      expect(jobs.map(({ deliveryId }) => receivers.attempts.get(deliveryId))).toEqual(jobs.map(() => 1));
      await until(async () => (await world.jobs(one)) === 0);
    });

    it('lets the queue serve healthy receivers while every attempt at hanging receivers still runs', async () => {
      const held: (() => void)[] = [];
      receivers.hold = ({ endpointId }) =>
        endpointId.startsWith('hanging') ? new Promise((resolve) => held.push(resolve)) : null;
      const one = await started({ attempts: { limitMs: 60_000 } });
      const healthy = Array.from({ length: 1_500 }, (_, index) => delivery(`ok-${index % 20}`));
      const all = healthy.flatMap((job, index) => (index % 10 === 0 ? [job, delivery(`hanging-${index % 3}`)] : [job]));
      await enqueueAll(one, all);
      await until(() => receivers.got(healthy));
      expect(held.length).toBeLessThanOrEqual(3 * FEW_UNDER_WAY);
      await until(async () => (await one.queue.backlog()).waiting === 150);
      receivers.hold = () => null;
      for (const release of held) release();
    });

    it('lets the queue serve healthy receivers although hundreds of endpoints hang', async () => {
      const held: (() => void)[] = [];
      receivers.hold = ({ endpointId }) =>
        endpointId.startsWith('hanging') ? new Promise((resolve) => held.push(resolve)) : null;
      const one = await started({ attempts: { limitMs: 60_000 } });
      await enqueueAll(
        one,
        Array.from({ length: 900 }, (_, index) => delivery(`hanging-${index}`)),
      );
      await until(() => held.length === 900);
      const healthy = deliveries('ok', 50);
      await enqueueAll(one, healthy);
      await until(() => receivers.got(healthy));
      receivers.hold = () => null;
      for (const release of held) release();
    });

    it('lets the queue serve other endpoints before the line of a hanging endpoint is empty', async () => {
      const one = await started({ concurrency: 1, times: { jobMs: 50 } });
      await enqueueAll(one, deliveries('hanging', 10 * FEW_UNDER_WAY));
      await until(() => receivers.mostAtOnce('hanging') > 0);
      const other = delivery('ok');
      await enqueueAll(one, [other]);
      await until(() => receivers.got([other]));
      expect((await one.queue.backlog()).waiting).toBeGreaterThan(0);
      receivers.latencyMs = () => 2;
      await until(() => isEmpty(one));
    });

    it('lets the queue make thousands of simultaneous attempts at one endpoint, each once, and serve other endpoints in between', async () => {
      const one = await started();
      await enqueueAll(one, deliveries('busy', 2_000));
      const other = delivery('ok');
      await enqueueAll(one, [other]);
      await until(() => receivers.got([other]));
      expect(receivers.answered.length).toBeLessThan(2_000);
      await until(() => receivers.answered.length >= 2_001);
      expect(new Set(receivers.answered).size).toBe(receivers.answered.length);
      expect(receivers.mostAtOnce('busy')).toBeLessThanOrEqual(MOST_UNDER_WAY);
    });
  });
});

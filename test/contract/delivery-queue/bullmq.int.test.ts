// The delivery queue on a real Redis: when jobs run, how many at once, and that receivers which hang cost the others nothing.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
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

/** As the line has those that are due at the same time. */
const byId = (one: DueDelivery, other: DueDelivery): number => (one.deliveryId < other.deliveryId ? -1 : 1);

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
    made.workers.start();
    return made;
  }

  /** Quick answers until this process knows the endpoint as fast. */
  async function prove(one: Process, endpointId: string): Promise<void> {
    const proof = deliveries(endpointId, 2);
    await enqueueAll(one, proof);
    await until(() => receivers.got(proof));
    expect(one.queue.latency.standing(endpointId)).toBe('fast');
  }

  /** By an attempt that does not end. */
  async function findSlow({ queue: { latency } }: Process, endpointId: string): Promise<void> {
    latency.begin(endpointId);
    await until(() => latency.standing(endpointId) === 'slow');
  }

  describe('when attempts are made', () => {
    it('makes what is due at once, and the rest not before its time', async () => {
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

    it('makes one of an attempt that is asked for twice, whichever queue has its endpoint', async () => {
      const one = await world.process(receivers.perform);
      const job = delivery('ok');
      await Promise.all([one.queue.enqueue(job, now()), one.queue.enqueue(job, now())]);
      await one.queue.enqueue(job, new Date(Date.now() + 60_000));
      const redelivery = { ...job, kind: 'redelivery', turn: '1700000000000' } as const;
      await one.queue.enqueue(redelivery, now());
      expect(await one.queue.backlog()).toMatchObject({ waiting: 2, delayed: 0 });

      const moved = delivery('moved');
      await one.queue.enqueue(moved, now());
      await findSlow(one, 'moved');
      await one.queue.enqueue(moved, now());
      expect(await one.queue.backlog()).toMatchObject({ waiting: 3, delayed: 0 });

      one.workers.start();
      await until(async () => (await one.queue.backlog()).waiting + (await one.queue.backlog()).active === 0);
      expect([receivers.attempts.get(job.deliveryId), receivers.attempts.get(moved.deliveryId)]).toEqual([2, 1]);
    });

    it('keeps references only, and nothing when an attempt is over, however it ended', async () => {
      const one = await started();
      const failing = await world.process(async () => {
        throw new Error('canary');
      });
      const left = async (): Promise<string[]> =>
        (await one.redis.keys('*')).filter((key) => !/^bull:[a-z-]+:(meta|events|id|marker|stalled-check)$/.test(key));
      await enqueueAll(one, deliveries('ok', 3));
      await until(async () => receivers.answered.length === 3 && (await left()).length === 0);
      await one.workers.close();
      failing.workers.start();
      await enqueueAll(failing, [delivery('ok')]);
      await until(async () => failing.failed.length === 1 && (await left()).length === 0);
      for (const key of await one.redis.keys('bull:*:events'))
        expect(JSON.stringify(await one.redis.xrange(key, '-', '+'))).not.toContain('canary');
    });

    it('makes an attempt again later, also when many of its endpoint are due at that time', async () => {
      const one = await started();
      const at = new Date(Date.now() + 300);
      const jobs = deliveries('ok', 300);
      await Promise.all(jobs.map((job) => one.queue.enqueue(job, at)));
      // One job wakes all of them.
      expect(await world.jobs(one)).toEqual({ fast: 1, slow: 0 });
      await until(() => receivers.got(jobs));
      expect(Math.min(...receivers.startedAt.values())).toBeGreaterThanOrEqual(at.getTime());
    });

    it('sends what is asked for in one turn together', async () => {
      const one = await world.process(receivers.perform);
      const reads = async (): Promise<number> =>
        Number(/total_reads_processed:(\d+)/.exec(await one.redis.info('stats'))?.[1]);
      await enqueueAll(one, [delivery('ok')]);
      const before = await reads();
      await enqueueAll(one, deliveries('ok', 200));
      // Node gives a large packet to the socket in pieces; one for each job would be two hundred.
      expect((await reads()) - before).toBeLessThan(40);
      expect(await one.queue.backlog()).toMatchObject({ waiting: 201 });
      // As many jobs as the endpoint may have attempts under way.
      expect(await world.jobs(one)).toEqual({ fast: 4, slow: 0 });
    });

    it('has no more jobs than attempts are due, whenever these were asked for', async () => {
      const one = await world.process(receivers.perform);
      for (const job of deliveries('ok', 3)) await one.queue.enqueue(job, now());
      expect(await world.jobs(one)).toEqual({ fast: 3, slow: 0 });
    });

    it('has a job for every eight attempts that are due at a fast endpoint, for as many as may be under way', async () => {
      const one = await started();
      await prove(one, 'ok');
      await one.workers.close();
      await enqueueAll(one, deliveries('ok', 20));
      expect(await world.jobs(one)).toEqual({ fast: 3, slow: 0 });
      await enqueueAll(one, deliveries('ok', 400));
      expect(await world.jobs(one)).toEqual({ fast: 8, slow: 0 });
    });

    it('makes an attempt that comes due while Redis is asked', async () => {
      const one = await started();
      await enqueueAll(one, [delivery('ok')]);
      await until(async () => (await one.queue.backlog()).active === 0);
      await one.redis.client('PAUSE', 400, 'ALL');
      const soon = delivery('ok');
      await one.queue.enqueue(soon, new Date(Date.now() + 150));
      await until(() => receivers.got([soon]));
    });

    it('tells how much is to be done, and how late the latest is', async () => {
      const one = await world.process(receivers.perform);
      expect(await one.queue.backlog()).toEqual({ waiting: 0, delayed: 0, active: 0, oldestDueMs: 0 });
      await one.queue.enqueue(delivery('ok'), new Date(Date.now() + 60_000));
      expect(await one.queue.backlog()).toEqual({ waiting: 0, delayed: 1, active: 0, oldestDueMs: 0 });
      // Due after it was stored, with nobody there to take it.
      const soon = new Date(Date.now() + 50);
      await one.queue.enqueue(delivery('ok'), soon);
      await until(async () => (await one.queue.backlog()).oldestDueMs > 0);
      expect((await one.queue.backlog()).oldestDueMs).toBeLessThanOrEqual(Date.now() - soon.getTime());
      await one.queue.enqueue(delivery('slow'), new Date(Date.now() - 5_000));
      const { oldestDueMs, ...counts } = await one.queue.backlog();
      expect(counts).toEqual({ waiting: 2, delayed: 1, active: 0 });
      expect(oldestDueMs).toBeGreaterThanOrEqual(5_000);
    });
  });

  describe('when something dies', () => {
    it('closes while Redis is away', async () => {
      const one = await started();
      await prove(one, 'ok');
      await world.server.kill9();
      await one.close();
    });

    it('gives all that a job had under way to the worker that takes it from a dead one', async () => {
      const one = await world.process(receivers.perform);
      const jobs = deliveries('ok', 10);
      await enqueueAll(one, jobs);
      const begun = await one.queue.claim('ok-1', 'ok', 4, null);
      const next = await one.queue.claim('ok-1', 'ok', 3, begun.slice(3));
      expect([...begun, ...next]).toEqual(jobs.slice(0, 7).sort(byId));
      expect(await one.queue.backlog()).toMatchObject({ waiting: 3, active: 4 });
      // Its worker dies here, with one attempt of the first four and those of the last three under way.
      const left = await one.queue.claim('ok-1', 'ok', 8, null);
      expect([...left].sort(byId)).toEqual([...begun.slice(3), ...next].sort(byId));
    });

    it('leaves what waits to others when it is closed, and lets attempts under way end', async () => {
      const one = await started();
      receivers.latencyMs = () => 40;
      await prove(one, 'ok');
      const jobs = deliveries('ok', 300);
      await enqueueAll(one, jobs);
      await until(() => receivers.startedAt.size >= 66);
      await one.workers.close();
      const begun = jobs.filter(({ deliveryId }) => receivers.attempts.has(deliveryId));
      expect(receivers.got(begun)).toBe(true);
      expect(begun.length).toBeLessThan(jobs.length);
      expect(await one.queue.backlog()).toMatchObject({ waiting: jobs.length - begun.length, active: 0 });
      const other = await started();
      await until(() => receivers.got(jobs));
      expect(jobs.every(({ deliveryId }) => receivers.attempts.get(deliveryId) === 1)).toBe(true);
      expect(other.reclaimed()).toBe(0);
    });

    it('does not wait for an attempt that never ends when it is closed', async () => {
      const one = await world.process(() => new Promise(() => undefined), {
        attempts: { limitMs: 300 },
      });
      one.workers.start();
      await enqueueAll(one, [delivery('ok')]);
      await until(async () => (await one.queue.backlog()).active === 1);
      await one.workers.close();
    });

    it('uses the place of an attempt again that never ends', async () => {
      let calls = 0;
      const one = await world.process(() => (++calls, new Promise(() => undefined)), {
        concurrency: { fast: 1, slow: 1 },
        limits: { fast: 1, unknown: 1, slow: 1 },
        attempts: { limitMs: 200 },
      });
      one.workers.start();
      await enqueueAll(one, [...deliveries('lost-1', 2), ...deliveries('lost-2', 2)]);
      await until(() => calls === 4);
      await until(async () => (await one.queue.backlog()).active === 0);
    });

    it('says Unavailable while Redis is away or silent, and goes on by itself when it is back', async () => {
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

    it('goes on by itself after Redis was emptied, with attempts under way and others waiting', async () => {
      const one = await started();
      receivers.latencyMs = () => 40;
      await prove(one, 'ok');
      await enqueueAll(one, [...deliveries('ok', 200), ...deliveries('new', 30)]);
      await until(() => receivers.startedAt.size > 20);
      await world.server.flush();
      await askUntilDone(one, delivery('ok'));
      await world.server.startAgainEmpty();
      await askUntilDone(one, delivery('ok'));
      await until(async () => (await one.queue.backlog()).active === 0);
    });

    /** As whoever asks for what is due: again, until it was attempted. */
    async function askUntilDone(one: Process, job: DueDelivery): Promise<void> {
      await until(async () => {
        await one.queue.enqueue(job, now()).catch((error: unknown) => expect(error).toBeInstanceOf(Unavailable));
        return receivers.got([job]);
      });
    }
  });

  describe('how many run at once', () => {
    it('tries an endpoint it does not know with a few, and gives one that answers quickly more', async () => {
      const one = await started({ latency: { fastBelowMs: 250, overdueMs: 1_000 } });
      receivers.latencyMs = () => 20;
      const first = deliveries('ok', 4 + 16 + 20);
      await enqueueAll(one, first);
      await until(() => receivers.got(first));
      await prove(one, 'ok');
      // Long enough for many to be under way at once also where handing them out takes its time.
      receivers.latencyMs = () => 200;
      receivers.forgetMost();
      const second = deliveries('ok', 400);
      await enqueueAll(one, second);
      await until(() => receivers.got(second));
      expect(receivers.mostAtOnce('ok')).toBeGreaterThan(20);
      expect(receivers.mostAtOnce('ok')).toBeLessThanOrEqual(64);
    });

    it('gives one that hangs at most a quarter of the slow worker, and others their share of it', async () => {
      const one = await started({
        concurrency: { fast: 512, slow: 16 },
        limits: { fast: 64, unknown: 4, slow: 4 },
      });
      const hogging = deliveries('hanging-1', 200);
      await enqueueAll(one, hogging);
      await until(async () => (await world.jobs(one)).slow > 0);
      const others = ['hanging-2', 'hanging-3'].flatMap((endpointId) => deliveries(endpointId, 6));
      await enqueueAll(one, others);
      await until(() => receivers.got(others));
      expect(receivers.mostAtOnce('hanging-1')).toBe(4);
      // Long before what was asked for earlier.
      expect(hogging.filter(({ deliveryId }) => !receivers.attempts.has(deliveryId)).length).toBeGreaterThan(100);
    });

    it('keeps to the limit of an endpoint in all processes together', async () => {
      const both = [await started({ concurrency: { fast: 8, slow: 8 } }), await started()];
      receivers.latencyMs = () => 40;
      for (const one of both) await until(() => learned(one, 'ok'));
      receivers.forgetMost();
      const jobs = deliveries('ok', 400);
      await Promise.all(both.map((one, index) => enqueueAll(one, jobs.slice(index * 200, index * 200 + 200))));
      await until(() => receivers.got(jobs));
      expect(receivers.mostAtOnce('ok')).toBeLessThanOrEqual(64);
      expect(jobs.map(({ deliveryId }) => receivers.attempts.get(deliveryId))).toEqual(jobs.map(() => 1));
    });

    it('keeps to the limit of a fast endpoint where another process finds it slow', async () => {
      const [one, other] = [await started(), await world.process(receivers.perform)];
      await prove(one, 'ok');
      await findSlow(other, 'ok');
      receivers.latencyMs = () => 40;
      receivers.forgetMost();
      const jobs = deliveries('ok', 400);
      await enqueueAll(other, jobs);
      await until(() => receivers.got(jobs));
      expect(receivers.mostAtOnce('ok')).toBeLessThanOrEqual(64);
    });

    it('uses the places beside attempts that take long', async () => {
      const held: (() => void)[] = [];
      const one = await world.process(
        async (due) => {
          if (held.length < 1 && due.turn === 'long') await new Promise<void>((resolve) => held.push(resolve));
          return receivers.perform(due);
        },
        // So that it does not become slow by one of two.
        { limits: { fast: 8, unknown: 4, slow: 1 }, latency: { overdueMs: 60_000 } },
      );
      one.workers.start();
      await prove(one, 'ok');
      await enqueueAll(one, [{ ...delivery('ok'), turn: 'long' }, ...deliveries('ok', 3)]);
      await until(() => held.length === 1);
      const others = deliveries('ok', 30);
      await enqueueAll(one, others);
      await until(() => receivers.got(others));
      for (const resolve of held) resolve();
    });

    async function learned(one: Process, endpointId: string): Promise<boolean> {
      await enqueueAll(one, deliveries(endpointId, 2));
      return one.queue.latency.standing(endpointId) === 'fast';
    }

    it('makes what waits as soon as its endpoint answers quickly again, each once', async () => {
      const one = await started({ limits: { fast: 64, unknown: 4, slow: 2 } });
      const jobs = deliveries('hanging', 2_000);
      await enqueueAll(one, jobs);
      await until(() => one.queue.latency.standing('hanging') === 'slow');
      expect((await one.queue.backlog()).waiting).toBeGreaterThan(1_900);
      // However many wait: a job for each attempt that may be under way, and in a worker's memory no more than that.
      const { fast, slow } = await world.jobs(one);
      expect(fast + slow).toBeLessThanOrEqual(4 + 2);
      receivers.latencyMs = () => 2;
      await until(() => receivers.got(jobs));
      expect(one.queue.latency.standing('hanging')).toBe('fast');
      expect(jobs.map(({ deliveryId }) => receivers.attempts.get(deliveryId))).toEqual(jobs.map(() => 1));
      await until(async () => (await world.jobs(one)).slow === 0);
    });
  });

  describe('which queue', () => {
    it('has an endpoint that hangs in the slow queue, also what comes due there, and lets it back when it answers quickly', async () => {
      const one = await started();
      const first = deliveries('hanging', 100);
      await enqueueAll(one, first);
      await until(async () => (await world.jobs(one)).slow > 0 && (await world.jobs(one)).fast === 0);
      await one.workers.close();
      const before = await world.jobs(one);
      await enqueueAll(one, deliveries('hanging', 5));
      expect(await world.jobs(one)).toEqual({ fast: 0, slow: Math.min(16, before.slow + 5) });

      receivers.latencyMs = () => 2;
      const again = await started();
      await until(() => receivers.got(first));
      await until(async () => (await world.jobs(again)).slow === 0);
      expect(again.queue.latency.standing('hanging')).toBe('fast');
      await again.workers.close();
      await enqueueAll(again, [delivery('hanging')]);
      expect(await world.jobs(again)).toEqual({ fast: 1, slow: 0 });
    });

    it('finds out that a fast endpoint has begun to hang before its attempts have ended', async () => {
      let hold = false;
      const held: (() => void)[] = [];
      const one = await world.process(
        async (due) => {
          if (hold && due.endpointId === 'turning') await new Promise<void>((resolve) => held.push(resolve));
          return receivers.perform(due);
        },
        {
          concurrency: { fast: 20, slow: 4 },
          limits: { fast: 16, unknown: 4, slow: 1 },
          attempts: { limitMs: 60_000 },
        },
      );
      one.workers.start();
      await prove(one, 'ok');
      await prove(one, 'turning');
      hold = true;
      await enqueueAll(one, deliveries('turning', 200));
      await until(() => one.queue.latency.standing('turning') === 'slow');
      // None of the attempts ends before the others have been made, and no more of them begin in the fast queue.
      const others = deliveries('ok', 50);
      await enqueueAll(one, others);
      await until(() => receivers.got(others));
      expect(held.length).toBeLessThanOrEqual(16);
      // The last job of the others may not be over yet.
      await until(async () => (await one.queue.backlog()).active === held.length);
      expect(await one.queue.backlog()).toMatchObject({ waiting: 200 - held.length, active: held.length });
      hold = false;
      for (const resolve of held) resolve();
    });

    it('does not blame an endpoint for time in which this process stood still', async () => {
      let attempts = 0;
      const limitMs = 1_000;
      // Far more than the 20 ms of an answer, as a busy machine adds to them.
      const latency = { fastBelowMs: 400, overdueMs: 500 };
      const one = await world.process(
        async () => {
          attempts++;
          const startedAt = performance.now();
          await new Promise((resolve) => setTimeout(resolve, 20));
          const latencyMs = performance.now() - startedAt;
          return { latencyMs, timedOut: latencyMs >= limitMs };
        },
        { latency },
      );
      one.workers.start();
      for (const count of [20, 100]) {
        await enqueueAll(one, deliveries('ok', count));
        await until(async () => (await one.queue.backlog()).active === 0 && attempts >= count);
      }
      await enqueueAll(one, deliveries('ok', 1_000));
      await until(() => attempts > 300);
      const standsStillUntil = performance.now() + limitMs + 200;
      while (performance.now() < standsStillUntil);
      let slow = false;
      await until(() => ((slow ||= one.queue.latency.standing('ok') === 'slow'), attempts === 1_120));
      expect([slow, (await world.jobs(one)).slow]).toEqual([false, 0]);
    });

    it('makes all attempts at the healthy while every attempt at receivers that hang is still under way', async () => {
      const held: (() => void)[] = [];
      const one = await world.process(
        async (due) => {
          if (due.endpointId.startsWith('hanging')) await new Promise<void>((resolve) => held.push(resolve));
          return receivers.perform(due);
        },
        {
          concurrency: { fast: 16, slow: 4 },
          limits: { fast: 4, unknown: 2, slow: 1 },
          attempts: { limitMs: 60_000 },
        },
      );
      one.workers.start();
      const healthy = Array.from({ length: 1_500 }, (_, index) => delivery(`ok-${index % 20}`));
      const all = healthy.flatMap((job, index) => (index % 10 === 0 ? [job, delivery(`hanging-${index % 3}`)] : [job]));
      await enqueueAll(one, all);
      await until(() => receivers.got(healthy));
      // Of each of the three two are tried as long as nothing is known of it.
      expect(held.length).toBeLessThanOrEqual(6);
      expect((await one.queue.backlog()).waiting).toBe(150 - held.length);
      for (const resolve of held) resolve();
    });

    it('makes thousands of attempts that are due at once at one healthy endpoint, each once, and lets others in between', async () => {
      const one = await started();
      await prove(one, 'busy');
      await prove(one, 'ok');
      await enqueueAll(one, deliveries('busy', 2_000));
      const other = delivery('ok');
      await enqueueAll(one, [other]);
      await until(() => receivers.got([other]));
      expect(receivers.answered.length).toBeLessThan(2_000);
      await until(() => receivers.answered.length >= 2_005);
      expect(new Set(receivers.answered).size).toBe(receivers.answered.length);
      expect(receivers.mostAtOnce('busy')).toBeLessThanOrEqual(64);
    });
  });
});

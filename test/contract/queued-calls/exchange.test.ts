// What the queue adds to a vendor's contract: secrecy, time limits, at most one call, and what happens when parts of it die.
// Shown on the identity vendor, whose calls must not be repeated.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { IdvIdentityVendor } from '../../../src/vendors/idv/identity.js';
import { IDENTITY_VENDOR_QUEUE, QueuedIdentityVendor } from './queued-identity-vendor.js';
import type { QueuedCalls } from '../../../src/adapters/queued-calls/caller.js';
import { CallSettings } from '../../../src/adapters/queued-calls/queue.js';
import { RedisSealedPayloads } from '../../../src/adapters/sealed-payloads/redis.js';
import { Clock } from '../../../src/kernel/clock.js';
import {
  IdentityVendor,
  type AnswerVerdict,
  type Applicant,
  type PastOutcome,
  type RegistrationVerdict,
  type ResendVerdict,
  type VendorCall,
} from '../../../src/ports/identity-vendor.js';
import { SandboxIdentityVendor } from '../../../src/vendors/idv/double/identity-vendor.js';
import { startSandbox } from '../../../sandbox/server.js';
import { SLACK_MS } from '../../support/measuring.js';
import type { RedisServer } from '../../support/redis.js';
import { Vaults } from '../../support/vaults.js';
import { newCall, person } from '../identity-vendor/suite.js';
import { type ConnectionOptions, Processes, until, type WorkerProcess } from './processes.js';

const CONFIRMED = { kind: 'confirmed', vendorSession: 'vendor-session-canary' } as const;
const TIMED_OUT = { kind: 'timed-out' };
const UNAVAILABLE = { kind: 'unavailable' };

/** Counts its calls and answers as the test says. */
class FakeVendor extends IdentityVendor {
  readonly calls: string[] = [];
  answer: (call: VendorCall, ...input: unknown[]) => Promise<unknown> = async () => CONFIRMED;

  override register(call: VendorCall, applicant: Applicant): Promise<RegistrationVerdict> {
    return this.called(call, applicant);
  }
  override verifyOtp(call: VendorCall, vendorSession: string, code: string): Promise<AnswerVerdict> {
    return this.called(call, vendorSession, code);
  }
  override resendOtp(call: VendorCall, vendorSession: string): Promise<ResendVerdict> {
    return this.called(call, vendorSession);
  }
  override verifyKba(
    call: VendorCall,
    vendorSession: string,
    answers: readonly { questionId: number; answerId: number }[],
  ): Promise<AnswerVerdict> {
    return this.called(call, vendorSession, answers);
  }
  override outcomeOf(call: VendorCall): Promise<PastOutcome> {
    return this.called(call);
  }
  private called<Verdict>(call: VendorCall, ...input: unknown[]): Promise<Verdict> {
    this.calls.push(call.attemptId);
    return this.answer(call, ...input) as Promise<Verdict>;
  }
}

/** One process of the application. */
class Application extends QueuedIdentityVendor {
  constructor(readonly exchanges: QueuedCalls<IdentityVendor>) {
    super(exchanges);
  }
}

class SetClock extends Clock {
  constructor(public aheadMs = 0) {
    super();
  }
  override now(): Date {
    return new Date(Date.now() + this.aheadMs);
  }
}

describe('calls through a queue', () => {
  let processes: Processes;
  let server: RedisServer;
  let vendor: FakeVendor;
  let look: Redis;
  /** Of a vendor that does not answer while the test runs. */
  let never: Promise<unknown>;

  beforeEach(async () => {
    processes = await Processes.start();
    let release: (verdict: unknown) => void = () => undefined;
    never = new Promise((resolve) => (release = resolve));
    processes.cleanups.push(() => release(TIMED_OUT));
    ({ server } = processes);
    look = processes.connection();
    vendor = new FakeVendor();
  });
  afterEach(() => processes.end());

  async function application(timeoutMs?: number, options?: ConnectionOptions): Promise<Application> {
    return new Application(await processes.caller(IDENTITY_VENDOR_QUEUE, timeoutMs, options));
  }

  function worker(process?: WorkerProcess<IdentityVendor>): Promise<Worker> {
    return processes.worker(IDENTITY_VENDOR_QUEUE, vendor, process);
  }

  const timed = async <Value>(work: Promise<Value>): Promise<[Value, number]> => {
    const began = performance.now();
    return [await work, performance.now() - began];
  };
  const job = (id: string): Promise<number> => look.exists(`bull:${IDENTITY_VENDOR_QUEUE.name}:${id}`);
  const sealedKeys = (): Promise<string[]> => look.keys('sealed:*');
  /** Everything that Redis holds, keys and values. */
  async function everything(): Promise<string> {
    const parts: string[] = [];
    for (const key of await look.keys('*')) {
      parts.push(key);
      const type = await look.type(key);
      if (type === 'string') parts.push((await look.getBuffer(key))?.toString('latin1') ?? '');
      else if (type === 'hash') parts.push(JSON.stringify(await look.hgetall(key)));
      else if (type === 'list') parts.push(JSON.stringify(await look.lrange(key, 0, -1)));
      else if (type === 'zset') parts.push(JSON.stringify(await look.zrange(key, '0', '-1')));
      else if (type === 'set') parts.push(JSON.stringify(await look.smembers(key)));
      else if (type === 'stream') parts.push(JSON.stringify(await look.xrange(key, '-', '+')));
      else throw new Error(`unexpected type ${type}`);
    }
    return parts.join('\n');
  }

  describe('secrecy', () => {
    const canaries = [
      'Canaryname',
      '900551234',
      '02031977',
      'fingerprint-canary',
      'canary street',
      '2025550199',
      'vendor-session-canary',
      '731946',
      'question-canary',
      'error-canary',
    ];
    const applicant = person('Canaryname', {
      ssn: '900551234',
      dateOfBirth: '02031977',
      jscPayload: 'fingerprint-canary',
      phoneNumber: '2025550199',
      address: { street: 'canary street', city: 'X', state: 'NY', zip: '10001' },
    });
    const expectSecret = (stored: string): void => {
      for (const canary of canaries) {
        expect(stored).not.toContain(canary);
        expect(stored).not.toContain(Buffer.from(canary).toString('base64').slice(0, -3));
      }
    };

    it('puts references only into Redis, before, during and after the call', async () => {
      const queued = await application();
      const waiting = queued.register(newCall(), applicant);
      await until(
        async () =>
          (await sealedKeys()).length === 1 && (await look.llen(`bull:${IDENTITY_VENDOR_QUEUE.name}:wait`)) === 1,
      );
      expectSecret(await everything());

      let finish: (verdict: unknown) => void = () => undefined;
      vendor.answer = () => new Promise((resolve) => (finish = resolve));
      await worker();
      await until(() => vendor.calls.length === 1);
      expectSecret(await everything());
      expect(await sealedKeys()).toEqual([]);

      const kba = [{ id: 1, text: 'question-canary', answers: [{ id: 1, text: 'x' }] }];
      finish({ kind: 'step-up', vendorSession: 'vendor-session-canary', otp: true, kba });
      expect(await waiting).toEqual({ kind: 'step-up', vendorSession: 'vendor-session-canary', otp: true, kba });
      expectSecret(await everything());
    });

    it('leaves nothing of an exchange but the short event stream', async () => {
      const queued = await application();
      await worker();
      await queued.register(newCall(), applicant);
      await queued.verifyOtp(newCall(), 'vendor-session-canary', '731946');
      await queued.resendOtp(newCall(), 'vendor-session-canary');
      await queued.verifyKba(newCall(), 'vendor-session-canary', [{ questionId: 1, answerId: 3 }]);
      await queued.outcomeOf(newCall());
      const allowed = ['events', 'id', 'meta', 'stalled-check', 'marker', 'stalled'].map(
        (name) => `bull:${IDENTITY_VENDOR_QUEUE.name}:${name}`,
      );
      expect((await look.keys('*')).filter((key) => !allowed.includes(key))).toEqual([]);
      expectSecret(await everything());
      const [, fields] = (await look.xrange(`bull:${IDENTITY_VENDOR_QUEUE.name}:events`, '-', '+')).find(([, entry]) =>
        entry.includes('completed'),
      )!;
      expect(JSON.parse(fields[fields.indexOf('returnvalue') + 1]!)).toEqual({ kind: 'confirmed', handedBack: true });
    });

    it('keeps the text of an error out of Redis and of the log', async () => {
      const queued = await application();
      await worker();
      vendor.answer = async () => {
        throw new TypeError('error-canary: cannot read Canaryname');
      };
      expect(await queued.register(newCall(), applicant)).toEqual({ kind: 'unintelligible' });
      expectSecret(await everything());
      expect(processes.logged.join()).toContain('TypeError');
      expect(processes.measured).toEqual([['register', 'unintelligible', expect.any(Number)]]);
      expectSecret(processes.logged.join());
    });

    it('lets the input expire before the time is up', async () => {
      const queued = await application(2_000);
      const waiting = queued.register(newCall(), applicant);
      await until(async () => (await sealedKeys()).length === 1);
      const [key = ''] = await sealedKeys();
      expect(await look.pttl(key)).toBeLessThanOrEqual(1_500);
      await waiting;
      expect(await sealedKeys()).toEqual([]);
    });
  });

  describe('a worker in the same process', () => {
    const published = async (): Promise<number> =>
      Number(/cmdstat_publish:calls=(\d+)/.exec(await look.info('commandstats'))?.[1] ?? 0);

    it('hands the verdict over without Redis', async () => {
      const queued = await application();
      await worker({ nearby: queued.exchanges });
      expect(await queued.register(newCall(), person('Smith'))).toEqual(CONFIRMED);
      expect(await published()).toBe(0);
      expect(await sealedKeys()).toEqual([]);
    });

    it('serves other processes as well', async () => {
      const [near, far] = [await application(), await application()];
      await worker({ nearby: near.exchanges });
      vendor.answer = async (call) => ({ kind: 'confirmed', vendorSession: call.attemptId });
      const calls = Array.from({ length: 40 }, newCall);
      const verdicts = await Promise.all(
        calls.map((call, index) => (index % 2 ? near : far).register(call, person('Smith'))),
      );
      expect(verdicts).toEqual(calls.map(({ attemptId }) => ({ kind: 'confirmed', vendorSession: attemptId })));
      expect(await published()).toBe(20);
    });

    it('hands over the verdict of a job that Redis has lost', async () => {
      const queued = await application(10_000);
      await worker({ nearby: queued.exchanges });
      let finish: (verdict: unknown) => void = () => undefined;
      vendor.answer = () => new Promise((resolve) => (finish = resolve));
      const waiting = queued.register(newCall(), person('Smith'));
      await until(() => vendor.calls.length === 1);
      await look.flushall();
      finish(CONFIRMED);
      const [verdict, ms] = await timed(waiting);
      expect(verdict).toEqual(CONFIRMED);
      expect(ms).toBeLessThan(3_000 + SLACK_MS);
    });
  });

  describe('the call', () => {
    it('hands every operation its input and its own verdict, many at once', async () => {
      const queued = await application();
      await worker();
      vendor.answer = async (call, ...input) => ({
        kind: 'confirmed',
        vendorSession: JSON.stringify([call, ...input]),
      });
      const other = await application();
      await Promise.all(
        Array.from({ length: 300 }, async (_, index) => {
          const call = newCall();
          const via = index % 2 ? queued : other;
          const answers = [{ questionId: 1, answerId: index }];
          const operations: (() => [verdict: Promise<unknown>, input: unknown[]])[] = [
            () => [via.register(call, person(`Name${index}`)), [person(`Name${index}`)]],
            () => [via.verifyOtp(call, `s${index}`, '123456'), [`s${index}`, '123456']],
            () => [via.resendOtp(call, `s${index}`), [`s${index}`]],
            () => [via.verifyKba(call, `s${index}`, answers), [`s${index}`, answers]],
            () => [via.outcomeOf(call), []],
          ];
          const [verdict, input] = operations[index % 5]!();
          expect(await verdict).toEqual({ kind: 'confirmed', vendorSession: JSON.stringify([call, ...input]) });
        }),
      );
      expect(new Set(vendor.calls).size).toBe(300);
      expect(processes.measured).toHaveLength(300);
    });

    it('is one for two callers of the same attempt in one process, and both learn the verdict', async () => {
      const queued = await application();
      const call = newCall();
      const both = Promise.all([queued.register(call, person('Smith')), queued.register(call, person('Smith'))]);
      await worker();
      expect(await both).toEqual([CONFIRMED, CONFIRMED]);
      expect(vendor.calls).toEqual([call.attemptId]);
    });

    it('is one for two callers of the same attempt in two processes', async () => {
      const [one, two] = [await application(3_000), await application(3_000)];
      const call = newCall();
      const both = Promise.all([one.register(call, person('Smith')), two.register(call, person('Smith'))]);
      await until(async () => (await sealedKeys()).length === 2);
      await worker();
      expect((await both).map(({ kind }) => kind).sort()).toEqual(['confirmed', 'timed-out']);
      expect(vendor.calls).toEqual([call.attemptId]);
    });

    it('may be made again as soon as its verdict is known', async () => {
      const queued = await application(5_000);
      const slow = await worker();
      slow.on('active', (started) => {
        const finish = started.moveToCompleted.bind(started);
        started.moveToCompleted = async (...result) => {
          await new Promise((resolve) => setTimeout(resolve, 30));
          return finish(...result);
        };
      });
      const call = newCall();
      for (let time = 0; time < 5; time++) expect(await queued.register(call, person('Smith'))).toEqual(CONFIRMED);
      expect(vendor.calls).toHaveLength(5);
    });

    it('is not made when its input is gone', async () => {
      const queued = await application(1_500);
      const call = newCall();
      const waiting = queued.register(call, person('Smith'));
      await until(async () => (await job(call.attemptId)) === 1);
      await look.del(...(await sealedKeys()));
      await worker();
      expect(await waiting).toEqual(TIMED_OUT);
      await until(async () => (await job(call.attemptId)) === 0);
      expect(vendor.calls).toEqual([]);
    });

    it('is not made after its deadline, although its input is still there', async () => {
      const queued = await application(4_000);
      const call = newCall();
      const waiting = queued.register(call, person('Smith'));
      await until(async () => (await job(call.attemptId)) === 1);
      await worker({ clock: new SetClock(4_001) });
      await until(async () => (await job(call.attemptId)) === 0);
      expect(await sealedKeys()).toHaveLength(1);
      expect(vendor.calls).toEqual([]);
      queued.exchanges.onApplicationShutdown();
      expect(await waiting).toEqual(TIMED_OUT);
    });

    it('is not made when taking its input outlasted its deadline', async () => {
      const queued = await application(1_000);
      const clock = new SetClock();
      const redis = processes.connection();
      const payloads = processes.payloads(redis);
      const take = payloads.take.bind(payloads);
      payloads.take = async (reference) => {
        const taken = await take(reference);
        clock.aheadMs = 1_001;
        return taken;
      };
      await worker({ redis, payloads, clock, settings: new CallSettings(1_000) });
      expect(await queued.register(newCall(), person('Smith'))).toEqual(TIMED_OUT);
      expect(vendor.calls).toEqual([]);
    });

    it('is not made when the worker has another vault', async () => {
      const others = new Vaults();
      processes.cleanups.push(() => others.close());
      const queued = await application();
      const redis = processes.connection();
      await worker({
        redis,
        payloads: new RedisSealedPayloads(redis, others.open(`other:${randomBytes(32).toString('base64')}`)),
      });
      // The verdict comes back under a key that the application does not know.
      expect(await queued.register(newCall(), person('Smith'))).toEqual({ kind: 'unintelligible' });
      expect(vendor.calls).toEqual([]);
    });

    it('is made with at most the configured number at once', async () => {
      const queued = await application();
      let [running, most] = [0, 0];
      vendor.answer = async () => {
        most = Math.max(most, ++running);
        await until(() => most >= 3);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
        return CONFIRMED;
      };
      await worker({ settings: new CallSettings(5_000, 3) });
      await Promise.all(Array.from({ length: 40 }, () => queued.register(newCall(), person('Smith'))));
      expect(most).toBe(3);
    });
  });

  describe('the time limit', () => {
    it('counts the time in the queue', async () => {
      const queued = await application(400);
      const [verdict, ms] = await timed(queued.register(newCall(), person('Smith')));
      expect(verdict).toEqual(TIMED_OUT);
      expect(ms).toBeGreaterThan(390);
      expect(ms).toBeLessThan(400 + SLACK_MS);
    });

    it('ends a call that the vendor never answers, in the worker too', async () => {
      const queued = await application(2_500);
      const busy = await worker({ settings: new CallSettings(2_500, 1) });
      vendor.answer = () => never;
      const [verdict, ms] = await timed(queued.register(newCall(), person('Smith')));
      expect(verdict).toEqual(TIMED_OUT);
      expect(ms).toBeLessThan(2_500 + SLACK_MS);
      // Its one place is free again.
      vendor.answer = async () => CONFIRMED;
      expect(await queued.register(newCall(), person('Smith'))).toEqual(CONFIRMED);
      await busy.close();
    });
  });

  describe('Redis away', () => {
    it.each([false, true])(
      'is unavailable within two seconds when nothing listens (offline queue %j), and works again without a restart',
      async (enableOfflineQueue) => {
        const queued = await application(20_000, { enableOfflineQueue });
        await worker({ options: { enableOfflineQueue } });
        expect(await queued.register(newCall(), person('Smith'))).toEqual(CONFIRMED);
        await server.kill9();
        const [verdict, ms] = await timed(queued.register(newCall(), person('Smith')));
        expect(verdict).toEqual(UNAVAILABLE);
        expect(await queued.outcomeOf(newCall())).toEqual(UNAVAILABLE);
        expect(ms).toBeLessThan(2_000 + SLACK_MS);
        expect(vendor.calls).toHaveLength(1);

        await server.startAgain();
        const [, recoveryMs] = await timed(
          until(async () => (await queued.register(newCall(), person('Smith'))).kind === 'confirmed'),
        );
        expect(recoveryMs).toBeLessThan(10_000);
      },
    );

    it('is unavailable within two seconds when it is connected and silent', async () => {
      const queued = await application(20_000);
      await queued.exchanges.backlog();
      server.freeze();
      try {
        const [verdict, ms] = await timed(queued.register(newCall(), person('Smith')));
        expect(verdict).toEqual(UNAVAILABLE);
        expect(ms).toBeLessThan(2_000 + SLACK_MS);
      } finally {
        server.resume();
      }
    });

    it('is unavailable from the start when it never was there', async () => {
      const queued = await application(20_000);
      await server.kill9();
      const late = new Redis(server.url, { maxRetriesPerRequest: null, retryStrategy: () => 20 });
      late.on('error', () => undefined);
      processes.cleanups.push(() => late.disconnect());
      const [verdict, ms] = await timed(queued.register(newCall(), person('Smith')));
      expect(verdict).toEqual(UNAVAILABLE);
      expect(ms).toBeLessThan(2_000 + SLACK_MS);
    });

    it('still brings the verdict when the listening connection drops during the call', async () => {
      const queued = await application(10_000);
      await worker();
      let finish: (verdict: unknown) => void = () => undefined;
      vendor.answer = () => new Promise((resolve) => (finish = resolve));
      const waiting = queued.register(newCall(), person('Smith'));
      await until(() => vendor.calls.length === 1);
      // The listener is cut off again and again until the verdict has been stored and announced to nobody.
      let announced = false;
      finish(CONFIRMED);
      while (!announced) {
        await look.client('KILL', 'TYPE', 'PUBSUB');
        announced = (await job(vendor.calls[0]!)) === 0;
      }
      const [verdict, ms] = await timed(waiting);
      expect(verdict).toEqual(CONFIRMED);
      expect(ms).toBeLessThan(5_000);
    });

    it('still brings the verdict at the last moment when no word of it ever comes', async () => {
      const queued = await application(2_500);
      const mute = processes.connection();
      Object.assign(mute, { publish: async () => 0 });
      await worker({ redis: mute, settings: new CallSettings(2_500) });
      expect(await queued.register(newCall(), person('Smith'))).toEqual(CONFIRMED);
    });

    it('brings the verdict although Redis died and came back during the call', async () => {
      const queued = await application(10_000);
      await worker();
      let finish: (verdict: unknown) => void = () => undefined;
      vendor.answer = () => new Promise((resolve) => (finish = resolve));
      const waiting = queued.register(newCall(), person('Smith'));
      await until(() => vendor.calls.length === 1);
      await server.kill9();
      await server.startAgain();
      finish(CONFIRMED);
      expect(await waiting).toEqual(CONFIRMED);
      expect(vendor.calls).toHaveLength(1);
    });

    it('brings the verdict of a job that Redis has lost', async () => {
      const queued = await application(10_000);
      await worker();
      let finish: (verdict: unknown) => void = () => undefined;
      vendor.answer = () => new Promise((resolve) => (finish = resolve));
      const waiting = queued.register(newCall(), person('Smith'));
      await until(() => vendor.calls.length === 1);
      await look.flushall();
      finish(CONFIRMED);
      const [verdict, ms] = await timed(waiting);
      expect(verdict).toEqual(CONFIRMED);
      expect(ms).toBeLessThan(3_000 + SLACK_MS);
    });

    it('is unavailable when the job was refused and its input could be taken back', async () => {
      const queued = await application(20_000);
      const queue = Reflect.get(queued.exchanges, 'jobs') as Queue;
      queue.add = async () => {
        throw new Error('OOM command not allowed');
      };
      await worker();
      const [verdict, ms] = await timed(queued.register(newCall(), person('Smith')));
      expect(verdict).toEqual(UNAVAILABLE);
      expect(ms).toBeLessThan(1_000 + SLACK_MS);
      expect(await sealedKeys()).toEqual([]);
      expect(await queued.outcomeOf(newCall())).toEqual(UNAVAILABLE);
    });

    it('waits for the verdict when the job was stored although the queue said otherwise', async () => {
      const queued = await application(5_000);
      const queue = Reflect.get(queued.exchanges, 'jobs') as Queue;
      const add = queue.add.bind(queue);
      queue.add = async (...job) => {
        await add(...job);
        await until(() => vendor.calls.length === 1);
        throw new Error('Connection is closed.');
      };
      await worker();
      expect(await queued.register(newCall(), person('Smith'))).toEqual(CONFIRMED);
    });

    it('does not claim that nothing happened once a worker may have the job', async () => {
      const queued = await application(3_000);
      await worker();
      vendor.answer = () => never;
      const waiting = queued.register(newCall(), person('Smith'));
      await until(() => vendor.calls.length === 1);
      await server.kill9();
      expect(await waiting).toEqual(TIMED_OUT);
    });
  });

  describe('workers that go', () => {
    it('never has the vendor asked twice when a worker process is killed during the call', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'identity-vendor-'));
      const credential = 'test-credential';
      const sandbox = await startSandbox({
        host: '127.0.0.1',
        port: 0,
        parts: [new SandboxIdentityVendor({ folder, credential })],
      });
      processes.cleanups.push(
        () => rmSync(folder, { recursive: true }),
        () => sandbox.close(),
      );
      const received = async (key: string): Promise<number> =>
        ((await (await fetch(`${sandbox.url}/control/calls?key=${key}`)).json()) as { received: number }).received;
      const loader = new URL('../../support/typescript.js', import.meta.url).href;
      const child = spawn(
        process.execPath,
        [
          '--import',
          loader,
          new URL('worker-process.ts', import.meta.url).pathname,
          server.url,
          sandbox.url,
          credential,
          processes.masterKeys,
          processes.vaults.directory,
        ],
        {
          stdio: ['ignore', 'pipe', 'inherit'],
          env: { ...process.env, NODE_OPTIONS: '' },
        },
      );
      processes.cleanups.push(() => child.kill('SIGKILL'));
      await once(child.stdout, 'data');

      const queued = await application(4_000);
      const call = newCall();
      const waiting = queued.register(call, person('Timeouttest'));
      await until(async () => (await received(call.attemptId)) === 1);
      child.kill('SIGKILL');
      await once(child, 'exit');

      // A second worker takes the dead one's job for stalled as soon as its lock is over, and disposes of it.
      const http = new IdvIdentityVendor({ baseUrl: sandbox.url, credential, timeoutMs: 5_000 });
      processes.cleanups.push(() => http.close());
      vendor.answer = (_, applicant) => http.register(call, applicant as Applicant);
      await worker({ patience: { lockDuration: 400, stalledInterval: 100 } });
      await until(async () => (await job(call.attemptId)) === 0);
      expect(await waiting).toEqual(TIMED_OUT);
      expect(vendor.calls).toEqual([]);
      expect(await received(call.attemptId)).toBe(1);
    });

    it('could not call again even if BullMQ ran a stalled job again', async () => {
      const queued = await application(1_500);
      const call = newCall();
      const waiting = queued.register(call, person('Smith'));
      await until(async () => (await job(call.attemptId)) === 1);
      // A worker that takes the input and dies: by hand.
      const [key = ''] = await sealedKeys();
      expect(await look.getdelBuffer(key)).not.toBeNull();
      await worker();
      expect(await waiting).toEqual(TIMED_OUT);
      expect(vendor.calls).toEqual([]);
    });

    it('finishes its running calls when it is closed, and leaves what waits to others', async () => {
      const queued = await application();
      let finish: (verdict: unknown) => void = () => undefined;
      vendor.answer = () => new Promise((resolve) => (finish = resolve));
      const going = await worker({ settings: new CallSettings(5_000, 1) });
      const first = queued.register(newCall(), person('Smith'));
      await until(() => vendor.calls.length === 1);
      const second = queued.register(newCall(), person('Jones'));
      await until(async () => (await queued.exchanges.backlog()).waiting === 1);
      const closed = going.close();
      finish(CONFIRMED);
      expect(await first).toEqual(CONFIRMED);
      await closed;
      expect(vendor.calls).toHaveLength(1);
      vendor.answer = async () => CONFIRMED;
      await worker();
      expect(await second).toEqual(CONFIRMED);
    });

    it('gives up calls that outlast its closing, and says so to whoever waits', async () => {
      const queued = await application();
      vendor.answer = () => never;
      const going = await worker({ settings: new CallSettings(5_000, 64, 100) });
      const waiting = queued.register(newCall(), person('Smith'));
      await until(() => vendor.calls.length === 1);
      const [, ms] = await timed(going.close());
      expect(ms).toBeLessThan(1_500 + SLACK_MS);
      const [verdict, moreMs] = await timed(waiting);
      expect(verdict).toEqual(TIMED_OUT);
      expect(moreMs).toBeLessThan(1_000 + SLACK_MS);
    });
  });

  it('closes a worker in time although Redis died during its calls', async () => {
    const queued = await application(5_000);
    vendor.answer = () => never;
    const going = await worker({ settings: new CallSettings(5_000, 64, 100) });
    const waiting = queued.register(newCall(), person('Smith'));
    await until(() => vendor.calls.length === 1);
    await server.kill9();
    const [, ms] = await timed(going.close());
    expect(ms).toBeLessThan(3_000 + SLACK_MS);
    expect(await waiting).toEqual(TIMED_OUT);
  });

  it('tells how much waits and for how long', async () => {
    const queued = await application(3_000);
    expect(await queued.exchanges.backlog()).toEqual({ waiting: 0, active: 0, oldestWaitingMs: null });
    const all = [queued.register(newCall(), person('A'))];
    await until(async () => (await queued.exchanges.backlog()).waiting === 1);
    const firstSeen = performance.now();
    all.push(queued.register(newCall(), person('B')), queued.register(newCall(), person('C')));
    await until(async () => (await queued.exchanges.backlog()).waiting === 3);
    await until(() => performance.now() - firstSeen > 50);
    const { oldestWaitingMs } = await queued.exchanges.backlog();
    expect(oldestWaitingMs).toBeGreaterThanOrEqual(50);
    expect(oldestWaitingMs).toBeLessThan(3_000);
    vendor.answer = () => never;
    await worker({ settings: new CallSettings(3_000, 2) });
    await until(() => vendor.calls.length === 2);
    expect(await queued.exchanges.backlog()).toMatchObject({ waiting: 1, active: 2 });
    queued.exchanges.onApplicationShutdown();
    await Promise.all(all);
  });
});

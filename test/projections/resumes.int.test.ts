// A resume of missed events, on a real event store, vault and Redis (docs/contract/webhooks.md#resume). The test makes the attempts of the queue and
// counts the time.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Environment } from '../../src/kernel/environment.js';
import { newId } from '../../src/kernel/ids.js';
import { resumesOf } from '../../src/modules/webhooks/application/resume-deliveries.js';
import { RedisServer } from '../support/redis.js';
import { REFUSED, TAKEN, WebhookHarness } from '../unit/webhooks/harness.js';

let redis: RedisServer;
let harness: WebhookHarness;
let accountId: string;
let endpointId: string;

beforeAll(async () => {
  redis = await RedisServer.start();
  harness = await WebhookHarness.build(redis);
});
afterAll(async () => {
  await harness.close();
  await redis.stop();
});
beforeEach(async () => {
  ({ accountId, endpointId } = await harness.register());
  harness.receivers.answer = TAKEN;
  harness.receivers.requests.length = 0;
  harness.queue.due.length = 0;
});
afterEach(() => void (harness.receivers.before = () => Promise.resolve()));

/** Publishes events, and lets the handlers handle them. */
async function happens(count: number, environment?: Environment): Promise<void> {
  for (let number = 0; number < count; number++) await harness.happens(accountId, environment);
  await harness.react(accountId);
}
const resumeFrom = (resumeFrom: number, environment?: Environment): Promise<void> =>
  harness.change(accountId, endpointId, { resumeFrom }, environment);
/** The requests that have arrived: the sequence and, for live events, the environment. */
const arrived = (): (number | string)[] =>
  harness.receivers.requests.map(({ headers, body }) => {
    const sequence = Number(headers['service-event-sequence']);
    return Buffer.from(body).includes('"environment":"live"') ? `live ${sequence}` : sequence;
  });
const from = (first: number, last: number): number[] => Array.from({ length: last - first + 1 }, (_, i) => first + i);
const history = async (): Promise<string[]> =>
  (await harness.store.readStream(`webhook_endpoint-${accountId}`)).map(({ type }) => type);
const keys = (): Promise<string[]> => redis.client().keys(`{reaction:${resumesOf(accountId)}*`);
/** Makes attempts until the queue is empty. The handlers have handled everything before. */
async function settles(): Promise<void> {
  await harness.react(accountId);
  while (harness.queue.due.length > 0) await harness.attemptAll();
}
/** Publishes events, which are delivered as usual, and forgets the requests. */
async function happened(count: number, environment?: Environment): Promise<void> {
  await happens(count, environment);
  await settles();
  harness.receivers.requests.length = 0;
}

describe('a resume', () => {
  it('ends on an account where each delivery brings a new event, and new events come after it, once', async () => {
    await happened(6);
    await resumeFrom(2);
    harness.receivers.before = () => happens(1);
    await harness.resume(accountId);
    harness.receivers.before = () => Promise.resolve();
    expect([arrived(), (await history()).at(-1)]).toEqual([from(2, 6), 'WebhookResumed']);
    await harness.ends(accountId);
    await harness.attemptAll();
    expect(arrived().slice(5).sort()).toEqual([10, 11, 7, 8, 9]);
    expect(await harness.resume(accountId)).toBe(0);
    await happens(1);
    await settles();
    expect(arrived()).toHaveLength(11);
  });

  it('sends at most fifty events a second, of both environments together', async () => {
    await happened(30);
    await happened(30, 'live');
    await resumeFrom(1);
    await resumeFrom(1, 'live');
    const times: number[] = [];
    let time = (): number => 0;
    harness.receivers.before = async () => void times.push(time());
    await harness.resume(accountId, { onTime: (now) => void (time = now) });
    expect(times).toHaveLength(60);
    expect(times.filter((at, place) => place >= 50 && at - (times[place - 50] ?? 0) < 1_000)).toEqual([]);
  });

  it('takes turns with the resume of the other environment', async () => {
    await happened(3);
    await happened(2, 'live');
    await resumeFrom(1);
    await resumeFrom(1, 'live');
    await harness.resume(accountId);
    expect(arrived()).toEqual([1, 'live 1', 2, 'live 2', 3]);
  });

  it('does not pass an event whose first attempt waits, and goes on in order when the queue works again', async () => {
    await happened(4);
    await resumeFrom(1);
    await harness.resume(accountId, { worker: false });
    await harness.resume(accountId, { worker: false });
    expect([arrived(), harness.queue.due.length > 0]).toEqual([[], true]);
    await harness.resume(accountId);
    expect(arrived()).toEqual(from(1, 4));
  });

  it('does not wait for the next attempts of an event that was refused', async () => {
    await happened(3);
    await resumeFrom(1);
    harness.receivers.answer = REFUSED;
    await harness.resume(accountId);
    expect([arrived(), (await history()).at(-1)]).toEqual([from(1, 3), 'WebhookResumed']);
  });

  it('sends nothing twice when Redis loses its place', async () => {
    await happened(4);
    await resumeFrom(1);
    const stops = new Error('killed');
    harness.receivers.before = async () => {
      if (harness.receivers.requests.length === 3) throw stops;
    };
    await expect(harness.resume(accountId)).rejects.toBe(stops);
    harness.receivers.before = () => Promise.resolve();
    for (const key of await keys()) await redis.client().del(key);
    await harness.resume(accountId);
    // The killed attempt has no record, so it is made again.
    expect(arrived()).toEqual([1, 2, 3, 3, 4]);
  });

  it('ends when its place is beyond the feed, as after the restore of an older log', async () => {
    await happened(2);
    await resumeFrom(1);
    const { resumeId } = (await harness.store.readStream(`webhook_endpoint-${accountId}`)).at(-1)?.data as {
      resumeId: string;
    };
    await harness.checkpoints.take(resumesOf(accountId), 'earlier', 1_000);
    await harness.checkpoints.save(resumesOf(accountId), 'earlier', `other=1 ${resumeId}=50`, 1_000);
    await harness.checkpoints.release(resumesOf(accountId), 'earlier');
    await harness.resume(accountId);
    await happens(1);
    await settles();
    expect([arrived(), (await history()).at(-1)]).toEqual([[3], 'WebhookResumed']);
  });

  it('is left to the process that works on it', async () => {
    await happened(1);
    await resumeFrom(1);
    await harness.checkpoints.take(resumesOf(accountId), 'other', 60_000);
    expect(await harness.resume(accountId)).toBe(0);
    await harness.checkpoints.release(resumesOf(accountId), 'other');
    await harness.resume(accountId);
    expect(arrived()).toEqual([1]);
  });

  it('leaves nothing in Redis when it is over, or its endpoint is deleted between two runs', async () => {
    await happened(1);
    await resumeFrom(1);
    await harness.resume(accountId);
    expect(await keys()).toEqual([]);
    await resumeFrom(1);
    await harness.resume(accountId, { worker: false });
    expect(await keys()).toHaveLength(1);
    await harness.delete(accountId, endpointId);
    await settles();
    expect([await keys(), arrived()]).toEqual([[], [1]]);
  });

  it('that is replaced gives the new one its head, and no event is lost', async () => {
    await happened(3);
    await resumeFrom(1);
    await happens(2);
    await resumeFrom(99);
    await harness.resume(accountId);
    expect(arrived()).toEqual([]);
    await harness.ends(accountId);
    await harness.attemptAll();
    expect(arrived().sort()).toEqual([4, 5]);
  });

  it('is not begun again by the same request', async () => {
    await happened(3);
    await resumeFrom(2);
    await resumeFrom(2);
    expect((await history()).filter((type) => type === 'WebhookResumeRequested')).toHaveLength(1);
    await harness.resume(accountId);
    expect(arrived()).toEqual([2, 3]);
    await resumeFrom(2);
    await harness.resume(accountId);
    expect(arrived()).toEqual([2, 3, 2, 3]);
  });

  it('is over when its endpoint is disabled, and the events that it held back are canceled', async () => {
    harness.receivers.answer = REFUSED;
    for (let count = 0; count < 3; count++) await harness.exhaust(accountId, endpointId);
    await resumeFrom(1);
    await harness.resume(accountId, { worker: false });
    await happens(2);
    harness.clock.time = await harness.disableAfter(accountId);
    await harness.disableOverdue(accountId);
    harness.receivers.requests.length = 0;
    await harness.ends(accountId);
    while (harness.queue.due.length > 0) await harness.attemptAll();
    await harness.resume(accountId);
    const states = await Promise.all((await harness.deliveriesOf(endpointId)).map((id) => harness.stateOf(id)));
    const ofHeldBack = states.filter(({ place }) => (place?.sequence ?? 0) > 3);
    expect([arrived(), ofHeldBack.map(({ status }) => status), await keys()]).toEqual([
      [],
      ['canceled', 'canceled'],
      [],
    ]);
  });

  it('loses no event that was stored before its request, and that the feed gets after it', async () => {
    const owner = newId();
    // The event is older than the endpoint, so it would make no delivery without the request.
    await harness.happens(owner);
    const registered = await harness.register(owner);
    await harness.change(owner, registered.endpointId, { resumeFrom: 1 });
    await harness.resume(owner);
    await harness.ends(owner);
    await harness.react(owner);
    await harness.attemptAll();
    expect(arrived()).toEqual([1]);
  });

  it('loses no event that the feed gets while a disabled endpoint becomes active', async () => {
    harness.receivers.answer = REFUSED;
    for (let count = 0; count < 3; count++) await harness.exhaust(accountId, endpointId);
    harness.clock.time = await harness.disableAfter(accountId);
    await harness.disableOverdue(accountId);
    await harness.react(accountId);
    await harness.happens(accountId);
    await resumeFrom(4);
    harness.receivers.answer = TAKEN;
    harness.receivers.requests.length = 0;
    await harness.resume(accountId);
    await happens(1);
    await harness.attemptAll();
    expect(arrived().sort()).toEqual([4, 5]);
  });

  it('that was one of many gets no second delivery of its events when all handlers begin at the start of the log', async () => {
    await happened(1);
    for (let count = 0; count < 60; count++) {
      harness.limiter.endWindows(3_600);
      await resumeFrom(1_000);
      await harness.happens(accountId);
      await harness.publish();
      await harness.resume(accountId);
    }
    await settles();
    await settles();
    expect(
      arrived()
        .map(Number)
        .sort((one, other) => one - other),
    ).toEqual(from(2, 61));
  });
});

describe('an event that a resume holds back', () => {
  it('does not count as missing for the hourly check, before and after the end', async () => {
    await happened(2);
    await harness.passes((await harness.store.head()) ?? '');
    await harness.check();
    await resumeFrom(1);
    await happens(2);
    await harness.passes((await harness.store.head()) ?? '');
    expect((await harness.check()).missing).toBe(0);
    await harness.resume(accountId);
    await settles();
    await harness.passes((await harness.store.head()) ?? '');
    expect((await harness.check()).missing).toBe(0);
    expect(arrived()).toEqual(from(1, 4));
  });

  it('does not stop the check of other accounts', async () => {
    await happened(1);
    await resumeFrom(1);
    await happens(1);
    const other = await harness.register(newId());
    await harness.happens(other.accountId);
    await harness.publish();
    await harness.passes((await harness.store.head()) ?? '');
    expect((await harness.check()).missing).toBe(1);
  });

  it('is sent by a replay, as every event that a resume has delivered', async () => {
    await happened(2);
    await resumeFrom(1);
    await happens(1);
    expect(await harness.replay(accountId)).toEqual({ events: 3, sentAgain: 2, made: 1 });
    await harness.attemptAll();
    expect(arrived().sort()).toEqual([1, 2, 3]);
    await harness.resume(accountId);
    harness.receivers.requests.length = 0;
    expect(await harness.replay(accountId)).toEqual({ events: 3, sentAgain: 3, made: 0 });
    await harness.attemptAll();
    expect(arrived().sort()).toEqual([1, 2, 3]);
  });
});

/** Numbers from 0 to below `below`, the same for each run of the test. */
function chooser(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * below);
  };
}

describe('resumes, handlers, checks and the queue in any order', () => {
  it.each([1, 2, 3, 4, 5, 6])('deliver every event, and those without a resume once (order %d)', async (seed) => {
    const choose = chooser(seed);
    let published = 0;
    let earliest = Infinity;
    const follower = harness.follower(accountId);
    const steps: (() => Promise<unknown>)[] = [
      () => harness.happens(accountId).then(() => (published += 1)),
      () => harness.publish(),
      () => follower.handle('published'),
      () => follower.handle('ended'),
      () => harness.attemptAll(),
      () => harness.resume(accountId, { worker: choose(2) === 0 }),
      () => harness.check(),
      async () => {
        const first = 1 + choose(published + 2);
        harness.limiter.endWindows(3_600);
        earliest = Math.min(earliest, first);
        await resumeFrom(first);
      },
    ];
    for (let step = 0; step < 60; step++) await steps[choose(steps.length)]?.();
    await harness.publish();
    await follower.handle('published');
    await harness.resume(accountId);
    await follower.handle('ended');
    while (harness.queue.due.length > 0) await harness.attemptAll();
    const sequences = arrived().map(Number);
    expect([...new Set(sequences)].sort((one, other) => one - other)).toEqual(from(1, published));
    const twice = sequences.filter((sequence, place) => sequences.indexOf(sequence) < place);
    expect(twice.filter((sequence) => sequence < earliest)).toEqual([]);
  });
});

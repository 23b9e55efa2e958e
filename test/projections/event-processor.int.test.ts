import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Redis } from 'ioredis';
import { EmbeddedEventStore } from '../../src/adapters/event-store/embedded.js';
import { RedisHandlerCheckpoints } from '../../src/adapters/handler-checkpoints/redis.js';
import { categoryOf, type RecordedEvent } from '../../src/kernel/domain-event.js';
import { newId } from '../../src/kernel/ids.js';
import { EventProcessor } from '../../src/platform/subscriptions/event-processor.js';
import type { EventHandler } from '../../src/ports/event-handler.js';
import { RedisServer } from '../support/redis.js';
import { unpack } from '../support/stored-data.js';
import { append, Log, opened, stamped, Recorder } from './fixtures.js';
import { until } from '../support/eventually.js';

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

describe('an event handler', () => {
  let log: Log;
  let redis: Redis;
  let name: string;
  let processors: EventProcessor[];
  let seen: string[];
  let told: Recorder;
  let onEvent: (event: RecordedEvent) => Promise<void> | void;

  beforeEach(async () => {
    log = await Log.open();
    redis = new Redis(server.url);
    name = `handler_${newId().replaceAll('-', '')}`;
    processors = [];
    seen = [];
    told = new Recorder();
    onEvent = () => undefined;
  });
  afterEach(async () => {
    await Promise.all(processors.map((eventProcessor) => eventProcessor.stop()));
    redis.disconnect();
    await log.close();
  });

  function start(types: ReadonlySet<string>): EventProcessor {
    const eventProcessor = new EventProcessor(log.store, new RedisHandlerCheckpoints(redis), told, 200);
    const handler: EventHandler = {
      name,
      categories: ['parcel'],
      types,
      handle: async (event) => {
        await onEvent(event);
        seen.push(event.id);
      },
    };
    eventProcessor.on(handler);
    eventProcessor.start();
    processors.push(eventProcessor);
    return eventProcessor;
  }

  async function appendSome(count: number): Promise<string[]> {
    const id = newId();
    await append(log.store, id, opened('a'));
    for (let stamp = 1; stamp < count; stamp++) await append(log.store, id, stamped());
    return (await log.store.readStream(`parcel-${id}`)).map((event) => event.id);
  }
  const everyType = async (): Promise<ReadonlySet<string>> =>
    new Set((await log.store.readAll(null, Infinity)).map(({ type }) => type));

  it('runs immediately after an append when it is marked as inline; if it fails, the subscription runs it again', async () => {
    const eventProcessor = new EventProcessor(log.store, new RedisHandlerCheckpoints(redis), told);
    processors.push(eventProcessor);
    const handled: string[] = [];
    const handler = (which: string, fields: Partial<EventHandler>): EventHandler => ({
      name: `${name}_${which}`,
      categories: ['parcel'],
      types: new Set(['parcel-opened']),
      handle: async () => void handled.push(which),
      ...fields,
    });
    const [event] = await append(log.store, newId(), opened('a'));
    const types = new Set([event!.type]);
    eventProcessor.on(handler('subscribed', { types }));
    eventProcessor.on(handler('failing', { types, inline: true, handle: () => Promise.reject(new Error('not now')) }));
    eventProcessor.on(handler('inline', { types, inline: true }));
    eventProcessor.on(handler('of_another_type', { inline: true }));
    eventProcessor.on(handler('of_another_category', { types, inline: true, categories: ['letter'] }));
    await eventProcessor.handleInline([event!]);
    expect(handled).toEqual(['inline']);
    eventProcessor.start();
    await until('the subscription runs both again', () => handled.length >= 3);
    expect(handled.slice(1).sort()).toEqual(['inline', 'subscribed']);
  });

  it('gets earlier and later events in order', async () => {
    const before = await appendSome(3);
    start(await everyType());
    await until('it has caught up', () => seen.length === 3);
    const after = await appendSome(2);
    await until('it follows', () => seen.length === 5);
    expect(seen).toEqual([...before, ...after]);
  });

  it('continues after a restart', async () => {
    await appendSome(3);
    const types = await everyType();
    const first = start(types);
    await until('it has caught up', () => seen.length === 3);
    await first.stop();
    const next = await appendSome(2);
    start(types);
    await until('it follows', () => seen.length >= 5);
    expect(seen.slice(3)).toEqual(next);
  });

  it('saves its checkpoint once a second, not for every event', async () => {
    const checkpoints = new RedisHandlerCheckpoints(redis);
    const save = jest.spyOn(RedisHandlerCheckpoints.prototype, 'save');
    try {
      await appendSome(1);
      const first = start(await everyType());
      await until('it has caught up', () => seen.length === 1);
      // The events arrive one by one, each in a batch of its own.
      for (let count = 2; count <= 40; count++) {
        await appendSome(1);
        await until('it follows', () => seen.length === count);
      }
      expect(save.mock.calls.length).toBeLessThan(20);
      await first.stop();
      const head = await log.store.head();
      expect(await checkpoints.passed(name)).toBe(head);
    } finally {
      save.mockRestore();
    }
  });

  it('does not handle earlier events again when a later event fails', async () => {
    const ids = await appendSome(1);
    start(await everyType());
    for (const count of [1, 2, 3]) {
      await until('it follows', () => seen.length === count);
      ids.push(...(await appendSome(1)));
    }
    await until('it follows', () => seen.length === 4);
    let failures = 1;
    onEvent = () => {
      if (failures-- > 0) throw new Error('not now');
    };
    ids.push(...(await appendSome(1)));
    await until('it got past it', () => seen.length >= 5);
    expect(seen).toEqual(ids);
  });

  it('handles a failed event again', async () => {
    const ids = await appendSome(3);
    let failures = 2;
    onEvent = (event) => {
      if (event.id === ids[1] && failures-- > 0) throw new Error('not now');
    };
    start(await everyType());
    await until('it got past it', () => seen.length >= 3);
    // Earlier events of the batch may be handled again.
    expect(seen.at(-1)).toBe(ids[2]);
    expect(new Set(seen)).toEqual(new Set(ids));
  });

  it('runs in one process at a time, and another process takes over when this process stops', async () => {
    await appendSome(1);
    const types = await everyType();
    const first = start(types);
    await until('the first runs it', () => seen.length === 1);
    const second = start(types);
    await appendSome(1);
    await until('the first goes on', () => seen.length === 2);
    expect([first.status()[0]?.active, second.status()[0]?.active]).toEqual([true, false]);
    await first.stop();
    await appendSome(1);
    await until('the second has taken over', () => seen.length === 3);
    expect(second.status()[0]?.active).toBe(true);
  });

  it('starts from the beginning when Redis has lost its checkpoint', async () => {
    await appendSome(2);
    const types = await everyType();
    const first = start(types);
    await until('it has caught up', () => seen.length === 2);
    await first.stop();
    await redis.flushall();
    start(types);
    await until('it has seen everything again', () => seen.length === 4);
    expect(seen.slice(2)).toEqual(seen.slice(0, 2));
  });

  it('reports a checkpoint beyond the end of the log, and starts again from the beginning', async () => {
    const ids = await appendSome(2);
    const checkpoints = new RedisHandlerCheckpoints(redis);
    await checkpoints.take(name, 'before', 60_000);
    await checkpoints.save(name, 'before', '99999999999999999999', 60_000);
    await checkpoints.release(name, 'before');
    start(await everyType());
    await until('it has seen everything', () => seen.length === 2);
    expect([seen, told.foreigners]).toEqual([ids, [name]]);
  });

  it('forgets a checkpoint beyond the end of the log before anything starts, and keeps a valid checkpoint', async () => {
    const ids = await appendSome(2);
    const checkpoints = new RedisHandlerCheckpoints(redis);
    const placeBecomes = async (place: string): Promise<string | null> => {
      await checkpoints.take(name, 'before', 60_000);
      await checkpoints.save(name, 'before', place, 60_000);
      await checkpoints.release(name, 'before');
      const eventProcessor = new EventProcessor(log.store, checkpoints, told);
      eventProcessor.on({ name, categories: ['parcel'], types: new Set(), handle: async () => undefined });
      await eventProcessor.forgetForeignPlaces();
      return checkpoints.passed(name);
    };
    const { position } = (await log.store.readAll(null, Infinity)).find(({ id }) => id === ids[0]) as RecordedEvent;
    expect([await placeBecomes(position), told.foreigners]).toEqual([position, []]);
    expect([await placeBecomes('99999999999999999999'), told.foreigners]).toEqual([null, [name]]);
  });

  it('saves nothing when another process runs the handler', async () => {
    const checkpoints = new RedisHandlerCheckpoints(redis);
    const take = (holder: string) => checkpoints.take(name, holder, 60_000);
    const save = (holder: string, place: string) => checkpoints.save(name, holder, place, 60_000);
    expect([await take('one'), await checkpoints.passed(name)]).toEqual([true, null]);
    expect(await take('other')).toBe(false);
    expect(await save('one', '0001')).toBe(true);
    await checkpoints.release(name, 'other');
    expect(await take('other')).toBe(false);
    await checkpoints.release(name, 'one');
    expect([await take('other'), await checkpoints.passed(name)]).toEqual([true, '0001']);
    await checkpoints.forget(name, 'one');
    expect(await save('one', '0002')).toBe(false);
    expect([await take('other'), await checkpoints.passed(name)]).toEqual([true, '0001']);
  });

  describe('an event handler that an earlier release divided into shares', () => {
    const place = (share: number) => `{reaction:${name}}:through${share === 0 ? '' : `:${share}`}`;

    it('continues at the checkpoint of the slowest share, and has one checkpoint afterwards', async () => {
      const ids = await appendSome(4);
      const [, second, third] = (await log.store.readAll(null, Infinity)).map(({ position }) => position);
      await redis.mset({ [place(0)]: third!, [place(1)]: second!, [place(7)]: third! });
      const eventProcessor = start(await everyType());
      await until('it has caught up', () => seen.length === 2);
      await eventProcessor.stop();
      expect(seen).toEqual(ids.slice(2));
      expect(await redis.keys(`{reaction:${name}}:through*`)).toEqual([place(0)]);
    });

    it('starts from the beginning when one share had not started', async () => {
      const ids = await appendSome(2);
      const [, last] = (await log.store.readAll(null, Infinity)).map(({ position }) => position);
      await redis.mset({ [place(0)]: last!, [place(5)]: '' });
      start(await everyType());
      await until('it has caught up', () => seen.length === 2);
      expect(seen).toEqual(ids);
    });
  });
});

it('an event handler continues from the checkpoint that the first version stored', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'first-version-'));
  await unpack('test/fixtures/first-version/data', folder);
  const stored = await RedisServer.start((place) => unpack('test/fixtures/first-version/redis', place));
  const store = EmbeddedEventStore.open({ directory: join(folder, 'events') });
  const redis = stored.client();
  const seen: string[] = [];
  const processor = new EventProcessor(store, new RedisHandlerCheckpoints(redis), new Recorder());
  try {
    const place = await redis.get('{reaction:report_credit}:through');
    const earlier = await store.readAll(null, Infinity);
    const after = earlier.filter(({ position }) => place !== null && position > place);
    expect(after.length).toBeLessThan(earlier.length);
    const [added] = await append(store, newId(), opened('a'));
    processor.on({
      name: 'report_credit',
      categories: ['parcel', ...new Set(earlier.map(({ stream }) => categoryOf(stream)))],
      types: new Set([added, ...earlier].map((event) => event!.type)),
      handle: async ({ id }) => void seen.push(id),
    });
    processor.start();
    await until('it has handled the new event', () => seen.includes(added!.id));
    expect(seen).toEqual([...after, added].map((event) => event!.id));
  } finally {
    await processor.stop();
    await store.close();
    await stored.stop();
    await rm(folder, { recursive: true, force: true });
  }
});

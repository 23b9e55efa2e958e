// The EventStoreDB adapter and the test double of the wire protocol: the common suite, and each known fault of the
// client.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { ServerCredentials } from '@grpc/grpc-js';
import {
  type AllStreamSubscription,
  EventStoreDBClient,
  jsonEvent,
  NO_STREAM,
  type StreamingRead,
  UnavailableError,
  UnknownError,
  WrongExpectedVersionError,
} from '@eventstore/db-client';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { EventStoreDbEventStore, type EventStoreDbOptions } from '../../../src/adapters/event-store/eventstoredb.js';
import { attempt, within } from '../../../src/adapters/event-store/eventstoredb/attempts.js';
import { checkConnectionString, withLimits } from '../../../src/adapters/event-store/eventstoredb/connection-string.js';
import { Feed } from '../../../src/adapters/event-store/eventstoredb/feed.js';
import { buildClient, RoleClient } from '../../../src/adapters/event-store/eventstoredb/guarded-client.js';
import { positionOf, textOf } from '../../../src/adapters/event-store/eventstoredb/positions.js';
import { collect } from '../../../src/adapters/event-store/eventstoredb/reads.js';
import { newId } from '../../../src/kernel/ids.js';
import {
  type EventBatch,
  EventStoreUnavailable,
  type ExpectedRevision,
  type NewEvent,
  UnstorableEvent,
} from '../../../src/ports/event-store.js';
import { until } from '../../support/eventually.js';
import { selfSignedCertificate } from '../../support/eventstoredb-double/certificate.js';
import {
  ACCESS_DENIED,
  type Fault,
  NOT_READY,
  TIMED_OUT,
  TOO_BUSY,
  UNKNOWN,
} from '../../support/eventstoredb-double/faults.js';
import { Hanging } from '../../support/eventstoredb-double/hanging.js';
import { EventStoreDbDouble } from '../../support/eventstoredb-double/server.js';
import { describeEventStore, follow, newCategory, newEvent, newEvents } from './suite.js';

let double: EventStoreDbDouble;
let store: EventStoreDbEventStore;

function connect(options: Partial<EventStoreDbOptions> = {}): EventStoreDbEventStore {
  store = EventStoreDbEventStore.connect({ connectionString: double.connectionString, ...options });
  return store;
}

describeEventStore('EventStoreDB adapter on the double', {
  open: async () => {
    double = await EventStoreDbDouble.start();
    return connect();
  },
  reopen: async () => {
    await store.close();
    return connect();
  },
  close: async () => {
    await store.close();
    await double.stop();
  },
  logStartsEmpty: true,
  together: 'one-after-the-other',
  dropSubscriptions: async (how) => {
    double.dropSubscriptions(how === 'end' ? 'end' : UNKNOWN);
    await Promise.resolve();
  },
});

const SWALLOWED: Fault = { kind: 'swallow', stored: false };
const STORED_AND_SWALLOWED: Fault = { kind: 'swallow', stored: true };

/** A promise that the test settles. */
function gate(): { readonly opened: Promise<void>; open(): void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open: () => open() };
}

describe('EventStoreDB adapter: faults of the client and the server', () => {
  let category: string;
  let stream: string;
  const nodes: EventStoreDbDouble[] = [];
  const stores: EventStoreDbEventStore[] = [];

  beforeEach(async () => {
    double = await startNode();
    category = newCategory();
    stream = `${category}-${newId()}`;
  });

  afterEach(async () => {
    for (const open of stores.splice(0)) await open.close();
    for (const node of nodes.splice(0)) await node.stop();
  });

  async function startNode(options: Parameters<typeof EventStoreDbDouble.start>[0] = {}): Promise<EventStoreDbDouble> {
    const node = await EventStoreDbDouble.start(options);
    nodes.push(node);
    return node;
  }

  /** A store that retries without a pause, so that tests do not wait. */
  function open(options: Partial<EventStoreDbOptions> = {}): EventStoreDbEventStore {
    const opened = connect({ retryPauseMs: 1, ...options });
    stores.push(opened);
    return opened;
  }

  function idsStored(of = stream): string[] {
    return (double.log.stream(of) ?? []).map(({ id }) => id);
  }

  /** The batches of a subscription, one at a time. */
  function batchesOf(
    options: { after?: string | null; batchSize?: number; categories?: string[] } = {},
  ): AsyncIterator<EventBatch> {
    const { signal } = new AbortController();
    return store.subscribe({ after: null, categories: [category], ...options, signal })[Symbol.asyncIterator]();
  }

  async function untilCaughtUp(batches: AsyncIterator<EventBatch>): Promise<void> {
    for (let next = await batches.next(); next.done === true || !next.value.caughtUp;) next = await batches.next();
  }

  /** Rejects if the subscription fails. */
  async function untilDropped(batches: AsyncIterator<EventBatch>): Promise<void> {
    for (let next = await batches.next(); next.done !== true;) next = await batches.next();
  }

  describe('an append', () => {
    it.each([
      ['stored', STORED_AND_SWALLOWED],
      ['did not store', SWALLOWED],
    ])(
      'is sent again with the same ids and revision, and is stored once, when the server %s and never answered',
      async (_case, fault) => {
        open({ appendDeadlineMs: 500 });
        double.faults.plan('append', fault);
        const events = newEvents(3);
        expect(await store.append(stream, 'no-stream', events)).toEqual({ outcome: 'appended', revision: 2 });
        expect(double.appends.length).toBeGreaterThanOrEqual(2);
        const ids = events.map(({ id }) => id);
        for (const sent of double.appends)
          expect(sent).toEqual({ stream, expected: 'no-stream', ids, requiresLeader: true });
        expect(idsStored()).toEqual(events.map(({ id }) => id));
      },
    );

    it.each([
      ['an unknown error', UNKNOWN],
      ['a timeout of the server', TIMED_OUT],
      ['not ready', NOT_READY],
      ['too busy', TOO_BUSY],
      ['access denied, as a server says while it starts', ACCESS_DENIED],
    ])('counts %s as an unknown outcome, whether the events were stored or not', async (_case, status) => {
      open();
      double.faults.plan('append', { kind: 'error', status, stored: false }, { kind: 'error', status, stored: true });
      const events = newEvents(2);
      expect(await store.append(stream, 'no-stream', events)).toEqual({ outcome: 'appended', revision: 1 });
      expect(idsStored()).toEqual(events.map(({ id }) => id));
    });

    it('is a conflict when another append came first while its outcome was unknown', async () => {
      open({ appendDeadlineMs: 400 });
      double.faults.plan('append', SWALLOWED);
      const pending = store.append(stream, 'no-stream', newEvents(1));
      await until(() => double.appends.length === 1);
      double.write(stream, {}, {});
      expect(await pending).toEqual({ outcome: 'conflict', current: 1 });
    });

    it('is sent at most six times and is then unavailable', async () => {
      open();
      double.faults.plan('append', ...Array<Fault>(7).fill({ kind: 'error', status: UNKNOWN, stored: false }));
      await expect(store.append(stream, 'no-stream', newEvents(1))).rejects.toBeInstanceOf(EventStoreUnavailable);
      expect(double.appends).toHaveLength(6);
    });

    it('that is never answered ends as unavailable', async () => {
      open({ appendDeadlineMs: 60 });
      double.faults.plan('append', ...Array<Fault>(6).fill(SWALLOWED));
      await expect(store.append(stream, 'no-stream', newEvents(1))).rejects.toBeInstanceOf(EventStoreUnavailable);
    });

    it('ends in time, even if the attempts and pauses together would take longer', async () => {
      const role = new RoleClient(() => buildClient(double.connectionString));
      const { signal } = new AbortController();
      const limits = { totalMs: 150, attemptMs: 100, retries: 5 };
      const never = new Promise<never>(() => undefined);
      for (const pauseMs of [1, 1_000_000]) {
        const attempted = attempt(role, { ...limits, pauseMs }, signal, (_client, limitMs) =>
          within(limitMs, signal, never),
        );
        await expect(attempted).rejects.toBeInstanceOf(EventStoreUnavailable);
      }
    });

    it('is not affected when the stream of another client breaks', async () => {
      open();
      const elsewhere = await startNode();
      const other = open({ connectionString: elsewhere.connectionString });
      const { opened, open: answer } = gate();
      elsewhere.faults.plan('append', { kind: 'delay', until: opened });
      elsewhere.faults.plan('batch-append', { kind: 'delay', until: opened });
      const innocent = other.append(stream, 'no-stream', newEvents(1));
      await until(() => elsewhere.log.stream(stream) !== undefined);
      double.faults.plan('append', { kind: 'error', status: UNKNOWN, stored: false });
      double.faults.plan('batch-append', { kind: 'error', status: UNKNOWN, stored: false });
      await stores[0]!.append(stream, 'no-stream', newEvents(1));
      answer();
      expect(await innocent).toEqual({ outcome: 'appended', revision: 0 });
      expect(elsewhere.appends).toHaveLength(1);
    });

    it("never uses the batch call, although the server offers it, and never asks for the server's features", async () => {
      open();
      double.faults.plan('server-features', SWALLOWED);
      await store.append(stream, 'no-stream', newEvents(5));
      expect(double.calls).toMatchObject({ append: 1, 'batch-append': 0, 'server-features': 0 });
    });

    it('avoids a batch call in which an error on one client still rejects the appends of all others', async () => {
      const elsewhere = await startNode();
      const clients = [double, elsewhere].map((node) => EventStoreDBClient.connectionString(node.connectionString));
      const [guilty, innocent] = clients;
      const send = (client = guilty!, to = stream): Promise<unknown> =>
        client.appendToStream(to, jsonEvent({ type: 'Tried', data: {} }), { expectedRevision: NO_STREAM });
      await send();
      await expect(send()).rejects.toBeInstanceOf(WrongExpectedVersionError);
      elsewhere.faults.plan('batch-append', SWALLOWED);
      const waiting = send(innocent);
      await until(() => elsewhere.calls['batch-append'] === 1);
      double.faults.plan('batch-append', { kind: 'error', status: UNKNOWN, stored: false });
      await expect(send(guilty, `${stream}-2`)).rejects.toBeInstanceOf(UnknownError);
      await expect(waiting).rejects.toBeInstanceOf(UnknownError);
      await Promise.all(clients.map((client) => client.dispose()));
    });

    it.each<[string, ExpectedRevision, NewEvent]>([
      ['a BigInt in the data, which would hang for ever', 'no-stream', newEvent({ cents: 1n as unknown as number })],
      ['an expected revision of -1, which would fail with an unclear error', -1, newEvent()],
    ])('with %s is refused before the server is asked', async (_case, expected, event) => {
      open();
      await expect(store.append(stream, expected, [event])).rejects.toBeInstanceOf(UnstorableEvent);
      await store.ping();
      expect(double.appends).toEqual([]);
    });

    it('is acknowledged with the original revision even if the answer names no position', async () => {
      open();
      const events = newEvents(2);
      await store.append(stream, 'no-stream', events);
      await store.append(stream, 1, newEvents(3));
      double.faults.plan('append', { kind: 'no-position' });
      expect(await store.append(stream, 'no-stream', events)).toEqual({ outcome: 'appended', revision: 1 });
      expect(double.faults.left('append')).toBe(0);
      expect(double.appends).toHaveLength(3);
    });

    it('succeeds when the server is back at the same address, without a restart of the service', async () => {
      open({ retryPauseMs: 100 });
      await store.append(stream, 'no-stream', newEvents(1));
      const { port, log } = double;
      await double.stop();
      const pending = stores[0]!.append(stream, 0, newEvents(1));
      await expect(open().head()).rejects.toBeInstanceOf(EventStoreUnavailable);
      double = await startNode({ port, log });
      expect(await pending).toEqual({ outcome: 'appended', revision: 1 });
      expect(await store.head()).not.toBeNull();
    });
  });

  describe('a cluster of EventStoreDB nodes', () => {
    let follower: EventStoreDbDouble;

    beforeEach(async () => {
      follower = await startNode({ log: double.log });
      double.cluster = follower.cluster = [double, follower];
    });

    function gossips(): number {
      return double.calls.gossip + follower.calls.gossip;
    }

    it('is asked for its leader, which then receives appends and reads', async () => {
      open({ connectionString: `esdb://127.0.0.1:${follower.port},127.0.0.1:${double.port}?tls=false` });
      await store.append(stream, 'no-stream', newEvents(1));
      expect(await store.readStream(stream)).toHaveLength(1);
      expect(follower.calls).toMatchObject({ append: 0, read: 0 });
      expect(gossips()).toBe(1);
    });

    it('sends a caller of a follower to the leader', async () => {
      open({ connectionString: follower.connectionString });
      expect(await store.append(stream, 'no-stream', newEvents(1))).toEqual({ outcome: 'appended', revision: 0 });
      open({ connectionString: follower.connectionString });
      expect(await store.readStream(stream)).toHaveLength(1);
      expect([follower.calls.read, double.calls.read]).toEqual([1, 1]);
      open({ connectionString: follower.connectionString });
      expect(await store.head()).not.toBeNull();
      expect([follower.calls.read, double.calls.read]).toEqual([2, 2]);
      expect([follower.appends.length, double.appends.length]).toEqual([1, 1]);
      open({ connectionString: follower.connectionString });
      await expect(batchesOf().next()).rejects.toBeInstanceOf(EventStoreUnavailable);
      await untilCaughtUp(batchesOf());
      expect([follower.calls.subscribe, double.calls.subscribe]).toEqual([1, 1]);
    });

    it('is asked for its leader when a node does not answer an append in time, and another node receives the append', async () => {
      open({
        connectionString: `esdb://127.0.0.1:${double.port},127.0.0.1:${follower.port}?tls=false`,
        appendDeadlineMs: 400,
      });
      await store.append(stream, 'no-stream', newEvents(1));
      double.cluster = follower.cluster = [follower, double];
      double.faults.plan('append', SWALLOWED);
      expect(await store.append(stream, 0, newEvents(1))).toEqual({ outcome: 'appended', revision: 1 });
      expect([double.appends.length, follower.appends.length]).toEqual([2, 1]);
    });

    it('has a new leader, which is found when the old leader redirects callers to it', async () => {
      open({ connectionString: `esdb://127.0.0.1:${follower.port},127.0.0.1:${double.port}?tls=false` });
      await store.append(stream, 'no-stream', newEvents(1));
      double.cluster = follower.cluster = [follower, double];
      expect(await store.append(stream, 0, newEvents(1))).toEqual({ outcome: 'appended', revision: 1 });
      expect(follower.appends).toHaveLength(1);
    });

    it.each([
      [2, 1],
      [3, 2],
      [5, 2],
    ])(
      'is asked again by a new client after three failures in a row: %i failures, asked %i times',
      async (failures, asked) => {
        open({ connectionString: `esdb://127.0.0.1:${follower.port},127.0.0.1:${double.port}?tls=false` });
        double.faults.plan('append', ...Array<Fault>(failures).fill({ kind: 'error', status: UNKNOWN, stored: false }));
        expect(await store.append(stream, 'no-stream', newEvents(1))).toEqual({ outcome: 'appended', revision: 0 });
        expect(gossips()).toBe(asked);
      },
    );

    it('continues with its new leader while the old one hangs, whether or not the client was connected to the old one', async () => {
      const hanging = await Hanging.before(double);
      const third = await startNode({ log: double.log });
      third.cluster = double.cluster = follower.cluster = [double, follower, third];
      const connectionString = `esdb://127.0.0.1:${double.port},127.0.0.1:${follower.port},127.0.0.1:${third.port}?tls=false`;
      try {
        const [late, connected] = [open({ connectionString }), open({ connectionString })];
        await connected.append(stream, 'no-stream', newEvents(1));
        const dropped = untilDropped(batchesOf());
        await until(() => double.openSubscriptions === 1);
        hanging.hang();
        const before = follower.calls.gossip + third.calls.gossip;
        const answers = Promise.all([
          connected.append(stream, 0, newEvents(1)),
          late.append(`${stream}-2`, 'no-stream', newEvents(1)),
          late.readStream(stream, { limit: 1 }),
          dropped.catch(() => untilCaughtUp(batchesOf())),
        ]);
        // At first the other nodes do not know that the leader hangs, and name it.
        await until(() => follower.calls.gossip + third.calls.gossip > before);
        third.cluster = follower.cluster = [follower, double, third];
        expect(await answers).toMatchObject([
          { outcome: 'appended', revision: 1 },
          { outcome: 'appended', revision: 0 },
          [{ revision: 0 }],
          undefined,
        ]);
        expect(follower.calls.subscribe).toBeGreaterThan(0);
      } finally {
        hanging.stop();
      }
    });

    it('makes no append exceed its time limit when the discovery hangs', async () => {
      const connectionString = `esdb://127.0.0.1:${follower.port},127.0.0.1:${double.port}?tls=false&gossipTimeout=60`;
      open({ connectionString, appendDeadlineMs: 40 });
      for (const node of [double, follower]) node.faults.plan('gossip', ...Array<Fault>(12).fill(SWALLOWED));
      await expect(store.append(stream, 'no-stream', newEvents(1))).rejects.toBeInstanceOf(EventStoreUnavailable);
      expect(gossips()).toBeGreaterThan(0);
      await Promise.all([double.stop(), follower.stop()]);
    });

    it('lets a running read end completely when its client is replaced', async () => {
      open();
      await store.append(stream, 'no-stream', newEvents(20));
      const { opened, open: answer } = gate();
      double.faults.plan('read', { kind: 'delay', until: opened });
      const reading = store.readStream(stream);
      await until(() => double.calls.read === 1);
      double.faults.plan('append', ...Array<Fault>(3).fill({ kind: 'error', status: UNKNOWN, stored: false }));
      await store.append(stream, 19, newEvents(1));
      answer();
      expect(await reading).toHaveLength(21);
    });

    it('answers an append that waited for the discovery when its client was replaced in the meantime', async () => {
      const { opened, open: answer } = gate();
      for (const node of [double, follower]) node.faults.plan('gossip', { kind: 'delay', until: opened });
      const guarded = buildClient(`esdb://127.0.0.1:${follower.port},127.0.0.1:${double.port}?tls=false`);
      const event = jsonEvent({ type: 'Appended', data: {} });
      const appended = guarded.client.appendToStream(stream, event, { expectedRevision: NO_STREAM });
      await until(() => gossips() > 0);
      guarded.close();
      answer();
      await expect(appended).rejects.toBeInstanceOf(UnavailableError);
    });

    it('keeps its client when no other can be built, for example during the replacement of a certificate file', () => {
      const first = buildClient(double.connectionString);
      let built = 0;
      const role = new RoleClient(() => {
        if (built++ > 0) throw new Error('no certificate file');
        return first;
      });
      for (let failure = 0; failure < 7; failure++) role.failed(first.client, new UnknownError());
      expect([built, role.client]).toEqual([3, first.client]);
      first.close();
    });

    it('does not end the process by an unhandled rejection when it cannot be reached at all', async () => {
      const unreachable = buildClient(
        'esdb://127.0.0.1:1,127.0.0.1:2?tls=false&maxDiscoverAttempts=1&discoveryInterval=1',
      );
      const failed = buildClient(double.connectionString);
      const channel = await failed.client['getChannel']();
      const grpcClient = { getChannel: () => channel } as unknown as Parameters<
        (typeof failed.client)['handleError']
      >[0];
      const discovery = unreachable.client['getChannel']();
      const handled = unreachable.client['handleError'](grpcClient, new UnavailableError());
      await expect(discovery).rejects.toThrow('Failed to discover');
      await expect(handled).resolves.toBeUndefined();
      unreachable.close();
      failed.close();
    });
  });

  describe('reads from EventStoreDB', () => {
    it('have a time limit, which the client does not set, and are repeated', async () => {
      open({ readDeadlineMs: 400 });
      await store.append(stream, 'no-stream', newEvents(2));
      double.faults.plan('read', SWALLOWED, { kind: 'error', status: NOT_READY, stored: false });
      expect(await store.readStream(stream)).toHaveLength(2);
      double.faults.plan('read', SWALLOWED);
      expect(await store.readAll(null, 10)).toHaveLength(2);
    });

    it('that are never answered end as unavailable, and so does a ping', async () => {
      open({ readDeadlineMs: 30 });
      double.faults.plan('read', ...Array<Fault>(15).fill(SWALLOWED));
      await expect(store.readStream(stream)).rejects.toBeInstanceOf(EventStoreUnavailable);
      await expect(store.head()).rejects.toBeInstanceOf(EventStoreUnavailable);
      await expect(store.ping()).rejects.toBeInstanceOf(EventStoreUnavailable);
    });

    it('find within 5 s that a server is missing, in a ping', async () => {
      open({ retryPauseMs: 100 });
      await double.stop();
      await expect(store.ping()).rejects.toBeInstanceOf(EventStoreUnavailable);
    });

    it('that are interrupted by closing the store are not returned as complete', async () => {
      open();
      await store.append(stream, 'no-stream', newEvents(3));
      double.faults.plan('read', { kind: 'delay', until: gate().opened });
      const reading = store.readStream(stream);
      await until(() => double.calls.read === 1);
      await store.close();
      await expect(reading).rejects.toBeInstanceOf(EventStoreUnavailable);
    });

    it('do not end the process by an error that follows their end', async () => {
      const read = Object.assign(new PassThrough({ objectMode: true }), { cancel: () => Promise.resolve() });
      const collected = collect(read as unknown as StreamingRead<number>, 10_000, new AbortController().signal);
      read.write(1);
      read.end();
      expect(await collected).toEqual([1]);
      expect(() => read.emit('error', new Error('late'))).not.toThrow();
    });

    it.each([
      ['malformed JSON, which the client returns as text', { data: Buffer.from('{"name": "Jane') }],
      ['bytes that are not marked as JSON', { contentType: 'application/octet-stream' }],
      ['a JSON text instead of an object', { data: Buffer.from('"Jane"') }],
      ['no metadata', { metadata: Buffer.from('') }],
      ['malformed metadata', { metadata: Buffer.from('{"Jane') }],
    ])('refuse %s and do not repeat the read', async (_case, record) => {
      open();
      double.write(stream, record);
      for (const read of [() => store.readStream(stream), () => store.readAll(null, 10), () => batchesOf().next()]) {
        const error = await read().then(
          () => undefined,
          (reason: unknown) => reason,
        );
        expect(error).toBeInstanceOf(Error);
        expect(error).not.toBeInstanceOf(EventStoreUnavailable);
        expect(String(error)).toContain(stream);
        expect(String(error)).not.toContain('Jane');
      }
    });

    it("skip the server's own streams, however many events they have, but count these events into the head", async () => {
      open();
      await store.append(stream, 'no-stream', newEvents(1));
      double.write('$stats-127.0.0.1:2113', ...Array<object>(2_500).fill({}));
      await store.append(stream, 0, newEvents(1));
      expect((await store.readAll(null, 10)).map((event) => event.stream)).toEqual([stream, stream]);
      expect(double.calls.read).toBeLessThan(8);
      expect((await store.readAll(null, 1)).map((event) => event.revision)).toEqual([0]);
      const head = await store.head();
      double.write('$$meta', {});
      expect((await store.head())! > head!).toBe(true);
      expect(await store.readAll(head, 10)).toEqual([]);
    });

    it('refuse a server that is too old to give positions, instead of inventing a position', async () => {
      open();
      await store.append(stream, 'no-stream', newEvents(1));
      double.hidesStreamPositions = true;
      await expect(store.readStream(stream)).rejects.toThrow('22.6');
    });

    it('give positions that sort in log order and belong to this store only', async () => {
      expect(textOf({ commit: 9n, prepare: 9n }) < textOf({ commit: 10n, prepare: 0n })).toBe(true);
      expect(positionOf(textOf({ commit: 2n ** 63n, prepare: 7n }))).toEqual({ commit: 2n ** 63n, prepare: 7n });
      open();
      await expect(store.readAll('17', 1)).rejects.toBeInstanceOf(RangeError);
      await expect(batchesOf({ after: '17' }).next()).rejects.toBeInstanceOf(RangeError);
    });
  });

  describe('a subscription', () => {
    it('that the consumer leaves with break has no open call on the server', async () => {
      open();
      for (let round = 0; round < 3; round++) {
        for await (const batch of store.subscribe({ after: null, signal: new AbortController().signal }))
          if (batch.caughtUp) break;
      }
      await until(() => double.openSubscriptions === 0);
      expect(double.calls.subscribe).toBe(3);
    });

    it('that is aborted, or whose consumer fails, has no open call either', async () => {
      open();
      await follow(store, { after: null }, () => true);
      await expect(
        follow(
          store,
          { after: null },
          () => false,
          () => {
            throw new Error('the consumer failed');
          },
        ),
      ).rejects.toThrow('the consumer failed');
      await until(() => double.openSubscriptions === 0);
      expect(double.calls.subscribe).toBe(2);
    });

    it("does not end the process by an error that follows the consumer's break", () => {
      const call = Object.assign(new PassThrough({ objectMode: true }), {
        unsubscribe: () => Promise.reject(new Error('no call')),
      });
      const feed = new Feed(() => call as unknown as AllStreamSubscription);
      feed.close();
      expect(() => call.emit('error', new Error('late'))).not.toThrow();
    });

    it('returns checkpoints in order with the events, not ahead of undelivered events', async () => {
      open();
      for (let round = 0; round < 10; round++) {
        await store.append(`${category}-${round}`, 'no-stream', newEvents(25));
        double.write(`other-${round}`, ...Array<object>(300).fill({}));
      }
      // Without this control, the client reads more than the consumer asked for, including checkpoints.
      const options = { after: null, categories: [category], batchSize: 10 };
      const seen = await follow(
        store,
        options,
        ({ events }) => events.length === 250,
        async () => {
          for (let turns = 0; turns < 20; turns++) await turn();
        },
      );
      expect(double.checkpointsSent).toBeGreaterThan(5);
      let delivered = 0;
      for (const batch of seen.batches) {
        delivered += batch.events.length;
        const next = seen.events[delivered];
        expect(next === undefined || batch.through === null || batch.through < next.position).toBe(true);
      }
    });

    it("skips the server's own streams", async () => {
      open();
      double.write('$stats-127.0.0.1:2113', {}, {});
      await store.append(stream, 'no-stream', newEvents(1));
      double.write('$$meta-1', {});
      for (const categories of [undefined, [category], ['$stats']]) {
        const options = { after: null, ...(categories && { categories }) };
        const { events } = await follow(store, options, ({ batches }) => batches.at(-1)?.caughtUp === true);
        expect(events.map((event) => event.stream)).toEqual(categories?.[0] === '$stats' ? [] : [stream]);
      }
    });

    it('advances its checkpoint while the log has no events for it', async () => {
      open();
      const batches = batchesOf();
      await untilCaughtUp(batches);
      double.write('other-1', ...Array<object>(1_000).fill({}));
      const checkpoint = (await batches.next()).value as EventBatch;
      expect(checkpoint.events).toEqual([]);
      expect(checkpoint.through! <= (await store.head())!).toBe(true);
    });

    it('offers no checkpoint beyond the head, although the server names the end of the log', async () => {
      open();
      await store.append(stream, 'no-stream', newEvents(3));
      double.write('$$system', {});
      const head = await store.head();
      const { batches } = await follow(
        store,
        { after: null, categories: [category] },
        (seen) => seen.batches.at(-1)?.caughtUp === true,
      );
      expect(batches.at(-1)!.through).toBe(head);
    });

    it('stops with an error when a checkpoint cannot be verified', async () => {
      open();
      await store.append(stream, 'no-stream', newEvents(1));
      const { position } = (await store.readStream(stream))[0]!;
      double.faults.plan('read', ...Array<Fault>(5).fill({ kind: 'error', status: UNKNOWN, stored: false }));
      await expect(batchesOf({ after: position }).next()).rejects.toBeInstanceOf(EventStoreUnavailable);
    });

    it('that is silent while the log grows is given up', async () => {
      open({ silenceMs: 30 });
      const batches = batchesOf();
      await untilCaughtUp(batches);
      double.muted = true;
      const next = batches.next();
      await store.append(stream, 'no-stream', newEvents(1));
      await expect(next).rejects.toBeInstanceOf(EventStoreUnavailable);
    });

    it('that is silent because the log has no events for it continues to the end of the log', async () => {
      open({ silenceMs: 10 });
      const batches = batchesOf();
      await untilCaughtUp(batches);
      for (let round = 0; round < 8; round++) {
        await store.append(`other-${round}`, 'no-stream', newEvents(1));
        double.write('$stats', {});
        const through = await store.head();
        let batch: EventBatch;
        do batch = (await batches.next()).value as EventBatch;
        while (batch.through !== through);
        expect(batch).toEqual({ events: [], through, caughtUp: true });
      }
      await store.append(stream, 'no-stream', newEvents(1));
      expect((await batches.next()).value).toMatchObject({ events: [{ stream }] });
    });

    it('does not count as silent when its consumer is slow', async () => {
      open({ silenceMs: 20 });
      await store.append(stream, 'no-stream', newEvents(3));
      const batches = batchesOf({ batchSize: 1 });
      for (let revision = 0; revision < 3; revision++) {
        expect((await batches.next()).value).toMatchObject({ events: [{ revision }] });
        const busyUntil = performance.now() + 60;
        await until(() => performance.now() > busyUntil);
      }
    });

    it('delivers the events before an unreadable event, and stops at the unreadable event', async () => {
      open();
      await store.append(stream, 'no-stream', newEvents(3));
      double.write(stream, { data: Buffer.from('{') });
      await store.append(stream, 3, newEvents(1));
      const batches = batchesOf();
      const delivered: number[] = [];
      const stopped = (async () => {
        for (let next = await batches.next(); next.done !== true; next = await batches.next()) {
          delivered.push(...next.value.events.map(({ revision }) => revision));
        }
      })();
      await expect(stopped).rejects.toThrow('cannot be read');
      expect(delivered).toEqual([0, 1, 2]);
    });

    it('that the server does not confirm is given up', async () => {
      open({ silenceMs: 10, readDeadlineMs: 40 });
      double.faults.plan('subscribe', SWALLOWED);
      await expect(batchesOf().next()).rejects.toBeInstanceOf(EventStoreUnavailable);
    });

    it('recognises by itself that it has caught up with a server that never reports this', async () => {
      double.sendsCaughtUp = false;
      open({ silenceMs: 30 });
      await store.append(stream, 'no-stream', newEvents(3));
      const batches = batchesOf();
      const told: EventBatch[] = [];
      while (told.at(-1)?.caughtUp !== true) told.push((await batches.next()).value as EventBatch);
      expect(told.flatMap(({ events }) => events)).toHaveLength(3);
      expect(told.at(-1)).toMatchObject({ events: [], through: told.at(-2)?.through });
    });

    it('that fell behind counts as caught up only when it has caught up again', async () => {
      open();
      const batches = batchesOf({ batchSize: 10 });
      await untilCaughtUp(batches);
      double.write(stream, ...Array<object>(500).fill({}));
      const told: EventBatch[] = [];
      while (told.reduce((sum, { events }) => sum + events.length, 0) < 500)
        told.push((await batches.next()).value as EventBatch);
      expect(told.slice(0, -1).some(({ caughtUp }) => caughtUp)).toBe(false);
      if (!told.at(-1)!.caughtUp) await untilCaughtUp(batches);
    });

    it('does not count as caught up while more events wait in this process', async () => {
      open();
      const batches = batchesOf({ batchSize: 5 });
      await untilCaughtUp(batches);
      double.write(stream, ...Array<object>(15).fill({}));
      for (let turns = 0; turns < 200; turns++) await turn();
      const told = [await batches.next(), await batches.next(), await batches.next()].map(
        ({ value }) => value as EventBatch,
      );
      expect(told.map(({ events, caughtUp }) => [events.length, caughtUp])).toEqual([
        [5, false],
        [5, false],
        [5, true],
      ]);
    });

    it('has a client of its own, whose failures and replacement do not affect appends', async () => {
      open();
      const { opened, open: answer } = gate();
      double.faults.plan('append', { kind: 'delay', until: opened });
      const pending = store.append(stream, 'no-stream', newEvents(1));
      await until(() => double.appends.length === 1);
      double.faults.plan('subscribe', ...Array<Fault>(4).fill({ kind: 'error', status: UNKNOWN, stored: false }));
      for (let round = 0; round < 4; round++)
        await expect(batchesOf().next()).rejects.toBeInstanceOf(EventStoreUnavailable);
      await untilCaughtUp(batchesOf());
      answer();
      expect(await pending).toEqual({ outcome: 'appended', revision: 0 });
      await store.append(stream, 0, newEvents(1));
      expect(double.appends).toHaveLength(2);
      const { append, subscribe } = double.clients;
      expect([append.size, subscribe.size]).toEqual([1, 2]);
      expect([...append].filter((name) => subscribe.has(name))).toEqual([]);
    });
  });

  describe('a connection string', () => {
    it.each([
      ['esdb://a:2113', 'esdb://a:2113?keepaliveinterval=2000&keepalivetimeout=2000&gossiptimeout=2'],
      [
        'esdb://ops:p%40ss@a,b/?keepAlive_Timeout=700&tls=true',
        'esdb://ops:p%40ss@a,b/?keepaliveinterval=2000&keepalivetimeout=700&gossiptimeout=2&tls=true',
      ],
    ])('%s limits the silence of a node by default', (text, limited) => {
      expect(withLimits(text)).toBe(limited);
    });

    it.each([
      ['esdb+discover://a,b', 'first host only'],
      ['esdb://a:2113?gossipTimeout=5000', 'seconds'],
      ['esdb://a:2113?tlsVerifyCert=false', 'tlsCAFile'],
      ['esdb://a:2113?throwOnAppendFailure=false', 'conflict'],
      ['esdb://ops:hunter2@a:2113?tls=false', 'never sent'],
      ['esdb://ops:hunter2:more@a:2113', 'percent-encoded'],
      ['esdb://ops:hunter2@a:2113?tls=true&hunter2=1', 'each option'],
      ['http://ops:hunter2@a:2113', 'form'],
      ['esdb://ops:hunter2@a:hunter2', 'parsed'],
      ['esdb://ops:hunter2@a:2113?nodePreference=hunter2', 'parsed'],
    ])('%s is refused with the reason and without the password', (connectionString, reason) => {
      const warn = jest.spyOn(console, 'warn').mockImplementation(() => undefined);
      try {
        EventStoreDbEventStore.connect({ connectionString });
        throw new Error('it was taken');
      } catch (error) {
        expect(String(error)).toContain(reason);
        expect(
          JSON.stringify({ ...(error as Error), text: String(error), cause: (error as Error).cause }),
        ).not.toContain('hunter2');
      }
      expect(warn).not.toHaveBeenCalled();
      warn.mockRestore();
    });

    it.each(['esdb:*', 'app,esdb*', '*', 'esdb:connection'])(
      'with a password is refused under DEBUG=%s, which would print the password',
      (debug) => {
        expect(() => checkConnectionString('esdb://ops:hunter2@a:2113', debug)).toThrow('DEBUG');
        expect(() => checkConnectionString('esdb://ops:hunter2@a:2113', 'app:*')).not.toThrow();
      },
    );

    it.each([
      'esdb://a:2113,b:2113,c:2113?tls=true&nodePreference=leader',
      'esdb+discover://ops:p%40ss@cluster.example:2113?connectionName=service&gossipTimeout=5',
      'esdb://localhost?tls=false',
    ])('%s is accepted', async (connectionString) => {
      await EventStoreDbEventStore.connect({ connectionString }).close();
    });

    it('with tlsCAFile reaches a server whose certificate that authority signed, with the credentials', async () => {
      const { key, certificate } = selfSignedCertificate();
      const folder = await mkdtemp(join(tmpdir(), 'esdb-'));
      try {
        const file = join(folder, 'ca.pem');
        await writeFile(file, certificate);
        const pair = { private_key: Buffer.from(key), cert_chain: Buffer.from(certificate) };
        double = await startNode({ credentials: ServerCredentials.createSsl(null, [pair]) });
        open({ connectionString: `esdb://ops:p%40ss@localhost:${double.port}?tlsCAFile=${encodeURIComponent(file)}` });
        expect(await store.append(stream, 'no-stream', newEvents(2))).toEqual({ outcome: 'appended', revision: 1 });
        expect(await store.readStream(stream)).toHaveLength(2);
        await untilCaughtUp(batchesOf());
        expect([...double.authorizations]).toEqual([`Basic ${Buffer.from('ops:p@ss').toString('base64')}`]);
        open({ connectionString: `esdb://ops:p%40ss@localhost:${double.port}` });
        await expect(store.ping()).rejects.toBeInstanceOf(EventStoreUnavailable);
      } finally {
        await rm(folder, { recursive: true });
      }
    });
  });
});

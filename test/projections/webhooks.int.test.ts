// Webhook endpoints and deliveries on a real event store, vault and Redis, from the event to the log that the account
// reads.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createPublicKey, verify } from 'node:crypto';
import canonicalize from 'canonicalize';
import { Webhook } from 'standardwebhooks';
import { Unavailable } from '../../src/kernel/unavailable.js';
import { RedisProjectionStore } from '../../src/adapters/read-models/redis-projection-store.js';
import { RedisReadModels } from '../../src/adapters/read-models/redis.js';
import type { RecordedEvent } from '../../src/kernel/domain-event.js';
import { newId } from '../../src/kernel/ids.js';
import { delivery } from '../../src/modules/webhooks/domain/delivery.js';
import { digestAfter, NO_DIGEST } from '../../src/modules/webhooks/domain/feed.js';
import { EXCERPT_KEY } from '../../src/modules/webhooks/domain/excerpt.js';
import {
  deliveryDetailResult,
  type DeliveryDetailResult,
} from '../../src/modules/webhooks/http/dashboard/delivery-results.js';
import { DeliveryReader } from '../../src/modules/webhooks/read/deliveries.js';
import { deliveryLog } from '../../src/modules/webhooks/read/delivery-log.js';
import { endpointProjection } from '../../src/modules/webhooks/read/endpoint-projection.js';
import { AggregateStore } from '../../src/platform/aggregates/aggregate-store.js';
import { asNewEvent } from '../../src/platform/aggregates/recorded-events.js';
import { SharedLogReader } from '../../src/platform/subscriptions/shared-log-reader.js';
import { type EventStore, EventStoreUnavailable } from '../../src/ports/event-store.js';
import { RedisServer } from '../support/redis.js';
import { PROJECTIONS, REFUSED, TAKEN, WebhookHarness } from '../unit/webhooks/harness.js';
import { PING } from '../unit/webhooks/histories.js';
import { expectedLines, Failures, liveContents, rebuild, storedLines } from './fixtures.js';
import { until } from '../support/eventually.js';
import { StaleFollower } from '../support/stale-follower.js';
import { CompleteLists } from '../../src/platform/subscriptions/complete-lists.js';

let redis: RedisServer;
let harness: WebhookHarness;
beforeAll(async () => {
  redis = await RedisServer.start();
  harness = await WebhookHarness.build(redis);
});
afterAll(async () => {
  await harness.close();
  await redis.stop();
});
beforeEach(() => {
  harness.receivers.answer = TAKEN;
  harness.receivers.requests.length = 0;
  harness.mailServer.mails.length = 0;
  harness.queue.due.length = 0;
});

const view = (accountId: string, endpointId?: string) => harness.deliveries.endpoints().find(accountId, endpointId);
/** The requests to the queue for one delivery. */
const turns = (deliveryId: string) =>
  harness.queue.due
    .filter((one) => one.delivery.deliveryId === deliveryId)
    .map((one) => ({ kind: one.delivery.kind, turn: one.delivery.turn, at: one.at.toISOString() }));

describe('the check of deliveries', () => {
  const head = async (): Promise<string> => (await harness.store.head())!;

  beforeAll(async () => {
    // The log has events before the first test.
    const end = await harness.store.head();
    if (end !== null) await harness.passes(end);
    await harness.check();
  });
  beforeEach(() => void (harness.missing.length = 0));

  it('makes a missing delivery once, and reports it', async () => {
    const [{ accountId, endpointId }, without] = [await harness.register(), newId()];
    await harness.happens(accountId);
    await harness.react();
    await harness.happens(accountId);
    await harness.happens(without);
    await harness.publish();
    await harness.passes(await head());
    expect(await harness.check()).toEqual({ events: 3, missing: 1 });
    const [made = '', ...others] = await harness.deliveriesOf(endpointId);
    expect(others).toHaveLength(1);
    expect(turns(made)).toEqual([expect.objectContaining({ kind: 'ladder', turn: '1' })]);
    expect(harness.missing).toEqual([{ accountId, deliveryId: made, eventId: expect.any(String) }]);
    expect(await harness.check()).toEqual({ events: 0, missing: 0 });
    await harness.react();
    expect(await harness.deliveriesOf(endpointId)).toHaveLength(2);
  });

  it('leaves events to the handler that has not reached them, and checks them later', async () => {
    const { accountId, endpointId } = await harness.register();
    await harness.passes(await head());
    await harness.happens(accountId);
    await harness.publish();
    expect(await harness.check()).toEqual({ events: 0, missing: 0 });
    expect(await harness.deliveriesOf(endpointId)).toEqual([]);
    await harness.react(accountId);
    await harness.passes(await head());
    expect(await harness.check()).toEqual({ events: 1, missing: 0 });
  });

  it('reads a log of many pages to its end, and continues at its checkpoint after a failure', async () => {
    const { accountId, endpointId } = await harness.register();
    for (let count = 0; count < 3; count++) await harness.happens(accountId);
    await harness.publish();
    // Each page has one event.
    const paged = Object.assign(Object.create(harness.store) as EventStore, {
      readAll: (after: string | null) => harness.store.readAll(after, 1),
      append: jest.fn(harness.store.append.bind(harness.store)),
    });
    await harness.passes(await head());
    paged.append
      .mockImplementationOnce(harness.store.append.bind(harness.store))
      .mockRejectedValueOnce(new EventStoreUnavailable('away'));
    await expect(harness.check(paged)).rejects.toBeInstanceOf(EventStoreUnavailable);
    expect(await harness.check(paged)).toEqual({ events: 2, missing: 2 });
    expect(await harness.deliveriesOf(endpointId)).toHaveLength(3);
  });

  it('does nothing while another check is running', async () => {
    const { accountId } = await harness.register();
    await harness.happens(accountId);
    await harness.publish();
    await harness.passes(await head());
    expect(await harness.checkpoints.take('webhook_delivery_check', 'other', 60_000)).toBe(true);
    expect(await harness.check()).toEqual({ events: 0, missing: 0 });
    await harness.checkpoints.release('webhook_delivery_check', 'other');
    expect(await harness.check()).toEqual({ events: 1, missing: 1 });
  });
});

describe('a published event', () => {
  it("becomes a delivery at a later try when a lagging node did not have the event's stream yet", async () => {
    const { accountId, endpointId } = await harness.register();
    const cluster = new StaleFollower(harness.store);
    const process = new SharedLogReader(cluster);
    const behind = await harness.store.head();
    await harness.happens(accountId);
    const [event] = (await process.readAll(behind, 1)) as [RecordedEvent];
    cluster.behind = behind;
    await expect(harness.publisher(process).handle(event)).rejects.toBeInstanceOf(EventStoreUnavailable);
    cluster.behind = null;
    await harness.publisher(process).handle(event);
    await harness.react(accountId);
    expect(await harness.deliveriesOf(endpointId)).toHaveLength(1);
  });

  it("becomes one delivery, even if it is handled again, and is sent signed to the endpoint's current address", async () => {
    const { accountId, endpointId, secret } = await harness.register();
    const occurredAt = harness.clock.now().toISOString();
    await harness.happens(accountId);
    await harness.react(accountId);
    await harness.react(accountId);
    const [deliveryId = '', ...others] = await harness.deliveriesOf(endpointId);
    expect(others).toEqual([]);
    expect(turns(deliveryId)).toEqual([{ kind: 'ladder', turn: '1', at: occurredAt }]);
    await harness.change(accountId, endpointId, { url: 'https://moved.example.com/b' });
    expect(await harness.attempt(deliveryId)).toEqual(TAKEN);
    const [request] = harness.receivers.requests;
    const body = JSON.parse(Buffer.from(request?.body ?? []).toString());
    expect(Buffer.from(request?.body ?? []).toString()).toBe(canonicalize(body));
    expect(body).toEqual({
      id: expect.stringMatching(/^evt_/),
      type: 'report.shared',
      schema_version: 1,
      occurred_at: occurredAt,
      environment: 'test',
      account_id: accountId,
      data: { report_id: 'r', session_id: 's', recipient_account_id: 'a', shared_at: occurredAt },
    });
    expect(request).toMatchObject({
      url: 'https://moved.example.com/b',
      headers: {
        'webhook-id': body.id,
        'webhook-timestamp': String(Math.floor(harness.clock.time / 1_000)),
        'service-event-type': 'report.shared',
        'service-delivery-id': deliveryId,
        'service-event-sequence': '1',
        'service-event-digest': digestAfter(NO_DIGEST, canonicalize(body) ?? ''),
        'content-type': 'application/json',
        'user-agent': 'Service-Webhooks/1',
      },
    });
    expect(request?.headers['webhook-signature']).toBe(
      new Webhook(secret).sign(
        body.id,
        new Date(Math.floor(harness.clock.time / 1_000) * 1_000),
        Buffer.from(request?.body ?? []),
      ),
    );
    expect(await harness.stateOf(deliveryId)).toMatchObject({ status: 'succeeded', attempts: 1 });
    expect(await harness.attempt(deliveryId)).toBeNull();
    expect(harness.receivers.requests).toHaveLength(1);
  });

  it('is not delivered when it is older than the endpoint or of another account', async () => {
    const early = newId();
    await harness.happens(early);
    const { endpointId } = await harness.register(early);
    await harness.happens(newId());
    await harness.react();
    expect(await harness.deliveriesOf(endpointId)).toEqual([]);
  });

  it('is delivered only when its type is chosen at the time of the event', async () => {
    const { accountId, endpointId } = await harness.register(undefined, { events: ['payment.succeeded'] });
    await harness.happens(accountId);
    await harness.react(accountId);
    await harness.change(accountId, endpointId, { enabledEvents: null });
    harness.clock.pass(1);
    await harness.happens(accountId);
    await harness.react(accountId);
    expect(await harness.deliveriesOf(endpointId)).toHaveLength(1);
  });

  // A clock may be set back, and the clocks of two hosts differ. Even so, a receiver gets every event that follows the
  // registration of its endpoint, and no earlier event.
  describe('a published event is delivered or not by its place in the log', () => {
    it('and is sent when the clock was set back after the endpoint was registered', async () => {
      const { accountId, endpointId } = await harness.register();
      harness.clock.pass(-3_600);
      await harness.happens(accountId);
      await harness.react(accountId);
      expect(await harness.deliveriesOf(endpointId)).toHaveLength(1);
    });

    it('and is not sent when the clock was ahead before the endpoint was registered', async () => {
      const accountId = newId();
      harness.clock.pass(3_600);
      await harness.happens(accountId);
      harness.clock.pass(-3_600);
      const { endpointId } = await harness.register(accountId);
      await harness.react();
      await harness.react();
      expect(await harness.deliveriesOf(endpointId)).toEqual([]);
    });

    it('and follows the newest choice of event types when the clock was set back after this choice', async () => {
      const { accountId, endpointId } = await harness.register(undefined, { events: ['payment.succeeded'] });
      harness.clock.pass(3_600);
      await harness.happens(accountId);
      await harness.change(accountId, endpointId, { enabledEvents: null });
      harness.clock.pass(-7_200);
      await harness.happens(accountId);
      await harness.change(accountId, endpointId, { enabledEvents: ['payment.succeeded'] });
      harness.clock.pass(-7_200);
      await harness.happens(accountId);
      await harness.react(accountId);
      await harness.react(accountId);
      expect(await harness.deliveriesOf(endpointId)).toHaveLength(1);
    });

    it('and is neither canceled nor counted as old when the clock was set back after the endpoint was reactivated', async () => {
      const { accountId, endpointId } = await harness.register();
      for (let count = 0; count < 3; count++) await harness.exhaust(accountId, endpointId);
      harness.clock.time = await harness.disableAfter(accountId);
      await harness.disableOverdue(accountId);
      await harness.happens(accountId);
      await harness.change(accountId, endpointId, {});
      harness.clock.pass(-400_000);
      await harness.happens(accountId);
      await harness.react(accountId);
      await harness.react(accountId);
      const [deliveryId = '', ...others] = await harness.deliveriesOf(endpointId);
      expect([await harness.stateOf(deliveryId), others.length]).toMatchObject([{ status: 'pending' }, 3]);
      expect(await view(accountId)).toMatchObject({ status: 'active', consecutiveFailures: 0 });
      await harness.exhaust(accountId, endpointId);
      expect(await view(accountId)).toMatchObject({ status: 'active', consecutiveFailures: 1 });
    });
  });

  it('is signed with both secrets during a rotation, the current one first, and later with the new one', async () => {
    const { accountId, endpointId, secret } = await harness.register();
    const rotated = await harness.rotate(accountId, endpointId, 100);
    expect(rotated.previousExpiresAt).toBe(new Date(harness.clock.time + 100_000).toISOString());
    await harness.happens(accountId);
    await harness.react(accountId);
    const [deliveryId = ''] = await harness.deliveriesOf(endpointId);
    harness.receivers.answer = REFUSED;
    await harness.attempt(deliveryId);
    harness.clock.pass(200);
    await harness.attempt(deliveryId);
    const [during, after] = harness.receivers.requests;
    const sign = (text: string, request = during): string =>
      new Webhook(text).sign(
        request?.headers['webhook-id'] ?? '',
        new Date(Number(request?.headers['webhook-timestamp']) * 1_000),
        Buffer.from(request?.body ?? []),
      );
    expect(during?.headers['webhook-signature']).toBe(`${sign(rotated.secret)} ${sign(secret)}`);
    expect(after?.headers['webhook-signature']).toBe(sign(rotated.secret, after));
    // The event id and the bytes are the same, and the signature is new.
    expect([after?.headers['webhook-id'], after?.body]).toEqual([during?.headers['webhook-id'], during?.body]);
    expect(after?.headers['webhook-timestamp']).not.toBe(during?.headers['webhook-timestamp']);
  });

  it('has Ed25519 signatures of the valid keys beside, when its endpoint asks for v1a', async () => {
    const plain = await harness.register();
    await harness.happens(plain.accountId);
    await harness.react(plain.accountId);
    await harness.attempt((await harness.deliveriesOf(plain.endpointId))[0] ?? '');
    expect([
      harness.receivers.requests.pop()?.headers['webhook-signature'],
      await harness.keys(plain.accountId),
    ]).toEqual([expect.stringMatching(/^v1,[^ ]+$/), []]);
    const { accountId, endpointId } = await harness.register(newId(), { signatures: ['v1', 'v1a'] });
    const [first] = await harness.keys(accountId);
    await harness.rotate(accountId, endpointId, 100);
    const keys = await harness.keys(accountId);
    expect(keys).toEqual([expect.objectContaining({ expiresAt: null }), { ...first, expiresAt: expect.any(String) }]);
    await harness.happens(accountId);
    await harness.react(accountId);
    const [deliveryId = ''] = await harness.deliveriesOf(endpointId);
    harness.receivers.answer = REFUSED;
    await harness.attempt(deliveryId);
    harness.clock.pass(200);
    await harness.attempt(deliveryId);
    const [during, after] = harness.receivers.requests;
    const verified = (request: typeof during): boolean[] => {
      const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': header = '' } = request?.headers ?? {};
      const signed = Buffer.concat([Buffer.from(`${id}.${time}.`), Buffer.from(request?.body ?? [])]);
      const entries = header.split(' ').filter((entry) => entry.startsWith('v1a,'));
      return entries.map((entry, at) => {
        const x = Buffer.from(keys[at]?.publicKey ?? '', 'base64').toString('base64url');
        const key = createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x } });
        return verify(null, signed, key, Buffer.from(entry.slice('v1a,'.length), 'base64'));
      });
    };
    expect([verified(during), verified(after)]).toEqual([[true, true], [true]]);
    expect(during?.headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+ v1a,\S+ v1a,\S+$/);
  });

  it('is attempted in its turn, when its endpoint wants a number of attempts a second', async () => {
    const { accountId, endpointId } = await harness.register(newId(), { maxPerSecond: 2 });
    const other = await harness.register();
    for (const account of [accountId, accountId, other.accountId]) await harness.happens(account);
    await harness.react();
    const [second = '', first = ''] = await harness.deliveriesOf(endpointId);
    const [free = ''] = await harness.deliveriesOf(other.endpointId);
    expect(await harness.attempt(first)).toMatchObject({ errorCode: null });
    expect([await harness.attempt(second), await harness.stateOf(second)]).toMatchObject([
      { spacingMs: 500 },
      { status: 'pending', attempts: 0 },
    ]);
    expect(await harness.attempt(free)).toMatchObject({ errorCode: null });
    harness.limiter.endWindows(0.5);
    // An attempt that is not due takes no turn.
    expect(await harness.attempt(first)).toBeNull();
    expect(await harness.attempt(second)).toMatchObject({ errorCode: null });
    await harness.change(accountId, endpointId, { maxPerSecond: null });
    await harness.happens(accountId);
    await harness.react(accountId);
    expect(await harness.attempt((await harness.deliveriesOf(endpointId))[0] ?? '')).toMatchObject({ errorCode: null });
  });

  it('has its next attempt requested when one has failed', async () => {
    const { accountId, endpointId } = await harness.register();
    harness.receivers.answer = REFUSED;
    await harness.happens(accountId);
    await harness.react(accountId);
    const [deliveryId = ''] = await harness.deliveriesOf(endpointId);
    await harness.attempt(deliveryId);
    const { nextAttemptAt } = await harness.stateOf(deliveryId);
    expect(turns(deliveryId).slice(1)).toEqual([{ kind: 'ladder', turn: '2', at: nextAttemptAt }]);
    // The worker of this attempt died before it requested the next attempt.
    expect(await harness.attempt(deliveryId)).toBeNull();
    expect(turns(deliveryId).slice(2)).toEqual([{ kind: 'ladder', turn: '2', at: nextAttemptAt }]);
    expect(harness.receivers.requests).toHaveLength(1);
  });
});

describe('an attempt whose worker died', () => {
  it('is not in the log and is requested again, so it may be made twice', async () => {
    const { accountId, endpointId } = await harness.register();
    await harness.happens(accountId);
    await harness.react(accountId);
    const [deliveryId = ''] = await harness.deliveriesOf(endpointId);
    harness.receivers.answer = new Error('killed');
    await expect(harness.attempt(deliveryId)).rejects.toThrow('killed');
    expect(await harness.stateOf(deliveryId)).toMatchObject({ status: 'pending', attempts: 0 });
    expect(await harness.deliveries.reader().due(harness.clock.now(), 1_000)).toContain(deliveryId);
    await harness.settle(deliveryId);
    expect(turns(deliveryId)).toEqual([expect.objectContaining({ turn: '1' }), expect.objectContaining({ turn: '1' })]);
    harness.receivers.answer = TAKEN;
    await harness.attempt(deliveryId);
    expect(await harness.stateOf(deliveryId)).toMatchObject({ status: 'succeeded', attempts: 1 });
    expect(harness.receivers.requests).toHaveLength(2);
  });

  it('is recorded once when its worker was only slow and another worker made the attempt too', async () => {
    const { accountId, endpointId } = await harness.register();
    await harness.happens(accountId);
    await harness.react(accountId);
    const [deliveryId = ''] = await harness.deliveriesOf(endpointId);
    harness.receivers.before = async () => {
      harness.receivers.before = () => Promise.resolve();
      await harness.attempt(deliveryId);
    };
    await harness.attempt(deliveryId);
    expect(harness.receivers.requests).toHaveLength(2);
    const types = (await harness.store.readStream(`webhook_delivery-${deliveryId}`)).map(({ type }) => type);
    expect(types).toEqual(['DeliveryScheduled', 'DeliverySucceeded']);
  });

  // Each retry would send the request again.
  it('sends nothing when the vault is unavailable', async () => {
    const { accountId, endpointId } = await harness.register();
    await harness.happens(accountId);
    await harness.react(accountId);
    const [deliveryId = ''] = await harness.deliveriesOf(endpointId);
    const away = jest.spyOn(harness.vault, 'installationKey').mockRejectedValueOnce(new Error('away'));
    await expect(harness.attempt(deliveryId)).rejects.toThrow('away');
    away.mockRestore();
    expect(harness.receivers.requests).toEqual([]);
  });

  it('is requested again even if many other attempts have been due for longer', async () => {
    const { accountId } = await harness.register();
    for (let count = 0; count < 3; count++) await harness.happens(accountId);
    await harness.react(accountId);
    const reader = harness.deliveries.reader();
    const [at, seen] = [harness.clock.now(), new Set<string>()];
    const all = await harness.deliveries.reader().due(at, 1_000);
    for (let run = 0; run < Math.ceil(all.length / 2); run++) for (const id of await reader.due(at, 2)) seen.add(id);
    expect([...seen].sort()).toEqual([...all].sort());
    // The next run starts from the beginning.
    if (all.length % 2 === 0) expect(await reader.due(at, 2)).toEqual([]);
    expect(await reader.due(at, 2)).toEqual(all.slice(0, 2));
  });

  it('is requested again when only the queue has lost it', async () => {
    const { accountId, endpointId } = await harness.register();
    await harness.happens(accountId);
    await harness.react(accountId);
    harness.queue.due.length = 0;
    const [deliveryId = ''] = await harness.deliveriesOf(endpointId);
    expect(await harness.deliveries.reader().due(harness.clock.now(), 1_000)).toContain(deliveryId);
    await harness.settle(deliveryId);
    expect(turns(deliveryId)).toHaveLength(1);
  });

  // A ping without an end would be due for ever, and would be requested again and again.
  it('ends a ping after its time limit, because no caller waits for it', async () => {
    const { accountId, endpointId } = await harness.register();
    const aggregates = new AggregateStore(harness.store, harness.models, harness.clock, {
      appendConflict: () => undefined,
    });
    const deliveryId = newId();
    await aggregates.execute(
      delivery,
      deliveryId,
      { kind: 'schedule', delivery: { ...PING, endpointId, nextAttemptAt: harness.clock.now().toISOString() } },
      harness.as(accountId),
    );
    harness.clock.pass(12);
    await harness.settle(deliveryId);
    expect(await harness.stateOf(deliveryId)).toMatchObject({ status: 'pending', attempts: 0 });
    harness.clock.pass(1);
    await harness.settle(deliveryId);
    expect(await harness.stateOf(deliveryId)).toMatchObject({ status: 'failed', nextAttemptAt: null });
    expect(await harness.deliveries.reader().due(new Date(harness.clock.time + 1e9), 1_000)).not.toContain(deliveryId);
    expect([turns(deliveryId), harness.receivers.requests]).toEqual([[], []]);
  });
});

describe('a log that can be read but not written', () => {
  afterEach(() => void jest.restoreAllMocks());

  it('lets a process send each delivery at most once; when the log is back, the process records it and sends the others', async () => {
    const { accountId, endpointId } = await harness.register();
    for (let count = 0; count < 4; count++) await harness.happens(accountId);
    await harness.react(accountId);
    const ids = await harness.deliveriesOf(endpointId);
    const attempt = harness.process();
    for (const method of ['append', 'appendTogether'] as const)
      jest.spyOn(harness.store, method).mockRejectedValue(new EventStoreUnavailable('The disk is full'));
    // Two attempts run at the same time. Each attempt is then repeated, as the queue does.
    await Promise.allSettled([attempt(ids[0] as string), attempt(ids[1] as string)]);
    for (let round = 0; round < 3; round++)
      for (const id of ids) await expect(attempt(id)).rejects.toBeInstanceOf(EventStoreUnavailable);
    const sent = (): (string | undefined)[] =>
      harness.receivers.requests.map(({ headers }) => headers['service-delivery-id']).sort();
    expect(sent()).toEqual(ids.slice(0, 2).sort());

    jest.restoreAllMocks();
    for (const id of ids) await attempt(id);
    expect(sent()).toEqual([...ids].sort());
    for (const id of ids) expect(await harness.stateOf(id)).toMatchObject({ status: 'succeeded', attempts: 1 });
  });

  it('does not lose the success of a failing endpoint', async () => {
    const { accountId, endpointId } = await harness.register();
    for (let run = 0; run < 3; run++) await harness.exhaust(accountId, endpointId);
    expect(await view(accountId, endpointId)).toMatchObject({ status: 'failing' });
    harness.receivers.answer = TAKEN;
    await harness.happens(accountId);
    await harness.react(accountId);
    const [id = ''] = await harness.deliveriesOf(endpointId);
    const attempt = harness.process();
    jest.spyOn(harness.store, 'append').mockRejectedValueOnce(new EventStoreUnavailable('The disk is full'));
    await expect(attempt(id)).rejects.toBeInstanceOf(EventStoreUnavailable);
    await attempt(id);
    expect(await view(accountId, endpointId)).toMatchObject({ status: 'active' });
  });
});

describe('the deliveries whose attempt a clock has passed', () => {
  // Guarantee: a look at a test clock reads the deliveries that are due, and not every open one.
  it('are listed by the time of the attempt, those of the test environment only, until they are attempted', async () => {
    const { accountId, endpointId } = await harness.register();
    for (const environment of ['test', 'live', 'test'] as const) await harness.happens(accountId, environment);
    await harness.react(accountId);
    const due = (inSeconds: number, most = 10): Promise<string[]> =>
      harness.deliveries.reader().openUntil(endpointId, new Date(harness.clock.time + inSeconds * 1_000), most);
    const [newest = '', , oldest = ''] = await harness.deliveriesOf(endpointId);
    expect([await due(0), await due(0, 1), await due(-60)]).toEqual([[oldest, newest], [oldest], []]);
    harness.receivers.answer = REFUSED;
    await harness.attempt(oldest);
    expect([await due(0), await due(120)]).toEqual([[newest], [newest, oldest]]);
    harness.receivers.answer = TAKEN;
    await harness.attempt(newest);
    expect(await due(0)).toEqual([]);
  });
});

describe('the health of an endpoint', () => {
  // Guarantee: a test clock never reaches live traffic, also not through the endpoint that both environments share.
  it.each([
    [true, { status: 'active', consecutiveFailures: 0 }],
    [false, { status: 'failing', consecutiveFailures: 3 }],
  ])('counts deliveries that a test clock has exhausted only without live traffic (live: %s)', async (live, health) => {
    const { accountId, endpointId } = await harness.register();
    if (live) harness.provisioned.add(accountId);
    const { clock } = harness;
    let aheadMs = 0;
    const turned = jest.spyOn(clock, 'of').mockImplementation((owner) => {
      const isTurned = owner.accountId === accountId && (owner.environment ?? (live ? 'live' : 'test')) === 'test';
      return new Date(clock.time + (isTurned ? aheadMs : 0));
    });
    harness.receivers.answer = REFUSED;
    for (let count = 0; count < 3; count++) await harness.happens(accountId);
    await harness.react(accountId);
    for (const deliveryId of await harness.deliveriesOf(endpointId))
      for (let state = await harness.stateOf(deliveryId); state.status !== 'exhausted';) {
        aheadMs = Math.max(aheadMs, Date.parse(state.nextAttemptAt ?? '') - clock.time);
        await harness.attempt(deliveryId);
        state = await harness.stateOf(deliveryId);
      }
    await harness.react(accountId);
    expect(await view(accountId)).toMatchObject(health);
    turned.mockRestore();
  });

  it('is failing after three exhausted deliveries and disabled after 72 hours, and one mail reports each change', async () => {
    const { accountId, endpointId } = await harness.register(undefined, { mail: 'contact@example.test' });
    for (const failures of [1, 2]) {
      await harness.exhaust(accountId, endpointId);
      expect(await view(accountId)).toMatchObject({ status: 'active', consecutiveFailures: failures });
    }
    expect(harness.mailServer.mails).toEqual([]);
    await harness.exhaust(accountId, endpointId);
    expect(await view(accountId)).toMatchObject({ status: 'failing', consecutiveFailures: 3 });
    await harness.react(accountId);
    expect(harness.mailServer.mails).toEqual([
      {
        to: 'contact@example.test',
        subject: expect.stringContaining('failing'),
        text: expect.any(String),
        messageId: expect.any(String),
      },
    ]);
    const disableAfter = await harness.disableAfter(accountId);
    await harness.happens(accountId);
    await harness.react(accountId);
    const [pending = ''] = await harness.deliveriesOf(endpointId);
    await harness.disableOverdue(accountId);
    expect(await view(accountId)).toMatchObject({ status: 'failing' });
    harness.clock.time = disableAfter;
    expect(await harness.deliveries.endpoints().due(harness.clock.now(), 1_000)).toContain(accountId);
    await harness.disableOverdue(accountId);
    await harness.react(accountId);
    await harness.react(accountId);
    expect(await view(accountId)).toMatchObject({ status: 'disabled', disabledReason: 'NO_SUCCESSFUL_DELIVERY' });
    expect(harness.mailServer.mails.map(({ subject }) => subject)).toEqual([
      expect.stringContaining('failing'),
      expect.stringContaining('disabled'),
    ]);
    // The pending delivery is canceled. Events while the endpoint is disabled are never sent.
    expect(await harness.stateOf(pending)).toMatchObject({ status: 'canceled' });
    harness.clock.pass(1);
    await harness.happens(accountId);
    await harness.change(accountId, endpointId, {});
    await harness.react(accountId);
    expect(await view(accountId)).toMatchObject({ status: 'active', consecutiveFailures: 0, disabledReason: null });
    expect((await harness.deliveriesOf(endpointId))[0]).toBe(pending);
    expect(harness.mailServer.mails.map(({ subject }) => subject).slice(2)).toEqual([
      expect.stringContaining('active again'),
    ]);
  });

  // A dead receiver exhausts thousands of deliveries. If its endpoint stored an event for each, all other endpoints
  // would wait.
  it('counts every failure without an event for each, even in other processes, after a rebuild and after a replay', async () => {
    const { accountId, endpointId } = await harness.register();
    for (let count = 1; count <= 6; count++) {
      await harness.exhaust(accountId, endpointId);
      expect(await view(accountId)).toMatchObject({
        status: count < 3 ? 'active' : 'failing',
        consecutiveFailures: count,
      });
    }
    const types = async () => (await harness.store.readStream(`webhook_endpoint-${accountId}`)).map(({ type }) => type);
    const stored = [
      'WebhookEndpointRegistered',
      'WebhookExhaustionCounted',
      'WebhookExhaustionCounted',
      'WebhookExhaustionCounted',
      'WebhookEndpointFailing',
    ];
    expect(await types()).toEqual(stored);
    await harness.react(accountId);
    expect(await types()).toEqual(stored);
    await rebuild(harness.store, harness.projections, [deliveryLog, endpointProjection]);
    expect(await view(accountId)).toMatchObject({ status: 'failing', consecutiveFailures: 6 });
    // A redelivery that fails does not count again.
    const [exhausted = ''] = await harness.deliveriesOf(endpointId);
    harness.clock.pass(60);
    await harness.redeliver(accountId, endpointId, exhausted);
    await harness.attempt(exhausted, 'redelivery');
    expect(await view(accountId)).toMatchObject({ consecutiveFailures: 6 });

    harness.receivers.answer = TAKEN;
    harness.clock.pass(60);
    await harness.redeliver(accountId, endpointId, exhausted);
    await harness.attempt(exhausted, 'redelivery');
    expect(await view(accountId)).toMatchObject({ status: 'active', consecutiveFailures: 0 });
    await harness.react(accountId);
    expect(await view(accountId)).toMatchObject({ status: 'active', consecutiveFailures: 0 });
    await harness.exhaust(accountId, endpointId);
    expect(await view(accountId)).toMatchObject({ status: 'active', consecutiveFailures: 1 });
  });

  it('keeps its count while the endpoint is disabled; a PUT resets the count, and a replay does not change this', async () => {
    const { accountId, endpointId } = await harness.register();
    for (let count = 0; count < 5; count++) await harness.exhaust(accountId, endpointId);
    harness.clock.time = await harness.disableAfter(accountId);
    await harness.disableOverdue(accountId);
    expect(await view(accountId)).toMatchObject({ status: 'disabled', consecutiveFailures: 5 });
    await harness.change(accountId, endpointId, {});
    await harness.react(accountId);
    expect(await view(accountId)).toMatchObject({ status: 'active', consecutiveFailures: 0 });
  });

  // When Redis has lost its data, every exhaustion in the log is handled again.
  it('reads thousands of stored failures once when all of them are handled again', async () => {
    const { accountId, endpointId } = await harness.register();
    for (let count = 0; count < 3; count++) await harness.exhaust(accountId, endpointId);
    const stream = `webhook_endpoint-${accountId}`;
    const history = await harness.store.readStream(stream);
    const counted = history.find(({ type }) => type === 'WebhookExhaustionCounted') as RecordedEvent;
    for (let part = 0; part < 10; part++)
      await harness.store.append(
        stream,
        history.length - 1 + part * 200,
        Array.from({ length: 200 }, (_, index) => {
          const consecutive = 4 + part * 200 + index;
          return {
            ...asNewEvent({ ...counted, data: { ...counted.data, deliveryId: newId(), consecutive } }),
            id: newId(),
          };
        }),
      );
    let read = 0;
    const counting = Object.assign(Object.create(harness.store) as EventStore, {
      readStream: async (...asked: Parameters<EventStore['readStream']>): Promise<RecordedEvent[]> => {
        const events = await harness.store.readStream(...asked);
        if (asked[0] === stream) read += events.length;
        return events;
      },
    });
    const exhaustion = await harness.exhaustions(accountId, counting);
    const [first] = exhaustion.events;
    await exhaustion.handle(first);
    const once = read;
    for (const event of exhaustion.events) await exhaustion.handle(event);
    expect([once, read]).toEqual([once, once]);
    expect(once).toBeGreaterThan(2_000);
    expect(await view(accountId)).toMatchObject({ status: 'failing', consecutiveFailures: 2_003 });
  });

  it("is reported once for each change of the endpoint, with ids and without the endpoint's address", async () => {
    harness.news.length = 0;
    const { accountId, endpointId } = await harness.register(undefined, { mail: 'contact@example.test' });
    await harness.change(accountId, endpointId, { url: 'https://moved.example.com/b?key=secret', enabledEvents: null });
    await harness.rotate(accountId, endpointId, 100);
    for (let count = 0; count < 4; count++) await harness.exhaust(accountId, endpointId);
    harness.clock.time = await harness.disableAfter(accountId);
    await harness.disableOverdue(accountId);
    await harness.change(accountId, endpointId, { url: 'https://back.example.com' });
    for (let count = 0; count < 3; count++) await harness.exhaust(accountId, endpointId);
    harness.receivers.answer = TAKEN;
    const [exhausted = ''] = await harness.deliveriesOf(endpointId);
    await harness.redeliver(accountId, endpointId, exhausted);
    await harness.attempt(exhausted, 'redelivery');
    await harness.delete(accountId, endpointId);
    await harness.react(accountId);
    expect(harness.news.map(({ change, outcome }) => [change, outcome])).toEqual([
      ['registered', 'active'],
      ['updated', 'active'],
      ['secret rotated', 'active'],
      ['failing', 'failing'],
      ['disabled', 'disabled'],
      ['reactivated', 'active'],
      ['failing', 'failing'],
      ['recovered', 'active'],
      ['deleted', 'deleted'],
    ]);
    for (const one of harness.news)
      expect(one).toEqual({
        requestId: expect.any(String),
        accountId,
        endpointId,
        change: expect.any(String),
        outcome: expect.any(String),
      });
  });

  it('is not mailed when the event of a reactivation is handled an hour late', async () => {
    const { accountId, endpointId } = await harness.register(undefined, { mail: 'contact@example.test' });
    for (let count = 0; count < 3; count++) await harness.exhaust(accountId, endpointId);
    harness.clock.time = await harness.disableAfter(accountId);
    await harness.disableOverdue(accountId);
    await harness.react(accountId);
    await harness.change(accountId, endpointId, {});
    harness.clock.pass(3_600);
    await harness.react(accountId);
    expect(await view(accountId)).toMatchObject({ status: 'active' });
    expect(harness.mailServer.mails.map(({ subject }) => subject)).toEqual([
      expect.stringContaining('failing'),
      expect.stringContaining('disabled'),
    ]);
  });

  it('is active again after a success, which one mail reports, and a ping does not change it', async () => {
    const { accountId, endpointId } = await harness.register(undefined, { mail: 'contact@example.test' });
    for (let count = 0; count < 3; count++) await harness.exhaust(accountId, endpointId);
    harness.receivers.answer = TAKEN;
    const { deliveryId } = await harness.ping(accountId, endpointId);
    expect(await harness.stateOf(deliveryId)).toMatchObject({ status: 'succeeded', eventType: 'ping' });
    expect(await view(accountId)).toMatchObject({ status: 'failing', consecutiveFailures: 3, lastSuccessAt: null });
    const [, exhausted = ''] = await harness.deliveriesOf(endpointId);
    await harness.redeliver(accountId, endpointId, exhausted);
    await harness.attempt(exhausted, 'redelivery');
    expect(await view(accountId)).toMatchObject({
      status: 'active',
      consecutiveFailures: 0,
      lastSuccessAt: harness.clock.now().toISOString(),
    });
    await harness.react(accountId);
    expect(harness.mailServer.mails.map(({ subject }) => subject)).toEqual([
      expect.stringContaining('failing'),
      expect.stringContaining('works again'),
    ]);
  });

  it('allows one ping a second for each account, and a refused ping sends and stores nothing', async () => {
    const [one, other] = [await harness.register(), await harness.register()];
    harness.receivers.requests.length = 0;
    await harness.ping(one.accountId, one.endpointId);
    await expect(harness.ping(one.accountId, one.endpointId)).rejects.toMatchObject({
      code: 'request.rate_limited',
      detail: { retryAfterSeconds: 1 },
    });
    await harness.ping(other.accountId, other.endpointId);
    expect([harness.receivers.requests.length, (await harness.deliveriesOf(one.endpointId)).length]).toEqual([2, 1]);
    harness.limiter.endWindows(1);
    await harness.ping(one.accountId, one.endpointId);
  });

  it('is not mailed when the endpoint had no contact at the time of the change', async () => {
    const without = await harness.register();
    for (let count = 0; count < 3; count++) await harness.exhaust(without.accountId, without.endpointId);
    await harness.change(without.accountId, without.endpointId, { notifyEmail: 'late@example.test' });
    await harness.react(without.accountId);
    expect(harness.mailServer.mails).toEqual([]);
  });

  it('is mailed with retries for an hour while the mail server is unavailable, and then delays no other work', async () => {
    const { accountId, endpointId } = await harness.register(undefined, { mail: 'contact@example.test' });
    for (let count = 0; count < 2; count++) await harness.exhaust(accountId, endpointId);
    harness.mailServer.away = true;
    await expect(harness.exhaust(accountId, endpointId)).rejects.toThrow('away');
    harness.clock.pass(3_000);
    await expect(harness.react(accountId)).rejects.toThrow('away');
    harness.clock.pass(700);
    const { asked } = harness.mailServer;
    await harness.react(accountId);
    expect(harness.mailServer.asked).toBe(asked + 1);
    harness.mailServer.away = false;
    await harness.react(accountId);
    expect(harness.mailServer.mails).toHaveLength(1);
  });
});

describe('deleting an endpoint', () => {
  it('cancels pending deliveries, removes the contact, and drops a waiting redelivery', async () => {
    const { accountId, endpointId } = await harness.register(undefined, { mail: 'contact@example.test' });
    await harness.happens(accountId);
    await harness.happens(accountId);
    await harness.react(accountId);
    const [pending = '', done = ''] = await harness.deliveriesOf(endpointId);
    await harness.attempt(done);
    harness.clock.pass(60);
    await harness.redeliver(accountId, endpointId, done);
    expect(await harness.deliveries.secrets().contact(accountId, endpointId)).toBe('contact@example.test');
    await harness.delete(accountId, endpointId);
    await harness.react(accountId);
    expect(await harness.stateOf(pending)).toMatchObject({ status: 'canceled' });
    expect(await harness.deliveries.secrets().contact(accountId, endpointId)).toBeNull();
    expect(await view(accountId)).toBeNull();
    harness.receivers.requests.length = 0;
    expect(await harness.attempt(done, 'redelivery')).toBeNull();
    expect(await harness.stateOf(done)).toMatchObject({ status: 'succeeded' });
    expect(harness.receivers.requests).toEqual([]);
    const due = await harness.deliveries.reader().due(new Date(harness.clock.time + 1e9), 1_000);
    for (const id of [pending, done]) expect(due).not.toContain(id);
  });

  // Another program may have changed the lists in Redis.
  it('cancels no delivery of another account that Redis lists under the deleted endpoint', async () => {
    const [one, other] = [await harness.register(), await harness.register()];
    await harness.happens(other.accountId);
    await harness.react();
    const [deliveryId = ''] = await harness.deliveriesOf(other.endpointId);
    await harness.delete(one.accountId, one.endpointId);
    await harness.react(null, { open: async () => [deliveryId], openUntil: async () => [] });
    expect(await harness.stateOf(deliveryId)).toMatchObject({ status: 'pending' });
  });

  it('cancels no delivery of the endpoint that replaces it', async () => {
    const first = await harness.register();
    await harness.delete(first.accountId, first.endpointId);
    harness.clock.pass(1);
    const second = await harness.register(first.accountId);
    await harness.happens(first.accountId);
    await harness.react();
    const [deliveryId = ''] = await harness.deliveriesOf(second.endpointId);
    expect(await harness.stateOf(deliveryId)).toMatchObject({ status: 'pending' });
    expect(await harness.attempt(deliveryId)).toEqual(TAKEN);
  });
});

describe('a repeated request', () => {
  it('for an endpoint with the same id makes one endpoint with one secret', async () => {
    const endpointId = newId();
    const one = await harness.register(undefined, { endpointId });
    expect(await harness.register(one.accountId, { endpointId })).toEqual(one);
  });

  // When a process dies before its reply is kept, another process repeats the request for the secret with the same id.
  it('for a rotation with the same id rotates once, and the previous secret stays the same', async () => {
    const { accountId, endpointId, secret } = await harness.register();
    const secretId = newId();
    const first = await harness.rotate(accountId, endpointId, 100, secretId);
    harness.clock.pass(5);
    expect(await harness.rotate(accountId, endpointId, 100, secretId)).toEqual(first);
    await harness.ping(accountId, endpointId);
    const [request] = harness.receivers.requests;
    const [, previous] = request?.headers['webhook-signature']?.split(' ') ?? [];
    expect(previous).toBe(
      new Webhook(secret).sign(
        request?.headers['webhook-id'] ?? '',
        new Date(Number(request?.headers['webhook-timestamp']) * 1_000),
        Buffer.from(request?.body ?? []),
      ),
    );
  });

  it('that asks for a redelivery is left to the recovery job when the queue is unavailable', async () => {
    const { accountId, endpointId } = await harness.register();
    await harness.happens(accountId);
    await harness.react(accountId);
    const [deliveryId = ''] = await harness.deliveriesOf(endpointId);
    await harness.attempt(deliveryId);
    harness.queue.away = true;
    await harness.redeliver(accountId, endpointId, deliveryId);
    harness.queue.away = false;
    harness.queue.due.length = 0;
    await harness.settle(deliveryId);
    expect(turns(deliveryId)).toEqual([
      { kind: 'redelivery', turn: String(harness.clock.time), at: harness.clock.now().toISOString() },
    ]);
    await expect(harness.redeliver(accountId, endpointId, deliveryId)).rejects.toMatchObject({
      code: 'webhook.redelivery_too_soon',
    });
  });
});

describe('the delivery log', () => {
  it('has pages that begin with the newest delivery, by status and type, and the last page is marked', async () => {
    const { accountId, endpointId } = await harness.register();
    for (let count = 0; count < 6; count++) await harness.happens(accountId);
    await harness.react(accountId);
    const all = await harness.deliveriesOf(endpointId);
    expect(all).toEqual([...all].sort().reverse());
    for (const id of all.slice(2, 4)) await harness.attempt(id);
    const reader = harness.deliveries.reader();
    const page = async (filter: object, before: string | null, limit: number) => {
      const { items, next } = await reader.page(endpointId, filter, before, limit);
      return { ids: items.map(({ id }) => id), next };
    };
    expect(await page({}, null, 2)).toEqual({ ids: all.slice(0, 2), next: all[1] });
    expect(await page({}, all[1] ?? null, 2)).toEqual({ ids: all.slice(2, 4), next: all[3] });
    expect(await page({}, all[3] ?? null, 2)).toEqual({ ids: all.slice(4), next: null });
    expect(await page({}, null, 6)).toEqual({ ids: all, next: null });
    expect(await page({ status: 'succeeded' }, null, 2)).toEqual({ ids: all.slice(2, 4), next: null });
    expect(await page({ status: 'succeeded' }, null, 1)).toEqual({ ids: [all[2]], next: all[2] });
    expect(await page({ status: 'pending', eventType: 'report.shared' }, all[0] ?? null, 10)).toEqual({
      ids: [all[1], all[4], all[5]],
      next: null,
    });
    expect(await page({ eventType: 'ping' }, null, 10)).toEqual({ ids: [], next: null });
  });

  it("shows the receiver's answers only to the endpoint's account", async () => {
    const { accountId, endpointId } = await harness.register();
    harness.receivers.answer = REFUSED;
    await harness.happens(accountId);
    await harness.react();
    const [deliveryId = ''] = await harness.deliveriesOf(endpointId);
    const first = harness.clock.now().toISOString();
    await harness.attempt(deliveryId);
    harness.clock.pass(100);
    harness.receivers.answer = TAKEN;
    const second = harness.clock.now().toISOString();
    await harness.attempt(deliveryId);
    const reader = harness.deliveries.reader();
    const logged = await reader.find(endpointId, deliveryId);
    if (logged === null) throw new Error('It is not there');
    expect(await reader.attemptsOf(logged)).toEqual([
      { attemptedAt: first, httpStatus: 500, errorCode: 'HTTP_STATUS', latencyMs: 7, excerpt: 'not now' },
      { attemptedAt: second, httpStatus: 200, errorCode: null, latencyMs: 5, excerpt: 'thank you, Ada' },
    ]);
    expect(await view(accountId)).toMatchObject({ lastSuccessAt: second, lastFailureAt: first });
    for (const id of ['', 'x', newId(), deliveryId.toUpperCase()]) expect(await reader.find(endpointId, id)).toBeNull();
    expect(await reader.find(newId(), deliveryId)).toBeNull();
    // The installation's key is needed to read a receiver's answer from the log or the read models.
    const stored = JSON.stringify([await harness.store.readStream(`webhook_delivery-${deliveryId}`), logged]);
    expect(stored).not.toContain('thank you');
    expect(await harness.vault.installationKey(EXCERPT_KEY)).toHaveLength(32);
  });

  it('shows an attempt with all its values only when the attempt has ended', async () => {
    const { accountId, endpointId } = await harness.register();
    await harness.happens(accountId);
    await harness.react(accountId);
    const [deliveryId = ''] = await harness.deliveriesOf(endpointId);
    const reader = harness.deliveries.reader();
    const shown = async (): Promise<DeliveryDetailResult> => {
      const { length } = await harness.store.readStream(`webhook_delivery-${deliveryId}`);
      await until('it is projected', async () => (await reader.find(endpointId, deliveryId))?.revision === length - 1);
      const logged = await reader.find(endpointId, deliveryId);
      if (logged === null) throw new Error('It is not there');
      return deliveryDetailResult(logged, await reader.attemptsOf(logged));
    };
    const meanwhile: DeliveryDetailResult[] = [];
    harness.receivers.before = async () => void meanwhile.push(await shown());
    harness.receivers.answer = REFUSED;
    await harness.attempt(deliveryId);
    harness.clock.pass(100);
    harness.receivers.answer = TAKEN;
    await harness.attempt(deliveryId);
    harness.receivers.before = () => Promise.resolve();
    expect(meanwhile).toMatchObject([
      {
        status: 'pending',
        attempt_count: 0,
        last_attempt_at: null,
        last_http_status: null,
        last_error_code: null,
        attempts: [],
      },
      {
        status: 'retrying',
        attempt_count: 1,
        last_http_status: 500,
        last_error_code: 'HTTP_STATUS',
        attempts: [{ http_status: 500 }],
      },
    ]);
    expect(meanwhile[1]?.last_attempt_at).toBe(meanwhile[1]?.attempts[0]?.attempted_at);
    expect(await shown()).toMatchObject({
      status: 'succeeded',
      attempt_count: 2,
      last_http_status: 200,
      attempts: [{ http_status: 500 }, { http_status: 200 }],
    });
  });

  it('shows the last success and failure, even if many deliveries followed', async () => {
    const { accountId, endpointId } = await harness.register();
    await harness.happens(accountId);
    await harness.react(accountId);
    const [first = ''] = await harness.deliveriesOf(endpointId);
    await harness.attempt(first);
    const succeeded = harness.clock.now().toISOString();
    harness.receivers.answer = REFUSED;
    harness.clock.pass(1);
    await Promise.all(Array.from({ length: 60 }, () => harness.happens(accountId)));
    await harness.react(accountId);
    await Promise.all((await harness.deliveriesOf(endpointId)).slice(0, -1).map((id) => harness.attempt(id)));
    expect(await view(accountId)).toMatchObject({
      lastSuccessAt: succeeded,
      lastFailureAt: harness.clock.now().toISOString(),
    });
  });

  it('lists ended deliveries for thirty days; open deliveries, the last success and each delivery by id stay', async () => {
    const other = await RedisServer.start();
    try {
      // The harness's clock shows a day that is more than thirty days ago.
      const { accountId, endpointId } = await harness.register();
      for (let count = 0; count < 3; count++) await harness.happens(accountId);
      await harness.react(accountId);
      const [open = '', second = '', first = ''] = await harness.deliveriesOf(endpointId);
      await harness.attempt(first);
      harness.clock.pass(1);
      await harness.attempt(second);
      const succeeded = harness.clock.now().toISOString();

      const projections = new RedisProjectionStore(other.client());
      await rebuild(harness.store, projections, [deliveryLog]);
      const models = new RedisReadModels(other.client(), harness.store, [deliveryLog], new Failures(), 2 * 3_600_000);
      const reader = new DeliveryReader(models, harness.vault, new CompleteLists(harness.store, projections, models));
      const { items } = await reader.page(endpointId, {}, null, 10);
      expect(items.map(({ id }) => id)).toEqual([open]);
      expect(await reader.open(endpointId)).toEqual([open]);
      await other.flush();
      await expect(reader.open(endpointId)).rejects.toThrow(Unavailable);
      await rebuild(harness.store, projections, [deliveryLog]);
      expect(await reader.lastOutcomes(endpointId)).toMatchObject({
        taken: { id: second, doc: { succeededAt: succeeded } },
        refused: null,
      });
      expect(await reader.find(endpointId, first)).toMatchObject({ doc: { delivery: { status: 'succeeded' } } });
    } finally {
      await other.stop();
    }
  });
});

describe('the read models of webhooks', () => {
  it.each(PROJECTIONS)(
    '$name is the same after a replay from the beginning, and equals the log',
    async (projection) => {
      const expected = await expectedLines(harness.store, projection, harness.clock.now().getTime());
      expect(expected.size).toBeGreaterThan(5);
      await until(
        'it has caught up',
        async () => (await storedLines(redis.client(), projection)).size === expected.size,
      );
      const before = await liveContents(redis.client(), projection);
      await redis.flush();
      await harness.live();
      expect(await storedLines(redis.client(), projection)).toEqual(expected);
      expect(await liveContents(redis.client(), projection)).toEqual(before);
    },
  );

  it.each(PROJECTIONS)('$name throws an error at an unknown event', ({ evolve }) => {
    expect(() =>
      evolve(null, { type: 'SomethingElse', data: {}, stream: 'x-1', metadata: {} } as unknown as RecordedEvent),
    ).toThrow('SomethingElse');
  });

  it('refuse a delivery whose first events are missing', () => {
    expect(() =>
      deliveryLog.evolve(null, {
        type: 'DeliveryExhausted',
        data: { attempts: 1 },
        stream: 'webhook_delivery-1',
        metadata: { accountId: 'a' },
      } as unknown as RecordedEvent),
    ).toThrow('webhook_delivery-1');
  });

  it('contain no secret and no mail address', async () => {
    const { accountId, secret } = await harness.register(undefined, { mail: 'canary-contact@example.test' });
    await harness.react(accountId);
    const events = JSON.stringify(await harness.store.readAll(null, Infinity));
    const documents = JSON.stringify(
      await Promise.all(PROJECTIONS.map(async (one) => [...(await storedLines(redis.client(), one)).values()])),
    );
    expect((await view(accountId))?.notifies).toBe(true);
    for (const text of ['canary-contact', 'contact@example.test', secret.slice(6)]) {
      expect(events).not.toContain(text);
      expect(documents).not.toContain(text);
    }
  });
});

// Last, because its deliveries are of another year than those of the other tests.
describe('the last outcomes of an endpoint', () => {
  // Guarantee: the clock of a test account, which may be years ahead, hides no later outcome of live traffic.
  it('are those of the latest attempts by the real time, whatever time a test clock shows', async () => {
    const { accountId, endpointId } = await harness.register();
    const { clock } = harness;
    let aheadMs = 0;
    const turned = jest
      .spyOn(clock, 'of')
      .mockImplementation(({ environment }) => new Date(clock.time + (environment === 'test' ? aheadMs : 0)));
    const attempted = async (environment: 'test' | 'live', answer: typeof TAKEN): Promise<string> => {
      clock.pass(60);
      harness.receivers.answer = answer;
      await harness.happens(accountId, environment);
      await harness.react(accountId);
      const ids = await harness.deliveriesOf(endpointId);
      const pending = await Promise.all(ids.map(async (id) => [id, (await harness.stateOf(id)).attempts] as const));
      const [id = ''] = pending.find(([, attempts]) => attempts === 0) ?? [];
      await harness.attempt(id);
      return clock.now().toISOString();
    };
    aheadMs = 365 * 86_400_000;
    await attempted('test', TAKEN);
    await attempted('test', { ...REFUSED, httpStatus: 418 });
    const [succeeded, failed] = [await attempted('live', TAKEN), await attempted('live', REFUSED)];
    expect(await view(accountId)).toMatchObject({
      lastSuccessAt: succeeded,
      lastFailureAt: failed,
      lastError: { httpStatus: 500 },
    });
    turned.mockRestore();
  });
});

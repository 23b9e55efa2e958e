// Read models that are built anew while requests come in: the work makes room for them, and goes on.
import { EventEmitter, on } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { RedisProjectionStore } from '../../src/adapters/read-models/redis-projection-store.js';
import { deliveryLog } from '../../src/modules/webhooks/read/deliveries.js';
import { serveRebuilds } from '../../src/platform/subscriptions/rebuild-process.js';
import { Throttle } from '../../src/platform/subscriptions/throttle.js';
import { RequestActivity } from '../../src/ports/request-activity.js';
import { until } from '../support/eventually.js';
import { appendScreenings } from '../support/long-log.js';
import { KEPT_MS, RedisServer } from '../support/redis.js';
import { expectedDocuments, Log } from './fixtures.js';

const EVENTS = 6_000;
const DOCUMENTS = EVENTS / 10;
const EVENTS_OF_A_DELIVERY = 3;
/** Events that are folded, and documents that are written, between two rests at most. */
const [FOLDED, WRITTEN] = [120, 15];

class Requests extends RequestActivity {
  come = false;

  override note(): void {
    this.come = true;
  }

  override async isRecent(): Promise<boolean> {
    return this.come;
  }
}

describe('a throttle', () => {
  it('lets everything go on at once while no requests come', async () => {
    const throttle = new Throttle(new Requests(), () => new Promise(() => undefined));
    await Promise.all([throttle.pause(), throttle.pause()]);
  });

  it('rests before each step while requests come, one step after the other', async () => {
    const requests = new Requests();
    requests.note();
    const rests: (() => void)[] = [];
    const throttle = new Throttle(requests, () => new Promise((resolve) => rests.push(resolve)));
    const gone: string[] = [];
    const steps = ['one', 'other'].map((step) => throttle.pause().then(() => gone.push(step)));
    await until('the first rest', () => rests.length === 1);
    expect(gone).toEqual([]);
    rests[0]?.();
    await until('the next rest', () => rests.length === 2);
    expect(gone).toEqual(['one']);
    rests[1]?.();
    await Promise.all(steps);
    expect(gone).toEqual(['one', 'other']);
  });

  it('rests no more when the process is to end', async () => {
    const requests = new Requests();
    requests.note();
    const throttle = new Throttle(requests, () => new Promise(() => undefined));
    throttle.end();
    await Promise.all([throttle.pause(), throttle.pause()]);
  });
});

describe('a read model that is built anew', () => {
  let server: RedisServer;
  let log: Log;
  let requests: Requests;
  let rests: number;

  beforeAll(async () => {
    server = await RedisServer.start();
  });

  beforeEach(async () => {
    await server.flush();
    log = await Log.open();
    await appendScreenings(log.store, EVENTS);
    requests = new Requests();
    rests = 0;
  });

  afterEach(async () => {
    await log.close();
  });

  afterAll(async () => {
    await server.stop();
  });

  /** As the process of its own does it; how many documents there are by the end. */
  async function build(rest: () => void = () => undefined): Promise<number> {
    const throttle = new Throttle(requests, async () => {
      rests += 1;
      rest();
    });
    const store = new RedisProjectionStore(server.client(), KEPT_MS, throttle.pause);
    await store.lease(deliveryLog, 'token', 600_000);
    await store.beginGeneration(deliveryLog, 'token', 1, false);
    const service = new EventEmitter();
    let built = false;
    const serving = serveRebuilds(
      on(service, 'message'),
      (message) => (built ||= message.kind === 'committed' && message.atEnd),
      log.store,
      store,
      [deliveryLog],
      'token',
      throttle,
    );
    service.emit('message', { kind: 'assign', tracks: [{ projection: deliveryLog.name, generation: 1 }] });
    await until('all is built', () => built);
    service.emit('message', { kind: 'end' });
    await serving;
    return (await store.sizes(deliveryLog)).building;
  }

  it('is built without a rest while nobody asks anything', async () => {
    expect(await build()).toBe(DOCUMENTS);
    expect(rests).toBe(0);
  });

  it('is built to the end though requests never stop, with a rest between what it reads and what it writes', async () => {
    requests.note();
    expect(await build()).toBe((await expectedDocuments(log.store, deliveryLog)).size);
    expect(rests).toBeGreaterThanOrEqual((DOCUMENTS * EVENTS_OF_A_DELIVERY) / FOLDED + DOCUMENTS / WRITTEN);
  });

  it('goes on at full speed when requests have stopped', async () => {
    requests.note();
    expect(await build(() => (requests.come = rests < 10))).toBe(DOCUMENTS);
    expect(rests).toBe(10);
  });
});

// The event feeds while the process that publishes is killed, a second process publishes too, and Redis loses all checkpoints. Each feed has every
// published event of the log once and in the order of the log (docs/contract/server.md#the-event-feed).
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EmbeddedEventStore } from '../../src/adapters/event-store/embedded.js';
import type { RecordedEvent } from '../../src/kernel/domain-event.js';
import { soon, until } from '../support/eventually.js';
import { freePort } from '../support/redis.js';
import { type Credentials, type PlatformCaller, Program, Service } from '../support/service.js';

/** The stored types that these screenings publish. */
const TOLD: ReadonlySet<string> = new Set(['StepUpRequired', 'ScreeningCompleted', 'SessionBlocked']);
let service: Service;
let accounts: Credentials['accounts'];
let caller: PlatformCaller;

beforeAll(async () => {
  service = await Service.start({ LOG_LEVEL: 'warn' }, { alone: ['service'] });
  ({ accounts } = await service.credentials());
  caller = await service.signIn('nopay');
});
afterAll(() => service?.stop());

/** Screens this many people at once. A request that a killed process did not answer may still have stored its events. */
async function screens(count: number): Promise<void> {
  await Promise.allSettled(Array.from({ length: count }, () => caller.submit({ lastName: 'Otptest' })));
}

async function logOf(): Promise<RecordedEvent[]> {
  const store = EmbeddedEventStore.open({ directory: `${service.dataDir}/events` });
  try {
    return await store.readAll(null, Infinity);
  } finally {
    await store.close();
  }
}

async function heads(): Promise<any> {
  return (await service.request('GET', '/v1/events', { headers: { 'x-secret-key': accounts.nopay.secretKey } })).body
    .head;
}

/** Waits until the feed has everything, and expects the order of the log. */
async function expectWhole(): Promise<number> {
  const stream = `feed-${accounts.nopay.accountId}-test`;
  let count = 0;
  await soon(async () => {
    const log = await logOf();
    const told = log.filter(({ type, metadata }) => TOLD.has(type) && metadata.accountId === accounts.nopay.accountId);
    const feed = log.filter((event) => event.stream === stream);
    expect(feed.map(({ metadata }) => metadata.$causationId)).toEqual(told.map(({ id }) => id));
    count = feed.length;
  });
  return count;
}

describe('the feeds', () => {
  it('are whole after the publisher was killed again and again', async () => {
    for (let round = 0; round < 4; round++) {
      const screening = screens(15);
      await until('some are published', async () => (await heads()).sequence > round * 5);
      await service.kill9();
      await screening;
      await service.startAgain();
    }
    await screens(3);
    expect(await expectWhole()).toBeGreaterThanOrEqual(19);
  });

  it('are whole when two processes take turns and Redis loses every checkpoint', async () => {
    const other = new Program('dist/src/main.js', { ...service.env, PORT: String(await freePort()) });
    try {
      other.spawn();
      for (let round = 0; round < 3; round++) {
        const screening = screens(10);
        await service.redis.flush();
        await screening;
      }
      await expectWhole();
    } finally {
      await other.end('SIGTERM');
    }
    await screens(2);
    const count = await expectWhole();
    const { body } = await service.request('GET', '/v1/events?limit=1000', {
      headers: { 'x-secret-key': accounts.nopay.secretKey },
    });
    expect(body.data.map(({ sequence }: any) => sequence)).toEqual(
      Array.from({ length: count }, (_, place) => place + 1),
    );
  });

  it('and the chain of the log verifies', async () => {
    const audit = await service.ops('audit', 'verify');
    expect([audit.exitCode, audit.stdout]).toEqual([0, expect.stringContaining('"brokenLinks":0')]);
  });
});

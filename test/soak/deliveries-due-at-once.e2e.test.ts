// Thousands of webhook deliveries are due at once, and the sending process is killed. All deliveries arrive, and only
// those under way at the kill arrive twice. The log records every delivery.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { EmbeddedEventStore } from '../../src/adapters/event-store/embedded.js';
import { MOST_UNDER_WAY } from '../../src/adapters/delivery-queue/dispatcher.js';
import { SystemClock } from '../../src/kernel/clock.js';
import { newId } from '../../src/kernel/ids.js';
import { share, shareIdOf } from '../../src/modules/reports/domain/share.js';
import { AggregateStore } from '../../src/platform/aggregates/aggregate-store.js';
import type { ReadModels } from '../../src/ports/read-models.js';
import { CertificateAuthority } from '../support/certificates.js';
import { EndpointOwner, trustFile } from '../support/endpoint-owner.js';
import { HttpsReceiver } from '../support/https-receiver.js';
import { ALONE, Service } from '../support/service.js';
import { until } from '../support/eventually.js';

const MANY = 10_000;

let trust: { readonly folder: string; readonly file: string };
let receiver: HttpsReceiver;
let service: Service;
let owner: EndpointOwner;

beforeAll(async () => {
  const authority = new CertificateAuthority();
  [receiver, trust] = await Promise.all([HttpsReceiver.start({ authority }), trustFile(authority)]);
  service = await Service.start(
    {
      WEBHOOK_EGRESS_ALLOW: '127.0.0.1/32',
      NODE_EXTRA_CA_CERTS: trust.file,
      WEBHOOK_TIMEOUT: '2',
      WEBHOOK_RETRY_LADDER: Array(30).fill(1).join(),
      LOG_LEVEL: 'warn',
    },
    { alone: ALONE },
  );
  owner = new EndpointOwner(service, (await service.credentials()).accounts.nopay);
  await owner.register(receiver.url('/nopay'));
});

afterAll(async () => {
  await service?.stop();
  await receiver?.close();
  await rm(trust.folder, { recursive: true, force: true });
});

it(`${MANY.toLocaleString('en-US')} deliveries that are due at once all arrive, although the process is killed while it sends them`, async () => {
  const recipient = (await service.credentials()).accounts.demo.accountId;
  await service.kill9();
  const sessions = await storeShares(MANY, recipient);
  await service.startAgain();
  const total = (): number => receiver.requests.length;
  await until('some have arrived', () => total() >= MANY * (0.1 + Math.random() / 10));
  await service.kill9();
  await service.startAgain();
  const arrived = (): Set<string> =>
    new Set(receiver.requests.map(({ body }) => JSON.parse(body.toString()).data.session_id));
  // The test makes the cheap count first. Reading every delivery at each check would slow down the receiver, which is
  // in this process.
  await until('all have arrived', () => total() >= MANY && arrived().size >= MANY, 150_000);
  await until(
    'all are in the log as delivered',
    async () => (await owner.deliveries({ status: 'succeeded' })).length >= MANY,
  );
  expect(arrived()).toEqual(new Set(sessions));
  await owner.expectAllAccountedFor(receiver.requests, MANY, 1);
  // At most as many requests are sent again as an endpoint may have attempts under way.
  expect(total()).toBeLessThanOrEqual(MANY + MOST_UNDER_WAY);
});

/** Shares this number of the account's reports. The events are stored while no process runs. */
async function storeShares(count: number, recipientAccountId: string): Promise<string[]> {
  const store = EmbeddedEventStore.open({ directory: join(service.dataDir, 'events') });
  const aggregates = new AggregateStore(
    store,
    { applyNow: () => Promise.resolve() } as unknown as ReadModels,
    new SystemClock(),
    { appendConflict: () => undefined },
  );
  const sessions = Array.from({ length: count }, () => newId());
  try {
    const left = [...sessions];
    await Promise.all(
      Array.from({ length: 64 }, async () => {
        for (let sessionId = left.pop(); sessionId !== undefined; sessionId = left.pop()) {
          const context = {
            accountId: owner.account.accountId,
            environment: 'test',
            actor: { kind: 'system', id: 'test' },
            correlationId: sessionId,
            causationId: sessionId,
          } as const;
          await aggregates.execute(
            share,
            shareIdOf(sessionId, recipientAccountId),
            {
              kind: 'share',
              now: new Date(),
              reportId: newId(),
              sessionId,
              recipientAccountId,
              purpose: 'TENANT_SCREENING',
              windowSeconds: null,
            },
            context,
          );
        }
      }),
    );
    return sessions;
  } finally {
    await store.close();
  }
}

// A renter who paid at a hosted checkout in vain and is verified again after the guard. The sessions are played.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { EmbeddedEventStore } from '../../../src/adapters/event-store/embedded.js';
import { SystemClock } from '../../../src/kernel/clock.js';
import { systemContext } from '../../../src/kernel/context.js';
import type { RecordedEvent } from '../../../src/kernel/domain-event.js';
import { newId } from '../../../src/kernel/ids.js';
import { WhenVerifiedAgain } from '../../../src/modules/payments/application/when-verified-again.js';
import { checkout, checkoutReference, type CheckoutCommand } from '../../../src/modules/payments/domain/checkout.js';
import { AggregateStore } from '../../../src/platform/aggregates/aggregate-store.js';
import type { ReadModels } from '../../../src/ports/read-models.js';
import type { PaymentNews, Screenings } from '../../../src/published/screenings.js';

let folder: string;
let store: EmbeddedEventStore;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'verified-again-'));
  store = EmbeddedEventStore.open({ directory: folder, mapSizeBytes: 16 * 2 ** 20 });
});
afterAll(async () => {
  await store.close();
  await rm(folder, { recursive: true, force: true });
});

/** What the session hears of payments when the renter is verified in it. */
async function toldAt(what: { readonly isNewest: boolean; readonly isInVain: boolean }): Promise<PaymentNews[]> {
  const aggregates = new AggregateStore(
    store,
    { applyNow: async () => undefined } as unknown as ReadModels,
    new SystemClock(),
    { appendConflict: () => undefined },
  );
  const [partyId, first, again] = [newId(), newId(), newId()];
  const told: PaymentNews[] = [];
  const screenings = {
    find: async () => ({ paymentStatus: 'PENDING', partyId }),
    reportProspect: async () => 'possible',
    paidInVain: async () => (what.isInVain ? [{ sessionId: first, transactionId: checkoutReference(partyId, 0) }] : []),
    paymentProgressed: async (_session: string, news: PaymentNews) => void told.push(news),
  } as unknown as Screenings;
  const metadata = { accountId: newId(), environment: 'test', $correlationId: 'request' };
  const context = {
    ...systemContext('checkouts', metadata as RecordedEvent['metadata']),
    correlationId: 'request',
    causationId: 'request',
  };
  const registeredAt = '2026-03-01T12:00:00.000Z';
  const session = { id: 'cs_1', status: 'complete' } as const;
  const commands: readonly CheckoutCommand[] = [
    {
      kind: 'open',
      now: new Date(registeredAt),
      guardSeconds: 60,
      newest: { sessionId: first, registeredAt },
      attemptId: newId(),
      subjectId: newId(),
      reportFlags: {},
      amountCents: 3_500,
      applicationFeeCents: 0,
      currency: 'usd',
      connectedAccount: null,
    },
    { kind: 'record-session', ordinal: 0, checkoutSessionId: 'cs_1', expiresAt: '2026-03-02T12:00:00.000Z' },
    {
      kind: 'observe',
      now: new Date(registeredAt),
      toReplace: false,
      session: { ...session, payment: { intentId: 'pi_1', amountCents: 3_500, currency: 'usd' } },
    },
    { kind: 'register', sessionId: again, registeredAt: '2026-06-01T12:00:00.000Z' },
    ...(what.isNewest
      ? []
      : [{ kind: 'register', sessionId: newId(), registeredAt: '2026-06-02T12:00:00.000Z' } as const]),
  ];
  for (const command of commands) await aggregates.execute(checkout, partyId, command, context);
  const verified = { id: newId(), stream: `screening-${again}`, metadata } as RecordedEvent;
  await new WhenVerifiedAgain(aggregates, screenings).handle(verified);
  return told.map((news) => ({ ...news, transactionId: news.transactionId.replace(partyId, 'renter') }));
}

it('a checkout that was paid in vain counts for the newest session, however long ago it was', async () => {
  const counted = { transactionId: 'chk_renter_0', ordinal: 0, observation: 4, status: 'SUCCEEDED' };
  expect(await toldAt({ isNewest: true, isInVain: true })).toEqual([counted]);
});

it('it counts for no session but the newest, and for none where it was not in vain', async () => {
  expect(await toldAt({ isNewest: false, isInVain: true })).toEqual([]);
  expect(await toldAt({ isNewest: true, isInVain: false })).toEqual([]);
});

// The sessions for which the payment of a hosted checkout counts, in long streams and in logs from before payments were
// recorded. The sessions are fakes.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { EmbeddedEventStore } from '../../../src/adapters/event-store/embedded.js';
import { SystemClock } from '../../../src/kernel/clock.js';
import { systemContext } from '../../../src/kernel/context.js';
import type { RecordedEvent } from '../../../src/kernel/domain-event.js';
import { newId } from '../../../src/kernel/ids.js';
import { CheckoutPolicy } from '../../../src/modules/payments/application/checkout-policy.js';
import { WhenCheckoutPaid } from '../../../src/modules/payments/application/when-checkout-paid.js';
import { checkout, checkoutReference, type CheckoutCommand } from '../../../src/modules/payments/domain/checkout.js';
import { checkoutPaymentId, payment } from '../../../src/modules/payments/domain/payment.js';
import { AggregateStore } from '../../../src/platform/aggregates/aggregate-store.js';
import type { ReadModels } from '../../../src/ports/read-models.js';
import type { Screenings } from '../../../src/published/screenings.js';

const GUARD = 30 * 86_400;
const PRICE = { amountCents: 3_500, currency: 'usd' };
const METADATA = { accountId: newId(), environment: 'test', $correlationId: 'request' } as RecordedEvent['metadata'];
const CONTEXT = { ...systemContext('checkouts', METADATA), correlationId: 'request', causationId: 'request' };

let folder: string;
let store: EmbeddedEventStore;
let aggregates: AggregateStore;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'checkouts-paid-'));
  store = EmbeddedEventStore.open({ directory: folder, mapSizeBytes: 64 * 2 ** 20 });
  const readModels = { applyNow: async () => undefined } as unknown as ReadModels;
  aggregates = new AggregateStore(store, readModels, new SystemClock(), { appendConflict: () => undefined });
});
afterAll(async () => {
  await store.close();
  await rm(folder, { recursive: true, force: true });
});

/** A renter who has paid in session S1. `paid`: the sessions for which the log says that the renter has paid. */
function renter(...paid: readonly string[]) {
  const partyId = newId();
  const [stream, reference] = [`checkout-${partyId}`, checkoutReference(partyId, 0)];
  const screenings = {
    find: async (id: string) => ({ paidBy: paid.includes(id) ? reference : null }),
  } as unknown as Screenings;
  const observer = { altered: () => undefined, refundReversed: () => undefined };
  const handler = new WhenCheckoutPaid(aggregates, store, screenings, new CheckoutPolicy(GUARD), observer);
  const run = (command: CheckoutCommand): Promise<unknown> => aggregates.execute(checkout, partyId, command, CONTEXT);
  const on = (day: number): string => new Date(Date.UTC(2026, 0, day)).toISOString();
  const registers = (sessionId: string, day: number): Promise<unknown> =>
    run({ kind: 'register', sessionId, registeredAt: on(day) });
  const history = (): Promise<RecordedEvent[]> => store.readStream(stream);
  return {
    stream,
    registers,
    history,
    handle: async (events: readonly (RecordedEvent | undefined)[]): Promise<void> => {
      for (const event of events) if (event && handler.types.has(event.type as never)) await handler.handle(event);
    },
    opens: async (): Promise<void> => {
      const terms = { ...PRICE, applicationFeeCents: 0, connectedAccount: null, reportFlags: {} };
      const newest = { sessionId: 'S1', registeredAt: on(1) };
      const names = { attemptId: newId(), subjectId: newId() };
      await run({ kind: 'open', now: new Date(on(1)), guardSeconds: GUARD, newest, ...names, ...terms });
      await run({ kind: 'record-session', ordinal: 0, checkoutSessionId: 'cs_1', expiresAt: on(2) });
    },
    pays: () => {
      const session = { id: 'cs_1', status: 'complete', payment: { intentId: 'pi_1', ...PRICE } } as const;
      return run({ kind: 'observe', now: new Date(on(1)), toReplace: false, session });
    },
    payment: async () => (await aggregates.load(payment, checkoutPaymentId(reference))).state,
  };
}

// Only the newest event of such a long stream is loaded.
it('a checkout that is paid 200 events after its opening has made a payment', async () => {
  const { stream, opens, pays, history, handle, payment } = renter();
  await opens();
  const [first] = await history();
  const looks = Array.from({ length: 200 }, () => ({ ...first, id: newId(), type: 'CheckoutLookedUp', data: {} }));
  await store.append(stream, 1, looks as never);
  await pays();
  await handle(await history());
  expect(await payment()).toMatchObject({ status: 'SUCCEEDED', sessionId: 'S1' });
});

// The event handler of payments reads the whole log once.
it('a payment counts for each session that an old log marks as paid by the checkout', async () => {
  const { opens, pays, registers, history, handle, payment } = renter('S1', 'S2', 'S3', 'S4');
  await opens();
  await pays();
  await registers('S2', 10);
  await registers('S3', 20);
  // The renter registered after the 30 days, and is verified again.
  await registers('S4', 90);
  await registers('S5', 100);
  for (let time = 0; time < 2; time += 1) await handle(await history());
  expect(await payment()).toMatchObject({ sessionId: 'S4', others: ['S1', 'S2', 'S3'] });
});

it('a session does not become the newest when it is handled after a newer one', async () => {
  const { opens, pays, registers, history, handle, payment } = renter('S1', 'S2', 'S3');
  await opens();
  await pays();
  await registers('S2', 10);
  await registers('S3', 20);
  const [paid, second, third] = (await history()).slice(2);
  await handle([paid, third, second]);
  expect(await payment()).toMatchObject({ sessionId: 'S3', others: ['S1', 'S2'] });
});

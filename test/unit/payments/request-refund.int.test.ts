// A refund that is requested while the payment moves to a newer session. The sessions and the reports are fakes.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { EmbeddedEventStore } from '../../../src/adapters/event-store/embedded.js';
import { SystemClock } from '../../../src/kernel/clock.js';
import { DomainError } from '../../../src/kernel/domain-error.js';
import { newId } from '../../../src/kernel/ids.js';
import { RequestRefund } from '../../../src/modules/payments/application/request-refund.js';
import { checkoutPaymentId, payment, paymentId } from '../../../src/modules/payments/domain/payment.js';
import { AggregateStore } from '../../../src/platform/aggregates/aggregate-store.js';
import type { ReadModels } from '../../../src/ports/read-models.js';
import type { Accounts } from '../../../src/published/accounts.js';
import type { ReportPulls } from '../../../src/published/reports.js';
import type { Screenings } from '../../../src/published/screenings.js';

const INTENT = {
  id: 'pi_1',
  status: 'succeeded',
  amountCents: 3_500,
  receivedCents: 3_500,
  refundedCents: 0,
  currency: 'usd',
  lastErrorCode: null,
} as const;
const CONTEXT = {
  accountId: newId(),
  environment: 'test',
  actor: { kind: 'secret-key', id: 'key' },
  correlationId: newId(),
  causationId: newId(),
} as const;

let folder: string;
let store: EmbeddedEventStore;
let aggregates: AggregateStore;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'refunds-'));
  store = EmbeddedEventStore.open({ directory: folder, mapSizeBytes: 64 * 2 ** 20 });
  const readModels = { applyNow: async () => undefined } as unknown as ReadModels;
  aggregates = new AggregateStore(store, readModels, new SystemClock(), { appendConflict: () => undefined });
});
afterAll(async () => {
  await store.close();
  await rm(folder, { recursive: true, force: true });
});

/** A succeeded payment. Each time pulls are ended, the payment moves to the next newer session. */
async function paid(newer: readonly string[]) {
  const sessionId = newId();
  const id = paymentId(sessionId, 0);
  const price = { amountCents: 3_500, applicationFeeCents: 0 };
  const open = { kind: 'open', sessionId, ordinal: 0, ...price, currency: 'usd', connectedAccount: null } as const;
  await aggregates.execute(payment, id, open, CONTEXT);
  await aggregates.execute(payment, id, { kind: 'observe', basedOn: 1, intent: INTENT }, CONTEXT);
  const ended: string[] = [];
  const left = [...newer];
  const pulls: ReportPulls = {
    end: async (from, { transactionId, reasonCode }) => {
      ended.push(from);
      const to = left.shift();
      if (to !== undefined) await aggregates.execute(payment, id, { kind: 'carry-over', from, to }, CONTEXT);
      return { transactionId, reasonCode };
    },
    carryOver: async () => true,
  };
  const screenings = { find: async () => null } as unknown as Screenings;
  const request = new RequestRefund(aggregates, screenings, pulls, {} as Accounts);
  return { sessionId, ended, refund: () => request.of(id, { reasonCode: 'other', evenIfReleased: false }, CONTEXT) };
}

it('a payment that moves to a newer session while pulls are being ended is refunded for the newer session', async () => {
  const { sessionId, ended, refund } = await paid(['newer']);
  expect(await refund()).toMatchObject({ sessionId: 'newer', refund: { reasonCode: 'other', keepsReport: false } });
  expect(ended).toEqual([sessionId, 'newer']);
});

/** A payment at a hosted checkout that counts for three sessions. `reports` holds the states of their reports. */
async function paidAtCheckout(reports: Readonly<Record<string, 'released' | 'payment.report_under_way'>>) {
  const sessions: Readonly<Record<string, string>> = Object.fromEntries(
    ['first', 'second', 'third'].map((name) => [name, `${name}-${newId()}`]),
  );
  const { first, second, third } = sessions;
  const reference = `chk_${newId()}_0`;
  const id = checkoutPaymentId(reference);
  const asked = { amountCents: 3_500, currency: 'usd' };
  const terms = { ordinal: 0, applicationFeeCents: 0, connectedAccount: null, paymentIntentId: 'pi_1', ...asked };
  const take = { kind: 'take-from-checkout', sessionId: String(first), reference, ...terms, asked } as const;
  await aggregates.execute(payment, id, take, CONTEXT);
  for (const to of [second, third])
    await aggregates.execute(payment, id, { kind: 'extend', to: String(to), newer: [] }, CONTEXT);
  const ended: string[] = [];
  const nameOf = (session: string): string => session.split('-')[0] ?? '';
  const pulls: ReportPulls = {
    end: async (from, { transactionId, reasonCode, evenIfReleased }) => {
      const report = reports[nameOf(from)];
      if (report === 'payment.report_under_way') throw new DomainError(report);
      if (report === 'released' && !evenIfReleased) throw new DomainError('payment.report_released');
      if (!ended.includes(nameOf(from))) ended.push(nameOf(from));
      return { transactionId, reasonCode, ...(report === 'released' && { released: true as const }) };
    },
    carryOver: async () => true,
  };
  const screenings = { find: async () => ({ paidBy: reference }) } as unknown as Screenings;
  const request = new RequestRefund(aggregates, screenings, pulls, {} as Accounts);
  return {
    ended,
    /** Records the refund after the pulls of one session have ended. */
    hear: (name: string) => request.record(id, sessions[name] ?? '', { reasonCode: 'other' }, CONTEXT),
    refund: async (evenIfReleased = false) => {
      const { refund } = await request.of(id, { reasonCode: 'other', evenIfReleased }, CONTEXT);
      return refund && { keepsReport: refund.keepsReport, others: refund.others.map(nameOf) };
    },
  };
}

it('a payment at a checkout is refunded for each of its sessions, and for the newest session last', async () => {
  const { ended, refund } = await paidAtCheckout({});
  expect(await refund()).toEqual({ keepsReport: false, others: ['first', 'second'] });
  expect(ended).toEqual(['first', 'second', 'third']);
});

// The log records the end of the pulls before the refund, so the event handler may record the refund first.
it('a payment at a checkout is refunded by the event handler when the pulls of the newest session have ended', async () => {
  const { ended, refund, hear } = await paidAtCheckout({});
  await hear('first');
  expect(ended).toEqual([]);
  await hear('third');
  expect(await refund()).toEqual({ keepsReport: false, others: ['first', 'second'] });
});

it.each(['first', 'second', 'third'])(
  'a refund is refused while the report of the %s session is being pulled',
  async (name) => {
    const { ended, refund } = await paidAtCheckout({ [name]: 'payment.report_under_way' });
    await expect(refund()).rejects.toMatchObject({ code: 'payment.report_under_way' });
    expect(ended).not.toContain('third');
  },
);

it.each([
  ['first', { keepsReport: false, others: ['second'] }],
  ['third', { keepsReport: true, others: ['first', 'second'] }],
])(
  'a refund is refused after the report of the %s session was released, but an operator may make the refund',
  async (name, given) => {
    const { refund } = await paidAtCheckout({ [name]: 'released' });
    await expect(refund()).rejects.toMatchObject({ code: 'payment.report_released' });
    expect(await refund(true)).toEqual(given);
  },
);

it('a refund is refused as unavailable when the payment moves at each try, and is made at the next request', async () => {
  const { refund } = await paid(['newer', 'newest']);
  await expect(refund()).rejects.toMatchObject({ code: 'service.unavailable' });
  expect(await refund()).toMatchObject({ sessionId: 'newest', refund: { reasonCode: 'other' } });
});

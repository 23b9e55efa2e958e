// A paid session ends without a possible report, and the service plans a refund. Sessions and reports are fakes.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { EmbeddedEventStore } from '../../../src/adapters/event-store/embedded.js';
import { SystemClock } from '../../../src/kernel/clock.js';
import { systemContext } from '../../../src/kernel/context.js';
import type { RecordedEvent } from '../../../src/kernel/domain-event.js';
import { newId } from '../../../src/kernel/ids.js';
import { PaymentInVain } from '../../../src/modules/payments/application/in-vain.js';
import { WhenSessionInVain } from '../../../src/modules/payments/application/when-session-in-vain.js';
import {
  payment,
  paymentId,
  transactionIdOf,
  type PaymentCommand,
} from '../../../src/modules/payments/domain/payment.js';
import { AggregateStore } from '../../../src/platform/aggregates/aggregate-store.js';
import type { ReadModels } from '../../../src/ports/read-models.js';
import type { Reports } from '../../../src/published/reports.js';
import type { ReportProspect, Screenings } from '../../../src/published/screenings.js';

let folder: string;
let store: EmbeddedEventStore;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'in-vain-'));
  store = EmbeddedEventStore.open({ directory: folder, mapSizeBytes: 16 * 2 ** 20 });
});
afterAll(async () => {
  await store.close();
  await rm(folder, { recursive: true, force: true });
});

/** The last event of the payment after the session has reached this state. */
async function last(
  status: string,
  prospect: ReportProspect,
  more: {
    readonly carriedTo?: string;
    readonly expiresAt?: string;
    readonly older?: string;
    readonly newer?: string;
  } = {},
): Promise<object | undefined> {
  const aggregates = new AggregateStore(
    store,
    { applyNow: async () => undefined } as unknown as ReadModels,
    new SystemClock(),
    { appendConflict: () => undefined },
  );
  const sessionId = newId();
  const id = paymentId(sessionId, 0);
  const screenings = {
    find: async (found: string) => {
      const paid = { sessionId: found, paidBy: transactionIdOf(id) };
      return { ...paid, status: { older: more.older, newer: more.newer }[found] ?? status };
    },
    reportProspect: async (found: string) => (found === sessionId ? prospect : 'possible'),
  } as unknown as Screenings;
  const reports = { expiryOf: async () => more.expiresAt ?? null } as unknown as Reports;
  const occurredAt = '2026-03-01T12:00:00.000Z';
  const metadata = { accountId: newId(), environment: 'test', $correlationId: 'request', occurredAt };
  const context = {
    ...systemContext('payments', metadata as RecordedEvent['metadata']),
    correlationId: 'request',
    causationId: 'request',
  };
  const price = { amountCents: 3_500, currency: 'usd' };
  const intent = {
    id: 'pi_1',
    status: 'succeeded',
    receivedCents: 3_500,
    refundedCents: 0,
    lastErrorCode: null,
  } as const;
  const commands: readonly PaymentCommand[] = [
    {
      kind: 'open',
      sessionId,
      ordinal: 0,
      ...price,
      applicationFeeCents: 0,
      connectedAccount: null,
      refundAfterDays: 14,
    },
    { kind: 'observe', basedOn: 1, intent: { ...intent, ...price } },
    ...(more.newer ? [{ kind: 'extend', to: 'newer', newer: [] } as const] : []),
    ...(more.older ? [{ kind: 'extend', to: 'older', newer: [sessionId] } as const] : []),
    ...(more.carriedTo ? [{ kind: 'carry-over', from: sessionId, to: more.carriedTo } as const] : []),
  ];
  for (const command of commands) await aggregates.execute(payment, id, command, context);
  const ended = { id: newId(), stream: `screening-${sessionId}`, metadata } as RecordedEvent;
  for (let time = 0; time < 2; time += 1)
    await new WhenSessionInVain(aggregates, screenings, new PaymentInVain(screenings, reports)).handle(ended);
  const event = (await store.readStream(`payment-${id}`)).at(-1);
  return event && { type: event.type, data: event.data };
}

const PLANNED = { type: 'PaymentRefundPlanned', data: { refundAt: '2026-03-15T12:00:00.000Z' } };

it.each([
  ['BLOCKED', 'none'],
  ['EXPIRED', 'none'],
  ['ERROR', 'none'],
  ['VERIFIED', 'none'],
  ['VERIFIED', 'person-erased'],
] as const)(
  'a refund is planned when a paid session is %s and the prospect of its report is %s',
  async (status, prospect) => {
    expect(await last(status, prospect)).toEqual(PLANNED);
  },
);

it('no refund is planned when the session continues, the report exists or is possible, or the payment has moved to another session', async () => {
  expect(await last('OTP_PENDING', 'none')).toMatchObject({ type: 'PaymentSucceeded' });
  expect(await last('VERIFIED', 'possible')).toMatchObject({ type: 'PaymentSucceeded' });
  expect(await last('VERIFIED', 'none', { expiresAt: '2026-03-02T12:00:00.000Z' })).toMatchObject({
    type: 'PaymentSucceeded',
  });
  expect(await last('BLOCKED', 'none', { carriedTo: newId() })).toMatchObject({ type: 'PaymentCarriedOver' });
});

// The payment also covers an earlier session's report, which the renter may not have requested yet.
it('a refund for several sessions is planned when none of them can have a report', async () => {
  for (const older of ['VERIFIED', 'OTP_PENDING'])
    expect(await last('EXPIRED', 'none', { older })).toMatchObject({ type: 'PaymentExtended' });
  expect(await last('EXPIRED', 'none', { older: 'BLOCKED' })).toEqual(PLANNED);
  expect(await last('EXPIRED', 'none', { newer: 'VERIFIED' })).toMatchObject({ type: 'PaymentExtended' });
  expect(await last('EXPIRED', 'none', { newer: 'EXPIRED' })).toEqual(PLANNED);
});

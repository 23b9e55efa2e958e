// The bureau refuses a report for which the person has paid. Sessions and reports are fakes.
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
import type { RequestRefund } from '../../../src/modules/payments/application/request-refund.js';
import { WhenReportProgressed } from '../../../src/modules/payments/application/when-report-progressed.js';
import { checkoutPaymentId, payment } from '../../../src/modules/payments/domain/payment.js';
import { AggregateStore } from '../../../src/platform/aggregates/aggregate-store.js';
import type { ReadModels } from '../../../src/ports/read-models.js';
import type { Reports } from '../../../src/published/reports.js';
import type { Screenings } from '../../../src/published/screenings.js';

const METADATA = { accountId: newId(), environment: 'test', $correlationId: 'request' } as RecordedEvent['metadata'];
const CONTEXT = { ...systemContext('payments', METADATA), correlationId: 'request', causationId: 'request' };

let folder: string;
let store: EmbeddedEventStore;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'refused-'));
  store = EmbeddedEventStore.open({ directory: folder, mapSizeBytes: 16 * 2 ** 20 });
});
afterAll(async () => {
  await store.close();
  await rm(folder, { recursive: true, force: true });
});

/** `statuses`: the states of the sessions for which the payment counts. A verified session may still get a report. */
function paid(statuses: Readonly<Record<string, string>> = {}) {
  const readModels = { applyNow: async () => undefined } as unknown as ReadModels;
  const aggregates = new AggregateStore(store, readModels, new SystemClock(), { appendConflict: () => undefined });
  const reference = `chk_${newId()}_0`;
  const id = checkoutPaymentId(reference);
  const screenings = {
    find: async (sessionId: string) => ({ sessionId, paidBy: reference, status: statuses[sessionId] }),
    reportProspect: async () => 'possible',
  } as unknown as Screenings;
  const reports = { expiryOf: async () => null } as unknown as Reports;
  const handler = new WhenReportProgressed(
    aggregates,
    store,
    screenings,
    {} as RequestRefund,
    new PaymentInVain(screenings, reports),
  );
  const asked = { amountCents: 3_500, currency: 'usd' };
  const terms = { ordinal: 0, applicationFeeCents: 0, connectedAccount: null, paymentIntentId: 'pi_1', ...asked };
  const take = { kind: 'take-from-checkout', sessionId: 'first', reference, refundAfterDays: 14, ...terms } as const;
  return {
    takes: () => aggregates.execute(payment, id, { ...take, asked }, CONTEXT),
    extends: (to: string) => aggregates.execute(payment, id, { kind: 'extend', to, newer: [] }, CONTEXT),
    history: () => store.readStream(`payment-${id}`),
    refuse: (sessionId: string) => {
      const metadata = { ...METADATA, occurredAt: new Date(Date.now() + 1_000).toISOString() };
      return handler.handle({
        ...{ id: newId(), stream: `report-${sessionId}`, revision: 1, position: '1' },
        ...{ type: 'ReportPullRefused', data: {}, metadata },
      } as unknown as RecordedEvent);
    },
  };
}

// Only the newest event of such a long stream is loaded.
it('a refund is planned when the report is refused 200 events after the payment', async () => {
  const { takes, history, refuse } = paid();
  await takes();
  const [first] = await history();
  const more = Array.from({ length: 200 }, () => ({ ...first, id: newId(), type: 'PaymentLookedUp', data: {} }));
  await store.append(first?.stream ?? '', 0, more as never);
  await refuse('first');
  expect((await history()).at(-1)?.type).toBe('PaymentRefundPlanned');
});

it.each([
  ['second', { first: 'VERIFIED' }, 'PaymentExtended'],
  ['second', { first: 'BLOCKED' }, 'PaymentRefundPlanned'],
  ['first', { second: 'OTP_PENDING' }, 'PaymentExtended'],
  ['first', { second: 'EXPIRED' }, 'PaymentRefundPlanned'],
])(
  'after a refused report of the %s session, with the other sessions %j, the last event is %s',
  async (sessionId, statuses, end) => {
    const { takes, extends: extend, history, refuse } = paid(statuses);
    await takes();
    await extend('second');
    await refuse(sessionId);
    expect((await history()).at(-1)?.type).toBe(end);
  },
);

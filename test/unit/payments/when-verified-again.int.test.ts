// A person paid without getting a report and is verified again. Each session learns the new state of the payment. The
// sessions are fakes.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EmbeddedEventStore } from '../../../src/adapters/event-store/embedded.js';
import { SystemClock } from '../../../src/kernel/clock.js';
import { systemContext } from '../../../src/kernel/context.js';
import type { RecordedEvent } from '../../../src/kernel/domain-event.js';
import { newId } from '../../../src/kernel/ids.js';
import { WhenPaymentProgressed } from '../../../src/modules/payments/application/when-payment-progressed.js';
import { WhenVerifiedAgain } from '../../../src/modules/payments/application/when-verified-again.js';
import { checkout, checkoutReference, type CheckoutCommand } from '../../../src/modules/payments/domain/checkout.js';
import {
  checkoutPaymentId,
  payment,
  paymentId,
  transactionIdOf,
  type PaymentCommand,
} from '../../../src/modules/payments/domain/payment.js';
import { EndPulls } from '../../../src/modules/reports/application/end-pulls.js';
import { AggregateStore } from '../../../src/platform/aggregates/aggregate-store.js';
import type { ReadModels } from '../../../src/ports/read-models.js';
import type { PaidSession, PaymentUpdate, Screenings } from '../../../src/published/screenings.js';

let folder: string;
let store: EmbeddedEventStore;
let aggregates: AggregateStore;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'verified-again-'));
  store = EmbeddedEventStore.open({ directory: folder, mapSizeBytes: 16 * 2 ** 20 });
  const readModels = { applyNow: async () => undefined } as unknown as ReadModels;
  aggregates = new AggregateStore(store, readModels, new SystemClock(), { appendConflict: () => undefined });
});
afterAll(async () => {
  await store.close();
  await rm(folder, { recursive: true, force: true });
});

const METADATA = { accountId: newId(), environment: 'test', $correlationId: 'request' } as RecordedEvent['metadata'];
const CONTEXT = { ...systemContext('payments', METADATA), correlationId: 'request', causationId: 'request' };

/**
 * Sessions that record the changes of their payment, and the transaction that pays for the newer session. The process
 * dies once when it informs the session `dying`.
 */
function played(inVain: readonly PaidSession[], partyId: string | null, dying?: string) {
  const told: (readonly [string, PaymentUpdate['status'], string, number])[] = [];
  const left = new Set([dying]);
  let paidBy: string | null = null;
  const screenings = {
    find: async () => ({ paymentStatus: paidBy === null ? 'PENDING' : 'SUCCEEDED', paidBy, partyId }),
    reportProspect: async () => 'possible',
    paidInVain: async () => inVain,
    paymentProgressed: async (
      session: string,
      { transactionId, status, observation }: PaymentUpdate,
    ): Promise<void> => {
      if (left.delete(session)) throw new Error('the process died');
      if (status === 'SUCCEEDED') paidBy = transactionId;
      told.push([session, status, transactionId, observation]);
    },
  } as unknown as Screenings;
  return { told, screenings };
}

const verifiedIn = (sessionId: string): RecordedEvent =>
  ({ id: newId(), stream: `screening-${sessionId}`, metadata: METADATA }) as RecordedEvent;

const PRICE = { amountCents: 3_500, currency: 'usd' };
const TERMS = { ordinal: 0, ...PRICE, applicationFeeCents: 0, connectedAccount: null } as const;
const REGISTERED_AT = '2026-03-01T12:00:00.000Z';

const KINDS = {
  'a payment intent': async (sessionId: string) => {
    const id = paymentId(sessionId, 0);
    const intent = { id: 'pi_1', status: 'succeeded', receivedCents: 3_500, refundedCents: 0 } as const;
    const commands: readonly PaymentCommand[] = [
      { kind: 'open', sessionId, ...TERMS },
      { kind: 'observe', basedOn: 1, intent: { ...intent, ...PRICE, lastErrorCode: null } },
    ];
    for (const command of commands) await aggregates.execute(payment, id, command, CONTEXT);
    return { id, transactionId: transactionIdOf(id), partyId: null };
  },
  /** `newer`: the sessions that were registered after the 30 days. */
  'a hosted checkout': async (sessionId: string, ...newer: readonly string[]) => {
    const partyId = newId();
    const reference = checkoutReference(partyId, 0);
    const session = { id: 'cs_1', status: 'complete', payment: { intentId: 'pi_1', ...PRICE } } as const;
    const commands: readonly CheckoutCommand[] = [
      {
        kind: 'open',
        ...{ now: new Date(REGISTERED_AT), guardSeconds: 60, newest: { sessionId, registeredAt: REGISTERED_AT } },
        ...{ attemptId: newId(), subjectId: newId(), reportFlags: {}, ...TERMS },
      },
      { kind: 'record-session', ordinal: 0, checkoutSessionId: 'cs_1', expiresAt: '2026-03-02T12:00:00.000Z' },
      { kind: 'observe', now: new Date(REGISTERED_AT), toReplace: false, session },
      ...newer.map(
        (id, index) =>
          ({ kind: 'register', sessionId: id, registeredAt: `2026-06-0${index + 1}T12:00:00.000Z` }) as const,
      ),
    ];
    for (const command of commands) await aggregates.execute(checkout, partyId, command, CONTEXT);
    const id = checkoutPaymentId(reference);
    const paid = { sessionId, reference, ...TERMS, paymentIntentId: 'pi_1', asked: PRICE };
    await aggregates.execute(payment, id, { kind: 'take-from-checkout', ...paid }, CONTEXT);
    return { id, transactionId: reference, partyId };
  },
};

describe.each(Object.entries(KINDS))('%s', (_kind, paidFor) => {
  it.each(['neither', 'newer', 'older'] as const)(
    'counts first for the newer session, and then no longer for the older one (one failure at: %s)',
    async (dying) => {
      const [older, newer] = [newId(), newId()];
      const { id, transactionId, partyId } = await paidFor(older, newer);
      const { told, screenings } = played(
        [{ sessionId: older, transactionId }],
        partyId,
        { neither: undefined, newer, older }[dying],
      );
      const progressed = new WhenPaymentProgressed(aggregates, screenings);
      const again = new WhenVerifiedAgain(aggregates, screenings, new EndPulls(aggregates));
      // The subscription repeats a failed event.
      for (let time = 0; time < 2; time++) {
        await again.handle(verifiedIn(newer)).catch(() => undefined);
        const carried = (await store.readStream(`payment-${id}`)).at(-1)!;
        expect(carried.type).toBe('PaymentCarriedOver');
        await progressed.handle(carried).catch(() => undefined);
      }
      const left = told.findIndex(([session, status]) => session === older && status === 'CARRIED_OVER');
      expect(left).toBeGreaterThan(told.findIndex(([session, status]) => session === newer && status === 'SUCCEEDED'));
      expect(told.filter(([session]) => session === older).every(([, status]) => status === 'CARRIED_OVER')).toBe(true);
      expect((await store.readStream(`report-${older}`)).map(({ type, data }) => [type, data])).toEqual([
        ['ReportPaymentCarriedOver', { transactionId }],
      ]);
    },
  );

  it('stays with a session whose report is being pulled', async () => {
    const [older, newer] = [newId(), newId()];
    const { id, transactionId, partyId } = await paidFor(older, newer);
    const { told, screenings } = played([{ sessionId: older, transactionId }], partyId);
    const busy = Object.assign(new EndPulls(aggregates), { carryOver: async () => false });
    await new WhenVerifiedAgain(aggregates, screenings, busy).handle(verifiedIn(newer));
    expect(told).toEqual([]);
    const { state } = await aggregates.load(payment, id);
    expect(state).toMatchObject({ sessionId: older });
  });
});

describe('a hosted checkout', () => {
  const verify = async (older: string, newer: readonly string[], isInVain = true) => {
    const { id, transactionId, partyId } = await KINDS['a hosted checkout'](older, ...newer);
    const { told, screenings } = played(isInVain ? [{ sessionId: older, transactionId }] : [], partyId);
    await new WhenVerifiedAgain(aggregates, screenings, new EndPulls(aggregates)).handle(verifiedIn(newer[0] ?? ''));
    return { told, state: (await aggregates.load(payment, id)).state };
  };

  it('counts only for the newest session, and does not move when its session has a report', async () => {
    const [older, newer] = [newId(), newId()];
    expect((await verify(older, [newer, newId()])).told).toEqual([]);
    expect((await verify(older, [newer], false)).told).toEqual([]);
  });

  it('that counts for two sessions counts only for the newest when the older one has ended without a report', async () => {
    const [older, newer] = [newId(), newId()];
    const { id, transactionId, partyId } = await KINDS['a hosted checkout'](older, newer);
    await aggregates.execute(payment, id, { kind: 'extend', to: newer, newer: [] }, CONTEXT);
    const { screenings } = played([{ sessionId: older, transactionId }], partyId);
    await new WhenVerifiedAgain(aggregates, screenings, new EndPulls(aggregates)).handle(verifiedIn(newer));
    const { state } = await aggregates.load(payment, id);
    expect(state).toMatchObject({ sessionId: newer, others: [], former: [older] });
  });
});

// A person who paid in vain and is verified again: what each session hears of the payment. The sessions are played.
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
  payment,
  paymentId,
  transactionIdOf,
  type PaymentCommand,
} from '../../../src/modules/payments/domain/payment.js';
import { EndPulls } from '../../../src/modules/reports/application/end-pulls.js';
import { AggregateStore } from '../../../src/platform/aggregates/aggregate-store.js';
import type { ReadModels } from '../../../src/ports/read-models.js';
import type { PaidSession, PaymentNews, Screenings } from '../../../src/published/screenings.js';

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

/** Sessions that note what they hear, and what the newer one is paid by. A session of this id dies when it is told. */
function played(inVain: readonly PaidSession[], partyId: string | null, dying?: string) {
  const told: (readonly [string, PaymentNews['status'], string, number])[] = [];
  const left = new Set([dying]);
  let paidBy: string | null = null;
  const screenings = {
    find: async () => ({ paymentStatus: paidBy === null ? 'PENDING' : 'SUCCEEDED', paidBy, partyId }),
    reportProspect: async () => 'possible',
    paidInVain: async () => inVain,
    paymentProgressed: async (session: string, { transactionId, status, observation }: PaymentNews): Promise<void> => {
      if (left.delete(session)) throw new Error('the process died');
      if (status === 'SUCCEEDED') paidBy = transactionId;
      told.push([session, status, transactionId, observation]);
    },
  } as unknown as Screenings;
  return { told, screenings };
}

const verifiedIn = (sessionId: string): RecordedEvent =>
  ({ id: newId(), stream: `screening-${sessionId}`, metadata: METADATA }) as RecordedEvent;

describe('a payment intent', () => {
  async function paidFor(sessionId: string): Promise<string> {
    const id = paymentId(sessionId, 0);
    const price = { amountCents: 3_500, currency: 'usd' };
    const intent = { id: 'pi_1', status: 'succeeded', receivedCents: 3_500, refundedCents: 0 } as const;
    const commands: readonly PaymentCommand[] = [
      { kind: 'open', sessionId, ordinal: 0, ...price, applicationFeeCents: 0, connectedAccount: null },
      { kind: 'observe', basedOn: 1, intent: { ...intent, ...price, lastErrorCode: null } },
    ];
    for (const command of commands) await aggregates.execute(payment, id, command, CONTEXT);
    return id;
  }

  it.each(['nobody', 'newer', 'older'] as const)(
    'counts for the newer session and then for the older one no more, where %s dies in between',
    async (dying) => {
      const [older, newer] = [newId(), newId()];
      const id = await paidFor(older);
      const transactionId = transactionIdOf(id);
      const { told, screenings } = played(
        [{ sessionId: older, transactionId }],
        null,
        { nobody: undefined, newer, older }[dying],
      );
      const progressed = new WhenPaymentProgressed(aggregates, screenings);
      const again = new WhenVerifiedAgain(aggregates, screenings, new EndPulls(aggregates));
      // What fails comes again, as from the subscription.
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
    const transactionId = transactionIdOf(await paidFor(older));
    const { told, screenings } = played([{ sessionId: older, transactionId }], null);
    const busy = Object.assign(new EndPulls(aggregates), { carryOver: async () => false });
    await new WhenVerifiedAgain(aggregates, screenings, busy).handle(verifiedIn(newer));
    expect(told).toEqual([]);
    const { state } = await aggregates.load(payment, paymentId(older, 0));
    expect(state).toMatchObject({ sessionId: older });
  });
});

describe('a hosted checkout', () => {
  /** What the sessions hear of payments when the renter is verified in the newest. */
  async function toldAt(what: {
    readonly isNewest?: boolean;
    readonly isInVain?: boolean;
    readonly dying?: 'first' | 'again';
  }): Promise<object[]> {
    const [partyId, first, again] = [newId(), newId(), newId()];
    const transactionId = checkoutReference(partyId, 0);
    const { told, screenings } = played(
      what.isInVain === false ? [] : [{ sessionId: first, transactionId }],
      partyId,
      what.dying && { first, again }[what.dying],
    );
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
      ...(what.isNewest === false
        ? [{ kind: 'register', sessionId: newId(), registeredAt: '2026-06-02T12:00:00.000Z' } as const]
        : []),
    ];
    for (const command of commands) await aggregates.execute(checkout, partyId, command, CONTEXT);
    const handler = new WhenVerifiedAgain(aggregates, screenings, new EndPulls(aggregates));
    for (let time = what.dying === undefined ? 1 : 0; time < 2; time++)
      await handler.handle(verifiedIn(again)).catch(() => undefined);
    const nameOf = new Map([
      [first, 'first'],
      [again, 'again'],
    ]);
    return told.map(([sessionId, status, transaction, observation]) => [
      nameOf.get(sessionId),
      status,
      transaction.replace(partyId, 'renter'),
      observation,
    ]);
  }
  const COUNTED = ['again', 'SUCCEEDED', 'chk_renter_0', 4];
  const LEFT = ['first', 'CARRIED_OVER', 'chk_renter_0', 4];

  it('that was paid in vain counts for the newest session, however long ago it was, and for the older no more', async () => {
    expect(await toldAt({})).toEqual([COUNTED, LEFT]);
  });

  it('counts so where a process dies in between', async () => {
    expect(await toldAt({ dying: 'again' })).toEqual([COUNTED, LEFT]);
    expect(await toldAt({ dying: 'first' })).toEqual([COUNTED, COUNTED, LEFT]);
  });

  it('counts for no session but the newest, and for none where it was not in vain', async () => {
    expect(await toldAt({ isNewest: false })).toEqual([]);
    expect(await toldAt({ isInVain: false })).toEqual([]);
  });
});

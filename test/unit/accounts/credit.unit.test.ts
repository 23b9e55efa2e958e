import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fold } from '../../../src/kernel/decider.js';
import {
  credit,
  isAvailable,
  needsCredit,
  wasReserved,
  type Credit,
  type CreditCommand,
  type CreditEvent,
} from '../../../src/modules/accounts/domain/credit.js';
import { given } from '../../support/decider.js';

const added = (credits: number, reference = 'invoice-1'): CreditEvent => ({
  type: 'CreditAdded',
  data: { credits, reference },
});
const reserved = (reservationId: string): CreditEvent => ({ type: 'CreditReserved', data: { reservationId } });
const refused = (reservationId: string): CreditEvent => ({ type: 'CreditRefused', data: { reservationId } });
const debited = (reservationId: string): CreditEvent => ({ type: 'CreditDebited', data: { reservationId } });
const released = (reservationId: string): CreditEvent => ({ type: 'CreditReleased', data: { reservationId } });
const reserve = (reservationId: string): CreditCommand => ({ kind: 'reserve', reservationId });
const debit = (reservationId: string): CreditCommand => ({ kind: 'debit', reservationId });
const release = (reservationId: string): CreditCommand => ({ kind: 'release', reservationId });
const add = (credits: number, reference = 'invoice-1'): CreditCommand => ({ kind: 'add', credits, reference });

describe('prepaid credit', () => {
  it('is added once per reference', () => {
    const after = given(credit).when(add(5)).then(added(5));
    after.when(add(5)).then();
    after.when(add(7)).thenRefused('request.invalid', {
      field: 'reference',
      details: [{ field: 'reference', message: 'Another amount was added under this reference.' }],
    });
    expect(after.when(add(7, 'invoice-2')).then(added(7, 'invoice-2')).state.balance).toBe(12);
  });

  it.each([0, -1, 1.5, 10_000_001, Number.NaN, Number.POSITIVE_INFINITY])(
    'is not added when the number of reports is %d',
    (credits) => {
      given(credit)
        .when(add(credits))
        .thenRefused('request.invalid', {
          field: 'add',
          details: [
            { field: 'add', message: 'The credit to add must be a whole number of reports from 1 to 10000000.' },
          ],
        });
    },
  );

  it.each(['', ' ', 'Ada Example', 'ada@example.test', '-x', 'x'.repeat(65)])(
    'is not added under the reference %j',
    (reference) => {
      expect(() => given(credit).when(add(1, reference)).events).toThrow('request.invalid');
    },
  );

  it('is set aside once per reservation while credit is available', () => {
    const one = given(credit, added(1)).when(reserve('a')).then(reserved('a'));
    expect(one.state).toMatchObject({ balance: 0, reserved: ['a'] });
    one.when(reserve('a')).then();
    expect(wasReserved(one.state, 'a')).toBe(true);
  });

  it('stays refused for the same reservation, even if credit is added later', () => {
    const none = given(credit, added(1), reserved('a')).when(reserve('b')).then(refused('b'));
    expect([wasReserved(none.state, 'b'), isAvailable(none.state, 'a'), isAvailable(none.state, 'b')]).toEqual([
      false,
      true,
      false,
    ]);
    none.when(reserve('b')).then();
    for (const command of [debit('b'), release('b')]) none.when(command).then();
    const again = given(credit, added(1), reserved('a'), refused('b'), added(5, 'invoice-2'));
    expect([wasReserved(again.state, 'b'), isAvailable(again.state, 'b'), isAvailable(again.state, 'c')]).toEqual([
      false,
      false,
      true,
    ]);
    again.when(reserve('b')).then();
    again.when(reserve('c')).then(reserved('c'));
  });

  it('is debited once for a released report, even if the debit is requested again', () => {
    const paid = given(credit, added(2), reserved('a')).when(debit('a')).then(debited('a'));
    expect(paid.state).toMatchObject({ balance: 1, reserved: [] });
    paid.when(debit('a')).then();
    paid.when(release('a')).then();
    paid.when(reserve('a')).then();
    expect(wasReserved(paid.state, 'a')).toBe(true);
  });

  it('is returned when no report was made, and a late command does not set it aside again', () => {
    const back = given(credit, added(1), reserved('a')).when(release('a')).then(released('a'));
    expect(back.state).toMatchObject({ balance: 1, reserved: [] });
    back.when(release('a')).then();
    back.when(debit('a')).then();
    back.when(reserve('a')).then();
    expect(wasReserved(back.state, 'a')).toBe(true);
    back.when(reserve('b')).then(reserved('b'));
  });

  it('is neither debited nor released when it was not set aside', () => {
    given(credit, added(1)).when(debit('a')).then();
    given(credit, added(1)).when(release('a')).then();
  });

  it('remembers the last settled reservations, and its state stays small after many events', () => {
    const events: CreditEvent[] = [added(1, 'first')];
    for (let index = 0; index < 3_000; index++)
      events.push(
        added(1, `r-${index}`),
        reserved(`a-${index}`),
        debited(`a-${index}`),
        refused(`c-${index}`),
        reserved(`b-${index}`),
        released(`b-${index}`),
      );
    const state = fold<Credit, CreditEvent>(credit, events);
    expect(state).toMatchObject({ balance: 1, reserved: [] });
    expect([state.settled.length, state.refused.length, state.added.length]).toEqual([1_000, 1_000, 1_000]);
    for (const id of ['a-2999', 'b-2999', 'a-2500'])
      expect(credit.decide(reserve(id), { ...state, balance: 5 })).toEqual([]);
    expect(credit.decide(add(1, 'r-2999'), state)).toEqual([]);
  });

  it('is never overdrawn and never counted twice, whatever the order of the commands', () => {
    const commands = fc.oneof(
      fc.record({
        kind: fc.constant('add' as const),
        credits: fc.integer({ min: 1, max: 3 }),
        reference: fc.constantFrom('r1', 'r2', 'r3', 'r4'),
      }),
      fc.record({
        kind: fc.constantFrom('reserve' as const, 'debit' as const, 'release' as const),
        reservationId: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
      }),
    );
    fc.assert(
      fc.property(fc.array(commands, { maxLength: 60 }), (sequence) => {
        let state = credit.initial;
        let total = 0;
        const references = new Map<string, number>();
        const paid = new Set<string>();
        const denied = new Set<string>();
        for (const command of sequence) {
          if (command.kind === 'add' && (references.get(command.reference) ?? command.credits) !== command.credits)
            continue;
          for (const event of credit.decide(command, state)) {
            if (event.type === 'CreditAdded') {
              expect(references.has(event.data.reference)).toBe(false);
              references.set(event.data.reference, event.data.credits);
              total += event.data.credits;
            }
            if (event.type === 'CreditRefused') denied.add(event.data.reservationId);
            else if (event.type === 'CreditReserved') expect(denied.has(event.data.reservationId)).toBe(false);
            if (event.type === 'CreditDebited') {
              expect(paid.has(event.data.reservationId)).toBe(false);
              paid.add(event.data.reservationId);
            }
            state = credit.evolve(state, event);
          }
          expect(state.balance).toBe(total - paid.size - state.reserved.length);
          expect(state.balance).toBeGreaterThanOrEqual(0);
          expect(new Set(state.reserved).size).toBe(state.reserved.length);
        }
      }),
    );
  });

  it.each([
    [null, false, true],
    [null, true, true],
    ['acct_1', true, true],
    ['acct_1', false, false],
  ])(
    'is needed by an account with the payment account %s and prepaid billing %s: %s',
    (connectedPaymentAccount, prepaidBilling, needed) => {
      expect(needsCredit({ connectedPaymentAccount, prepaidBilling })).toBe(needed);
    },
  );
});

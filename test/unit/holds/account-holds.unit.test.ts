// Holds of an account. While a hold covers data, each erasure of the data is deferred. The erasure is due when the last of its holds has ended.
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fold } from '../../../src/kernel/decider.js';
import {
  accountHolds,
  endOf,
  holdsOn,
  type AccountHoldsEvent,
  type Coverage,
} from '../../../src/modules/holds/domain/account-holds.js';
import type { Erasure } from '../../../src/kernel/held-data.js';
import { given } from '../../support/decider.js';

const at = (seconds: number): Date => new Date(Date.UTC(2026, 2, 1) + seconds * 1_000);
const placed = (holdId: string, covers: Coverage, until: string | null = null): AccountHoldsEvent => ({
  type: 'HoldPlaced',
  data: { holdId, covers, matter: '2026-114', orderedBy: 'counsel', until },
});
const released = (holdId: string, seconds: number): AccountHoldsEvent => ({
  type: 'HoldReleased',
  data: { holdId, releasedAt: at(seconds).toISOString() },
});
const SESSION: Coverage = { kind: 'session', id: 'session', subjectId: 'subject' };
const of = (subjectId: string, sessionIds: Erasure['sessionIds'] = 'all'): Erasure => ({
  kind: 'screening',
  id: 'session',
  accountId: 'account',
  subjectIds: [subjectId],
  sessionIds,
});
const coveredBy = (covers: Coverage, data: Erasure): boolean =>
  holdsOn(fold(accountHolds, [placed('hold', covers)]), data, at(0)).length > 0;

describe('a hold', () => {
  it.each([
    ['a session', SESSION, of('subject'), true],
    ['a session', SESSION, of('other'), false],
    ['a session', SESSION, of('subject', ['session']), true],
    ['a session', SESSION, of('subject', ['later']), false],
    ['a person', { kind: 'person', id: 'subject' } as const, of('subject', ['later']), true],
    ['a person', { kind: 'person', id: 'subject' } as const, of('other'), false],
    ['an account', { kind: 'account', id: 'account' } as const, of('other', []), true],
  ])('on %s covers exactly its data: %j, %j', (_what, covers, data, covered) => {
    expect(coveredBy(covers, data)).toBe(covered);
  });

  it('stands until its release or its end, and can be released once', () => {
    const state = fold(accountHolds, [placed('a', SESSION), placed('b', SESSION, at(60).toISOString())]);
    const standing = (seconds: number, one = state): string[] =>
      holdsOn(one, of('subject'), at(seconds)).map(({ holdId }) => holdId);
    expect([standing(59), standing(60)]).toEqual([['a', 'b'], ['a']]);
    const after = given(accountHolds, placed('a', SESSION))
      .when({ kind: 'release', now: at(5), holdId: 'a' })
      .then(released('a', 5));
    after.when({ kind: 'release', now: at(6), holdId: 'a' }).then();
    expect(() => accountHolds.decide({ kind: 'release', now: at(6), holdId: 'b' }, accountHolds.initial)).toThrow(
      'request.not_found',
    );
  });
});

describe('an erasure', () => {
  it('is remembered once while the same holds cover it, and again when another hold does', () => {
    const deferral = (...holdIds: string[]): AccountHoldsEvent => ({
      type: 'ErasureDeferred',
      data: { kind: 'screening', id: 'session', holdIds },
    });
    const defer = { kind: 'defer', now: at(1), erasure: of('subject') } as const;
    const once = given(accountHolds, placed('a', SESSION)).when(defer).then(deferral('a'));
    once.when(defer).then();
    const both = [placed('a', SESSION), deferral('a'), placed('b', SESSION)];
    given(accountHolds, ...both)
      .when(defer)
      .then(deferral('a', 'b'));
  });

  // Random holds, releases and requests. An erasure may proceed exactly when no hold stands, and is remembered otherwise.
  it('is deferred exactly while a hold covers its data, and is due when the last of these holds has ended', () => {
    const act = fc.record({
      act: fc.constantFrom('place', 'place until', 'release', 'erase'),
      which: fc.integer({ min: 0, max: 4 }),
      covers: fc.constantFrom<Coverage>(SESSION, { kind: 'person', id: 'subject' }, { kind: 'person', id: 'other' }),
      subject: fc.constantFrom('subject', 'other'),
    });
    fc.assert(
      fc.property(fc.array(act, { maxLength: 30 }), (acts) => {
        let state = accountHolds.initial;
        const until = new Map<string, number>();
        for (const [second, { act: kind, which, covers, subject }] of acts.entries()) {
          const now = at(second);
          const run = (command: Parameters<typeof accountHolds.decide>[0]): void => {
            for (const event of accountHolds.decide(command, state)) state = accountHolds.evolve(state, event);
          };
          const holdId = `${which} ${covers.kind} ${covers.id}`;
          if (kind.startsWith('place') && !until.has(holdId)) {
            const end = kind === 'place' ? Infinity : second + which;
            until.set(holdId, end);
            const told = end === Infinity ? null : at(end).toISOString();
            run({ kind: 'place', holdId, covers, matter: 'm', orderedBy: 'b', until: told });
          } else if (kind === 'release' && until.has(holdId)) {
            until.set(holdId, Math.min(until.get(holdId)!, second));
            run({ kind: 'release', now, holdId });
          } else if (kind === 'erase') {
            run({ kind: 'defer', now, erasure: { ...of(subject), id: subject } });
            const expected = [...until].filter(
              ([id, end]) => end > second && (subject === 'other' ? id.endsWith('other') : !id.endsWith('other')),
            );
            expect(holdsOn(state, of(subject), now).map((hold) => hold.holdId)).toEqual(expected.map(([id]) => id));
            const remembered = state.deferred.find(({ id }) => id === subject);
            if (expected.length > 0) {
              const last = Math.max(...expected.map(([, end]) => end));
              expect(remembered && endOf(state, remembered)).toBe(last === Infinity ? null : at(last).toISOString());
            }
          }
        }
      }),
    );
  });
});

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { RedisUnavailable } from '../../../src/adapters/redis/bounded-redis.js';
import { SystemClock } from '../../../src/kernel/clock.js';
import { ERROR_CODES, type ErrorCode } from '../../../src/kernel/error-codes.js';
import { fold, type Decider } from '../../../src/kernel/decider.js';
import { categoryOf, idOf, type DomainEvent } from '../../../src/kernel/domain-event.js';
import { derivedId, derivedIdLike, isId, keyedId, keyedIdAt, newId } from '../../../src/kernel/ids.js';
import { DomainError } from '../../../src/kernel/domain-error.js';
import { Unavailable } from '../../../src/kernel/unavailable.js';
import { EventStoreUnavailable } from '../../../src/ports/event-store.js';

describe('ids', () => {
  it('are new each time and of version 7, and ids of later milliseconds sort later', () => {
    const ids = Array.from({ length: 1_000 }, () => newId());
    expect(new Set(ids).size).toBe(1_000);
    const times = ids.map((id) => id.slice(0, 13));
    expect([...times].sort()).toEqual(times);
    for (const id of ids) {
      expect(isId(id)).toBe(true);
      expect(id[14]).toBe('7');
    }
  });

  it('have one spelling, in lower case with dashes', () => {
    const id = newId();
    for (const text of [
      id.toUpperCase(),
      id.replaceAll('-', ''),
      `{${id}}`,
      `${id} `,
      ` ${id}`,
      `${id}\n`,
      `${id}0`,
      id.slice(1),
      '',
      'id',
      `${id.slice(0, -1)}g`,
    ])
      expect([text, isId(text)]).toEqual([text, false]);
  });

  it('that are derived from the same parts are equal, and from other parts differ', () => {
    expect(derivedId('vault-subject', 'person', '0')).toBe(derivedId('vault-subject', 'person', '0'));
    // Streams and vault entries have these names, so the names may never change.
    expect(derivedId('vault-subject', 'person', '0')).toBe('b12e97f0-57c7-894f-ab79-2d6a9ba0ca8d');
    fc.assert(
      fc.property(fc.array(fc.string(), { maxLength: 4 }), fc.array(fc.string(), { maxLength: 4 }), (one, other) => {
        const same = JSON.stringify(one) === JSON.stringify(other);
        expect(derivedId(...one) === derivedId(...other)).toBe(same);
        expect(isId(derivedId(...one))).toBe(true);
        expect(derivedId(...one)[14]).toBe('8');
        expect('89ab').toContain(derivedId(...one)[19]);
      }),
    );
    expect(derivedId('ab', 'c')).not.toBe(derivedId('a', 'bc'));
    expect(derivedId('a')).not.toBe(derivedId('a', ''));
  });

  it('that are derived with a key differ for each key, and cannot be derived without the key', () => {
    const key = Buffer.alloc(32, 1);
    expect(keyedId(key, 'person')).toBe(keyedId(Buffer.alloc(32, 1), 'person'));
    expect(keyedId(key, 'person')).not.toBe(keyedId(Buffer.alloc(32, 2), 'person'));
    expect(keyedId(key, 'person')).not.toBe(derivedId('person'));
    expect(isId(keyedId(key, 'person'))).toBe(true);
    expect(keyedId(key, 'person')).toBe('52a0555d-4078-85c2-8177-380a79e7446b');
  });

  it('that are derived for a time are of version 7, and ids derived from another id sort like that id', () => {
    const key = Buffer.alloc(32, 1);
    const at = Date.parse('2026-01-02T03:04:05.678Z');
    const like = newId();
    const times = fc.integer({ min: 0, max: 2 ** 48 - 1 });
    fc.assert(
      fc.property(times, fc.string(), (ms, part) => {
        const id = keyedIdAt(ms, key, part);
        expect([parseInt(id.slice(0, 8) + id.slice(9, 13), 16), id[14], isId(id)]).toEqual([ms, '7', true]);
        expect('89ab').toContain(id[19]);
        expect([
          keyedIdAt(ms, key, part),
          keyedIdAt(ms, key, `${part}.`) === id,
          keyedIdAt(ms, Buffer.alloc(32, 2), part) === id,
        ]).toEqual([id, false, false]);
        const derived = derivedIdLike(like, part);
        expect([derived.slice(0, 13), derived[14], isId(derived)]).toEqual([like.slice(0, 13), '8', true]);
        expect([
          derivedIdLike(like, part),
          derivedIdLike(like, `${part}.`) === derived,
          derivedIdLike(newId(), part) === derived,
        ]).toEqual([derived, false, false]);
      }),
    );
    // Streams have these names, so the names may never change.
    expect(keyedIdAt(at, key, 'scope')).toBe('019b7ca9-8f2e-7307-94c4-48ecc76bc101');
    expect(derivedIdLike('019b7c8f-a1b2-7c3d-8e4f-5a6b7c8d9e0f', 'payment', '0')).toBe(
      '019b7c8f-a1b2-805c-964b-b0b6564334cb',
    );
  });
});

describe('stream names', () => {
  it('consist of the category and the id, with a dash between them', () => {
    const id = newId();
    expect([categoryOf(`screening-${id}`), idOf(`screening-${id}`)]).toEqual(['screening', id]);
    expect([categoryOf('access_key-a-b'), idOf('access_key-a-b')]).toEqual(['access_key', 'a-b']);
    expect(categoryOf('alone')).toBe('alone');
  });
});

describe('folding', () => {
  type Added = DomainEvent<'Added', { readonly amount: number }>;
  const sum: Decider<{ readonly total: number }, never, Added> = {
    category: 'sum',
    initial: { total: 0 },
    decide: () => [],
    evolve: (state, event) => ({ total: state.total * 10 + event.data.amount }),
  };

  it('applies events in order and does not change the initial state', () => {
    expect(fold(sum, [])).toBe(sum.initial);
    expect(
      fold(
        sum,
        [1, 2, 3].map((amount) => ({ type: 'Added' as const, data: { amount } })),
      ),
    ).toEqual({ total: 123 });
    expect(sum.initial).toEqual({ total: 0 });
  });

  it('accepts events that come from JSON', () => {
    const stored = JSON.parse('[{"type":"Added","data":{"amount":4},"id":"x","revision":0}]') as Added[];
    expect(fold(sum, stored)).toEqual({ total: 4 });
  });
});

describe('a domain error', () => {
  it('has its code as its message, and no data that a caller must not see', () => {
    const cause = new Error('4155550134');
    const refusal = new DomainError('screening.person_blocked', { cause });
    expect(refusal).toBeInstanceOf(Error);
    expect([refusal.name, refusal.message, refusal.code, refusal.cause]).toEqual([
      'DomainError',
      'screening.person_blocked',
      'screening.person_blocked',
      cause,
    ]);
    expect('cause' in new DomainError('request.invalid')).toBe(false);
    expect(new DomainError('request.invalid').detail).toEqual({});
  });
});

describe('error codes', () => {
  it('are named by area, and each has a sentence that describes the fault', () => {
    for (const [name, text] of Object.entries(ERROR_CODES)) {
      expect(name).toMatch(/^[a-z]+\.[a-z]+(_[a-z]+)*$/);
      expect(text).toMatch(/^[A-Z].*\.$/);
    }
    expect(new Set(Object.values(ERROR_CODES)).size).toBe((Object.keys(ERROR_CODES) as ErrorCode[]).length);
  });
});

describe('unavailability of a part', () => {
  it('has one kind of error for all parts', () => {
    for (const error of [new EventStoreUnavailable('away'), new RedisUnavailable('away')]) {
      expect(error).toBeInstanceOf(Unavailable);
      expect(error).not.toBeInstanceOf(DomainError);
    }
    expect(new EventStoreUnavailable('away').name).toBe('EventStoreUnavailable');
  });
});

describe('the system clock', () => {
  it('returns the time of day', () => {
    const before = Date.now();
    const now = new SystemClock().now().getTime();
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(Date.now());
  });
});

// The feed of an account and environment (docs/contract/server.md#the-event-feed).
import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import canonicalize from 'canonicalize';
import { bodyOf, digestAfter, feed, NO_DIGEST } from '../../../src/modules/webhooks/domain/feed.js';
import { given } from '../../support/decider.js';
import { positionAt, published } from './histories.js';

const sha256 = (...parts: (Buffer | string)[]): string => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
};

describe('the feed', () => {
  it('chains the bytes of the bodies from zeros on', () => {
    const first = given(feed).when(published(1));
    const second = first.decided.when(published(2));
    const one = sha256(Buffer.alloc(32), canonicalize(published(1).event) ?? '');
    const two = sha256(Buffer.from(one, 'hex'), canonicalize(published(2).event) ?? '');
    expect([first, second].map(({ events }) => events.map(({ data }) => [data.eventId, data.digest]))).toEqual([
      [['evt_1', one]],
      [['evt_2', two]],
    ]);
    expect([NO_DIGEST, digestAfter(NO_DIGEST, bodyOf(published(1).event))]).toEqual(['0'.repeat(64), one]);
  });

  it('takes no event that it has passed, and none from before it', () => {
    const third = given(feed).when(published(3)).decided;
    expect([1, 2, 3, 4].map((place) => third.when(published(place)).events.length)).toEqual([0, 0, 0, 1]);
  });

  it('refuses an event while it lacks the one before', () => {
    const first = given(feed).when(published(1)).decided;
    const third = published(3, positionAt(3), null, positionAt(2));
    expect(() => first.when(third).events).toThrow('The feed lacks the event of');
    expect(() => given(feed).when(third).events).toThrow('The feed lacks the event of');
    expect(first.when(published(2, positionAt(2), null, positionAt(1))).decided.when(third).events).toHaveLength(1);
  });

  it('goes on in a copy of the log, where positions have another length', () => {
    const copied = given(feed).when(published(3)).decided.when(published(4, '7')).decided;
    expect([copied.when(published(4, '7')).events.length, copied.when(published(5, '8')).events.length]).toEqual([
      0, 1,
    ]);
  });

  it('marks events that a release without feeds has handled, until one follows that it has not', () => {
    const before = positionAt(2);
    const first = given(feed).when(published(1, positionAt(1), before));
    const second = first.decided.when(published(2, positionAt(2), before));
    const third = second.decided.when(published(3, positionAt(3), before));
    expect([first, second, third].map(({ events }) => events[0]?.data.past)).toEqual([true, true, undefined]);
    const late = third.decided.when(published(4, positionAt(4), positionAt(9)));
    expect(late.events.map(({ data }) => data.past)).toEqual([undefined]);
  });

  it('holds everything that a body needs: a body is RFC 8785 bytes', () => {
    expect(bodyOf(published(1).event)).toBe(canonicalize(published(1).event));
    expect(bodyOf(published(1).event)).toMatch(/^\{"account_id":"account","data":\{"recipient_account_id":"a",/);
  });
});

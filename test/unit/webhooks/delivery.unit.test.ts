// The delivery of one event to one endpoint (docs/contract/webhooks.md#attempts, #deliveries).
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fold } from '../../../src/kernel/decider.js';
import {
  delivery,
  dueAt,
  isDue,
  type AttemptKind,
  type AttemptOutcome,
  type DeliveryCommand,
  type DeliveryEvent,
  type DeliveryState,
} from '../../../src/modules/webhooks/domain/delivery.js';
import { turnOf } from '../../../src/modules/webhooks/application/turns.js';
import { given } from '../../support/decider.js';
import { at, DOWN, iso, LADDER, OK, PING, record, redeliver, SCHEDULED } from './histories.js';

const scheduled = (data = SCHEDULED) => given(delivery, { type: 'DeliveryScheduled', data } as DeliveryEvent);
type GivenDelivery = ReturnType<typeof scheduled>;
const seen = ({ state }: GivenDelivery) => {
  if (state.status === 'none') throw new Error('There is no delivery');
  return state;
};
const secondsUntil = (time: string | null): number => (Date.parse(time ?? '') - at(0).getTime()) / 1_000;
/**
 * Runs the whole retry schedule with the same outcome for every attempt. Each attempt begins when it is due and takes
 * one second.
 */
function climb(from: GivenDelivery, attempts: number, outcome: AttemptOutcome = DOWN): GivenDelivery {
  let one = from;
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const due = secondsUntil(seen(one).nextAttemptAt);
    one = one.when(record(seen(one).attempts + 1, outcome, due + 1)).decided;
  }
  return one;
}
/** The kinds of the attempts that are due. */
const due = (one: GivenDelivery, seconds: number): AttemptKind[] =>
  (['ladder', 'redelivery', 'ping'] as const).filter((kind) => isDue(seen(one), kind, at(seconds)));
/** The attempt as the log records it. */
const made = (attempt: number, outcome: AttemptOutcome, seconds: number, kind: AttemptKind = 'ladder') => ({
  attempt,
  kind,
  startedAt: iso(seconds - 1),
  ...outcome,
});
/** The event that an earlier release stored before it sent the attempt. */
const started = (attempt: number, kind: AttemptKind = 'ladder'): DeliveryEvent => ({
  type: 'DeliveryAttemptStarted',
  data: { attempt, kind, settleAfter: iso(13) },
});
const canceling = (cause: 'ENDPOINT_DELETED' | 'ENDPOINT_DISABLED' = 'ENDPOINT_DELETED'): DeliveryCommand => ({
  kind: 'cancel',
  cause,
});

describe('scheduling a delivery', () => {
  it('makes a pending delivery whose first attempt is due at once', () => {
    const made = given(delivery)
      .when({ kind: 'schedule', delivery: SCHEDULED })
      .then({ type: 'DeliveryScheduled', data: SCHEDULED });
    expect(seen(made)).toMatchObject({
      status: 'pending',
      attempts: 0,
      nextAttemptAt: iso(0),
      eventId: SCHEDULED.eventId,
    });
    expect(dueAt(seen(made))).toBe(iso(0));
  });

  it('changes nothing when the delivery exists', () => {
    scheduled()
      .when({ kind: 'schedule', delivery: { ...SCHEDULED, body: 'another' } })
      .then();
    climb(scheduled(), 1, OK).when({ kind: 'schedule', delivery: SCHEDULED }).then();
  });

  it('must precede any other command', () => {
    given(delivery)
      .when(record(1, OK, 1))
      .thenRefused('request.not_found');
    given(delivery).when(redeliver(0)).thenRefused('request.not_found');
  });
});

describe('an attempt', () => {
  it('is due from its planned time until the delivery has ended', () => {
    expect(due(scheduled(), 0)).toEqual(['ladder']);
    const once = climb(scheduled(), 1);
    expect([due(once, 60), due(once, 61)]).toEqual([[], ['ladder']]);
    expect(due(climb(once, 1, OK), 99_999)).toEqual([]);
  });

  it('that succeeds is one event with its start and outcome, and ends the delivery', () => {
    const ended = scheduled()
      .when(record(1, OK, 1))
      .then({ type: 'DeliverySucceeded', data: made(1, OK, 1) });
    expect(seen(ended)).toMatchObject({ status: 'succeeded', attempts: 1, ladderAttempts: 1, nextAttemptAt: null });
    expect(dueAt(seen(ended))).toBeNull();
  });

  it('changes nothing when it is recorded twice, or out of order', () => {
    const once = climb(scheduled(), 1);
    once.when(record(1, OK, 5)).then();
    once.when(record(3, OK, 5)).then();
    climb(once, 1)
      .when(record(1, OK, 62))
      .then();
  });
});

describe('an attempt that an earlier release had started', () => {
  const begun = given(delivery, { type: 'DeliveryScheduled', data: SCHEDULED } as DeliveryEvent, started(1));

  it('and ended counts as one attempt', () => {
    const failed = given(delivery, { type: 'DeliveryScheduled', data: SCHEDULED } as DeliveryEvent, started(1), {
      type: 'DeliveryAttemptFailed',
      data: { attempt: 1, ...DOWN, nextAttemptAt: iso(61) },
    });
    expect(seen(failed)).toMatchObject({ status: 'retrying', attempts: 1, ladderAttempts: 1, nextAttemptAt: iso(61) });
    expect(seen(climb(failed, 1))).toMatchObject({ attempts: 2, ladderAttempts: 2, nextAttemptAt: iso(62 + 300) });
  });

  it('but not ended is sent again under its number, at its step of the retry schedule', () => {
    expect([due(begun, 0), dueAt(seen(begun))]).toEqual([['ladder'], iso(0)]);
    const failed = begun
      .when(record(1, DOWN, 1))
      .then({ type: 'DeliveryAttemptFailed', data: { ...made(1, DOWN, 1), nextAttemptAt: iso(61) } });
    expect(seen(failed)).toMatchObject({ attempts: 1, ladderAttempts: 1, underWay: null });
  });

  it('but not ended is sent again as a redelivery, until the delivery is canceled', () => {
    const again = given(
      delivery,
      { type: 'DeliveryScheduled', data: SCHEDULED } as DeliveryEvent,
      { type: 'DeliverySucceeded', data: made(1, OK, 1) },
      { type: 'RedeliveryRequested', data: { requestedAt: iso(10) } },
      started(2, 'redelivery'),
    );
    expect([due(again, 10), dueAt(seen(again))]).toEqual([['redelivery'], iso(10)]);
    const ended = again.when(record(2, DOWN, 11, { of: 'redelivery' })).decided;
    const canceled = again.when(canceling()).decided;
    for (const one of [ended, canceled]) expect([due(one, 99_999), dueAt(seen(one))]).toEqual([[], null]);
  });

  it('but not ended is queued under its step, and the next attempt under the next step', () => {
    expect(turnOf('id', seen(begun), 'ladder').turn).toBe('1');
    const failed = begun.when(record(1, DOWN, 1)).decided;
    expect(turnOf('id', seen(failed), 'ladder').turn).toBe('2');
  });

  it('as a redelivery but not ended is still sent when a scheduled attempt comes first', () => {
    const both = given(
      delivery,
      { type: 'DeliveryScheduled', data: SCHEDULED } as DeliveryEvent,
      { type: 'RedeliveryRequested', data: { requestedAt: iso(0) } },
      started(1, 'redelivery'),
    );
    const after = both.when(record(1, DOWN, 2)).decided;
    expect([due(after, 2), dueAt(seen(after))]).toEqual([['redelivery'], iso(0)]);
    const ended = after.when(record(2, DOWN, 3, { of: 'redelivery' })).decided;
    expect(due(ended, 3)).toEqual([]);
  });
});

describe('the retry schedule', () => {
  it('has nine attempts with the specified delays, each counted from the end of an attempt, and is then exhausted', () => {
    const waits: number[] = [];
    let one = scheduled();
    let now = 0;
    for (let attempt = 1; attempt <= 9; attempt++) {
      one = one.when(record(attempt, DOWN, now + 8)).decided;
      const next = seen(one).nextAttemptAt;
      if (next === null) break;
      expect(seen(one).status).toBe('retrying');
      waits.push((Date.parse(next) - at(now + 8).getTime()) / 1_000);
      now = secondsUntil(next);
    }
    expect(waits).toEqual([60, 300, 1_800, 7_200, 18_000, 21_600, 21_600, 21_600]);
    expect(seen(one)).toMatchObject({ status: 'exhausted', attempts: 9, nextAttemptAt: null });
    expect(dueAt(seen(one))).toBeNull();
  });

  it('records the last failure and the end together', () => {
    const eight = climb(scheduled(), 8);
    const end = secondsUntil(seen(eight).nextAttemptAt) + 1;
    eight
      .when(record(9, DOWN, end))
      .then(
        { type: 'DeliveryAttemptFailed', data: { ...made(9, DOWN, end), nextAttemptAt: null } },
        { type: 'DeliveryExhausted', data: { attempts: 9 } },
      );
  });

  it('makes each delay up to a tenth shorter or longer', () => {
    const wait = (chance: number): number => {
      const [failed] = scheduled().when(record(1, DOWN, 0, { chance })).events;
      return (
        Date.parse((failed as Extract<DeliveryEvent, { type: 'DeliveryAttemptFailed' }>).data.nextAttemptAt ?? '') -
        at(0).getTime()
      );
    };
    expect([wait(0), wait(0.5), wait(1)]).toEqual([54_000, 60_000, 66_000]);
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1, noNaN: true }),
        (chance) => wait(chance) >= 54_000 && wait(chance) <= 66_000,
      ),
    );
  });
});

describe('redelivery by hand', () => {
  const again = { of: 'redelivery' } as const;

  it('makes one attempt at once under the same event id, and uses up no step of the retry schedule', () => {
    const once = climb(scheduled(), 1);
    const asked = once.when(redeliver(10)).then({ type: 'RedeliveryRequested', data: { requestedAt: iso(10) } });
    expect([dueAt(seen(asked)), due(asked, 10)]).toEqual([iso(10), ['redelivery']]);
    const failed = asked
      .when(record(2, DOWN, 11, again))
      .then({ type: 'DeliveryAttemptFailed', data: { ...made(2, DOWN, 11, 'redelivery'), nextAttemptAt: null } });
    expect(seen(failed)).toMatchObject({
      status: 'retrying',
      attempts: 2,
      ladderAttempts: 1,
      nextAttemptAt: seen(once).nextAttemptAt,
      eventId: SCHEDULED.eventId,
    });
    // The delay of the second step follows the attempt of that schedule, not the redelivery.
    expect(seen(climb(failed, 1)).nextAttemptAt).toBe(iso(62 + 300));
    expect(seen(climb(failed, 8))).toMatchObject({ status: 'exhausted', attempts: 10 });
  });

  it('that succeeds makes the delivery succeeded and cancels the pending retry', () => {
    const ended = climb(scheduled(), 1)
      .when(redeliver(10))
      .decided.when(record(2, OK, 11, again)).decided;
    expect(seen(ended)).toMatchObject({ status: 'succeeded', nextAttemptAt: null });
    expect([dueAt(seen(ended)), due(ended, 61)]).toEqual([null, []]);
  });

  it.each([
    ['succeeded', () => climb(scheduled(), 1, OK)],
    ['exhausted', () => climb(scheduled(), 9)],
    ['canceled', () => climb(scheduled(), 1).when(canceling()).decided],
  ])('works on a delivery that is %s, and leaves its status unchanged when the attempt fails', (status, make) => {
    const before = make();
    const asked = before.when(redeliver(100_000)).decided;
    const attempt = seen(asked).attempts + 1;
    const failed = asked.when(record(attempt, DOWN, 100_001, again)).decided;
    expect(seen(failed)).toMatchObject({ status, nextAttemptAt: null });
    expect(due(failed, 200_000)).toEqual([]);
    expect(seen(asked.when(record(attempt, OK, 100_001, again)).decided).status).toBe('succeeded');
  });

  it('is refused within 60 seconds of the last redelivery, with the time to wait', () => {
    const asked = climb(scheduled(), 1, OK).when(redeliver(100)).decided;
    asked.when(redeliver(100)).thenRefused('webhook.redelivery_too_soon', { retryAfterSeconds: 60 });
    asked.when(redeliver(130.5)).thenRefused('webhook.redelivery_too_soon', { retryAfterSeconds: 30 });
    asked.when(redeliver(159.999)).thenRefused('webhook.redelivery_too_soon', { retryAfterSeconds: 1 });
    asked.when(redeliver(160)).then({ type: 'RedeliveryRequested', data: { requestedAt: iso(160) } });
  });

  it('happens once for each request', () => {
    const once = climb(scheduled(), 1);
    const after = once.when(redeliver(10)).decided.when(record(2, DOWN, 11, again)).decided;
    expect([due(once, 10), due(after, 12)]).toEqual([[], []]);
  });

  it('that is requested during another redelivery is made after that redelivery', () => {
    const first = climb(scheduled(), 1, OK).when(redeliver(10)).decided;
    // The first redelivery began at 69 and ended at 78.
    const ended = first
      .when(redeliver(70))
      .decided.when({ ...record(2, DOWN, 78, again), startedAt: at(69) } as DeliveryCommand).decided;
    expect([dueAt(seen(ended)), due(ended, 78)]).toEqual([iso(70), ['redelivery']]);
    expect(due(ended.when(record(3, DOWN, 80, again)).decided, 80)).toEqual([]);
    const canceled = first.when(redeliver(70)).decided.when(canceling()).decided;
    const late = canceled.when({ ...record(2, DOWN, 78, again), startedAt: at(69) } as DeliveryCommand).decided;
    expect(due(late, 78)).toEqual([]);
  });

  it('that is requested during an attempt waits for its end', () => {
    const asked = scheduled().when(redeliver(1)).decided;
    const after = asked.when(record(1, DOWN, 2)).decided;
    expect([dueAt(seen(after)), due(after, 2)]).toEqual([iso(1), ['redelivery']]);
  });
});

describe('canceling', () => {
  it('ends a pending or retrying delivery', () => {
    for (const open of [scheduled(), climb(scheduled(), 3)]) {
      const ended = open
        .when(canceling('ENDPOINT_DISABLED'))
        .then({ type: 'DeliveryCanceled', data: { cause: 'ENDPOINT_DISABLED' } });
      expect([seen(ended).status, dueAt(seen(ended)), due(ended, 99_999)]).toEqual(['canceled', null, []]);
    }
  });

  it('changes nothing of a delivery that has ended', () => {
    for (const over of [
      climb(scheduled(), 1, OK),
      climb(scheduled(), 9),
      climb(scheduled(), 1).when(canceling()).decided,
    ])
      over.when(canceling()).then();
  });

  // If the redelivery stayed, the recovery job would examine the delivery for ever.
  it('ends a waiting redelivery; a delivery that has ended keeps its status', () => {
    const waiting = climb(scheduled(), 1, OK).when(redeliver(10)).decided;
    const ended = waiting.when(canceling()).then({ type: 'DeliveryCanceled', data: { cause: 'ENDPOINT_DELETED' } });
    expect([seen(ended).status, dueAt(seen(ended)), due(ended, 10)]).toEqual(['succeeded', null, []]);
    const both = climb(scheduled(), 1).when(redeliver(10)).decided.when(canceling()).decided;
    expect([seen(both).status, dueAt(seen(both))]).toEqual(['canceled', null]);
  });

  it('during an attempt lets the attempt finish, and its failure leads to no further attempt', () => {
    const canceled = scheduled().when(canceling()).decided;
    const failed = canceled
      .when(record(1, DOWN, 1))
      .then({ type: 'DeliveryAttemptFailed', data: { ...made(1, DOWN, 1), nextAttemptAt: null } });
    expect([seen(failed).status, dueAt(seen(failed))]).toEqual(['canceled', null]);
    expect(seen(canceled.when(record(1, OK, 1)).decided).status).toBe('succeeded');
  });
});

describe('a ping', () => {
  const ping = { of: 'ping' } as const;

  it('has one attempt of its own kind', () => {
    expect([due(scheduled(PING), 0), due(scheduled(), 0)]).toEqual([['ping'], ['ladder']]);
  });

  it('ends as succeeded or failed, and is never repeated', () => {
    expect(seen(scheduled(PING).when(record(1, OK, 1, ping)).decided).status).toBe('succeeded');
    const failed = scheduled(PING)
      .when(record(1, DOWN, 1, ping))
      .then({ type: 'DeliveryAttemptFailed', data: { ...made(1, DOWN, 1, 'ping'), nextAttemptAt: null } });
    expect([seen(failed).status, dueAt(seen(failed)), due(failed, 99_999)]).toEqual(['failed', null, []]);
    failed.when(redeliver(99_999)).thenRefused('request.not_found');
  });
});

describe('any sequence of commands', () => {
  const anyCommand: fc.Arbitrary<DeliveryCommand> = fc.oneof(
    fc
      .tuple(
        fc.integer({ min: 1, max: 12 }),
        fc.constantFrom(OK, DOWN),
        fc.constantFrom('ladder' as const, 'redelivery' as const),
      )
      .map(([attempt, outcome, of]) => record(attempt, outcome, 0, { of })),
    fc.constant(canceling()),
    fc.constant(redeliver(0)),
  );

  it('records each number once, makes at most nine scheduled attempts, and leaves no attempt due at the end', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(anyCommand, fc.integer({ min: 0, max: 30_000 })), { maxLength: 80 }), (steps) => {
        let state: DeliveryState = fold(delivery, [{ type: 'DeliveryScheduled', data: SCHEDULED }]);
        let now = 0;
        const attempts: number[] = [];
        let ladder = 0;
        for (const [command, after] of steps) {
          now += after;
          // A worker sends only attempts that are due.
          const isSent = command.kind !== 'record' || (state.status !== 'none' && isDue(state, command.of, at(now)));
          if (!isSent) continue;
          let events: readonly DeliveryEvent[] = [];
          try {
            events = delivery.decide('now' in command ? { ...command, now: at(now) } : command, state);
          } catch (error) {
            expect(error).toMatchObject({ code: 'webhook.redelivery_too_soon' });
          }
          for (const event of events) {
            if (event.type === 'DeliverySucceeded' || event.type === 'DeliveryAttemptFailed') {
              attempts.push(event.data.attempt);
              if (event.data.kind === 'ladder') ladder += 1;
            }
            state = delivery.evolve(state, event);
          }
          if (state.status === 'none') throw new Error('It is gone');
          expect(attempts).toEqual(attempts.map((_, index) => index + 1));
          expect([state.attempts, state.ladderAttempts]).toEqual([attempts.length, ladder]);
          expect(ladder).toBeLessThanOrEqual(LADDER.ladder.length + 1);
          const open = state.status === 'pending' || state.status === 'retrying';
          expect(state.nextAttemptAt !== null).toBe(open);
          if (!open && state.redelivery?.waiting !== true) expect(dueAt(state)).toBeNull();
        }
      }),
    );
  });

  it('leaves an event of a later version of the service without effect', () => {
    const later = { type: 'DeliverySomethingNew', data: {} } as unknown as DeliveryEvent;
    const before: DeliveryEvent = { type: 'DeliveryScheduled', data: SCHEDULED };
    expect(fold(delivery, [before, later])).toEqual(fold(delivery, [before]));
  });
});

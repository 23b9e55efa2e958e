// One event on its way to one endpoint: docs/contract/webhooks.md#attempts, #deliveries.
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fold } from '../../../src/kernel/decider.js';
import {
  delivery,
  dueAt,
  type AttemptOutcome,
  type DeliveryCommand,
  type DeliveryEvent,
  type DeliveryState,
} from '../../../src/modules/webhooks/domain/delivery.js';
import { given } from '../../support/decider.js';
import { at, DOWN, iso, LADDER, OK, PING, record, redeliver, SCHEDULED, start } from './histories.js';

const scheduled = (data = SCHEDULED) => given(delivery, { type: 'DeliveryScheduled', data } as DeliveryEvent);
type GivenDelivery = ReturnType<typeof scheduled>;
const seen = ({ state }: GivenDelivery) => {
  if (state.status === 'none') throw new Error('There is no delivery');
  return state;
};
/** Runs the ladder with the same outcome for every attempt, each at the time it is due and one second long. */
function climb(from: GivenDelivery, attempts: number, outcome: AttemptOutcome = DOWN): GivenDelivery {
  let one = from;
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const due = (Date.parse(seen(one).nextAttemptAt ?? '') - at(0).getTime()) / 1_000;
    const number = seen(one).attempts + 1;
    one = one.when(start('ladder', due)).decided.when(record(number, outcome, due + 1)).decided;
  }
  return one;
}
const canceling = (cause: 'ENDPOINT_DELETED' | 'ENDPOINT_DISABLED' = 'ENDPOINT_DELETED'): DeliveryCommand => ({
  kind: 'cancel',
  cause,
});

describe('scheduling', () => {
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

  it('of what is there already changes nothing', () => {
    scheduled()
      .when({ kind: 'schedule', delivery: { ...SCHEDULED, body: 'another' } })
      .then();
    climb(scheduled(), 1, OK).when({ kind: 'schedule', delivery: SCHEDULED }).then();
  });

  it('is needed for everything else', () => {
    given(delivery).when(start('ladder', 0)).thenRefused('request.not_found');
    given(delivery).when(redeliver(0)).thenRefused('request.not_found');
  });
});

describe('an attempt', () => {
  it('is started before it is sent, so that no other worker starts it as well', () => {
    const started = scheduled()
      .when(start('ladder', 0))
      .then({ type: 'DeliveryAttemptStarted', data: { attempt: 1, kind: 'ladder', settleAfter: iso(13) } });
    for (const kind of ['ladder', 'redelivery', 'ping'] as const) started.when(start(kind, 1)).then();
    expect([seen(started).status, dueAt(seen(started))]).toEqual(['pending', iso(13)]);
  });

  it('that comes before its time does nothing', () => {
    const once = climb(scheduled(), 1);
    once.when(start('ladder', 60)).then();
    expect(once.when(start('ladder', 61)).events).toHaveLength(1);
  });

  it('that succeeds ends the delivery', () => {
    const ended = scheduled()
      .when(start('ladder', 0))
      .decided.when(record(1, OK, 1))
      .then({ type: 'DeliverySucceeded', data: { attempt: 1, ...OK } });
    expect(seen(ended)).toMatchObject({ status: 'succeeded', nextAttemptAt: null, underWay: null });
    expect(dueAt(seen(ended))).toBeNull();
    ended.when(start('ladder', 99_999)).then();
  });

  it('is recorded once: what comes late or twice changes nothing', () => {
    const once = climb(scheduled(), 1);
    once.when(record(1, OK, 5)).then();
    once.when(record(2, OK, 5)).then();
    const second = once.when(start('ladder', 61)).decided;
    second.when(record(1, OK, 62)).then();
  });
});

describe('the ladder', () => {
  it('has nine attempts, with the specified delays counted from the end of each, and is exhausted after the ninth', () => {
    const waits: number[] = [];
    let one = scheduled();
    let now = 0;
    for (let attempt = 1; attempt <= 9; attempt++) {
      const decision = one.when(start('ladder', now)).decided.when(record(attempt, DOWN, now + 8));
      one = decision.decided;
      const next = seen(one).nextAttemptAt;
      if (next === null) break;
      expect(seen(one).status).toBe('retrying');
      waits.push((Date.parse(next) - at(now + 8).getTime()) / 1_000);
      now = (Date.parse(next) - at(0).getTime()) / 1_000;
    }
    expect(waits).toEqual([60, 300, 1_800, 7_200, 18_000, 21_600, 21_600, 21_600]);
    expect(seen(one)).toMatchObject({ status: 'exhausted', attempts: 9, nextAttemptAt: null });
    expect(dueAt(seen(one))).toBeNull();
  });

  it('tells of the last failure and of the end at once', () => {
    const eight = climb(scheduled(), 8);
    const due = (Date.parse(seen(eight).nextAttemptAt ?? '') - at(0).getTime()) / 1_000;
    eight
      .when(start('ladder', due))
      .decided.when(record(9, DOWN, due + 1))
      .then(
        { type: 'DeliveryAttemptFailed', data: { attempt: 9, ...DOWN, nextAttemptAt: null } },
        { type: 'DeliveryExhausted', data: { attempts: 9 } },
      );
  });

  it('varies each delay by at most a tenth, both ways', () => {
    const wait = (chance: number): number => {
      const [failed] = scheduled()
        .when(start('ladder', 0))
        .decided.when(record(1, DOWN, 0, chance)).events;
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
  it('makes one attempt at once, under the same event id, and consumes no rung', () => {
    const once = climb(scheduled(), 1);
    const asked = once.when(redeliver(10)).then({ type: 'RedeliveryRequested', data: { requestedAt: iso(10) } });
    expect(dueAt(seen(asked))).toBe(iso(10));
    const failed = asked
      .when(start('redelivery', 10))
      .decided.when(record(2, DOWN, 11))
      .then({ type: 'DeliveryAttemptFailed', data: { attempt: 2, ...DOWN, nextAttemptAt: null } });
    expect(seen(failed)).toMatchObject({
      status: 'retrying',
      attempts: 2,
      rungs: 1,
      nextAttemptAt: seen(once).nextAttemptAt,
      eventId: SCHEDULED.eventId,
    });
    // The second rung's delay follows its own attempt, not the redelivery.
    expect(seen(climb(failed, 1)).nextAttemptAt).toBe(iso(62 + 300));
    expect(seen(climb(failed, 8))).toMatchObject({ status: 'exhausted', attempts: 10 });
  });

  it('that succeeds makes the delivery succeeded and cancels the pending retry', () => {
    const ended = climb(scheduled(), 1)
      .when(redeliver(10))
      .decided.when(start('redelivery', 10))
      .decided.when(record(2, OK, 11)).decided;
    expect(seen(ended)).toMatchObject({ status: 'succeeded', nextAttemptAt: null });
    expect(dueAt(seen(ended))).toBeNull();
    ended.when(start('ladder', 61)).then();
  });

  it.each([
    ['succeeded', () => climb(scheduled(), 1, OK)],
    ['exhausted', () => climb(scheduled(), 9)],
    ['canceled', () => climb(scheduled(), 1).when(canceling()).decided],
  ])('works on one that is %s, which stays so when it fails', (status, make) => {
    const before = make();
    const asked = before.when(redeliver(100_000)).decided.when(start('redelivery', 100_000)).decided;
    const attempt = seen(asked).attempts;
    expect(seen(asked.when(record(attempt, DOWN, 100_001)).decided)).toMatchObject({
      status,
      nextAttemptAt: null,
      underWay: null,
    });
    expect(seen(asked.when(record(attempt, OK, 100_001)).decided).status).toBe('succeeded');
  });

  it('is refused within 60 seconds of the one before, and says how long to wait', () => {
    const asked = climb(scheduled(), 1, OK).when(redeliver(100)).decided;
    asked.when(redeliver(100)).thenRefused('webhook.redelivery_too_soon', { retryAfterSeconds: 60 });
    asked.when(redeliver(130.5)).thenRefused('webhook.redelivery_too_soon', { retryAfterSeconds: 30 });
    asked.when(redeliver(159.999)).thenRefused('webhook.redelivery_too_soon', { retryAfterSeconds: 1 });
    asked.when(redeliver(160)).then({ type: 'RedeliveryRequested', data: { requestedAt: iso(160) } });
  });

  it('happens only when it was asked for, and once for each time', () => {
    climb(scheduled(), 1).when(start('redelivery', 10)).then();
    const made = climb(scheduled(), 1)
      .when(redeliver(10))
      .decided.when(start('redelivery', 10))
      .decided.when(record(2, DOWN, 11)).decided;
    made.when(start('redelivery', 12)).then();
  });

  it('that is asked for during an attempt waits for its end', () => {
    const asked = scheduled().when(start('ladder', 0)).decided.when(redeliver(1)).decided;
    asked.when(start('redelivery', 1)).then();
    const after = asked.when(record(1, DOWN, 2)).decided;
    expect([dueAt(seen(after)), after.when(start('redelivery', 2)).events.length]).toEqual([iso(1), 1]);
  });
});

describe('canceling', () => {
  it('ends what is pending or retrying', () => {
    for (const open of [scheduled(), climb(scheduled(), 3)]) {
      const ended = open
        .when(canceling('ENDPOINT_DISABLED'))
        .then({ type: 'DeliveryCanceled', data: { cause: 'ENDPOINT_DISABLED' } });
      expect([seen(ended).status, dueAt(seen(ended))]).toEqual(['canceled', null]);
      ended.when(start('ladder', 99_999)).then();
    }
  });

  it('leaves alone what is over', () => {
    for (const over of [
      climb(scheduled(), 1, OK),
      climb(scheduled(), 9),
      climb(scheduled(), 1).when(canceling()).decided,
    ])
      over.when(canceling()).then();
  });

  // Otherwise a timer would look at it for ever, and nothing would ever come of it.
  it('ends a redelivery that still waits, also of one that is over, which keeps its end', () => {
    const waiting = climb(scheduled(), 1, OK).when(redeliver(10)).decided;
    const ended = waiting.when(canceling()).then({ type: 'DeliveryCanceled', data: { cause: 'ENDPOINT_DELETED' } });
    expect([seen(ended).status, dueAt(seen(ended))]).toEqual(['succeeded', null]);
    ended.when(start('redelivery', 10)).then();
    const both = climb(scheduled(), 1).when(redeliver(10)).decided.when(canceling()).decided;
    expect([seen(both).status, dueAt(seen(both))]).toEqual(['canceled', null]);
  });

  it('during an attempt lets that one end, and nothing follows from its failure', () => {
    const canceled = scheduled().when(start('ladder', 0)).decided.when(canceling()).decided;
    expect(dueAt(seen(canceled))).toBe(iso(13));
    const failed = canceled
      .when(record(1, DOWN, 1))
      .then({ type: 'DeliveryAttemptFailed', data: { attempt: 1, ...DOWN, nextAttemptAt: null } });
    expect([seen(failed).status, dueAt(seen(failed))]).toEqual(['canceled', null]);
    expect(seen(canceled.when(record(1, OK, 1)).decided).status).toBe('succeeded');
  });
});

describe('a ping', () => {
  it('has one attempt of its own kind', () => {
    scheduled(PING).when(start('ladder', 0)).then();
    scheduled(PING)
      .when(start('ping', 0))
      .then({ type: 'DeliveryAttemptStarted', data: { attempt: 1, kind: 'ping', settleAfter: iso(13) } });
    scheduled().when(start('ping', 0)).then();
  });

  it('ends succeeded or failed, and is never repeated', () => {
    const started = scheduled(PING).when(start('ping', 0)).decided;
    expect(seen(started.when(record(1, OK, 1)).decided).status).toBe('succeeded');
    const failed = started
      .when(record(1, DOWN, 1))
      .then({ type: 'DeliveryAttemptFailed', data: { attempt: 1, ...DOWN, nextAttemptAt: null } });
    expect([seen(failed).status, dueAt(seen(failed))]).toEqual(['failed', null]);
    for (const kind of ['ladder', 'redelivery', 'ping'] as const) failed.when(start(kind, 99_999)).then();
    failed.when(redeliver(99_999)).thenRefused('request.not_found');
  });
});

describe('whatever happens in whatever order', () => {
  const anyCommand: fc.Arbitrary<DeliveryCommand> = fc.oneof(
    fc
      .constantFrom('ladder', 'redelivery')
      .map((kind) => ({ kind: 'start', of: kind, now: at(0), settleAfter: at(0) }) as DeliveryCommand),
    fc
      .tuple(fc.integer({ min: 1, max: 12 }), fc.constantFrom(OK, DOWN))
      .map(([attempt, outcome]) => record(attempt, outcome, 0)),
    fc.constant(canceling()),
    fc.constant(redeliver(0)),
  );

  it('at most one attempt is under way, the ladder has at most nine, and what is over has nothing due', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(anyCommand, fc.integer({ min: 0, max: 30_000 })), { maxLength: 80 }), (steps) => {
        let state: DeliveryState = fold(delivery, [{ type: 'DeliveryScheduled', data: SCHEDULED }]);
        let now = 0;
        let running = 0;
        let ladder = 0;
        for (const [command, after] of steps) {
          now += after;
          const due =
            command.kind === 'start'
              ? { ...command, now: at(now), settleAfter: at(now + 13) }
              : command.kind === 'record' || command.kind === 'redeliver'
                ? { ...command, now: at(now) }
                : command;
          let events: readonly DeliveryEvent[] = [];
          try {
            events = delivery.decide(due, state);
          } catch (error) {
            expect(error).toMatchObject({ code: 'webhook.redelivery_too_soon' });
          }
          for (const event of events) {
            if (event.type === 'DeliveryAttemptStarted') running += 1;
            if (event.type === 'DeliveryAttemptStarted' && event.data.kind === 'ladder') ladder += 1;
            if (event.type === 'DeliverySucceeded' || event.type === 'DeliveryAttemptFailed') running -= 1;
            state = delivery.evolve(state, event);
          }
          if (state.status === 'none') throw new Error('It is gone');
          expect(running).toBe(state.underWay === null ? 0 : 1);
          expect(ladder).toBeLessThanOrEqual(LADDER.ladder.length + 1);
          const open = state.status === 'pending' || state.status === 'retrying';
          expect(state.nextAttemptAt !== null).toBe(open);
          if (!open && state.underWay === null && state.redelivery?.waiting !== true) expect(dueAt(state)).toBeNull();
        }
      }),
    );
  });

  it('an event of a later version of the service changes nothing', () => {
    const later = { type: 'DeliverySomethingNew', data: {} } as unknown as DeliveryEvent;
    const before: DeliveryEvent = { type: 'DeliveryScheduled', data: SCHEDULED };
    expect(fold(delivery, [before, later])).toEqual(fold(delivery, [before]));
  });
});

// A test event is counted and becomes one stored event. test/e2e/server/test-events.e2e.test.ts has the whole way.
import 'reflect-metadata';
import { expect, it } from '@jest/globals';
import { newId } from '../../../src/kernel/ids.js';
import {
  TriggerTestEvent,
  TriggerTestEventHandler,
} from '../../../src/modules/webhooks/application/trigger-test-event.js';
import type { EventType } from '../../../src/published/events.js';
import { SetClock } from '../../support/clock.js';
import { CountedInMemory } from '../../support/rate-limiter.js';

const LIMIT = 2;

function handler(): {
  readonly trigger: (accountId: string, data?: object) => Promise<unknown>;
  readonly stored: unknown[];
} {
  const stored: unknown[] = [];
  const aggregates = {
    execute: async (_decider: unknown, { id }: { id: string }, data: object, { accountId, environment }: any) => {
      stored.push(data);
      const metadata = { accountId, environment, occurredAt: '2026-01-31T12:00:00.000Z' };
      return { history: [{ id, type: 'TestEventTriggered', stream: `test_event-${id}`, data, metadata }] };
    },
  };
  const policy = { testEventsPerHour: LIMIT };
  const handles = new TriggerTestEventHandler(aggregates as any, new CountedInMemory(), policy as any, new SetClock());
  const trigger = (accountId: string, data = {}) =>
    handles.execute(
      new TriggerTestEvent({ type: 'report.shared' satisfies EventType, data: data as Record<string, unknown> }, {
        accountId,
        environment: 'test',
      } as any),
    );
  return { trigger, stored };
}

it('an account that has triggered as many events as TEST_HELPERS_PER_HOUR allows is refused, and another is not', async () => {
  const { trigger, stored } = handler();
  const [one, other] = [newId(), newId()];
  for (let time = 0; time < LIMIT; time++) await trigger(one);
  await expect(trigger(one)).rejects.toMatchObject({
    detail: { rule: expect.stringContaining('2 test events of one account an hour (TEST_HELPERS_PER_HOUR)') },
  });
  await trigger(other);
  expect(stored).toHaveLength(LIMIT + 1);
});

it('a refused event is neither counted nor stored', async () => {
  const { trigger, stored } = handler();
  const account = newId();
  for (let time = 0; time < 2 * LIMIT; time++)
    await expect(trigger(account, { session_id: 'Robin' })).rejects.toMatchObject({ code: 'request.invalid' });
  await trigger(account);
  expect(stored).toHaveLength(1);
});

// A test event is counted and becomes one stored event. test/e2e/server/test-events.e2e.test.ts has the whole way.
import 'reflect-metadata';
import { expect, it } from '@jest/globals';
import { newId } from '../../../src/kernel/ids.js';
import {
  TriggerTestEvent,
  TriggerTestEventHandler,
} from '../../../src/modules/webhooks/application/trigger-test-event.js';
import { EVENT_CATALOGUE, type EventType, type FieldRule, publishedLinks } from '../../../src/published/events.js';
import { SetClock } from '../../support/clock.js';
import { CountedInMemory } from '../../support/rate-limiter.js';

const LIMIT = 2;

function handler(): {
  readonly trigger: (accountId: string, data?: object, type?: EventType) => Promise<any>;
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
  const handles = new TriggerTestEventHandler(aggregates as any, new CountedInMemory(), policy as any, new SetClock(), {
    publishers: [],
    links: publishedLinks('https://api.screening.test'),
  });
  const trigger = (accountId: string, data = {}, type: EventType = 'report.shared') =>
    handles.execute(
      new TriggerTestEvent({ type, data: data as Record<string, unknown> }, {
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

it.each([
  ['screening.completed', 'session_id', 'reports/ID'],
  ['income_report.completed', 'income_session_id', 'income-sessions/ID/report'],
] as const)('the address in %s is made from the id, and never taken from the caller', async (type, name, path) => {
  const { trigger, stored } = handler();
  const [account, id] = [newId(), newId()];
  const given = trigger(account, { report_url: 'https://foreign.test/r/1' }, type);
  await expect(given).rejects.toMatchObject({ code: 'request.invalid' });
  const { data } = await trigger(account, { [name]: id }, type);
  expect(data).toMatchObject({ [name]: id, report_url: `https://api.screening.test/v1/${path.replace('ID', id)}` });
  expect(stored).toHaveLength(1);
});

it('screening.completed of an agent has no address, because agents have no report', async () => {
  const { data } = await handler().trigger(newId(), { user_type: 'AGENT' }, 'screening.completed');
  expect(data).not.toHaveProperty('report_url');
});

it('each address in the catalogue has a source', async () => {
  for (const [type, { fields }] of Object.entries(EVENT_CATALOGUE)) {
    const { data } = await handler().trigger(newId(), {}, type as EventType);
    for (const [name, rule] of Object.entries<FieldRule>(fields))
      if (rule.format === 'uri')
        expect([type, data]).toEqual([type, expect.objectContaining({ [name]: expect.any(String) })]);
  }
});

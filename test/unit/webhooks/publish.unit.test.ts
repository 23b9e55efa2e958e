// The published events about an endpoint's health (docs/contract/webhooks.md#endpoint-health). They are in the feed, and no endpoint gets them.
import { describe, expect, it } from '@jest/globals';
import type { RecordedEvent } from '../../../src/kernel/domain-event.js';
import { endpointPublisher } from '../../../src/modules/webhooks/application/publish.js';
import { webhookEndpoint, type EndpointEvent } from '../../../src/modules/webhooks/domain/endpoint.js';
import { DELIVERED_TYPES, EVENT_CATALOGUE, isDelivered } from '../../../src/published/events.js';
import { given } from '../../support/decider.js';
import { at, delivered, ENDPOINT, exhausted, iso, registered } from './histories.js';

const NO_LINKS = { reportUrl: null, incomeReportUrl: null };

/** The published events of the history that the commands make. */
function told(...commands: Parameters<ReturnType<typeof given<any, any, EndpointEvent>>['when']>[0][]): unknown[] {
  const history: RecordedEvent[] = [];
  let state = given(webhookEndpoint, registered());
  for (const event of [
    registered(),
    ...commands.flatMap((command) => {
      const decision = state.when(command);
      state = decision.decided;
      return decision.events;
    }),
  ]) {
    const metadata = { accountId: 'account', environment: 'test', occurredAt: iso(history.length) };
    history.push({
      ...event,
      id: `id-${history.length}`,
      stream: 'webhook_endpoint-account',
      metadata,
    } as unknown as RecordedEvent);
  }
  return history.flatMap((event, place) => {
    const published = endpointPublisher.types.has(event.type)
      ? endpointPublisher.publish(history.slice(0, place + 1), NO_LINKS)
      : null;
    return published ? [[published.type, published.data]] : [];
  });
}
const failing = [exhausted('a', 1), exhausted('b', 2), exhausted('c', 3)];
const endpoint_id = ENDPOINT;
const isFailing = ['endpoint.failing', { endpoint_id, disable_after: iso(3 + 1 + 259_200) }];

describe('the health of an endpoint', () => {
  it('is published when the endpoint becomes failing and recovers', () => {
    expect(told(...failing, delivered('d', 4))).toEqual([isFailing, ['endpoint.recovered', { endpoint_id }]]);
  });

  it('is published when the endpoint is disabled, and not when the account makes it active again', () => {
    const overdue = { kind: 'disable-overdue', now: at(300_000) } as const;
    expect(told(...failing, overdue, { kind: 'change', endpointId: ENDPOINT })).toEqual([
      isFailing,
      ['endpoint.disabled', { endpoint_id, reason_code: 'NO_SUCCESSFUL_DELIVERY' }],
    ]);
  });

  it('is not published when a success ends a run of failures before the endpoint is failing', () => {
    expect(told(exhausted('a', 1), delivered('b', 2))).toEqual([]);
  });

  it("has the machine's time in the live feed when a test clock has led to it", () => {
    const [disableAfter, machine, turned] = [iso(40 * 3_600 + 259_200), iso(0), iso(40 * 3_600)];
    const publishedIn = (environment: string): unknown => {
      const metadata = { accountId: 'account', environment, occurredAt: turned, recordedAt: machine };
      const data = { endpointId: ENDPOINT, disableAfter };
      const event = { type: 'WebhookEndpointFailing', id: 'id', stream: 'webhook_endpoint-account', data, metadata };
      return endpointPublisher.publish([event as unknown as RecordedEvent], NO_LINKS);
    };
    expect(publishedIn('test')).toMatchObject({ occurred_at: turned, data: { disable_after: disableAfter } });
    expect(publishedIn('live')).toMatchObject({ occurred_at: machine, data: { disable_after: iso(259_200) } });
  });

  it('is in the feed only, also when an endpoint gets all types', () => {
    const types = Object.keys(EVENT_CATALOGUE).filter((type) => type.startsWith('endpoint.'));
    expect(types).toEqual(['endpoint.failing', 'endpoint.disabled', 'endpoint.recovered']);
    for (const type of types)
      expect([isDelivered(type, null), DELIVERED_TYPES]).toEqual([false, expect.not.arrayContaining([type])]);
    expect([isDelivered('report.shared', null), isDelivered('report.shared', ['report.revoked'])]).toEqual([
      true,
      false,
    ]);
  });
});

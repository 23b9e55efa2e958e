// Each published event has exactly the fields of the catalogue, carries little data and has an id that follows from the
// stored event. The test translates the stored samples of test/unit/upcasting, because every event ever stored can be
// published.
import 'reflect-metadata';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { UPCASTING } from '../../../src/modules/stored-events.module.js';
import { PUBLISHERS } from '../../support/declarations.js';
import { categoryOf, type RecordedEvent } from '../../../src/kernel/domain-event.js';
import { EVENT_CATALOGUE, type EventType, type Links, type PublishedEvent } from '../../../src/published/events.js';

interface Sample {
  readonly after: readonly string[];
  readonly event: Omit<RecordedEvent, 'position'>;
}

const SAMPLES = join(import.meta.dirname, '../upcasting/samples');
const samples = new Map(
  readdirSync(SAMPLES).map((file) => [
    file.replace(/\.json$/, ''),
    JSON.parse(readFileSync(join(SAMPLES, file), 'utf8')) as Sample,
  ]),
);
const LINKS: Links = {
  reportUrl: (id) => `https://service.example.test/v1/reports/${id}`,
  incomeReportUrl: (id) => `https://service.example.test/v1/income-sessions/${id}/report`,
};
const NO_LINKS: Links = { reportUrl: null, incomeReportUrl: null };

function historyOf({ after, event }: Sample): RecordedEvent[] {
  return [...after.map((name) => samples.get(name)!.event), event].map((one) =>
    UPCASTING.apply({ ...one, position: '' }),
  );
}

const known = [...samples].flatMap(([name, sample]) => {
  const publisher = PUBLISHERS.find(({ category }) => category === categoryOf(sample.event.stream));
  return publisher?.types.has(sample.event.type) ? [{ name, sample, publisher }] : [];
});
/**
 * A refund that the processor made on its own, a refusal without a stored time, and failures after which another pull
 * is possible.
 */
const UNTOLD = [
  'PaymentRefunded',
  'ReportPullFailed',
  'ReportPullFailed.credit',
  'ReportPullFailed.unresolved',
  'ReportPullRefused',
];
const publishable = known.filter(({ name }) => !UNTOLD.includes(name));
const publish = ({ sample, publisher }: (typeof publishable)[number], links = LINKS): PublishedEvent => {
  const published = publisher.publish(historyOf(sample), links);
  if (published === null) throw new Error('Nothing was published');
  return published;
};

const TYPE_OF = { string: 'string', integer: 'number', 'array of strings': 'object' } as const;

describe('the publishers of events', () => {
  it('cover every event type of the catalogue, and each type has one publisher', () => {
    expect(new Set(publishable.map((one) => publish(one).type))).toEqual(new Set(Object.keys(EVENT_CATALOGUE)));
    expect(new Set(PUBLISHERS.map(({ category }) => category)).size).toBe(PUBLISHERS.length);
  });

  it('publish no event for a refund made at the processor, a refusal without its time or a failure that may pass', () => {
    const untold = known.filter(({ name }) => UNTOLD.includes(name));
    expect(untold.map(({ sample, publisher }) => publisher.publish(historyOf(sample), LINKS))).toEqual(
      UNTOLD.map(() => null),
    );
  });

  it.each(publishable)('$name: has the envelope and exactly the fields of its type', (one) => {
    const event = publish(one);
    const { metadata } = one.sample.event;
    expect(Object.keys(event)).toEqual([
      'id',
      'type',
      'schema_version',
      'occurred_at',
      'environment',
      'account_id',
      'data',
    ]);
    expect(event).toMatchObject({
      schema_version: 1,
      occurred_at: metadata.occurredAt,
      environment: metadata.environment,
      account_id: metadata.accountId,
    });
    expect(event.id).toMatch(/^evt_[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/);
    const fields: Readonly<Record<string, { readonly type: keyof typeof TYPE_OF; readonly optional?: true }>> =
      EVENT_CATALOGUE[event.type as EventType].fields;
    const data = event.data as unknown as Record<string, unknown>;
    expect(Object.keys(fields)).toEqual(expect.arrayContaining(Object.keys(data)));
    for (const [name, { type, optional }] of Object.entries(fields)) {
      if (data[name] === undefined) expect({ name, optional }).toEqual({ name, optional: true });
      else
        expect({ name, type: typeof data[name], array: Array.isArray(data[name]) }).toEqual({
          name,
          type: TYPE_OF[type],
          array: type === 'array of strings',
        });
    }
  });

  it.each(publishable)('$name: is the same event when it is translated again, and stays unchanged in JSON', (one) => {
    expect(publish(one)).toEqual(publish(one));
    expect(JSON.parse(JSON.stringify(publish(one)))).toEqual(publish(one));
  });

  it.each(publishable)('$name: contains no address when the service has none', (one) => {
    expect(JSON.stringify(publish(one, NO_LINKS))).not.toContain('_url');
  });

  // Outside production, no live traffic reaches a vendor. A delivery in a test therefore cannot show live data.
  it.each(publishable)('$name: distinguishes live from test', (one) => {
    const live = historyOf(one.sample).map((event) => ({
      ...event,
      metadata: { ...event.metadata, environment: 'live' as const },
    }));
    expect(one.publisher.publish(live, LINKS)).toEqual({ ...publish(one), environment: 'live' });
  });

  it('give different events different ids', () => {
    const ids = publishable.map((one) => publish(one).id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('ignore all other events', () => {
    for (const sample of samples.values()) {
      const publisher = PUBLISHERS.find(({ category }) => category === categoryOf(sample.event.stream));
      if (publisher && !publisher.types.has(sample.event.type))
        expect(publisher.publish(historyOf(sample), LINKS)).toBeNull();
    }
  });
});

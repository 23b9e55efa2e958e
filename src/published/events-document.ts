// The event catalogue as a page for integrators.
import { EVENT_CATALOGUE, type EventType } from './events.js';

interface Rule {
  readonly firesWhen: string;
  readonly feedOnly?: true;
  readonly fields: Readonly<
    Record<string, { readonly type: string; readonly optional?: true; readonly meaning: string }>
  >;
}

/** The whole of `docs/events.md`. */
export function eventsDocument(): string {
  const sections = (Object.keys(EVENT_CATALOGUE) as EventType[]).flatMap((type) => {
    const { firesWhen, feedOnly, fields }: Rule = EVENT_CATALOGUE[type];
    const rows = Object.entries(fields).map(
      ([name, field]) =>
        `| \`${name}\` | ${field.type} | ${field.optional ? 'sometimes' : 'always'} | ${field.meaning} |`,
    );
    return [
      `## ${type}`,
      '',
      feedOnly ? `${firesWhen} This event is in the feed only.` : firesWhen,
      '',
      '| Field of `data` | Type | Present | Meaning |',
      '|---|---|---|---|',
      ...rows,
      '',
    ];
  });
  return [
    '# Events',
    '',
    'Generated from the event catalogue (`npm run docs`); do not edit.',
    '',
    'The service sends these events to the webhook endpoint of an account, except those in the feed only. The feed is `GET /v1/events`. Each',
    'event has the envelope',
    '`{ "id", "type", "schema_version", "occurred_at", "environment", "account_id", "data" }`. `id` begins with `evt_` and is the same each',
    'time the event is sent. `schema_version` is 1. `occurred_at` is the time when the state changed (ISO 8601 UTC). `environment` is',
    '`live` or `test`. `data` contains only identifiers, enums and times. Later releases may add types and optional fields. Ignore unknown',
    'types and fields.',
    '',
    ...sections,
  ].join('\n');
}

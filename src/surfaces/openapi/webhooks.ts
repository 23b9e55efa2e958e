// The webhook events of OpenAPI documents. They are made from the event catalogue, as docs/events.md is.
import { EVENT_CATALOGUE, type EventType, type FieldRule } from '../../published/events.js';
import type { Json } from './schemas.js';

/** `ScreeningCompletedEvent` for `screening.completed`. */
const nameOf = (type: string): string =>
  `${type.replace(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())}Event`;

const CATALOGUE = Object.entries(EVENT_CATALOGUE) as unknown as readonly (readonly [
  EventType,
  { readonly firesWhen: string; readonly fields: Readonly<Record<string, FieldRule>> },
])[];

const text = { type: 'string' } as const;

/** The schema of each event's body. */
export function eventSchemas(): Record<string, Json> {
  return Object.fromEntries([
    ...CATALOGUE.map(([type, { firesWhen, fields }]) => [nameOf(type), bodyOf(type, firesWhen, fields)] as const),
    [nameOf('ping'), bodyOf('ping', 'The account asks for a test of its endpoint.', {})],
  ]);
}

function bodyOf(type: string, description: string, fields: Readonly<Record<string, FieldRule>>): Json {
  const names = Object.keys(fields);
  return {
    type: 'object',
    description,
    required: ['id', 'type', 'schema_version', 'occurred_at', 'environment', 'account_id', 'data'],
    properties: {
      id: { ...text, pattern: '^evt_[0-9a-f-]{36}$', description: 'The same in every delivery of the event' },
      type: { ...text, const: type },
      schema_version: { type: 'integer', const: 1 },
      occurred_at: { ...text, format: 'date-time', description: 'When the state changed, not when it was delivered' },
      environment: { ...text, enum: ['live', 'test'] },
      account_id: { ...text, format: 'uuid' },
      data: {
        type: 'object',
        required: names.filter((name) => fields[name]?.optional !== true),
        properties: Object.fromEntries(Object.entries(fields).map(([name, rule]) => [name, fieldOf(rule)])),
      },
    },
  };
}

function fieldOf({ type, meaning: description, words, open, format, pattern }: FieldRule): Json {
  const one = {
    ...(words && (open ? { 'x-extensible-enum': words } : { enum: words })),
    ...(format && { format }),
    ...(pattern && { pattern }),
  };
  if (type === 'array of strings') return { type: 'array', items: { ...text, ...one }, description };
  return { type, ...one, ...(type === 'integer' && { minimum: 0 }), description };
}

const HEADER_NAMES: Readonly<Record<string, string>> = {
  'webhook-id': 'The id of the event',
  'webhook-timestamp': 'Seconds since 1970, new with each attempt',
  'webhook-signature': 'One `v1,` signature for each valid secret, separated by spaces',
  'service-event-type': 'The type of the event',
  'service-delivery-id': 'The id of the delivery',
};

/** One entry for each event, as receivers get it. */
export function webhooks(): Json {
  const parameters = Object.entries(HEADER_NAMES).map(([name, description]) => ({
    name,
    in: 'header',
    required: true,
    description,
    schema: text,
  }));
  return Object.fromEntries(
    [
      ...CATALOGUE.map(([type, { firesWhen }]) => [type, firesWhen] as const),
      ['ping', 'A test of the endpoint.'] as const,
    ].map(([type, when]) => [
      type,
      {
        post: {
          operationId: `receive${nameOf(type)}`,
          summary: `The event ${type}`,
          description: when,
          tags: ['webhooks'],
          security: [],
          parameters,
          requestBody: {
            required: true,
            content: { 'application/json': { schema: { $ref: `#/components/schemas/${nameOf(type)}` } } },
          },
          responses: {
            '2XX': { description: 'Taken. The body does not count' },
            default: { description: 'Not taken. The service tries again' },
          },
        },
      },
    ]),
  );
}

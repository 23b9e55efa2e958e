// The webhook events of OpenAPI documents. They are made from the event catalogue, as docs/events.md is.
import { DELIVERED_TYPES, EVENT_CATALOGUE, type EventType, type FieldRule } from '../../published/events.js';
import type { Json } from './schemas.js';

/** `ScreeningCompletedEvent` for `screening.completed`. */
const nameOf = (type: string): string =>
  `${type.replace(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())}Event`;

const CATALOGUE = Object.entries(EVENT_CATALOGUE) as unknown as readonly (readonly [
  EventType,
  { readonly firesWhen: string; readonly fields: Readonly<Record<string, FieldRule>> },
])[];

const text = { type: 'string' } as const;

/** An event of the feed: one of all types. */
export const FEED_EVENT = {
  oneOf: CATALOGUE.map(([type]) => ({ $ref: `#/components/schemas/${nameOf(type)}` })),
};

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

const HEADERS: Readonly<Record<string, { readonly description: string; readonly schema: Json }>> = {
  'webhook-id': { description: 'The id of the event', schema: text },
  'webhook-timestamp': { description: 'Seconds since 1970, new with each attempt', schema: text },
  'webhook-signature': {
    description:
      'One `v1,` signature for each valid secret, and with `v1a` one `v1a,` signature for each valid key, separated by spaces',
    schema: text,
  },
  'service-event-type': { description: 'The type of the event', schema: text },
  'service-delivery-id': { description: 'The id of the delivery', schema: text },
};
/** A ping is in no feed, and neither is a delivery from before the feed. */
const FEED_HEADERS: typeof HEADERS = {
  'service-event-sequence': {
    description: "The event's place in the feed of the account (`GET /v1/events`): 1, 2, 3 and so on",
    schema: { type: 'integer', minimum: 1 },
  },
  'service-event-digest': {
    description:
      'SHA-256 over the digest of the event before and this body, lowercase hex. It proves that no event is missing',
    schema: { ...text, pattern: '^[0-9a-f]{64}$' },
  },
};

function parametersOf(headers: typeof HEADERS, required: boolean): Json[] {
  return Object.entries(headers).map(([name, about]) => ({ name, in: 'header', required, ...about }));
}

/** One entry for each event, as receivers get it. */
export function webhooks(): Json {
  return Object.fromEntries(
    [
      ...DELIVERED_TYPES.map((type) => [type, EVENT_CATALOGUE[type].firesWhen] as const),
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
          parameters: [...parametersOf(HEADERS, true), ...(type === 'ping' ? [] : parametersOf(FEED_HEADERS, false))],
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

// Headers and parameters of many operations. The documents refer to them by name.
import type { Json } from './schemas.js';

const text = { type: 'string' } as const;
const uuid = { type: 'string', format: 'uuid' } as const;
const count = { type: 'integer', minimum: 0 } as const;

/** The header of requests that change something (docs/contract/general.md#idempotency-keys). */
export const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  required: false,
  description: 'A repeated key and body gets the first reply, for an hour in pages and for 24 hours elsewhere',
  schema: { ...text, maxLength: 255, pattern: '^[^\\x00-\\x1f\\x7f]+$' },
  example: 'b1f6f7a2-submit-1',
} as const;

/** The headers of replies. A response names those that it may have. */
export const HEADERS = {
  'X-Request-Id': {
    description: "The caller's own id of the request, if it sent a plain one; else the `Service-Request-Id`",
    schema: { ...text, maxLength: 128 },
  },
  'Service-Request-Id': { description: 'The id of the request in logs and events', schema: uuid },
  'Service-Warnings': {
    description: 'In the test environment: the fields of the body and the query parameters that the service ignored',
    schema: text,
  },
  'Idempotent-Replayed': {
    description: 'This is the first reply to the key, sent again',
    schema: { ...text, enum: ['true'] },
  },
  'Idempotency-Kept': {
    description: 'The reply was not kept, because the caller has too many of them',
    schema: { ...text, enum: ['false'] },
  },
  'Retry-After': { description: 'Whole seconds until another try makes sense', schema: { ...count, minimum: 1 } },
  'RateLimit-Limit': { description: 'Exchanges in one minute', schema: count },
  'RateLimit-Remaining': { description: 'Exchanges left in this minute', schema: count },
  'RateLimit-Reset': { description: 'Seconds until the end of this minute', schema: count },
  'WWW-Authenticate': { description: 'What is wrong with the credential', schema: text },
  Deprecation: {
    description: 'The route is deprecated since this time (RFC 9745)',
    schema: { ...text, pattern: '^@\\d+$' },
  },
  Sunset: { description: 'The route may be gone after this time (RFC 8594)', schema: text },
  'Content-Security-Policy': { description: 'The page runs no script and loads nothing', schema: text },
  'Content-Disposition': { description: 'Names the file to save', schema: text },
} as const satisfies Json;

interface Parameter {
  readonly name: string;
  /** The beginning of the paths that have it. */
  readonly below: string;
  readonly description: string;
  readonly schema: Json;
  /** A value that a first call can have. */
  readonly example?: string;
}

const session = { description: 'Id of the screening session', schema: uuid };
const income = { description: 'Id of the income session', schema: uuid };
const party = { below: '/api/idv', schema: { ...text, minLength: 1, maxLength: 128 } };

/** The parameters in paths. Another value than the schema allows is an unknown id. */
export const PARAMETERS: readonly Parameter[] = [
  { name: 'id', below: '/screening', ...session },
  { name: 'id', below: '/reports', ...session },
  { name: 'session_id', below: '/v1', ...session },
  { name: 'id', below: '/voie', ...income },
  { name: 'income_session_id', below: '/v1', ...income },
  { name: 'id', below: '/tsp', description: 'Id of the webhook endpoint', schema: uuid },
  { name: 'deliveryId', below: '/tsp', description: 'Id of the delivery', schema: uuid },
  {
    name: 'transactionId',
    below: '/payments',
    description: 'Id of the payment: `txn_` and a UUID',
    schema: { ...text, pattern: '^txn_[0-9a-f-]{36}$' },
  },
  {
    name: 'transaction_id',
    below: '/v1/payments',
    description: 'Id of the payment: `txn_` and a UUID, or `chk_` and a UUID for a hosted checkout',
    schema: { ...text, pattern: '^(txn|chk)_[0-9a-f-]{36}$' },
  },
  { name: 'file', below: '/reports/pdf', description: 'Id of the printed report', schema: uuid },
  { name: 'renterId', description: "The integrator's own id of the renter", example: 'renter-1', ...party },
  { name: 'agentId', description: "The integrator's own id of the agent", example: 'agent-1', ...party },
  {
    name: 'organizationId',
    description: "The integrator's own id of the organization",
    example: 'organization-1',
    ...party,
  },
  {
    name: 'recipientId',
    description: "The integrator's own id of the agent or the organization",
    example: 'agent-1',
    ...party,
  },
];

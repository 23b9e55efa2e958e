// Commands and events of webhook endpoints and deliveries, for the tests that need them.
import type {
  AttemptKind,
  AttemptOutcome,
  DeliveryCommand,
  DeliveryEvent,
  LadderPolicy,
} from '../../../src/modules/webhooks/domain/delivery.js';
import type {
  EndpointCommand,
  EndpointEvent,
  HealthPolicy,
  NewKey,
} from '../../../src/modules/webhooks/domain/endpoint.js';
import type { PublishCommand } from '../../../src/modules/webhooks/domain/feed.js';

/** Seconds after the start. */
export const at = (seconds: number): Date => new Date(Date.UTC(2026, 2, 1, 12) + seconds * 1_000);
export const iso = (seconds: number): string => at(seconds).toISOString();

export const ENDPOINT = '0190a6d0-0000-7000-8000-000000000050';
export const OTHER = '0190a6d0-0000-7000-8000-000000000051';
export const HEALTH: HealthPolicy = { failingAfter: 3, disableAfterSeconds: 259_200 };
export const LADDER: LadderPolicy = { ladder: [60, 300, 1_800, 7_200, 18_000, 21_600, 21_600, 21_600], jitter: 0.1 };

type Registered = Extract<EndpointEvent, { type: 'WebhookEndpointRegistered' }>['data'];

export const REGISTERED: Registered = {
  endpointId: ENDPOINT,
  url: 'https://hooks.example.com/a',
  enabledEvents: null,
  notifies: false,
  secretId: 'secret-1',
};
export const registered = (data: Partial<Registered> = {}): EndpointEvent => ({
  type: 'WebhookEndpointRegistered',
  data: { ...REGISTERED, ...data },
});
export const register = (data: Partial<Registered> = {}): EndpointCommand => ({
  kind: 'register',
  ...REGISTERED,
  ...data,
});
export const exhausted = (deliveryId: string, endedAt: number, run = 0, endpointId = ENDPOINT): EndpointCommand => ({
  kind: 'count-exhausted',
  endpointId,
  deliveryId,
  endedAt: iso(endedAt),
  run,
  now: at(endedAt + 1),
  policy: HEALTH,
});
export const delivered = (deliveryId: string, endedAt: number, endpointId = ENDPOINT): EndpointCommand => ({
  kind: 'count-success',
  endpointId,
  deliveryId,
  endedAt: iso(endedAt),
});

export const KEY: NewKey = { keyId: '0190a6d0-0000-7000-8000-000000000062', publicKey: 'cHVibGlj', validFrom: iso(0) };

type Scheduled = Extract<DeliveryEvent, { type: 'DeliveryScheduled' }>['data'];

export const SCHEDULED: Scheduled = {
  endpointId: ENDPOINT,
  eventId: 'evt_0190a6d0-0000-8000-8000-000000000060',
  eventType: 'report.shared',
  occurredAt: iso(0),
  body: '{"id":"evt_0190a6d0-0000-8000-8000-000000000060"}',
  kind: 'event',
  nextAttemptAt: iso(0),
};
/** A delivery that names the event's place in its feed. */
export const PLACED: Scheduled = { ...SCHEDULED, sequence: 7, digest: '0'.repeat(64) };
export const PING: Scheduled = { ...SCHEDULED, eventType: 'ping', kind: 'ping' };
export const positionAt = (place: number): string => String(place).padStart(20, '0');
/** The command that appends the event from that place in the log to its feed. */
export const published = (
  place: number,
  sourcePosition = positionAt(place),
  handledBefore: string | null = null,
  after: string | null = null,
): PublishCommand => ({
  event: {
    id: `evt_${place}`,
    type: 'report.shared',
    schema_version: 1,
    occurred_at: iso(place),
    environment: 'test',
    account_id: 'account',
    data: { report_id: 'r', session_id: `s${place}`, recipient_account_id: 'a', shared_at: iso(place) },
  },
  source: { sourcePosition, sourceStream: 'report_share-a', sourceRevision: place },
  handledBefore,
  after,
});
export const OK: AttemptOutcome = { errorCode: null, httpStatus: 200, latencyMs: 12, excerpt: 'c2VhbGVk' };
export const DOWN: AttemptOutcome = { errorCode: 'HTTP_STATUS', httpStatus: 500, latencyMs: 12, excerpt: null };

/** An attempt that takes one second. A chance of one half leaves the delay unchanged. */
export const record = (
  attempt: number,
  outcome: AttemptOutcome,
  seconds: number,
  { of = 'ladder', chance = 0.5 }: { readonly of?: AttemptKind; readonly chance?: number } = {},
): DeliveryCommand => ({
  kind: 'record',
  attempt,
  of,
  startedAt: at(seconds - 1),
  outcome,
  now: at(seconds),
  chance,
  policy: LADDER,
});
export const redeliver = (seconds: number): DeliveryCommand => ({
  kind: 'redeliver',
  now: at(seconds),
  intervalSeconds: 60,
});

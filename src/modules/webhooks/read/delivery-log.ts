// The projection of deliveries, and the names of its lists. `DeliveryReader` reads them.
import { machineTimeOf } from '../../../kernel/domain-event.js';
import { ENVIRONMENTS, type Environment } from '../../../kernel/environment.js';
import { exhaustiveEvents, type IndexEntry, listOf, listsBy, type Projection } from '../../../kernel/projection.js';
import { delivery, dueAt, type Delivery, type DeliveryEvent, type DeliveryStatus } from '../domain/delivery.js';
import { withAttempt, type LoggedAttempt } from './logged-attempts.js';

interface Followed extends Omit<DeliveryDoc, 'delivery'> {
  /** The body is omitted because no reader needs it. */
  readonly delivery: Omit<Delivery, 'body'>;
  /** The time when the last scheduled attempt failed. Null when no scheduled attempt failed last, or when a redelivery succeeded afterwards. */
  readonly exhaustedAt: string | null;
  /** The machine's times of `succeededAt` and `failedAt`. The endpoint serves both environments, which may have different clocks. */
  readonly takenAt: string | null;
  readonly refusedAt: string | null;
}

export interface DeliveryDoc {
  readonly accountId: string;
  readonly environment: Environment | null;
  readonly delivery: Omit<Delivery, 'body' | 'kind' | 'ladderAttempts' | 'redelivery'>;
  readonly attempts: readonly LoggedAttempt[];
  /** The time when the receiver last accepted the delivery, and the time when the receiver last refused it; null when this never happened. */
  readonly succeededAt: string | null;
  readonly failedAt: string | null;
}

/** The outcome of the last attempt that failed. */
export function lastErrorOf(doc: DeliveryDoc | undefined): LoggedAttempt['outcome'] {
  return doc?.attempts.findLast(({ outcome }) => outcome !== null && outcome.errorCode !== null)?.outcome ?? null;
}

const NOTHING_YET = {
  environment: null,
  attempts: [],
  succeededAt: null,
  failedAt: null,
  exhaustedAt: null,
  takenAt: null,
  refusedAt: null,
};

/** The deliveries of earlier releases name no environment. */
const inEnvironment = (environment: Environment | null): string => environment ?? 'none';

/** The lists of the deliveries to an endpoint in one environment or in all. The ids of the deliveries order each list. */
export const listsOfEndpoint = (endpoint: string, { environment, ...filter }: DeliveryFilter = {}): string[] =>
  (environment === undefined ? [...ENVIRONMENTS, null] : [environment]).map((one) =>
    listOf({ endpoint, environment: inEnvironment(one), ...filter }),
  );

/** The list of the deliveries of one status to all endpoints. */
export const listOfAll = (status: DeliveryStatus): string => listOf({ status });

/** The list that contains the delivery of an event that the receiver last accepted, or last refused, by the machine's time. Pings are omitted. */
export const outcomes = (outcome: 'taken' | 'refused', endpoint: string): string => listOf({ endpoint, outcome });

/** The list that holds the taken delivery whose event is the newest of that environment. */
export const newestTaken = (endpoint: string, environment: Environment | null): string =>
  listOf({ endpoint, newest: inEnvironment(environment) });

/** The list of exhausted deliveries, sorted by the time when the last attempt failed. */
export const exhausted = (endpoint: string): string => listOf({ endpoint, ladder: 'exhausted' });

/** The open deliveries of one environment, sorted by the time of the next attempt. */
export const dueTo = (endpoint: string, environment: Environment | null): string =>
  listOf({ endpoint, environment: inEnvironment(environment), due: 'next' });

const latest = (list: string, sort: string): IndexEntry => ({ list, sort, latestOnly: true });

/** The ids sort in the order of the published events. */
export const deliveryLog: Projection<DeliveryDoc, Followed> = {
  name: 'webhook_delivery',
  version: 13,
  category: delivery.category,
  listedForDays: 30,

  evolve(doc, event) {
    const delivered = known(event);
    const state = delivery.evolve(doc === null ? delivery.initial : { ...doc.delivery, body: '' }, delivered);
    const before = doc ?? NOTHING_YET;
    const { accountId, environment, occurredAt } = event.metadata;
    if (state.status === 'none' || accountId === null)
      throw new Error(`${event.stream} does not begin with DeliveryScheduled`);
    const { body: _, ...shown } = state;
    const exhaustedAt = event.type === 'DeliveryExhausted' ? occurredAt : before.exhaustedAt;
    return {
      accountId,
      environment: before.environment ?? environment,
      delivery: shown,
      attempts: withAttempt(before.attempts, delivered, occurredAt),
      succeededAt: event.type === 'DeliverySucceeded' ? occurredAt : before.succeededAt,
      failedAt: event.type === 'DeliveryAttemptFailed' ? occurredAt : before.failedAt,
      exhaustedAt: state.status === 'exhausted' ? exhaustedAt : null,
      takenAt: event.type === 'DeliverySucceeded' ? machineTimeOf(event.metadata) : before.takenAt,
      refusedAt: event.type === 'DeliveryAttemptFailed' ? machineTimeOf(event.metadata) : before.refusedAt,
    };
  },

  view: ({ accountId, environment, delivery: state, attempts, succeededAt, failedAt }) => ({
    accountId,
    environment,
    delivery: {
      status: state.status,
      endpointId: state.endpointId,
      eventId: state.eventId,
      eventType: state.eventType,
      occurredAt: state.occurredAt,
      place: state.place,
      attempts: state.attempts,
      underWay: state.underWay,
      nextAttemptAt: state.nextAttemptAt,
    },
    attempts,
    succeededAt,
    failedAt,
  }),
  entries: (state) => [...entriesOf(state), ...dueEntryOf(state)],
  dueAt: (doc) => dueAt({ ...doc.delivery, body: '' }),
};

function entriesOf({
  environment,
  delivery: { endpointId: endpoint, eventType, kind, status, occurredAt },
  takenAt,
  refusedAt,
  exhaustedAt,
}: Followed): readonly IndexEntry[] {
  return [
    ...listsBy({ endpoint, environment: inEnvironment(environment) }, { eventType, status }).map((list) => ({ list })),
    { list: listOfAll(status) },
    ...(exhaustedAt !== null ? [{ list: exhausted(endpoint), sort: exhaustedAt }] : []),
    ...(kind === 'event' && takenAt !== null
      ? [latest(outcomes('taken', endpoint), takenAt), latest(newestTaken(endpoint, environment), occurredAt)]
      : []),
    ...(kind === 'event' && refusedAt !== null ? [latest(outcomes('refused', endpoint), refusedAt)] : []),
  ];
}

function dueEntryOf({ environment, delivery: state }: Followed): readonly IndexEntry[] {
  const due = dueAt({ ...state, body: '' });
  return due === null ? [] : [{ list: dueTo(state.endpointId, environment), sort: due }];
}

const known = exhaustiveEvents<DeliveryEvent>('webhook_delivery', {
  DeliveryScheduled: true,
  DeliveryAttemptStarted: true,
  DeliverySucceeded: true,
  DeliveryAttemptFailed: true,
  DeliveryExhausted: true,
  DeliveryCanceled: true,
  RedeliveryRequested: true,
});

/** This is written as a record, so that a new status does not compile until it is listed here. */
export const DELIVERY_STATUSES = Object.keys({
  pending: true,
  retrying: true,
  succeeded: true,
  exhausted: true,
  canceled: true,
  failed: true,
} satisfies Record<DeliveryStatus, true>) as readonly DeliveryStatus[];

export interface DeliveryFilter {
  readonly environment?: Environment;
  readonly status?: DeliveryStatus;
  readonly eventType?: string;
}

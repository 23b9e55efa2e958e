// The delivery of one event to one endpoint, with its attempts, their outcomes and the time of the next attempt. Source:
// docs/contract/webhooks.md#attempts, #deliveries.
import { assertNever, type Decider } from '../../../kernel/decider.js';
import type { DomainEvent } from '../../../kernel/domain-event.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { derivedIdLike } from '../../../kernel/ids.js';

export type AttemptErrorCode =
  'TIMEOUT' | 'DNS_FAILURE' | 'CONNECTION_FAILED' | 'TLS_ERROR' | 'REDIRECT' | 'HTTP_STATUS' | 'BLOCKED_ADDRESS';

/** A scheduled attempt, a requested redelivery in addition to the schedule, or the only attempt of a ping. */
export type AttemptKind = 'ladder' | 'redelivery' | 'ping';

/** The outcome of an attempt. `excerpt` is encrypted, because a receiver's answer may contain anything. */
export interface AttemptOutcome {
  /** Null means delivered. */
  readonly errorCode: AttemptErrorCode | null;
  readonly httpStatus: number | null;
  readonly latencyMs: number;
  readonly excerpt: string | null;
}

/** An attempt that has ended. `kind` and `startedAt` are absent when a `DeliveryAttemptStarted` came before. */
interface EndedAttempt {
  /** The attempt's number among the attempts of all kinds, from 1. */
  readonly attempt: number;
  readonly kind?: AttemptKind;
  /** ISO 8601 UTC. */
  readonly startedAt?: string;
}

export type DeliveryEvent =
  | DomainEvent<
      'DeliveryScheduled',
      {
        readonly endpointId: string;
        /** `evt_...` */
        readonly eventId: string;
        readonly eventType: string;
        /** The time of the change that the event reports (ISO 8601 UTC). */
        readonly occurredAt: string;
        /** The bytes that are signed and sent, as text. The bytes contain no personal data. */
        readonly body: string;
        /** The event's place in its feed. Absent for a ping, and in deliveries that an earlier release scheduled. */
        readonly sequence?: number;
        readonly digest?: string;
        readonly kind: 'event' | 'ping';
        readonly nextAttemptAt: string;
      }
    >
  /** Earlier releases appended this event before they sent an attempt. An attempt without an end in the log is made again. */
  | DomainEvent<
      'DeliveryAttemptStarted',
      { readonly attempt: number; readonly kind: AttemptKind; readonly settleAfter: string }
    >
  | DomainEvent<'DeliverySucceeded', AttemptOutcome & EndedAttempt>
  /** `nextAttemptAt` is null when the retry schedule is used up, and for redeliveries and pings. */
  | DomainEvent<'DeliveryAttemptFailed', AttemptOutcome & EndedAttempt & { readonly nextAttemptAt: string | null }>
  | DomainEvent<'DeliveryExhausted', { readonly attempts: number }>
  /** Ends the retry schedule and any waiting redelivery. A delivery that had already ended keeps its outcome. */
  | DomainEvent<'DeliveryCanceled', { readonly cause: 'ENDPOINT_DELETED' | 'ENDPOINT_DISABLED' }>
  | DomainEvent<'RedeliveryRequested', { readonly requestedAt: string }>;

export type DeliveryStatus = 'pending' | 'retrying' | 'succeeded' | 'exhausted' | 'canceled' | 'failed';

export interface Delivery {
  readonly status: DeliveryStatus;
  readonly kind: 'event' | 'ping';
  readonly endpointId: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly occurredAt: string;
  readonly body: string;
  /** Null when the delivery names no place in a feed. */
  readonly place: { readonly sequence: number; readonly digest: string } | null;
  /** The number of attempts of all kinds. */
  readonly attempts: number;
  /** The number of scheduled attempts. */
  readonly ladderAttempts: number;
  /** An attempt that an earlier release started and that has no end in the log. `attempts` and `ladderAttempts` count this attempt. */
  readonly underWay: Extract<DeliveryEvent, { type: 'DeliveryAttemptStarted' }>['data'] | null;
  /** The time of the next scheduled attempt; null when none follows. */
  readonly nextAttemptAt: string | null;
  readonly redelivery: { readonly requestedAt: string; readonly waiting: boolean } | null;
}

export type DeliveryState = { readonly status: 'none' } | Delivery;

export interface LadderPolicy {
  /** The seconds before the scheduled attempts 2, 3, and so on. */
  readonly ladder: readonly number[];
  /** The fraction by which a delay may be longer or shorter. */
  readonly jitter: number;
}

export type DeliveryCommand =
  | { readonly kind: 'schedule'; readonly delivery: Extract<DeliveryEvent, { type: 'DeliveryScheduled' }>['data'] }
  /** Returns no event when an attempt with that number was already recorded. `chance`, from 0 to 1, makes the delay longer or shorter. */
  | {
      readonly kind: 'record';
      readonly attempt: number;
      readonly of: AttemptKind;
      readonly startedAt: Date;
      readonly outcome: AttemptOutcome;
      readonly now: Date;
      readonly chance: number;
      readonly policy: LadderPolicy;
    }
  | { readonly kind: 'cancel'; readonly cause: 'ENDPOINT_DELETED' | 'ENDPOINT_DISABLED' }
  | { readonly kind: 'redeliver'; readonly now: Date; readonly intervalSeconds: number };

/** The delivery of the published event of that type that came from the stored event, to the endpoint. */
export function deliveryIdOf(storedEventId: string, endpointId: string, type: string): string {
  return derivedIdLike(storedEventId, 'webhook-delivery', endpointId, type);
}

export const delivery: Decider<DeliveryState, DeliveryCommand, DeliveryEvent> = {
  category: 'webhook_delivery',
  initial: { status: 'none' },
  decide,
  evolve,
};

function decide(command: DeliveryCommand, state: DeliveryState): readonly DeliveryEvent[] {
  if (command.kind === 'schedule')
    return state.status === 'none' ? [{ type: 'DeliveryScheduled', data: command.delivery }] : [];
  if (state.status === 'none') throw new DomainError('request.not_found');
  switch (command.kind) {
    case 'record':
      return command.attempt === nextAttempt(state) ? record(command, state) : [];
    case 'cancel':
      return isOpen(state) || redeliveryWaits(state)
        ? [{ type: 'DeliveryCanceled', data: { cause: command.cause } }]
        : [];
    case 'redeliver': {
      if (state.kind === 'ping') throw new DomainError('request.not_found');
      const again =
        state.redelivery === null
          ? 0
          : new Date(state.redelivery.requestedAt).getTime() + command.intervalSeconds * 1_000;
      if (command.now.getTime() < again)
        throw new DomainError('webhook.redelivery_too_soon', {
          retryAfterSeconds: Math.max(1, Math.ceil((again - command.now.getTime()) / 1_000)),
        });
      return [{ type: 'RedeliveryRequested', data: { requestedAt: command.now.toISOString() } }];
    }
    default:
      return command satisfies never;
  }
}

/** Whether an attempt of this kind is due now. */
export function isDue(state: Delivery, kind: AttemptKind, now: Date): boolean {
  if (kind === 'redelivery') return redeliveryWaits(state);
  return (
    isOpen(state) &&
    state.nextAttemptAt !== null &&
    new Date(state.nextAttemptAt) <= now &&
    (kind === 'ping') === (state.kind === 'ping')
  );
}

/** The number of the next attempt. */
export function nextAttempt({ attempts, underWay }: Delivery): number {
  return underWay?.attempt ?? attempts + 1;
}

export function redeliveryWaits({ redelivery, underWay }: Delivery): boolean {
  return redelivery !== null && (redelivery.waiting || underWay?.kind === 'redelivery');
}

function isOpen({ status }: Delivery): boolean {
  return status === 'pending' || status === 'retrying';
}

function record(
  { attempt, of, startedAt, outcome, now, chance, policy }: Extract<DeliveryCommand, { kind: 'record' }>,
  before: Delivery,
): readonly DeliveryEvent[] {
  const made = { attempt, kind: of, startedAt: startedAt.toISOString(), ...outcome };
  if (outcome.errorCode === null) return [{ type: 'DeliverySucceeded', data: made }];
  // A redelivery uses up no scheduled attempt, and a ping has no retry schedule (docs/contract/webhooks.md#pings, #redelivery).
  if (of !== 'ladder' || !isOpen(before))
    return [{ type: 'DeliveryAttemptFailed', data: { ...made, nextAttemptAt: null } }];
  const delaySeconds = policy.ladder[begun(before, made).ladderAttempts - 1];
  if (delaySeconds === undefined) {
    return [
      { type: 'DeliveryAttemptFailed', data: { ...made, nextAttemptAt: null } },
      { type: 'DeliveryExhausted', data: { attempts: attempt } },
    ];
  }
  const factor = 1 + policy.jitter * (2 * chance - 1);
  const nextAttemptAt = new Date(now.getTime() + delaySeconds * factor * 1_000).toISOString();
  return [{ type: 'DeliveryAttemptFailed', data: { ...made, nextAttemptAt } }];
}

/** The time since which an attempt is due (ISO 8601 UTC). The recovery job uses this time to find attempts that the queue has lost. */
export function dueAt(state: Delivery): string | null {
  if (state.redelivery !== null && redeliveryWaits(state)) return state.redelivery.requestedAt;
  return isOpen(state) ? state.nextAttemptAt : null;
}

function evolve(state: DeliveryState, event: DeliveryEvent): DeliveryState {
  if (event.type === 'DeliveryScheduled') {
    const { endpointId, eventId, eventType, occurredAt, body, sequence, digest, kind, nextAttemptAt } = event.data;
    return {
      status: 'pending',
      kind,
      endpointId,
      eventId,
      eventType,
      occurredAt,
      body,
      place: sequence === undefined || digest === undefined ? null : { sequence, digest },
      attempts: 0,
      ladderAttempts: 0,
      underWay: null,
      nextAttemptAt,
      redelivery: null,
    };
  }
  if (state.status === 'none') return state;
  switch (event.type) {
    case 'DeliveryAttemptStarted':
      return { ...begun(state, event.data), underWay: event.data };
    case 'DeliverySucceeded':
      return { ...ended(state, event.data), status: 'succeeded', nextAttemptAt: null };
    case 'DeliveryAttemptFailed': {
      const after = ended(state, event.data);
      if (state.kind === 'ping') return { ...after, status: 'failed', nextAttemptAt: null };
      const ofLadder = (event.data.kind ?? state.underWay?.kind) === 'ladder' && isOpen(state);
      return ofLadder ? { ...after, status: 'retrying', nextAttemptAt: event.data.nextAttemptAt } : after;
    }
    case 'DeliveryExhausted':
      return { ...state, status: 'exhausted', nextAttemptAt: null };
    case 'DeliveryCanceled':
      return {
        ...state,
        status: isOpen(state) ? 'canceled' : state.status,
        underWay: null,
        nextAttemptAt: null,
        redelivery: state.redelivery && { ...state.redelivery, waiting: false },
      };
    case 'RedeliveryRequested':
      return { ...state, redelivery: { requestedAt: event.data.requestedAt, waiting: true } };
    default:
      return assertNever(event, state);
  }
}

function begun(
  state: Delivery,
  { attempt, kind, startedAt }: Required<Pick<EndedAttempt, 'attempt' | 'kind'>> & Pick<EndedAttempt, 'startedAt'>,
): Delivery {
  // An attempt that is made again was already counted.
  const another = kind === 'ladder' && state.underWay?.kind !== 'ladder';
  const { redelivery } = state;
  // A redelivery still waits if it was requested after this attempt began. A redelivery also waits if it was started and is not this attempt.
  const waits =
    kind === 'redelivery'
      ? redelivery !== null && redelivery.waiting && startedAt !== undefined && startedAt < redelivery.requestedAt
      : redeliveryWaits(state);
  return {
    ...state,
    attempts: attempt,
    ladderAttempts: another ? state.ladderAttempts + 1 : state.ladderAttempts,
    redelivery: redelivery && { ...redelivery, waiting: waits },
  };
}

function ended(state: Delivery, { attempt, kind, startedAt }: EndedAttempt): Delivery {
  const after = kind === undefined ? state : begun(state, { attempt, kind, ...(startedAt && { startedAt }) });
  return { ...after, underWay: null };
}

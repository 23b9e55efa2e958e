// One event on its way to one endpoint: the attempts, what came of them, and when the next is due.
// Source: docs/contract/webhooks.md#attempts, #deliveries.
import { assertNever, type Decider } from '../../../kernel/decider.js';
import type { DomainEvent } from '../../../kernel/domain-event.js';
import { DomainError } from '../../../kernel/domain-error.js';

export type AttemptErrorCode =
  'TIMEOUT' | 'DNS_FAILURE' | 'CONNECTION_FAILED' | 'TLS_ERROR' | 'REDIRECT' | 'HTTP_STATUS' | 'BLOCKED_ADDRESS';

/** A rung of the ladder, a redelivery by hand beside it, or the one attempt of a ping. */
export type AttemptKind = 'ladder' | 'redelivery' | 'ping';

/** What was heard of a receiver. `excerpt` is encrypted: a receiver may say anything. */
export interface AttemptOutcome {
  /** Null: delivered. */
  readonly errorCode: AttemptErrorCode | null;
  readonly httpStatus: number | null;
  readonly latencyMs: number;
  readonly excerpt: string | null;
}

export type DeliveryEvent =
  | DomainEvent<
      'DeliveryScheduled',
      {
        readonly endpointId: string;
        /** `evt_...` */
        readonly eventId: string;
        readonly eventType: string;
        /** When the state changed that the event tells of, ISO 8601 UTC. */
        readonly occurredAt: string;
        /** The bytes that are signed and sent, as text; thin, without personal data. */
        readonly body: string;
        readonly kind: 'event' | 'ping';
        readonly nextAttemptAt: string;
      }
    >
  /** Appended before anything is sent, so that no other worker sends the same attempt. `attempt` counts all kinds from 1. */
  | DomainEvent<
      'DeliveryAttemptStarted',
      { readonly attempt: number; readonly kind: AttemptKind; readonly settleAfter: string }
    >
  | DomainEvent<'DeliverySucceeded', AttemptOutcome & { readonly attempt: number }>
  /** `nextAttemptAt` is null when no rung is left, and of redeliveries and pings. */
  | DomainEvent<
      'DeliveryAttemptFailed',
      AttemptOutcome & { readonly attempt: number; readonly nextAttemptAt: string | null }
    >
  | DomainEvent<'DeliveryExhausted', { readonly attempts: number }>
  /** Nothing more is sent: neither the ladder nor a redelivery goes on. What had an end before keeps it. */
  | DomainEvent<'DeliveryCanceled', { readonly cause: 'ENDPOINT_DELETED' | 'ENDPOINT_DISABLED' }>
  | DomainEvent<'RedeliveryRequested', { readonly requestedAt: string }>;

export type DeliveryStatus = 'pending' | 'retrying' | 'succeeded' | 'exhausted' | 'canceled' | 'failed';

export interface Attempt {
  readonly attempt: number;
  readonly kind: AttemptKind;
}

export interface Delivery {
  readonly status: DeliveryStatus;
  readonly kind: 'event' | 'ping';
  readonly endpointId: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly occurredAt: string;
  readonly body: string;
  /** All that were started, of every kind. */
  readonly attempts: number;
  /** Those of the ladder. */
  readonly rungs: number;
  readonly underWay: (Attempt & { readonly settleAfter: string }) | null;
  /** Of the ladder; null when none is due any more. */
  readonly nextAttemptAt: string | null;
  readonly redelivery: { readonly requestedAt: string; readonly waiting: boolean } | null;
}

export type DeliveryState = { readonly status: 'none' } | Delivery;

export interface LadderPolicy {
  /** Seconds before attempts 2, 3, ... of the ladder. */
  readonly ladder: readonly number[];
  /** Fraction by which a delay may be longer or shorter. */
  readonly jitter: number;
}

export type DeliveryCommand =
  | { readonly kind: 'schedule'; readonly delivery: Extract<DeliveryEvent, { type: 'DeliveryScheduled' }>['data'] }
  /** Decides nothing when that attempt is not due: it was started before, or the delivery is over. */
  | { readonly kind: 'start'; readonly of: AttemptKind; readonly now: Date; readonly settleAfter: Date }
  /** `chance` from 0 to 1 decides the jitter. */
  | {
      readonly kind: 'record';
      readonly attempt: number;
      readonly outcome: AttemptOutcome;
      readonly now: Date;
      readonly chance: number;
      readonly policy: LadderPolicy;
    }
  | { readonly kind: 'cancel'; readonly cause: 'ENDPOINT_DELETED' | 'ENDPOINT_DISABLED' }
  | { readonly kind: 'redeliver'; readonly now: Date; readonly intervalSeconds: number };

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
    case 'start':
      return isDue(state, command.of, command.now)
        ? [
            {
              type: 'DeliveryAttemptStarted',
              data: { attempt: state.attempts + 1, kind: command.of, settleAfter: command.settleAfter.toISOString() },
            },
          ]
        : [];
    case 'record':
      return state.underWay?.attempt === command.attempt ? record(command, state, state.underWay.kind) : [];
    case 'cancel':
      return isOpen(state) || state.redelivery?.waiting === true
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

/** One attempt at a time, of whatever kind. */
function isDue(state: Delivery, kind: AttemptKind, now: Date): boolean {
  if (state.underWay !== null) return false;
  if (kind === 'redelivery') return state.redelivery?.waiting === true;
  return (
    isOpen(state) &&
    state.nextAttemptAt !== null &&
    new Date(state.nextAttemptAt) <= now &&
    (kind === 'ping') === (state.kind === 'ping')
  );
}

function isOpen({ status }: Delivery): boolean {
  return status === 'pending' || status === 'retrying';
}

function record(
  { attempt, outcome, now, chance, policy }: Extract<DeliveryCommand, { kind: 'record' }>,
  state: Delivery,
  kind: AttemptKind,
): readonly DeliveryEvent[] {
  if (outcome.errorCode === null) return [{ type: 'DeliverySucceeded', data: { attempt, ...outcome } }];
  // A redelivery stands beside the ladder and consumes no rung; a ping has none (docs/contract/webhooks.md#pings, #redelivery).
  if (kind !== 'ladder' || !isOpen(state))
    return [{ type: 'DeliveryAttemptFailed', data: { attempt, ...outcome, nextAttemptAt: null } }];
  const delaySeconds = policy.ladder[state.rungs - 1];
  if (delaySeconds === undefined) {
    return [
      { type: 'DeliveryAttemptFailed', data: { attempt, ...outcome, nextAttemptAt: null } },
      { type: 'DeliveryExhausted', data: { attempts: state.attempts } },
    ];
  }
  const factor = 1 + policy.jitter * (2 * chance - 1);
  const nextAttemptAt = new Date(now.getTime() + delaySeconds * factor * 1_000).toISOString();
  return [{ type: 'DeliveryAttemptFailed', data: { attempt, ...outcome, nextAttemptAt } }];
}

/** When the recovery job must look at the delivery (ISO 8601 UTC): an attempt without a worker, or one whose worker died. */
export function dueAt(state: Delivery): string | null {
  if (state.underWay !== null) return state.underWay.settleAfter;
  if (state.redelivery?.waiting === true) return state.redelivery.requestedAt;
  return isOpen(state) ? state.nextAttemptAt : null;
}

function evolve(state: DeliveryState, event: DeliveryEvent): DeliveryState {
  if (event.type === 'DeliveryScheduled') {
    const { endpointId, eventId, eventType, occurredAt, body, kind, nextAttemptAt } = event.data;
    return {
      status: 'pending',
      kind,
      endpointId,
      eventId,
      eventType,
      occurredAt,
      body,
      attempts: 0,
      rungs: 0,
      underWay: null,
      nextAttemptAt,
      redelivery: null,
    };
  }
  if (state.status === 'none') return state;
  switch (event.type) {
    case 'DeliveryAttemptStarted': {
      const { attempt, kind, settleAfter } = event.data;
      const redelivery =
        kind === 'redelivery' && state.redelivery ? { ...state.redelivery, waiting: false } : state.redelivery;
      return {
        ...state,
        attempts: attempt,
        rungs: kind === 'ladder' ? state.rungs + 1 : state.rungs,
        underWay: { attempt, kind, settleAfter },
        redelivery,
      };
    }
    case 'DeliverySucceeded':
      return { ...state, status: 'succeeded', underWay: null, nextAttemptAt: null };
    case 'DeliveryAttemptFailed': {
      if (state.kind === 'ping') return { ...state, status: 'failed', underWay: null, nextAttemptAt: null };
      const ofLadder = state.underWay?.kind === 'ladder' && isOpen(state);
      return {
        ...state,
        underWay: null,
        ...(ofLadder && { status: 'retrying' as const, nextAttemptAt: event.data.nextAttemptAt }),
      };
    }
    case 'DeliveryExhausted':
      return { ...state, status: 'exhausted', nextAttemptAt: null };
    case 'DeliveryCanceled':
      return {
        ...state,
        status: isOpen(state) ? 'canceled' : state.status,
        nextAttemptAt: null,
        redelivery: state.redelivery && { ...state.redelivery, waiting: false },
      };
    case 'RedeliveryRequested':
      return { ...state, redelivery: { requestedAt: event.data.requestedAt, waiting: true } };
    default:
      return assertNever(event, state);
  }
}

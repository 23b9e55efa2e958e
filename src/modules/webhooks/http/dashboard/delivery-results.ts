// The wire form of the delivery log (docs/contract/webhooks.md#deliveries).
import { ApiProperty } from '@nestjs/swagger';
import type { DeliveryPage, ReadAttempt } from '../../read/deliveries.js';
import { DELIVERY_STATUSES } from '../../read/delivery-log.js';
import { cursorOf, LOGGED_TYPES } from './deliveries-query.js';

type LoggedDelivery = DeliveryPage['items'][number];

const EVENT_ID = '^evt_[0-9a-f-]{36}$';
const TIME_OR_NULL = { type: String, format: 'date-time', nullable: true } as const;
export const NUMBER_OR_NULL = { type: 'integer', nullable: true } as const;
/** This is written as a record, so that a new code does not compile until it is listed here. */
export const ERROR_CODES = Object.keys({
  TIMEOUT: true,
  DNS_FAILURE: true,
  CONNECTION_FAILED: true,
  TLS_ERROR: true,
  REDIRECT: true,
  HTTP_STATUS: true,
  BLOCKED_ADDRESS: true,
} satisfies Record<NonNullable<ReadAttempt['errorCode']>, true>);
export const ERROR_CODE = {
  enum: ERROR_CODES,
  nullable: true,
  description: 'Null: delivered, or not tried yet',
};

export class DeliveryResult {
  @ApiProperty({ format: 'uuid' }) readonly delivery_id!: string;
  @ApiProperty({ pattern: EVENT_ID, example: 'evt_01890000-0000-8000-8000-000000000000' }) readonly event_id!: string;
  @ApiProperty({ enum: LOGGED_TYPES, example: 'screening.completed' }) readonly event_type!: string;
  @ApiProperty({ format: 'date-time', description: 'Time of the change that the event reports' })
  readonly occurred_at!: string;
  @ApiProperty({ enum: DELIVERY_STATUSES }) readonly status!: (typeof DELIVERY_STATUSES)[number];
  @ApiProperty({ type: 'integer', description: 'Number of attempts that are over, with redeliveries' })
  readonly attempt_count!: number;
  @ApiProperty(TIME_OR_NULL) readonly last_attempt_at!: string | null;
  @ApiProperty(NUMBER_OR_NULL) readonly last_http_status!: number | null;
  @ApiProperty(ERROR_CODE) readonly last_error_code!: string | null;
  @ApiProperty(TIME_OR_NULL) readonly next_attempt_at!: string | null;
}

class AttemptResult {
  @ApiProperty({ format: 'date-time' }) readonly attempted_at!: string;
  @ApiProperty(NUMBER_OR_NULL) readonly http_status!: number | null;
  @ApiProperty(ERROR_CODE) readonly error_code!: string | null;
  @ApiProperty({ type: 'integer', description: 'Whole milliseconds' }) readonly latency_ms!: number;
  @ApiProperty({
    type: String,
    nullable: true,
    description:
      "The first 4 KB of the receiver's answer, without control characters and without text that looks like a secret",
  })
  readonly response_excerpt!: string | null;
}

export class DeliveryDetailResult extends DeliveryResult {
  @ApiProperty({ type: [AttemptResult], description: 'Oldest first; the newest fifty' })
  readonly attempts!: readonly AttemptResult[];
}

export class DeliveryPageResult {
  @ApiProperty({ type: [DeliveryResult], description: 'Newest first' }) readonly items!: readonly DeliveryResult[];
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Null at the end',
  })
  readonly next_cursor!: string | null;
}

export class RedeliveryResult {
  @ApiProperty({ format: 'uuid' }) readonly delivery_id!: string;
  @ApiProperty({ pattern: EVENT_ID, description: 'The same as before' }) readonly event_id!: string;
  @ApiProperty({ enum: ['pending'] }) readonly status!: 'pending';
}

export type Fields<Result> = Pick<Result, keyof Result>;

export function deliveryResult({ id, doc: { delivery, attempts } }: LoggedDelivery): Fields<DeliveryResult> {
  // An attempt is shown only when it has ended, because its count, time and outcome belong together.
  const last = attempts.findLast(({ outcome }) => outcome !== null);
  return {
    delivery_id: id,
    event_id: delivery.eventId,
    event_type: delivery.eventType,
    occurred_at: delivery.occurredAt,
    status: delivery.status,
    attempt_count: delivery.underWay === null ? delivery.attempts : delivery.attempts - 1,
    last_attempt_at: last?.attemptedAt ?? null,
    last_http_status: last?.outcome?.httpStatus ?? null,
    last_error_code: last?.outcome?.errorCode ?? null,
    next_attempt_at: delivery.nextAttemptAt,
  };
}

export function deliveryDetailResult(logged: LoggedDelivery, attempts: readonly ReadAttempt[]): DeliveryDetailResult {
  const shown = attempts.map(({ attemptedAt, httpStatus, errorCode, latencyMs, excerpt }) => ({
    attempted_at: attemptedAt,
    http_status: httpStatus,
    error_code: errorCode,
    latency_ms: latencyMs,
    response_excerpt: excerpt,
  }));
  return { ...deliveryResult(logged), attempts: shown };
}

export function deliveryPageResult({ items, next }: DeliveryPage): DeliveryPageResult {
  return { items: items.map(deliveryResult), next_cursor: next === null ? null : cursorOf(next) };
}

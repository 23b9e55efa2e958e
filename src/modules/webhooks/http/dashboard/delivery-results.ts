// The wire form of the delivery log (docs/contract/webhooks.md#deliveries).
import { ApiProperty } from '@nestjs/swagger';
import type { DeliveryPage, ReadAttempt } from '../../read/deliveries.js';
import { cursorOf, DELIVERY_STATUSES } from './deliveries-query.js';

type LoggedDelivery = DeliveryPage['items'][number];

const TIME_OR_NULL = { type: String, format: 'date-time', nullable: true } as const;
const NUMBER_OR_NULL = { type: 'integer', nullable: true } as const;
const ERROR_CODE = {
  enum: ['TIMEOUT', 'DNS_FAILURE', 'CONNECTION_FAILED', 'TLS_ERROR', 'REDIRECT', 'HTTP_STATUS', 'BLOCKED_ADDRESS'],
  nullable: true,
  description: 'Null: delivered, or not tried yet',
};

export class DeliveryResult {
  @ApiProperty({ format: 'uuid' }) readonly delivery_id!: string;
  @ApiProperty({ example: 'evt_01890000-0000-8000-8000-000000000000' }) readonly event_id!: string;
  @ApiProperty({ example: 'screening.completed' }) readonly event_type!: string;
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
  @ApiProperty({ description: 'The same as before' }) readonly event_id!: string;
  @ApiProperty({ enum: ['pending'] }) readonly status!: 'pending';
}

type Fields<Result> = Pick<Result, keyof Result>;

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

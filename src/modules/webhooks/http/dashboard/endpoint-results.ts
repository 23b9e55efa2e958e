// The replies of the management of webhook endpoints (docs/contract/webhooks.md#endpoint).
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { Ping } from '../../application/ping-endpoint.js';
import type { RotatedSecret } from '../../application/rotate-secret.js';
import type { EndpointView } from '../../read/endpoints.js';
import {
  deliveryResult,
  DeliveryResult,
  ERROR_CODE,
  ERROR_CODES,
  type Fields,
  NUMBER_OR_NULL,
} from './delivery-results.js';
import type { MissedEvents } from '../../read/missed-events.js';
import { DELIVERED_TYPES } from '../../../../published/events.js';
import { SIGNATURE_VERSIONS } from './endpoint-bodies.js';

const TIME_OR_NULL = { type: String, format: 'date-time', nullable: true } as const;

export class EndpointResult {
  @ApiProperty({ format: 'uuid' }) readonly id!: string;
  @ApiProperty({ format: 'uri' }) readonly url!: string;
  @ApiProperty({ enum: ['active', 'failing', 'disabled'] }) readonly status!: EndpointView['status'];
  @ApiProperty({
    isArray: true,
    enum: DELIVERED_TYPES,
    nullable: true,
    description: 'Null: all current and future event types',
  })
  readonly enabled_events!: readonly string[] | null;
  @ApiPropertyOptional({ format: 'email', description: "Absent when no mails tell of the endpoint's health" })
  readonly notify_email?: string;
  @ApiProperty({ isArray: true, enum: [...SIGNATURE_VERSIONS], description: 'The signatures of each delivery' })
  readonly signatures!: EndpointView['signatures'];
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'The most attempts in a second; null: no limit of its own',
  })
  readonly max_per_second!: number | null;
  @ApiProperty({ type: 'integer', description: 'Exhausted deliveries since the last success' })
  readonly consecutive_failures!: number;
  @ApiProperty(TIME_OR_NULL) readonly last_success_at!: string | null;
  @ApiProperty(TIME_OR_NULL) readonly last_failure_at!: string | null;
  @ApiProperty({ ...ERROR_CODE, description: 'The error of the failure at `last_failure_at`' })
  readonly last_error_code!: string | null;
  @ApiProperty({ ...NUMBER_OR_NULL, description: "The receiver's status then, if it answered" })
  readonly last_http_status!: number | null;
  @ApiProperty({
    type: [DeliveryResult],
    description: 'The newest five deliveries whose attempts have failed so far (retrying or exhausted), newest first',
  })
  readonly recent_failures!: readonly Fields<DeliveryResult>[];
  @ApiProperty({
    type: String,
    nullable: true,
    'x-extensible-enum': ['NO_SUCCESSFUL_DELIVERY', 'CREATED_DISABLED'],
    example: 'NO_SUCCESSFUL_DELIVERY',
  } as object)
  readonly disabled_reason!: string | null;
  @ApiProperty({
    type: 'integer',
    description: 'Events of the feed after the newest one that the receiver has taken, of the types that it gets',
  })
  readonly missed_events!: number;
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'The sequence of the first of them: a value for resume_from',
  })
  readonly missed_from!: number | null;
  @ApiProperty({ description: 'Whether more events may be missed than were counted' })
  readonly missed_more!: boolean;
  @ApiProperty({ format: 'date-time' }) readonly created_at!: string;
  @ApiProperty({ format: 'date-time' }) readonly updated_at!: string;
}

const SECRET = {
  description: 'Shown only this once. Keep it where the receiver verifies signatures',
  pattern: '^whsec_',
  example: 'whsec_...',
};

export class CreatedEndpointResult extends EndpointResult {
  @ApiProperty(SECRET) readonly secret!: string;
}

export class RotatedSecretResult {
  @ApiProperty(SECRET) readonly secret!: string;
  @ApiProperty({ format: 'date-time', description: 'The previous secret signs as well until then' })
  readonly previous_expires_at!: string;
}

export class PingResult {
  @ApiProperty({ format: 'uuid' }) readonly delivery_id!: string;
  @ApiPropertyOptional({ type: 'integer', description: 'Absent when the receiver gave no answer' })
  readonly http_status?: number;
  @ApiPropertyOptional({ enum: ERROR_CODES, description: 'Absent when the receiver took the ping', example: 'TIMEOUT' })
  readonly error_code?: string;
  @ApiProperty({ type: 'integer', description: 'Whole milliseconds' }) readonly latency_ms!: number;
}

export type EndpointFields = Pick<EndpointResult, keyof EndpointResult>;

export function endpointResult(
  endpoint: EndpointView,
  notifyEmail: string | null,
  missed: MissedEvents,
): EndpointFields {
  return {
    id: endpoint.endpointId,
    url: endpoint.url,
    status: endpoint.status,
    enabled_events: endpoint.enabledEvents,
    ...(notifyEmail !== null && { notify_email: notifyEmail }),
    signatures: endpoint.signatures,
    max_per_second: endpoint.maxPerSecond,
    consecutive_failures: endpoint.consecutiveFailures,
    last_success_at: endpoint.lastSuccessAt,
    last_failure_at: endpoint.lastFailureAt,
    last_error_code: endpoint.lastError?.errorCode ?? null,
    last_http_status: endpoint.lastError?.httpStatus ?? null,
    recent_failures: endpoint.recentFailures.map(deliveryResult),
    disabled_reason: endpoint.disabledReason,
    missed_events: missed.events,
    missed_from: missed.from,
    missed_more: missed.more,
    created_at: endpoint.createdAt,
    updated_at: endpoint.updatedAt,
  };
}

export function rotatedSecretResult({ secret, previousExpiresAt }: RotatedSecret): RotatedSecretResult {
  return { secret, previous_expires_at: previousExpiresAt };
}

export function pingResult({ deliveryId, answer: { httpStatus, errorCode, latencyMs } }: Ping): PingResult {
  return {
    delivery_id: deliveryId,
    ...(httpStatus !== null && { http_status: httpStatus }),
    ...(errorCode !== null && { error_code: errorCode }),
    latency_ms: latencyMs,
  };
}

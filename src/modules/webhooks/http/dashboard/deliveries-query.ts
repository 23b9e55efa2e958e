// The query of a page of the delivery log (docs/contract/webhooks.md#the-management-routes-in-detail).
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional, IsString, ValidateBy } from 'class-validator';
import type { DeliveryPage } from '../../read/deliveries.js';
import { DELIVERY_STATUSES, type DeliveryFilter } from '../../read/delivery-log.js';
import { DELIVERED_TYPES } from '../../../../published/events.js';
import { Limit, limitIn } from '../../../../surfaces/wire/limit.js';

export const LOGGED_TYPES: readonly string[] = [...DELIVERED_TYPES, 'ping'];
const SIZES = { byDefault: 20, most: 100 };

/** A repeated parameter arrives as a list and is refused. */
export class DeliveriesQuery {
  @ApiPropertyOptional({ enum: DELIVERY_STATUSES })
  @IsOptional()
  @IsIn(DELIVERY_STATUSES, { message: `must be one of ${DELIVERY_STATUSES.join(', ')}` })
  @IsString({ message: 'must be given once' })
  readonly status?: NonNullable<DeliveryFilter['status']>;

  @ApiPropertyOptional({ enum: LOGGED_TYPES })
  @IsOptional()
  @IsIn(LOGGED_TYPES, { message: 'must be a known event type' })
  @IsString({ message: 'must be given once' })
  readonly event_type?: string;

  @ApiPropertyOptional({ description: 'The `next_cursor` of the page before. Absent: the newest page' })
  @IsOptional()
  @ValidateBy({
    name: 'isCursor',
    constraints: [{ form: { pattern: '^[A-Za-z0-9_-]{22}$' } }],
    validator: {
      validate: (value) => placeOf(value) !== null,
      defaultMessage: () => 'must be the next_cursor of a page',
    },
  })
  @IsString({ message: 'must be given once' })
  readonly cursor?: string;

  @Limit(SIZES)
  readonly limit?: string;
}

export function limitOf({ limit }: DeliveriesQuery): number {
  return limitIn(limit, SIZES);
}

export function filterOf({ status, event_type }: DeliveriesQuery): DeliveryFilter {
  return { ...(status !== undefined && { status }), ...(event_type !== undefined && { eventType: event_type }) };
}

/** The cursor of a position in the list. The cursor is opaque, so that its content may change. */
export function cursorOf(place: NonNullable<DeliveryPage['next']>): string {
  return Buffer.from(place.replaceAll('-', ''), 'hex').toString('base64url');
}

/** The position that a cursor stands for; null when this service did not make the cursor. */
export function placeOf(cursor: unknown): string | null {
  if (typeof cursor !== 'string') return null;
  const hex = Buffer.from(cursor, 'base64url').toString('hex');
  const place = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  return hex.length === 32 && cursorOf(place) === cursor ? place : null;
}

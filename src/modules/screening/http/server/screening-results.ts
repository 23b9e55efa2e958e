// Screenings as servers read them, and the query of their list (docs/contract/server.md#lists).
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { ActorKind } from '../../../../kernel/actor.js';
import { USER_TYPES, type UserType } from '../../../../published/accounts.js';
import {
  OVERALL_STATUSES,
  type OverallStatus,
  PAYMENT_STATUSES,
  type PaymentStatus,
  VERIFICATION_STATUSES,
  type VerificationStatus,
} from '../../../../published/screenings.js';
import { BLOCK_REASONS } from '../../../../published/events.js';
import { ExternalId, ListPageResult, ListQuery, ListResult, OneOf } from '../../../../surfaces/server/list-query.js';
import type { UnitAddress } from '../../read/screening-status.js';
import { TIMELINE_TYPES, type TimelineStep } from '../../read/timeline.js';

/** This is written as a record, so that a new kind does not compile until it is listed here. */
const ACTORS = {
  'platform-token': 'platform_token',
  'secret-key': 'secret_key',
  'api-key': 'api_key',
  'dashboard-user': 'dashboard_user',
  operator: 'operator',
  system: 'system',
  vendor: 'vendor',
} as const satisfies Record<ActorKind, string>;
const text = { type: 'string' } as const;

export class ServerStatusResult {
  @ApiProperty({ format: 'uuid' }) readonly session_id!: string;
  @ApiProperty({ enum: VERIFICATION_STATUSES }) readonly status!: VerificationStatus;
  @ApiProperty({ enum: VERIFICATION_STATUSES, description: 'The same as `status`' })
  readonly verification_status!: VerificationStatus;
  @ApiProperty({ enum: PAYMENT_STATUSES }) readonly payment_status!: PaymentStatus;
  @ApiProperty({ enum: OVERALL_STATUSES, description: 'What to branch on: verification and payment together' })
  readonly overall_status!: OverallStatus;
  @ApiProperty({ enum: USER_TYPES }) readonly user_type!: UserType;
  @ApiProperty({ format: 'date-time' }) readonly created_at!: string;
  @ApiProperty({ format: 'date-time' }) readonly updated_at!: string;
  @ApiPropertyOptional({
    format: 'date-time',
    description: 'Present while people at the identity vendor check the person: the latest end of their review',
  })
  readonly review_until?: string;
  @ApiPropertyOptional({ format: 'date-time', description: 'Present after the release of a report' })
  readonly report_expires_at?: string;
  @ApiPropertyOptional({
    oneOf: [text, { type: 'object', properties: { address: text, city: text, state: text, zip: text } }],
    description:
      "The home that the screening is for, as the page gave it. Only in the account's own sessions, until the person is erased",
  })
  readonly unit_address?: UnitAddress;
}

export class ScreeningsQuery extends ListQuery {
  @OneOf(VERIFICATION_STATUSES)
  readonly status?: VerificationStatus;

  @OneOf(OVERALL_STATUSES)
  readonly overall_status?: OverallStatus;

  @OneOf(USER_TYPES)
  readonly user_type?: UserType;

  @ExternalId()
  readonly external_id?: string;
}

export class ScreeningListResult extends ListResult {
  @ApiProperty({ type: [ServerStatusResult], description: 'Newest first' })
  readonly data!: ServerStatusResult[];
}

class TimelineActorResult {
  @ApiProperty({ enum: Object.values(ACTORS) }) readonly kind!: string;
}

const REASON: object = { type: String, 'x-extensible-enum': BLOCK_REASONS };

/** Each type has its own fields. */
class TimelineDetailResult {
  @ApiPropertyOptional({ enum: USER_TYPES }) readonly user_type?: UserType;
  @ApiPropertyOptional({ type: [String], description: 'OTP, KBA or both' }) readonly methods?: readonly string[];
  @ApiPropertyOptional({ type: 'integer' }) readonly attempts_allowed?: number;
  @ApiPropertyOptional({ type: 'integer' }) readonly attempts_remaining?: number;
  @ApiPropertyOptional({ format: 'date-time' }) readonly expires_at?: string;
  @ApiPropertyOptional(REASON) readonly reason_code?: string;
  @ApiPropertyOptional({ type: String, format: 'date-time', nullable: true, description: 'Null: without an end' })
  readonly blocked_until?: string | null;
  @ApiPropertyOptional({ description: 'Why the step has no result' }) readonly cause?: string;
  @ApiPropertyOptional({ description: 'Why the bureau refused the report' }) readonly reason?: string;
  @ApiPropertyOptional() readonly transaction_id?: string;
  @ApiPropertyOptional({ description: 'The status of the payment' }) readonly status?: string;
  @ApiPropertyOptional({ format: 'uuid' }) readonly recipient_account_id?: string;
}

class TimelineStepResult {
  @ApiProperty({ type: 'integer', description: 'The number of the step in the session: 1, 2, 3 and so on' })
  readonly sequence!: number;
  @ApiProperty({ format: 'date-time' }) readonly at!: string;
  @ApiProperty({ enum: TIMELINE_TYPES }) readonly type!: string;
  @ApiProperty({ type: TimelineActorResult }) readonly actor!: TimelineActorResult;
  @ApiPropertyOptional({
    type: TimelineDetailResult,
    description: 'The fields of the type (docs/contract/server.md#timeline). There may be new ones',
    example: { attempts_remaining: 2 },
  })
  readonly detail?: TimelineDetailResult;
}

export class TimelineResult extends ListPageResult {
  @ApiProperty({ type: [TimelineStepResult], description: 'Newest first' })
  readonly data!: TimelineStepResult[];
}

export function timelineStepResult({ sequence, at, type, actor, detail }: TimelineStep): TimelineStepResult {
  const isEmpty = Object.keys(detail).length === 0;
  return { sequence, at, type, actor: { kind: ACTORS[actor] }, ...(!isEmpty && { detail }) };
}

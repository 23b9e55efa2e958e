// Screenings as servers read them, and the query of their list (docs/contract/server.md#lists).
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, MaxLength, MinLength } from 'class-validator';
import { USER_TYPES, type UserType } from '../../../../published/accounts.js';
import {
  OVERALL_STATUSES,
  type OverallStatus,
  PAYMENT_STATUSES,
  type PaymentStatus,
  VERIFICATION_STATUSES,
  type VerificationStatus,
} from '../../../../published/screenings.js';
import { ListQuery, ListResult, OneOf } from '../../../../surfaces/server/list-query.js';
import type { UnitAddress } from '../../read/screening-status.js';

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

  @ApiPropertyOptional({ description: 'The `external_id` of the session grant; 1 to 255 characters' })
  @IsOptional()
  @MaxLength(255, { message: 'must have at most 255 characters' })
  @MinLength(1, { message: 'must have at least one character, given once' })
  readonly external_id?: string;
}

export class ScreeningListResult extends ListResult {
  @ApiProperty({ type: [ServerStatusResult], description: 'Newest first' })
  readonly data!: ServerStatusResult[];
}

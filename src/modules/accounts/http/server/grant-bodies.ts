// Requests and replies of POST /v1/sessions, in their wire form (docs/contract/server.md#session-grants).
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsInt, IsOptional, IsString, Max, MaxLength, Min, MinLength, ValidateBy } from 'class-validator';
import { ENVIRONMENTS, type Environment } from '../../../../kernel/environment.js';
import { END_USER_TYPES, endUserTypeOf } from '../../../../kernel/end-user-type.js';
import { PERMISSIBLE_PURPOSES, type PermissiblePurpose } from '../../../../kernel/permissible-purpose.js';
import { USER_TYPES } from '../../../../published/accounts.js';
import type { GrantRequest, IssuedGrantToken } from '../../application/issue-grant.js';

const text = { message: 'must be a string' };
const MAX_FEE_CENTS = 1_000_000;
const FEE_RULE = { message: `must be a whole number of cents from 0 to ${MAX_FEE_CENTS}` };
const MAX_METADATA_FIELDS = 50;
const MAX_NAME = 40;
const MAX_VALUE = 500;
const METADATA_RULE = `must be an object of at most ${MAX_METADATA_FIELDS} strings of at most ${MAX_VALUE} characters, numbers and truth values, their names of 1 to ${MAX_NAME} characters`;

export class MintGrantBody {
  @ApiPropertyOptional({
    format: 'uuid',
    description: 'The direct child account that the session is for. Any other id is 404',
  })
  @IsOptional()
  @IsString(text)
  readonly on_behalf_of?: string;

  @ApiPropertyOptional({ enum: USER_TYPES })
  @IsOptional()
  @IsIn(USER_TYPES, { message: 'must be CONSUMER, AGENT or PMC' })
  @IsString(text)
  readonly user_type?: (typeof USER_TYPES)[number];

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    maximum: MAX_FEE_CENTS,
    description: 'Cents of the payment that the platform keeps, within the bounds of the account',
  })
  @IsOptional()
  @Max(MAX_FEE_CENTS, FEE_RULE)
  @Min(0, FEE_RULE)
  @IsInt(FEE_RULE)
  readonly application_fee?: number;

  @ApiPropertyOptional({
    description: `${END_USER_TYPES.join(', ')}: binds the session; else a word of the integrating platform, of 1 to 64 characters`,
    example: 'applicant',
  })
  @IsOptional()
  @MaxLength(64, { message: 'must have at most 64 characters' })
  @MinLength(1, { message: 'must not be empty' })
  @IsString(text)
  readonly end_user_type?: string;

  @ApiPropertyOptional({
    enum: PERMISSIBLE_PURPOSES,
    description: 'The purpose of every read of the report. It must be certified, if the account must certify purposes',
  })
  @IsOptional()
  @IsIn(PERMISSIBLE_PURPOSES, { message: `must be one of ${PERMISSIBLE_PURPOSES.join(', ')}` })
  @IsString(text)
  readonly purpose?: PermissiblePurpose;

  @ApiPropertyOptional({
    format: 'uuid',
    description: 'The account that a consent shares the report with. An unknown account is 400',
  })
  @IsOptional()
  @IsString(text)
  readonly recipient_account_id?: string;

  @ApiPropertyOptional({ description: "The integrating platform's own name for the session; 1 to 255 characters" })
  @IsOptional()
  @MaxLength(255, { message: 'must have at most 255 characters' })
  @MinLength(1, { message: 'must not be empty' })
  @IsString(text)
  readonly external_id?: string;

  @ApiPropertyOptional({
    type: Object,
    additionalProperties: { oneOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }] },
    description: `At most ${MAX_METADATA_FIELDS} strings of at most ${MAX_VALUE} characters, numbers and truth values, named with at most ${MAX_NAME}`,
    example: { unit: '4B' },
  })
  @IsOptional()
  @ValidateBy({ name: 'isMetadata', validator: { validate: isMetadata, defaultMessage: () => METADATA_RULE } })
  readonly metadata?: Readonly<Record<string, string | number | boolean>>;
}

export class GrantResult {
  @ApiProperty({ format: 'uuid' }) readonly id!: string;
  @ApiProperty({ description: 'Shown only this once. Send it at the token exchange as X-Session-Token' })
  readonly token!: string;
  @ApiProperty({ enum: ['session_grant'] }) readonly object!: 'session_grant';
  @ApiProperty({ enum: ENVIRONMENTS }) readonly environment!: Environment;
  @ApiProperty({
    format: 'uuid',
    description: 'The account that embeds the session. It is the child when the grant is on its behalf',
  })
  readonly account_id!: string;
  @ApiProperty({ type: String, format: 'uuid', nullable: true }) readonly on_behalf_of!: string | null;
  @ApiProperty({ type: 'integer', description: 'Seconds', example: 900 }) readonly expires_in!: number;
  @ApiProperty({ format: 'date-time' }) readonly expires_at!: string;
}

export function wishesOf({
  on_behalf_of,
  user_type,
  application_fee,
  end_user_type,
  purpose,
  recipient_account_id,
  external_id,
  metadata,
}: MintGrantBody): GrantRequest {
  const details = {
    ...(end_user_type !== undefined && { end_user_type }),
    ...(external_id !== undefined && { external_id }),
    ...(metadata !== undefined && { metadata }),
  };
  return {
    onBehalfOf: on_behalf_of ?? null,
    userType: user_type ?? null,
    endUserType: end_user_type === undefined ? null : (endUserTypeOf(end_user_type) ?? 'OTHER'),
    purpose: purpose ?? null,
    applicationFeeCents: application_fee ?? null,
    recipientAccountId: recipient_account_id ?? null,
    details: Object.keys(details).length === 0 ? null : details,
  };
}

export function grantResult({
  grantId,
  token,
  environment,
  accountId,
  onBehalfOf,
  expiresInSeconds,
  expiresAt,
}: IssuedGrantToken): GrantResult {
  return {
    id: grantId,
    token,
    object: 'session_grant',
    environment,
    account_id: accountId,
    on_behalf_of: onBehalfOf,
    expires_in: expiresInSeconds,
    expires_at: expiresAt,
  };
}

function isMetadata(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const fields = Object.entries(value);
  return (
    fields.length <= MAX_METADATA_FIELDS &&
    fields.every(([name, field]) => name !== '' && name.length <= MAX_NAME && isMetadataValue(field))
  );
}

function isMetadataValue(value: unknown): boolean {
  return typeof value === 'string'
    ? value.length <= MAX_VALUE
    : typeof value === 'number' || typeof value === 'boolean';
}
